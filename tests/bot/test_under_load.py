"""When very much is said at once: what a request is for is looked at again while it waits, and none is wasted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.preview.server import Twin
from bot.render.pacer import Kind, Pacer, Priority
from bot.render.view import TurnView
from pipeline.events import PassOpened, TextArrived
from pipeline.records import TurnStarted
from tests.bot.stage import Stage, staged
from tests.bot.turns import Script, ended, said

START = TurnStarted(turn="1", channel="10", guild="1", user="100", author="alice", text="hello", at=1_700_000_000.0)


class Noted(Pacer):
    """Lets everything go at once, and notes how urgent it was when it began to wait."""

    def __init__(self) -> None:
        super().__init__(per_second=10_000)
        self.asked: list[tuple[Priority, Kind]] = []

    async def leave(self, channel: str, urgency: object) -> None:
        assert callable(urgency)
        self.asked.append(urgency())


@pytest.fixture
async def stage(twin: Twin, tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(twin, tmp_path) as opened:
        yield opened


def test_a_view_says_when_what_waits_may_have_become_more_urgent() -> None:
    view = TurnView(START, lambda: START.at)
    seen = [view.progress]
    view.take(PassOpened(turn="1", iteration=0))
    for text in (" ", "word", "x", "y" * 300):
        view.take(TextArrived(turn="1", text=text))
        seen.append(view.progress)
    blank, first, more, long = seen[1:]
    assert blank != first and first == more and more != long


async def test_a_message_that_the_text_has_outgrown_goes_before_edits_and_before_the_next_message(
    twin: Twin, tmp_path: Path
) -> None:
    pacer = Noted()
    async with staged(twin, tmp_path, pacer) as stage:
        script = await stage.ask()
        script.stream("x" * 1000)
        await stage.settled(script)
        pacer.asked.clear()
        script.type(" y" * 800)
        await stage.settled(script)
        assert pacer.asked == [(Priority.FULL, Kind.TEXT_EDIT), (Priority.EDIT, Kind.CREATE)]


async def test_a_turn_that_begins_late_has_no_mark_to_take_away(stage: Stage) -> None:
    first = await stage.ask()
    first.commit(said("Hello"), ended())
    await stage.finish(first)
    message = await stage.control.say("general", "alice", "again")
    stage.now += 30
    late = Script(stage.emit, replace(first.start, turn=message["id"]))
    stage.runtime.scripts[late.turn] = late
    late.commit(said("Late"), ended())
    await stage.finish(late)
    assert [call for call in await stage.control.requests() if "reactions" in call["path"]] == []
