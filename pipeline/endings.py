"""The rules that end a turn, and the records that write an end down.

They are asked before each step, not after a tool, so a crash between a result and its consequence loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from pipeline.calls import CallState
from pipeline.params import LoopLimits, ToolLoopParams
from pipeline.pretool_text import ends_with_text
from pipeline.provider import Finish
from pipeline.records import AttemptEnded, LoopRecord, Noticed, PassFinished, ToolFinished, Verdict
from pipeline.results import NoticeKind, Outcome, Reason, StreamStatus, ToolHistoryEntry, TurnStatus, is_retryable
from pipeline.state import LoopState, apply

MAX_RESUMES = 5
FAILURE_CHARS = 600  # of what is told about each model that failed


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
        return _stopped(state, state.stop.reason)
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
        detail = f"{_repeated(state)}, {most} times with the same result"
        return Ending(status=TurnStatus.ERROR, reason=Reason.LOOP_GUARD, notice=NoticeKind.LOOP_GUARD, detail=detail)
    return None


def _repeated(state: LoopState) -> str:
    """The calls that came again and again, each once."""
    cycle = sum(1 for _, count in state.repeats if count > 1)
    calls = dict.fromkeys(f"{one.name} {one.arguments or '{}'}" for one in state.history[-cycle:])
    return " and ".join(calls)


def pass_ending(params: ToolLoopParams, state: LoopState) -> Ending | None:
    """How the turn ends now that no call is open; None when the model shall go on."""
    limits = params.limits
    last = state.passes[-1] if state.passes else None
    if last is not None and last.status is not StreamStatus.FUNCTION_CALL:
        return None if _is_asked_again(params, state, last) else _terminal(state, last)
    if any(call.finished is not None and call.finished.end_turn for call in state.calls):
        return Ending(status=TurnStatus.COMPLETED, reason=Reason.END_TURN)
    if (ending := _ended_by_text(params, state)) is not None:
        return ending
    if state.iteration >= limits.max_iterations:
        return _iteration_limit(limits)
    return None


def _is_asked_again(params: ToolLoopParams, state: LoopState, last: PassFinished) -> bool:
    """Whether the model is asked once more though its answer is over: it was cut, or there was none."""
    if state.iteration >= params.limits.max_iterations:
        return False
    if last.is_cut:
        return not last.hidden and _run_of(state, lambda one: one.is_cut) <= params.limits.max_continuations
    if not _is_empty(last) or _is_said_already(params, state):
        return False
    return _run_of(state, _is_empty) <= params.limits.max_empty_retries


def _is_empty(one: PassFinished) -> bool:
    return one.status is StreamStatus.EMPTY_RESPONSE and one.finish is not Finish.ENDLESS


def _run_of(state: LoopState, fits: Callable[[PassFinished], bool]) -> int:
    """How many of the newest passes in a row fit."""
    return sum(1 for _ in takewhile(fits, reversed(state.passes)))


def _is_said_already(params: ToolLoopParams, state: LoopState) -> bool:
    """Whether an empty pass after tools is an end and no failure: people have an answer, and the last tool brought
    nothing that has to be told."""
    if not state.history or not (state.text or state.tool_response_delivered):
        return False
    last, before = state.passes[-1], next((p for p in reversed(state.passes) if not _is_empty(p)), None)
    if last.finish is Finish.LENGTH or before is None or before.status is not StreamStatus.FUNCTION_CALL:
        return False
    tool = params.tools.get(state.history[-1].name)
    return tool is not None and not tool.requires_follow_up


def _ended_by_text(params: ToolLoopParams, state: LoopState) -> Ending | None:
    """The policy about text before calls (`pretool_text.py`), and NovelAI's: after a few failures behind text, that
    text is the answer."""
    if not state.calls or not state.after_text:
        return None
    traits, limits = params.provider.traits, params.limits
    if traits.hides_retries and state.failures_after_text >= limits.max_failures_after_text:
        detail = _failed(state.history[-1], state.failures_after_text)
        return Ending(
            status=TurnStatus.COMPLETED, reason=Reason.PRETOOL_TEXT, notice=NoticeKind.RETRY_EXHAUSTED, detail=detail
        )
    if not ends_with_text(traits, (params.tools.get(call.call.name) for call in state.calls)):
        return None
    succeeded = all(call.finished is not None and call.finished.outcome is Outcome.OK for call in state.calls)
    restarted = any(added.iteration == state.iteration - 1 for added in state.contexts)
    return Ending(status=TurnStatus.COMPLETED, reason=Reason.PRETOOL_TEXT) if succeeded and not restarted else None


def _iteration_limit(limits: LoopLimits) -> Ending:
    return Ending(
        status=TurnStatus.TIMEOUT,
        reason=Reason.ITERATION_LIMIT,
        notice=NoticeKind.ITERATION_LIMIT,
        detail=str(limits.max_iterations),
    )


def unannounced(state: LoopState) -> Noticed | None:
    """What people have to be told when an error was kept from them and no attempt follows after all."""
    ending = state.ending
    if ending is None or not is_retryable(ending.status, ending.reason) or not state.passes:
        return None
    told = _terminal(state, state.passes[-1])
    return (
        None if told.notice is None or state.noticed(told.notice) else Noticed(notice=told.notice, detail=told.detail)
    )


def close(
    state: LoopState, ending: Ending, falls_back: Callable[[LoopState], bool] = lambda _: False
) -> tuple[LoopRecord, ...]:
    """The records of an end, for one commit: a result for every open call, the notices, the ending.

    People hear nothing of an error that another attempt may make good.
    """
    results = tuple(_unrun(call, ending) for call in state.open_calls)
    end = AttemptEnded(status=ending.status, reason=ending.reason)
    quiet = ending.notice is None or falls_back(apply(state, end))
    notices = [] if quiet or ending.notice is None else [Noticed(notice=ending.notice, detail=ending.detail)]
    if ending.status is TurnStatus.COMPLETED and state.failures and _is_another_model(state):
        notices.append(Noticed(notice=NoticeKind.FALLBACK, detail=_fallback_detail(state)))
    return (*results, *notices, end)


def _is_another_model(state: LoopState) -> bool:
    first, last = state.attempts[0], state.attempts[-1]
    return (first.provider, first.model) != (last.provider, last.model)


def _fallback_detail(state: LoopState) -> str:
    """Who answered, and one line for each model that did not."""
    lines = {f"{one.provider}/{one.model}": " ".join(one.detail.split())[:FAILURE_CHARS] for one in state.failures}
    last = state.attempts[-1]
    return "\n".join([f"{last.provider}/{last.model}", *(f"{name}: {why}" for name, why in lines.items())])


def _terminal(state: LoopState, last: PassFinished) -> Ending:
    match last.status:
        case StreamStatus.COMPLETED if last.hidden:  # what people saw before stands
            return Ending(status=TurnStatus.COMPLETED, reason=Reason.PRETOOL_TEXT)
        case StreamStatus.COMPLETED if last.finish is Finish.REFUSED:
            return Ending(status=TurnStatus.ERROR, reason=Reason.REFUSED, notice=NoticeKind.REFUSED)
        case StreamStatus.COMPLETED if last.finish in (Finish.LENGTH, Finish.ENDLESS):
            return Ending(status=TurnStatus.COMPLETED, reason=Reason.LENGTH, notice=NoticeKind.CUT_AT_LENGTH)
        case StreamStatus.COMPLETED:
            return Ending(status=TurnStatus.COMPLETED, reason=Reason.END)
        case StreamStatus.EMPTY_RESPONSE if state.history and (state.text or state.tool_response_delivered):
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
            return _stopped(state, Reason.PERSON)
        case StreamStatus.FOLLOW_UP_INTERRUPT:
            return _stopped(state, Reason.FOLLOW_UP)
        case StreamStatus.FUNCTION_CALL:
            raise AssertionError("a pass with calls is not terminal")


def _stopped(state: LoopState, reason: Reason) -> Ending:
    match reason:
        case Reason.UNDELIVERABLE if not state.passes:
            return Ending(status=TurnStatus.SKIPPED, reason=Reason.UNREACHABLE)
        case Reason.FOLLOW_UP:
            return Ending(status=TurnStatus.FOLLOW_UP_INTERRUPT, reason=reason)
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
    TurnStatus.FOLLOW_UP_INTERRUPT: "the person wrote on, and their new message comes first.",
    TurnStatus.SKIPPED: "the channel cannot be reached.",
    TurnStatus.TIMEOUT: "the turn reached its limit.",
    TurnStatus.ERROR: "the turn ended with an error.",
    TurnStatus.EMPTY_RESPONSE: "the turn had ended.",
    TurnStatus.AWAITING_APPROVAL: "the turn waits.",
}
