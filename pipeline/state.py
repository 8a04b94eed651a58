"""The state of a turn: the fold of its records. `apply` is pure and the only writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.messages import AssistantMessage, Message, Replay, ToolCall, ToolMessage, Usage, wire_id
from pipeline.records import (
    ApprovalAsked,
    Ask,
    AttemptEnded,
    AttemptStarted,
    CardPosted,
    Decided,
    LoopRecord,
    Noticed,
    PassFinished,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    Verdict,
)
from pipeline.results import NoticeKind, Outcome, PassUsage, ToolHistoryEntry

FAILURES = frozenset({Outcome.ERROR, Outcome.UNKNOWN})
REPEATS_KEPT = 16  # the longest cycle of calls that the loop guard can see


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


class LoopState(NamedTuple):
    """Everything that the next step depends on. (A tuple: every record makes a new one, four times as fast.)

    `messages` is what the model is shown of this turn after the user's message; `iteration` the number of finished
    passes; `repeats` how often each (tool, arguments, result) came since something new happened.
    """

    started: TurnStarted
    resumes: int = 0
    attempt: AttemptStarted | None = None
    iteration: int = 0
    passes: tuple[PassFinished, ...] = ()
    calls: tuple[CallState, ...] = ()
    messages: tuple[Message, ...] = ()
    history: tuple[ToolHistoryEntry, ...] = ()
    usage: tuple[PassUsage, ...] = ()
    consecutive_errors: int = 0
    repeats: tuple[tuple[str, int], ...] = ()
    notices: tuple[Noticed, ...] = ()
    tool_response_delivered: bool = False
    decisions: tuple[Decided, ...] = ()
    stop: StopRequested | None = None
    ending: AttemptEnded | None = None
    ended: bool = False

    @property
    def turn(self) -> str:
        return self.started.turn

    @property
    def open_calls(self) -> tuple[CallState, ...]:
        return tuple(call for call in self.calls if call.finished is None)

    @property
    def text(self) -> str:
        """What people saw, pass by pass."""
        return "\n\n".join(text for finished in self.passes if (text := finished.text.strip()))

    def unfinished(self, iteration: int, index: int) -> CallState | None:
        """The call with that key, while it has no result."""
        return next((c for c in self.open_calls if (c.iteration, c.index) == (iteration, index)), None)

    def noticed(self, kind: NoticeKind) -> bool:
        return any(notice.notice is kind for notice in self.notices)

    def question(self, approval: str) -> CallState | None:
        """The call that the open or decided question `approval` is about."""
        return next((c for c in self.calls if c.question is not None and c.question.approval == approval), None)


def fold(records: Iterable[LoopRecord], state: LoopState | None = None) -> LoopState:
    """Apply `records` in order. Raises ValueError when the first of a turn is not `TurnStarted`."""
    for record in records:
        state = apply(state, record)
    if state is None:
        raise ValueError("a turn begins with TurnStarted")
    return state


def apply(state: LoopState | None, record: LoopRecord) -> LoopState:
    """The state after `record`. Pure: no limit, clock or environment is read; what those cause is a record."""
    if state is None:
        if not isinstance(record, TurnStarted):
            raise ValueError("a turn begins with TurnStarted")
        return LoopState(started=record)
    match record:
        case TurnResumed():
            return state._replace(resumes=state.resumes + 1)
        case AttemptStarted():
            return state._replace(attempt=record)
        case PassFinished() if record.iteration == state.iteration:
            return _pass_finished(state, record)
        case ApprovalAsked(iteration=iteration, index=index):
            return _call_changed(state, iteration, index, lambda call: _asked(call, record))
        case CardPosted(approval=approval, message=message):
            return _question_changed(state, approval, lambda call: replace(call, card=message))
        case Decided(approval=approval):
            known = state._replace(decisions=(*state.decisions, record))
            return _question_changed(known, approval, lambda call: replace(call, decision=call.decision or record))
        case ToolStarted(iteration=iteration, index=index, run=run):
            return _call_changed(state, iteration, index, lambda call: replace(call, run=max(call.run, run)))
        case ToolFinished():
            return _tool_finished(state, record)
        case StopRequested():
            return state._replace(stop=state.stop or record)
        case Noticed():
            return state._replace(notices=(*state.notices, record))
        case AttemptEnded():
            return state._replace(ending=state.ending or record)
        case TurnEnded():
            return state._replace(ended=True)
    return state  # a fact that is known already (written again after a conflict)


def _asked(call: CallState, question: ApprovalAsked) -> CallState:
    if call.question is not None and call.question.approval == question.approval:
        return call
    return replace(call, asked=call.asked + 1, question=question, card="", decision=None)


def _call_changed(state: LoopState, iteration: int, index: int, change: Callable[[CallState], CallState]) -> LoopState:
    """`state` with one unfinished call of the newest pass changed; a finished one stays as it is."""
    call = state.unfinished(iteration, index)
    return state if call is None else state._replace(calls=_with(state.calls, call, change(call)))


def _with(calls: tuple[CallState, ...], old: CallState, new: CallState) -> tuple[CallState, ...]:
    return tuple(new if call is old else call for call in calls)


def _question_changed(state: LoopState, approval: str, change: Callable[[CallState], CallState]) -> LoopState:
    call = state.question(approval)
    return state if call is None else _call_changed(state, call.iteration, call.index, change)


def _pass_finished(state: LoopState, record: PassFinished) -> LoopState:
    calls = tuple(
        CallState(
            iteration=record.iteration,
            index=index,
            call=ToolCall(id=wire_id(state.turn, record.iteration, index), name=name, arguments=arguments),
        )
        for index, (name, arguments) in enumerate(record.calls)
    )
    messages = state.messages
    if record.text.strip() or calls or record.replay:
        replay = Replay(origin=record.replay_origin, data=record.replay) if record.replay else None
        said = AssistantMessage(text=record.text, calls=tuple(call.call for call in calls), replay=replay)
        messages = (*messages, said)
    return state._replace(
        iteration=state.iteration + 1,
        passes=(*state.passes, record),
        calls=calls,
        messages=messages,
        usage=_usage_added(state.usage, record),
    )


def _usage_added(totals: tuple[PassUsage, ...], record: PassFinished) -> tuple[PassUsage, ...]:
    spent = Usage(
        input_tokens=record.input_tokens,
        output_tokens=record.output_tokens,
        cache_read_tokens=record.cache_read_tokens,
        cache_write_tokens=record.cache_write_tokens,
    )
    if spent == Usage():
        return totals
    same = next((t for t in totals if (t.provider, t.model) == (record.provider, record.model)), None)
    if same is None:
        return (*totals, PassUsage(provider=record.provider, model=record.model, usage=spent))
    return tuple(replace(t, usage=t.usage + spent) if t is same else t for t in totals)


def _tool_finished(state: LoopState, record: ToolFinished) -> LoopState:
    done = state.unfinished(record.iteration, record.index)
    if done is None:
        return state
    is_error = record.outcome is not Outcome.OK
    result = ToolMessage(call_id=done.call.id, name=done.call.name, content=record.content, is_error=is_error)
    entry = ToolHistoryEntry(
        iteration=record.iteration,
        index=record.index,
        name=done.call.name,
        arguments=done.call.arguments,
        outcome=record.outcome,
        content=record.content,
        duration_ms=record.duration_ms,
        pre_tool_text=state.passes[-1].text,
    )
    return state._replace(
        calls=_with(state.calls, done, replace(done, finished=record)),
        messages=(*state.messages, result),
        history=(*state.history, entry),
        consecutive_errors=_errors_counted(state.consecutive_errors, record.outcome),
        repeats=_repeat_counted(state.repeats, record.fingerprint),
        tool_response_delivered=state.tool_response_delivered or record.response_delivered,
    )


def _errors_counted(count: int, outcome: Outcome) -> int:
    """Failures count up, a success resets; a denial or a call that never ran says nothing about the tools."""
    if outcome in FAILURES:
        return count + 1
    return 0 if outcome is Outcome.OK else count


def _repeat_counted(repeats: tuple[tuple[str, int], ...], fingerprint: str) -> tuple[tuple[str, int], ...]:
    """Counts by fingerprint since the last call that brought something new: that one starts them afresh."""
    if not fingerprint:
        return repeats
    counts = dict(repeats)
    if fingerprint not in counts:
        fresh = (fingerprint, 1)
        return (fresh,) if any(n > 1 for n in counts.values()) else (*repeats[1 - REPEATS_KEPT :], fresh)
    return tuple((known, n + 1 if known == fingerprint else n) for known, n in repeats)
