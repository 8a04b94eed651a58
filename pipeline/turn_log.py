"""A turn's journal, its fold and one lock: the object that the loop and the buttons share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from pipeline.errors import Conflict
from pipeline.events import Committed, EventSink
from pipeline.journal import Journal, TurnOutput
from pipeline.records import LoopRecord
from pipeline.state import LoopState, apply, fold


class Planned(Protocol):
    """A step, and the records that announce it."""

    @property
    def records(self) -> tuple[LoopRecord, ...]: ...


P = TypeVar("P", bound=Planned)


def always(_: LoopState) -> bool:
    return True


class TurnLog:
    """Commits records at the expected sequence number and folds them. Every committed record goes to the sink.

    What a failed or cancelled commit did is unknown, so the journal is read anew before anything else is written.
    """

    def __init__(self, journal: Journal, sink: EventSink, turn: str) -> None:
        self.turn = turn
        self._journal = journal
        self._sink = sink
        self._lock = asyncio.Lock()
        self._seq = 0
        self._state: LoopState | None = None
        self._stale = True

    @classmethod
    async def load(cls, journal: Journal, sink: EventSink, turn: str) -> TurnLog:
        """Read a turn. Raises ValueError when there is no such turn."""
        log = cls(journal, sink, turn)
        async with log._lock:
            await log._reload()
        return log

    @property
    def state(self) -> LoopState:
        if self._state is None:
            raise ValueError(f"turn {self.turn} is not in the journal")
        return self._state

    async def advance(self, facts: Sequence[LoopRecord], plan: Callable[[LoopState], P]) -> P:
        """Commit what the last act brought (`facts`) together with what announces the next, and return that.

        `plan` is asked again whenever somebody else wrote in between; facts stay facts.
        """
        async with self._lock:
            while True:
                await self._refresh()
                state = fold(facts, self.state)
                planned = plan(state)
                try:
                    await self._append((*facts, *planned.records), fold(planned.records, state))
                except Conflict:
                    continue
                return planned

    async def commit(
        self,
        *records: LoopRecord,
        when: Callable[[LoopState], bool] = always,
        output: TurnOutput | None = None,
    ) -> bool:
        """Commit `records` if `when` holds for the state they are folded into; whether that was so."""
        async with self._lock:
            while True:
                await self._refresh()
                if not when(self.state):
                    return False
                try:
                    await self._append(records, fold(records, self.state), output)
                except Conflict:
                    continue
                return True

    async def _append(self, records: Sequence[LoopRecord], state: LoopState, output: TurnOutput | None = None) -> None:
        if not records:
            return
        self._stale = True
        await self._journal.append(self.turn, self._seq, records, output)
        self._stale = False
        self._state = state
        for record in records:
            self._tell(self._seq + 1, record)

    async def _refresh(self) -> None:
        if self._stale:
            await self._reload()

    async def _reload(self) -> None:
        state: LoopState | None = None
        records = await self._journal.load(self.turn)
        for _, record in records:
            state = state if record is None else apply(state, record)
        if state is None:
            raise ValueError(f"turn {self.turn} is not in the journal")
        self._state, self._stale = state, False
        for seq, record in records:
            self._tell(seq, record)

    def _tell(self, seq: int, record: LoopRecord | None) -> None:
        self._seq = seq
        if record is not None:
            self._sink.emit(Committed(turn=self.turn, seq=seq, record=record))
