"""The logs of turns: one for each that anybody works on, gone when nobody does."""

from __future__ import annotations

from weakref import WeakValueDictionary

from pipeline.events import EventSink, NullSink
from pipeline.journal import Journal
from pipeline.open_turns import OpenTurns
from pipeline.turn_log import TurnLog


class TurnLogs:
    """Reads a turn's log when it is first asked for."""

    def __init__(self, journal: Journal, sink: EventSink, opened: OpenTurns) -> None:
        self._journal = journal
        self._sink = sink
        self._open = opened
        self._logs: WeakValueDictionary[str, TurnLog] = WeakValueDictionary()

    async def of(self, turn: str) -> TurnLog:
        """The one log of a turn that has begun. That of an ended turn is read without telling anybody: it has been
        shown."""
        log = self._logs.get(turn)
        if log is None:
            sink: EventSink = self._sink if turn in self._open else NullSink()
            log = await TurnLog.load(self._journal, sink, turn)
            log = self._logs.setdefault(turn, log)
        return log

    async def of_waiting(self, turn: str) -> TurnLog:
        """A log of a turn that has not begun, and of which nothing is shown. Whoever asks holds its lock."""
        return await TurnLog.load(self._journal, NullSink(), turn)
