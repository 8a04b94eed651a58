"""A conversation in one channel of a runtime in memory, and what became of each message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pipeline.events import LoopEvent, MessageStands, Standing, TextArrived
from pipeline.messages import UserMessage
from pipeline.records import AttemptEnded, TurnStarted
from pipeline.results import Reason, TurnStatus
from pipeline.runtime import Submission
from tests.support.runtimes import RuntimeInMemory
from tests.support.scripts import Say

ALICE = "100"


def hangs() -> Say:
    return Say(text=["hm"], hang=asyncio.Event())


class Talk(RuntimeInMemory):
    """Alice writes; `standings` is what became of the messages that did not simply run."""

    def __post_init__(self) -> None:
        self.standings: list[tuple[str, Standing]] = []
        self.spoken = asyncio.Event()
        emit: Callable[[LoopEvent], None] = self.sink.emit

        def noted(event: LoopEvent) -> None:
            if isinstance(event, MessageStands):
                self.standings.append((event.turn, event.standing))
            elif isinstance(event, TextArrived):
                self.spoken.set()
            emit(event)

        self.sink.emit = noted  # type: ignore[method-assign]
        super().__post_init__()

    async def say(self, turn: str, text: str = "hello", user: str = ALICE) -> Submission:
        return await self.submit(turn, user=user, text=text)

    async def until_spoken(self) -> None:
        async with asyncio.timeout(10):
            await self.spoken.wait()
        self.spoken.clear()

    def ending(self, turn: str) -> tuple[TurnStatus, Reason]:
        return next((r.status, r.reason) for r in self.journal.records[turn] if isinstance(r, AttemptEnded))

    def began(self, turn: str) -> TurnStarted:
        first = self.journal.records[turn][0]
        assert isinstance(first, TurnStarted)
        return first

    def order(self) -> list[str]:
        return [turn for turn, record in self.sink.records if record.kind == "attempt_started"]

    @property
    def waiting(self) -> list[str]:
        return [turn.turn for turn in self.runtime.queued("10")]

    def asked(self) -> list[str]:
        """What people said, as the newest request shows it."""
        return [m.text for m in self.model.requests[-1].messages if isinstance(m, UserMessage)]
