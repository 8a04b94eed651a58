"""What may still be done to a turn: pure, asked under its log's lock before a record is written."""

from __future__ import annotations

from pipeline.approvals import AlreadyDecided, DecisionResult, Expired
from pipeline.records import Verdict
from pipeline.results import Reason, is_retryable
from pipeline.state import LoopState


def may_be_stopped(state: LoopState) -> bool:
    """Whether a person's stop makes a difference: it outdoes a follow-up, and the attempt that follows an error."""
    ending = state.ending
    goes_on = ending is None or (not state.ended and is_retryable(ending.status, ending.reason))
    return goes_on and (state.stop is None or state.stop.reason is Reason.FOLLOW_UP)


def only_waits(state: LoopState) -> bool:
    """Whether nothing but a person can move this turn: it need not count as active."""
    open_calls = state.open_calls
    return state.stop is None and bool(open_calls) and open_calls[0].awaits_decision


def is_asked(state: LoopState, approval: str) -> bool:
    """Whether the question `approval` can be answered."""
    call = state.question(approval)
    return state.ending is None and state.stop is None and call is not None and call.awaits_decision


def expiry_of(state: LoopState, approval: str) -> float:
    """Until when it can be answered, in epoch seconds."""
    call = state.question(approval)
    return 0.0 if call is None or call.question is None else call.question.expires


def decided_before(state: LoopState, approval: str) -> DecisionResult:
    """What somebody hears who answers a question that is closed."""
    decided = next((d for d in state.decisions if d.approval == approval), None)
    if decided is None or decided.verdict in (Verdict.EXPIRED, Verdict.UNDELIVERABLE):
        return Expired()
    return AlreadyDecided(verdict=decided.verdict, name=decided.name)
