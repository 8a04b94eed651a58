"""Stop in words, writing on, changing and taking back what waits, and what the chips say of it."""

from __future__ import annotations

import asyncio
import json

import discord
import pytest

from bot.exts import chat
from pipeline.records import TurnStarted
from tests.support.control import Json, real_timeout
from tests.support.home import Home
from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import WAIT_S, MakeStage, Stage, labels

WRITE = json.dumps({"path": "a.out", "content": "a"})


async def chips(stage: Stage, message: Json) -> list[str]:
    shown = next(one for one in await stage.control.messages("general") if one["id"] == message["id"])
    return [reaction["emoji"]["name"] for reaction in shown.get("reactions") or ()]


async def until_chip(stage: Stage, message: Json, *wanted: str) -> None:
    async with real_timeout(WAIT_S):
        while await chips(stage, message) != list(wanted):
            await stage.control.advance(0.1)  # reactions are paced


async def talking(stage: Stage, wire: Mind) -> tuple[Json, asyncio.Event]:
    """Alice's answer has begun and goes on with the event."""
    go_on = asyncio.Event()
    wire.script(Pass(text=["Once upon ", go_on, "a time."]))
    asked = await stage.mention("tell me a story")
    await stage.until(lambda message: "Once upon" in message["content"])
    return asked, go_on


@pytest.mark.covers("status stopped_by_user/phrase")
@pytest.mark.parametrize("text", ["stop", "<@{me}> Stop, please!", "never mind", "das reicht"])
async def test_a_stop_phrase_ends_the_answer_keeps_its_text_and_starts_no_turn(
    make_stage: MakeStage, wire: Mind, text: str
) -> None:
    stage = await make_stage(wire)
    await talking(stage, wire)
    said = await stage.control.say("general", "alice", text.replace("{me}", stage.bot_id))
    stopped = await stage.until_reply("Once upon")
    assert (stopped["content"], stopped["embeds"]) == ("Once upon", [])
    await until_chip(stage, said, "✅")
    await stage.idle()
    assert len(wire.requests) == 1
    assert len(await stage.replies()) == 1


async def test_a_stop_phrase_ends_a_running_tool_and_a_waiting_card(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(Pass(text=["I write."], calls=[("write_file", WRITE)]))
    await stage.mention("write a")
    card = await stage.until_card("a.out")
    await stage.control.say("general", "alice", "cancel that")
    assert labels(await stage.until_changed(card, "Closed")) == []
    await stage.idle()
    assert not (stage.project / "a.out").exists()


async def test_stop_is_said_by_the_requester_to_the_bot_and_means_only_that(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    _, go_on = await talking(stage, wire)
    owner = await stage.control.say("general", "owner", "I ate all the cake")
    await stage.control.say("general", "bob", "stop")
    await stage.control.say("general", "alice", "stop", reply_to=owner["id"])
    await stage.control.say("general", "alice", "stop the press")
    go_on.set()
    await stage.until_reply("Once upon a time.")
    assert len(wire.requests) == 1


async def test_a_stop_phrase_while_nothing_runs_is_a_message_like_any_other(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    await stage.mention("stop")
    await stage.until_reply("You said: stop")


async def test_a_follow_up_interrupts_and_the_model_reads_both(make_stage: MakeStage, each_wire: Mind) -> None:
    stage = await make_stage(each_wire)
    await talking(stage, each_wire)
    later = await stage.mention("a short one")
    await stage.until_reply("You said: a short one")
    first, second = await stage.replies()
    assert (first["content"], labels(first)) == ("Once upon", [])
    assert second["message_reference"]["message_id"] == later["id"]
    await until_chip(stage, later)
    told = "\n".join(each_wire.requests[-1].spoken)
    assert told.index("tell me a story") < told.index("Once upon") < told.index("wrote on") < told.index("a short one")


async def test_a_message_that_was_interrupted_before_its_answer_began_is_marked_as_used(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire)
    wire.script(Pass(text=[asyncio.Event(), "never"]))
    first = await stage.mention("look at")
    await wire.server.arrived(1)
    await stage.mention("the README")
    await stage.until_reply("You said: the README")
    await until_chip(stage, first, "✅")


@pytest.mark.usefixtures("extra_tools")
async def test_what_is_written_while_a_tool_runs_goes_to_the_front_as_one_message(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire)
    async with Home() as home:
        wire.script(
            Pass(text=["I ring."], calls=[("call_home", json.dumps({"port": home.port}))]), Pass(text=["Rung."])
        )
        await stage.mention("ring home")
        await home.rung(1)
        others = await stage.mention("and me?", author="bob")
        one = await stage.mention("then this")
        await until_chip(stage, one, "⏳")
        two = await stage.mention("and that")
        await until_chip(stage, one, "✅")
        await until_chip(stage, two, "⏳")
        home.answer.set()
        await stage.until_reply("and me?")
    assert [request.spoken[-1] for request in wire.requests[-2:]] == ["Alice: then this\nand that", "Bob: and me?"]
    for answered in (others, two):
        await until_chip(stage, answered)


@pytest.mark.usefixtures("extra_tools")
async def test_a_stop_drops_the_follow_up_aloud_and_the_next_request_is_valid(
    make_stage: MakeStage, each_wire: Mind
) -> None:
    stage = await make_stage(each_wire)
    async with Home() as home:
        ring = json.dumps({"port": home.port})
        each_wire.script(Pass(text=["I ring."], calls=[("list_dir", "{}"), ("call_home", ring)]))
        await stage.mention("ring home")
        await home.rung(1)
        dropped = await stage.mention("and then write")
        await until_chip(stage, dropped, "⏳")
        await stage.control.command("general", "alice", "stop")
        await until_chip(stage, dropped, "✖️")
    await stage.mention("and now?")
    await stage.until_reply("You said: and now?")
    assert len(each_wire.requests[-1].all_results) == 2
    assert "and then write" not in str(each_wire.requests[-1].spoken)


async def test_a_waiting_message_is_answered_as_it_was_edited(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    _, go_on = await talking(stage, wire)
    waiting = await stage.mention("what is foo", author="bob")
    await until_chip(stage, waiting, "⏳")
    await stage.control.edit(waiting, embeds=[{"title": "a preview of a link"}])
    await stage.control.edit(waiting, content=f"<@{stage.bot_id}> what is bar")
    known: list[str] = []

    def noted(started: TurnStarted) -> str:
        known.append(started.text)
        return started.text

    async with real_timeout(WAIT_S):
        while known[-1:] != ["what is bar"]:
            await stage.app.runtime.edit(waiting["id"], noted)
    go_on.set()
    await stage.until_reply("You said: what is bar")
    assert "foo" not in str(wire.requests[-1].spoken)


async def test_a_waiting_message_that_is_deleted_is_not_answered(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    _, go_on = await talking(stage, wire)
    waiting = await stage.mention("what about me", author="bob")
    await until_chip(stage, waiting, "⏳")
    await stage.control.delete(waiting)
    async with real_timeout(WAIT_S):
        while stage.app.runtime.is_open(waiting["id"]):
            await asyncio.sleep(0)
    go_on.set()
    await stage.until_reply("Once upon a time.")
    await stage.idle()
    assert len(wire.requests) == 1


async def test_an_edit_or_deletion_of_a_running_message_changes_nothing(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    asked, go_on = await talking(stage, wire)
    await stage.control.edit(asked, content=f"<@{stage.bot_id}> something else")
    await stage.control.delete(asked)
    go_on.set()
    await stage.until_reply("Once upon a time.")
    assert "something else" not in str(wire.requests[-1].spoken)


async def test_no_chip_is_left_hanging_by_a_restart(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    await talking(stage, wire)
    waiting = await stage.mention("and me", author="bob")
    await until_chip(stage, waiting, "⏳")
    wire.script(Pass(text=["Once upon a time."]))
    await stage.restart()
    await stage.until_reply("You said: and me")
    await until_chip(stage, waiting)


async def test_what_waits_is_changed_or_deleted_while_the_bot_is_away(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(Pass(calls=[("write_file", WRITE)]), Pass(text=["Not written."]))
    await stage.mention("write a")
    card = await stage.until_card("a.out")
    changed, deleted = await stage.mention("one", author="bob"), await stage.mention("two", author="bob")
    await until_chip(stage, deleted, "⏳")
    await stage.stop()
    await stage.control.edit(changed, content=f"<@{stage.bot_id}> one and a half")
    await stage.control.delete(deleted)
    await stage.start()
    async with real_timeout(WAIT_S):
        while stage.app.runtime.is_open(deleted["id"]):
            await asyncio.sleep(0.01)
    interaction = await stage.control.click(card, "owner", "Deny with reason…")
    await stage.control.modal(interaction, "owner", {"Reason": "no"})
    await stage.until_reply("one and a half")
    await stage.idle()
    assert [request.spoken[-1] for request in wire.requests[2:]] == ["Bob: one and a half"]


async def test_a_message_that_is_deleted_while_its_picture_is_fetched_starts_nothing(
    make_stage: MakeStage, wire: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, fetching, read = asyncio.Event(), asyncio.Event(), discord.Attachment.read

    async def slowly(attachment: discord.Attachment) -> bytes:
        fetching.set()
        await go_on.wait()
        return await read(attachment)

    monkeypatch.setattr(discord.Attachment, "read", slowly)
    monkeypatch.setattr(chat.Chat, "_sees_images", _yes)
    stage = await make_stage(wire)
    picture = {"filename": "a.png", "content_type": "image/png", "base64": "aGk="}
    deleted = await stage.mention("look", attachments=[picture])
    edited = await stage.mention("loook", author="bob", attachments=[picture], channel="ops")
    await fetching.wait()
    async with stage.control.expect(lambda event: event["type"] == "message_delete"):
        await stage.control.delete(deleted)
    await stage.control.edit(edited, content=f"<@{stage.bot_id}> look")
    await stage.control.say("@alice", "alice", "still there?")
    await stage.until_reply("still there?", channel="@alice")  # so both events have come
    go_on.set()
    await wire.server.arrived(2)
    assert wire.requests[-1].text.splitlines()[0] == "Bob: look"
    await stage.idle("ops")
    assert await stage.replies() == []


async def _yes(*_: object) -> bool:
    return True
