"""The rules that end a turn, and the records that write an end down.

They are asked before each step, not after a tool, so a crash between a result and its consequence loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.params import LoopLimits
from pipeline.provider import Finish
from pipeline.records import AttemptEnded, LoopRecord, Noticed, PassFinished, ToolFinished, Verdict
from pipeline.results import NoticeKind, Outcome, Reason, StreamStatus, ToolHistoryEntry, TurnStatus
from pipeline.state import CallState, LoopState

MAX_RESUMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn ends, and what people are told in an embed (nothing, where the reply says it all)."""

    status: TurnStatus
    reason: Reason
    notice: NoticeKind | None = None
    detail: str = ""


def closed_by_rule(limits: LoopLimits, state: LoopState) -> Ending | None:
    """The rule that ends the turn whatever calls are open, if one does."""
    if state.stop is not None:
        return _stopped(state.stop.reason)
    if (denied := next((call for call in state.calls if call.ends_the_turn), None)) is not None:
        return _denied(denied)
    if state.resumes >= MAX_RESUMES:
        detail = f"It interrupted the bot {state.resumes} times, so it was given up."
        return Ending(status=TurnStatus.ERROR, reason=Reason.CRASH_LOOP, notice=NoticeKind.INTERRUPTED, detail=detail)
    if state.consecutive_errors >= limits.max_consecutive_tool_errors:
        detail = _failed(state.history[-1], state.consecutive_errors)
        return Ending(status=TurnStatus.ERROR, reason=Reason.TOOL_ERRORS, notice=NoticeKind.TOOL_ERRORS, detail=detail)
    most = max([count for _, count in state.repeats], default=0)
    if most >= 2 * limits.max_identical_tool_calls:
        last = state.history[-1]
        detail = f"{last.name} {last.arguments or '{}'}, {most} times with the same result"
        return Ending(status=TurnStatus.ERROR, reason=Reason.LOOP_GUARD, notice=NoticeKind.LOOP_GUARD, detail=detail)
    return None


def pass_ending(limits: LoopLimits, state: LoopState) -> Ending | None:
    """How the turn ends now that no call is open; None when the model shall go on."""
    last = state.passes[-1] if state.passes else None
    if last is not None and last.status is not StreamStatus.FUNCTION_CALL:
        return _terminal(last)
    if any(call.finished is not None and call.finished.end_turn for call in state.calls):
        return Ending(status=TurnStatus.COMPLETED, reason=Reason.END_TURN)
    if state.iteration >= limits.max_iterations:
        return Ending(
            status=TurnStatus.TIMEOUT,
            reason=Reason.ITERATION_LIMIT,
            notice=NoticeKind.ITERATION_LIMIT,
            detail=str(limits.max_iterations),
        )
    return None


def close(state: LoopState, ending: Ending) -> tuple[LoopRecord, ...]:
    """The records of an end, for one commit: a result for every open call, the notice, the ending."""
    results = tuple(_unrun(call, ending) for call in state.open_calls)
    notice = () if ending.notice is None else (Noticed(notice=ending.notice, detail=ending.detail),)
    return (*results, *notice, AttemptEnded(status=ending.status, reason=ending.reason))


def _terminal(last: PassFinished) -> Ending:
    match last.status:
        case StreamStatus.COMPLETED if last.finish is Finish.REFUSED:
            return Ending(status=TurnStatus.ERROR, reason=Reason.REFUSED, notice=NoticeKind.REFUSED)
        case StreamStatus.COMPLETED if last.finish is Finish.LENGTH:
            return Ending(status=TurnStatus.COMPLETED, reason=Reason.LENGTH, notice=NoticeKind.CUT_AT_LENGTH)
        case StreamStatus.COMPLETED:
            return Ending(status=TurnStatus.COMPLETED, reason=Reason.END)
        case StreamStatus.EMPTY_RESPONSE:
            return Ending(status=TurnStatus.EMPTY_RESPONSE, reason=Reason.NONE, notice=NoticeKind.EMPTY_RESPONSE)
        case StreamStatus.TIMEOUT:
            return Ending(
                status=TurnStatus.TIMEOUT, reason=last.reason, notice=NoticeKind.STREAM_TIMEOUT, detail=last.detail
            )
        case StreamStatus.ERROR:
            return Ending(
                status=TurnStatus.ERROR,
                reason=Reason.PROVIDER,
                notice=NoticeKind.PROVIDER_ERROR,
                detail=last.detail,
            )
        case StreamStatus.STOPPED_BY_USER:
            return _stopped(Reason.PERSON)
        case StreamStatus.FUNCTION_CALL:
            raise AssertionError("a pass with calls is not terminal")


def _stopped(reason: Reason) -> Ending:
    match reason:
        case Reason.UNDELIVERABLE:
            return Ending(status=TurnStatus.ERROR, reason=reason)
        case Reason.INTERRUPTED:
            return Ending(status=TurnStatus.ERROR, reason=reason, notice=NoticeKind.INTERRUPTED)
        case _:
            return Ending(status=TurnStatus.STOPPED_BY_USER, reason=reason)


def _denied(call: CallState) -> Ending:
    assert call.decision is not None  # noqa: S101
    if call.decision.verdict is Verdict.EXPIRED:
        detail = f"Nobody decided about {call.call.name} in time."
        return Ending(status=TurnStatus.DENIED, reason=Reason.EXPIRED, notice=NoticeKind.DENIED, detail=detail)
    detail = f"{call.decision.name} denied {call.call.name}."
    return Ending(status=TurnStatus.DENIED, reason=Reason.PERSON, notice=NoticeKind.DENIED, detail=detail)


def _failed(entry: ToolHistoryEntry, count: int) -> str:
    first_line = entry.content.strip().splitlines()[0] if entry.content.strip() else "no message"
    return f"{count} failures in a row, the last in {entry.name}: {first_line[:300]}"


def _unrun(call: CallState, ending: Ending) -> ToolFinished:
    outcome, content = Outcome.NOT_RUN, f"Not run: {_WHY[ending.status]}"
    if call.is_running:
        outcome = Outcome.UNKNOWN
        content = "The turn ended while the outcome of this call was unknown: it may have taken effect."
    elif call.ends_the_turn and call.decision is not None:
        who = call.decision.name or "a person"
        expired = call.decision.verdict is Verdict.EXPIRED
        outcome, content = (
            Outcome.DENIED,
            "Not run: nobody approved it in time." if expired else f"Denied by {who}.",
        )
    return ToolFinished(iteration=call.iteration, index=call.index, run=call.run, outcome=outcome, content=content)


_WHY = {
    TurnStatus.COMPLETED: "the turn had ended.",
    TurnStatus.DENIED: "a call of the same answer was denied, which ended the turn.",
    TurnStatus.STOPPED_BY_USER: "the person stopped the turn.",
    TurnStatus.TIMEOUT: "the turn reached its limit.",
    TurnStatus.ERROR: "the turn ended with an error.",
    TurnStatus.EMPTY_RESPONSE: "the turn had ended.",
    TurnStatus.AWAITING_APPROVAL: "the turn waits.",
}
