"""How far one call of the newest pass is."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.messages import ToolCall
from pipeline.records import ApprovalAsked, Ask, Decided, ToolFinished, Verdict
from pipeline.results import Outcome

FAILURES = frozenset({Outcome.ERROR, Outcome.UNKNOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallState:
    """A call of the newest pass: what was asked about it, and how far it is. `run` counts its starts."""

    iteration: int
    index: int
    call: ToolCall
    asked: int = 0
    question: ApprovalAsked | None = None
    card: str = ""
    decision: Decided | None = None
    run: int = 0
    finished: ToolFinished | None = None

    @property
    def is_running(self) -> bool:
        """Started and not finished: running now, or its outcome is unknown after a crash."""
        return self.run > 0 and self.finished is None

    @property
    def awaits_decision(self) -> bool:
        return self.question is not None and self.decision is None and self.finished is None

    @property
    def ends_the_turn(self) -> bool:
        """A person denied it without a reason, or nobody answered in time."""
        return (
            self.decision is not None
            and self.question is not None
            and self.question.ask is Ask.RUN
            and self.decision.verdict in (Verdict.DENY, Verdict.EXPIRED)
        )
