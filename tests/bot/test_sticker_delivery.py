"""The sticker after a completed answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.preview.seed import DEFAULT
from bot.preview.server import Twin
from pipeline.records import StopRequested
from pipeline.results import Reason, TurnStatus
from tests.bot.full import full_bot
from tests.bot.stage import Stage, staged
from tests.bot.turns import Script, ended, finished, running, said
from tests.support.scripts import Say, script
from tests.support.twin import MakeTwin

MESSAGES = "/channels/{channel_id}/messages"


@pytest.fixture
async def twin(make_twin: MakeTwin) -> Twin:
    (guild,) = DEFAULT["guilds"]
    return await make_twin(rate_limits=True, seed={"guilds": [guild | {"stickers": [{"name": "wave"}]}]})


@pytest.fixture
async def stage(twin: Twin, tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(twin, tmp_path) as opened:
        yield opened


def sticker_of(twin: Twin) -> str:
    (found,) = twin.backend.world.stickers
    return found.id


async def chosen(stage: Stage, sticker: str, text: str = "Hello!") -> Script:
    """A turn whose tool has chosen a sticker; it has not ended."""
    script = await stage.ask()
    script.commit(said("", calls=(("select_sticker", "{}"),)), running(), replace(finished(), sticker=sticker))
    script.commit(said(text, iteration=1))
    return script


async def shown(stage: Stage) -> list[tuple[str, list[str]]]:
    """Text and stickers of the bot's messages."""
    return [
        (reply["content"], [one["name"] for one in reply.get("sticker_items") or ()]) for reply in await stage.replies()
    ]


async def test_the_sticker_comes_in_a_message_of_its_own_after_the_answer(stage: Stage) -> None:
    script = await chosen(stage, sticker_of(stage.twin))
    await stage.settled(script)
    script.commit(ended())
    await stage.finish(script)
    assert await shown(stage) == [("Hello!", []), ("", ["wave"])]


async def test_the_sticker_waits_for_an_answer_that_is_slow_to_arrive(stage: Stage) -> None:
    before = await stage.ask()
    before.commit(said("Hi!"), ended())
    await stage.finish(before)  # from now on discord.py sends to this channel without waiting for each answer
    await stage.control.fault("POST", MESSAGES, delay_ms=200)
    script = await chosen(stage, sticker_of(stage.twin))
    script.commit(ended())
    await stage.finish(script)
    assert await shown(stage) == [("Hi!", []), ("Hello!", []), ("", ["wave"])]


@pytest.mark.parametrize("status", [TurnStatus.STOPPED_BY_USER, TurnStatus.ERROR, TurnStatus.TIMEOUT])
async def test_no_other_end_brings_a_sticker(stage: Stage, status: TurnStatus) -> None:
    script = await chosen(stage, sticker_of(stage.twin))
    script.commit(StopRequested(reason=Reason.PHRASE), ended(status, Reason.PHRASE))
    await stage.finish(script)
    assert await shown(stage) == [("Hello!", [])]


async def test_a_sticker_that_cannot_be_posted_leaves_the_answer_as_it_is(stage: Stage) -> None:
    script = await chosen(stage, "12345")
    script.commit(ended())
    await stage.finish(script)
    assert await shown(stage) == [("Hello!", [])] and stage.runtime.gone == []


async def test_a_sticker_without_an_answer_replies_to_the_person(stage: Stage) -> None:
    script = await chosen(stage, sticker_of(stage.twin), text="")
    script.commit(ended())
    await stage.finish(script)
    assert (await stage.replies())[-1]["message_reference"]["message_id"] == script.turn
    assert (await shown(stage))[-1] == ("", ["wave"])


@pytest.mark.parametrize("noted", [True, False])
async def test_after_a_restart_it_is_not_posted_again(stage: Stage, noted: bool) -> None:
    script = await chosen(stage, sticker_of(stage.twin))
    script.commit(ended())
    await stage.settled(script)
    await stage.close()
    if not noted:
        stage.deliveries.rows.clear()
        await stage.control.advance(3600)  # Discord forgets a nonce after some minutes
    await stage.open()
    again = script.replay(stage.emit)
    await stage.finish(again)
    assert await shown(stage) == [("Hello!", []), ("", ["wave"])]


async def test_a_sticker_that_a_crash_left_out_is_posted_after_the_restart(stage: Stage) -> None:
    script = await chosen(stage, sticker_of(stage.twin))
    await stage.settled(script)
    await stage.close()
    await stage.open()
    again = script.replay(stage.emit)
    again.commit(ended())
    await stage.finish(again)
    assert await shown(stage) == [("Hello!", []), ("", ["wave"])]


async def test_an_answer_whose_creation_was_lost_in_transit_posts_one_sticker(stage: Stage) -> None:
    script = await chosen(stage, sticker_of(stage.twin))
    await stage.settled(script)
    await stage.control.fault("POST", MESSAGES, after=True, cut=True)
    script.commit(ended())
    await stage.finish(script)
    assert await shown(stage) == [("Hello!", []), ("", ["wave"])]


async def test_the_choice_of_a_tool_is_posted_when_the_turn_completes(twin: Twin, tmp_path: Path) -> None:
    choose = json.dumps({"text": sticker_of(twin)})
    async with full_bot(twin, tmp_path, script(Say(calls=(("sticker", choose),)), Say(text=("Hello!",)))) as bot:
        await bot.say("say hello")
        await bot.ended(1)
        replies = await bot.replies()
        assert [reply["content"] for reply in replies] == ["Hello!", ""]
        assert replies[1]["sticker_items"][0]["id"] == sticker_of(twin)
