"""Hand-written turns for the tests of what people see."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.events import Committed, LoopEvent, PassOpened, TextArrived
from pipeline.records import (
    ApprovalAsked,
    Ask,
    AttemptEnded,
    Decided,
    LoopRecord,
    PassFinished,
    ToolFinished,
    ToolStarted,
    TurnStarted,
    Verdict,
)
from pipeline.results import Outcome, Reason, StreamStatus, TurnStatus

NOW = 1_700_000_000.0


def started(turn: str = "500", *, channel: str = "10", guild: str = "1", user: str = "7") -> TurnStarted:
    return TurnStarted(turn=turn, channel=channel, guild=guild, user=user, author="alice", text="hello", at=NOW)


def said(text: str, *, iteration: int = 0, calls: tuple[tuple[str, str], ...] = ()) -> PassFinished:
    """A finished pass of the model."""
    status = StreamStatus.FUNCTION_CALL if calls else StreamStatus.COMPLETED
    return PassFinished(iteration=iteration, status=status, text=text, calls=calls)


def asked(iteration: int = 0, index: int = 0, *, approval: str = "", preview: str = "") -> ApprovalAsked:
    """A question about a call."""
    return ApprovalAsked(
        approval=approval or f"{iteration:06x}{index:06x}",
        iteration=iteration,
        index=index,
        ask=Ask.RUN,
        run=0,
        seal="0123456789abcdef" * 4,
        expires=NOW + 600,
        preview=preview,
    )


def decided(question: ApprovalAsked, verdict: Verdict = Verdict.APPROVE, note: str = "") -> Decided:
    return Decided(approval=question.approval, verdict=verdict, by="9", name="owner", note=note, at=NOW)


def finished(iteration: int = 0, index: int = 0, outcome: Outcome = Outcome.OK, content: str = "ok") -> ToolFinished:
    return ToolFinished(iteration=iteration, index=index, run=1, outcome=outcome, content=content, duration_ms=1200)


def running(iteration: int = 0, index: int = 0) -> ToolStarted:
    return ToolStarted(iteration=iteration, index=index, run=1)


def ended(status: TurnStatus = TurnStatus.COMPLETED, reason: Reason = Reason.END) -> AttemptEnded:
    return AttemptEnded(status=status, reason=reason)


class Script:
    """Emits the events of one turn as a runtime would, in order."""

    def __init__(self, emit: Callable[[LoopEvent], object], start: TurnStarted) -> None:
        self._emit = emit
        self.start = start
        self.turn = start.turn
        self.records: list[LoopRecord] = []
        self.commit(start)

    def commit(self, *records: LoopRecord) -> None:
        for record in records:
            self.records.append(record)
            self._emit(Committed(turn=self.turn, seq=len(self.records), record=record))

    def stream(self, *deltas: str, iteration: int = 0) -> None:
        self._emit(PassOpened(turn=self.turn, iteration=iteration))
        for delta in deltas:
            self.type(delta)

    def type(self, delta: str) -> None:
        self._emit(TextArrived(turn=self.turn, text=delta))

    def replay(self, emit: Callable[[LoopEvent], object]) -> Script:
        """The same turn, read from the journal by another process."""
        again = Script(emit, self.start)
        again.commit(*self.records[1:])
        return again
