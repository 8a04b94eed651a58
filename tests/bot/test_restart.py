"""A start of the program finds what the last one left: a pending card, a queue, a half-written answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from bot.preview.server import Twin
from tests.bot.full import WAIT_S, full_bot
from tests.support.control import ControlClient
from tests.support.scripts import Say, script

ASKS = Say(text=("I will write.",), calls=(("write", '{"text": "hello"}'),))


async def test_a_pending_card_works_once_after_a_restart(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(ASKS)) as bot:
        await bot.say("write hello")
        card = await bot.until_reply("Approve write?")
    async with full_bot(twin, tmp_path, script(Say(text=("Written.",)))) as bot:
        await bot.control.click(card["id"], "owner", "Approve")
        await bot.ended(1)
        assert bot.bench.runs == [("write", "hello")]
        contents = [message["content"] for message in await bot.replies()]
        assert contents == ["I will write.", "", "Written."]


async def test_an_answer_that_was_cut_by_a_stop_of_the_program_goes_on_in_its_message(
    twin: Twin, tmp_path: Path
) -> None:
    async with full_bot(twin, tmp_path, script(Say(text=("Half of",), hang=asyncio.Event()))) as bot:
        await bot.say("go")
        half = await bot.until_reply("Half of")
    async with full_bot(twin, tmp_path, script(Say(text=("Half of", " it all")))) as bot:
        await bot.ended(1)
        (reply,) = await bot.replies()
        assert (reply["id"], reply["content"]) == (half["id"], "Half of it all")


async def test_a_queued_message_is_answered_after_a_restart_and_loses_its_mark(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(Say(text=("One",), hang=asyncio.Event()))) as bot:
        await bot.say("first")
        await bot.until_reply("One")
        async with bot.control.expect(lambda event: event["type"] == "reaction_add") as marked:
            waiting = await bot.say("second", author="bob")
        await marked
    restarted = script(Say(text=("One",)), Say(text=("Two",)))
    async with (
        ControlClient(twin.url) as control,
        control.events() as events,
        full_bot(twin, tmp_path, restarted) as bot,
    ):
        await bot.ended(2)
        assert [message["content"] for message in await bot.replies()] == ["One", "Two"]
        async with asyncio.timeout(WAIT_S):
            unmarked = [event["message_id"] async for event in _until_removed(events)]
        assert unmarked == [waiting["id"]]


async def _until_removed(events: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """The next reaction that is taken away."""
    async for event in events:
        if event["type"] == "reaction_remove":
            yield event
            return
