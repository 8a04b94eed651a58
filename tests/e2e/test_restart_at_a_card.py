"""The bot is stopped while a card is open, and started again."""

from __future__ import annotations

import json

import pytest

import tools.builtin
from tests.support.home import Home
from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import Json, MakeStage, Stage, labels, words


async def open_card(stage: Stage) -> Json:
    await stage.mention("write hello to notes.txt")
    return await stage.until_card()


async def cards(stage: Stage) -> list[str]:
    shown = await stage.replies()
    return [message["id"] for message in shown if "'seal " in str(message["embeds"])]


async def test_inside_its_time_the_card_runs_the_call_once_and_the_turn_goes_on(
    make_stage: MakeStage, each_wire: Mind
) -> None:
    stage = await make_stage(each_wire)
    card = await open_card(stage)
    await stage.restart()
    await stage.control.click(card, "alice", "Approve")
    await stage.until_reply("Done: created notes.txt")
    assert (stage.project / "notes.txt").read_text() == "hello\n"
    assert await cards(stage) == [card["id"]]
    assert len(each_wire.requests) == 2
    await stage.mention("and now?")
    await stage.until_reply("You said: and now?")


async def test_a_card_is_edited_through_its_channel_and_not_by_a_token_that_may_be_old(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire)
    card = await open_card(stage)
    await stage.restart()
    await stage.control.advance(16 * 60)
    await stage.control.click(card, "alice", "Approve")
    await stage.until_changed(card, "**Approved** by")
    assert len(await stage.edits_of(card)) >= 1


async def test_after_its_time_the_card_is_closed_and_the_call_was_denied(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire, APPROVAL_TIMEOUT_S="60")
    card = await open_card(stage)
    await stage.stop()
    await stage.control.advance(61)
    await stage.start()
    closed = await stage.until_changed(card, "**Expired**")
    assert labels(closed) == []
    assert "Nobody decided" in words(await stage.until_notice("Not approved"))
    assert await cards(stage) == [card["id"]]
    assert not (stage.project / "notes.txt").exists()
    await stage.mention("and now?")
    await stage.until_reply("You said: and now?")


async def test_a_call_that_the_policy_no_longer_allows_is_not_run_whatever_was_pressed(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire)
    card = await open_card(stage)
    await stage.restart(TOOL_POLICIES="write_file=deny")
    await stage.control.click(card, "alice", "Approve")
    await stage.idle()
    assert not (stage.project / "notes.txt").exists()
    assert len(wire.requests[-1].results) == 1
    closed = await stage.until(lambda shown: shown["id"] == card["id"] and labels(shown) == [])
    assert "· done" not in words(closed)


@pytest.mark.usefixtures("extra_tools")
async def test_a_call_of_a_tool_that_is_gone_is_not_run_whatever_was_pressed(
    make_stage: MakeStage, wire: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Home() as home:
        stage = await make_stage(wire, TOOL_POLICIES="call_home=ask")
        wire.script(Pass(calls=[("call_home", json.dumps({"port": home.port}))]), Pass(text=["I cannot."]))
        await stage.mention("ring home")
        card = await stage.until_card("call_home")
        await stage.stop()
        monkeypatch.setattr(tools.builtin, "__path__", tools.builtin.__path__[:1])
        await stage.start(TOOL_POLICIES="")
        await stage.control.click(card, "alice", "Approve")
        await stage.until_reply("I cannot.")
        assert len(wire.requests[-1].results) == 1
        assert home.calls == []


async def test_what_waits_behind_a_card_still_waits_after_a_start(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    card = await open_card(stage)
    async with stage.control.expect(lambda event: event["type"] == "reaction_add") as marked:
        await stage.mention("and me?", author="bob")
    await marked
    await stage.restart()
    await stage.control.click(card, "alice", "Deny")
    reply = await stage.until_reply("You said: and me?")
    assert [message["id"] for message in await stage.replies()].index(reply["id"]) > 0
