"""`kill -9` while a person is asked, or while a tool runs that must not run twice."""

from __future__ import annotations

import json

import pytest

from tests.support.bot_process import BotProcess, MakeBot, lose_the_next_answer
from tests.support.home import Home
from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import Json, labels, words


async def cards(bot: BotProcess) -> list[Json]:
    return [message for message in await bot.replies() if "'seal " in str(message["embeds"])]


async def test_a_card_from_before_a_kill_works_once(make_bot: MakeBot, each_wire: Mind) -> None:
    bot = await make_bot(each_wire)
    await bot.mention("write hello to notes.txt")
    card = await bot.until_card()
    await bot.kill()
    await bot.start()
    await bot.control.click(card, "alice", "Approve")
    await bot.until_reply("Done: created notes.txt")
    closed = await bot.until_changed(card, "**Approved** by")
    assert labels(closed) == []
    assert [message["id"] for message in await cards(bot)] == [card["id"]]
    assert (bot.project / "notes.txt").read_text() == "hello\n"
    assert len(each_wire.requests) == 2
    await bot.mention("and now?")
    await bot.until_reply("You said: and now?")


async def test_a_card_whose_id_was_lost_in_a_kill_is_not_posted_again(make_bot: MakeBot, wire: Mind) -> None:
    bot = await make_bot(wire)
    await lose_the_next_answer(bot)
    await bot.mention("write hello to notes.txt")
    card = await bot.until_card()
    await bot.kill()
    bot.twin.faults.clear()
    await bot.start()
    await bot.control.click(card, "alice", "Approve")
    await bot.until_reply("Done: created notes.txt")
    assert [message["id"] for message in await cards(bot)] == [card["id"]]


async def test_a_reason_can_be_given_in_a_modal_from_before_a_kill(make_bot: MakeBot, wire: Mind) -> None:
    bot = await make_bot(wire)
    await bot.mention("write hello to notes.txt")
    card = await bot.until_card()
    opened = await bot.control.click(card, "alice", "Deny with reason…")
    await bot.kill()
    await bot.start()
    await bot.control.modal(opened, "alice", {"Reason": "not today"})
    await bot.until_reply("I hear you: not today")
    assert not (bot.project / "notes.txt").exists()


@pytest.mark.parametrize(
    ("each_wire", "label", "rings", "told"),
    [("openai_compat", "Run again", 2, "nice to hear hello"), ("anthropic", "Skip", 1, "unknown")],
    indirect=["each_wire"],
)
async def test_a_call_that_a_kill_cut_off_runs_again_only_if_a_person_says_so(
    make_bot: MakeBot, each_wire: Mind, label: str, rings: int, told: str
) -> None:
    async with Home() as home:
        bot = await make_bot(each_wire)
        each_wire.script(Pass(calls=[("call_home", json.dumps({"port": home.port}))]), Pass(text=["That was it."]))
        await bot.mention("ring home")
        await home.rung(1)
        await bot.kill()
        home.answer.set()
        await bot.start()
        card = await bot.until(lambda message: label in labels(message))
        assert "it may have taken effect already" in words(card)
        assert len(home.calls) == 1
        await bot.control.click(card, "alice", label)
        await bot.until_reply("That was it.")
        assert len(home.calls) == rings
        assert told in each_wire.requests[-1].results[-1]
