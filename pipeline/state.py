"""The state of a turn: the fold of its records. `apply` is pure and the only writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from pipeline.calls import FAILURES, CallState
from pipeline.counts import errors_counted, repeat_counted, usage_added
from pipeline.messages import (
    AssistantMessage,
    ContextMessage,
    Replay,
    ToolCall,
    ToolMessage,
    TurnMessage,
    wire_id,
)
from pipeline.records import (
    ApprovalAsked,
    AttemptEnded,
    AttemptStarted,
    CardPosted,
    ContextAdded,
    Decided,
    LoopRecord,
    MessageEdited,
    Noticed,
    PassFinished,
    StopRequested,
    ToolFinished,
    ToolsAdmitted,
    ToolStarted,
    TurnEnded,
    TurnResumed,
    TurnStarted,
)
from pipeline.results import NoticeKind, Outcome, PassUsage, Reason, StreamStatus, ToolHistoryEntry


class LoopState(NamedTuple):
    """Everything that the next step depends on. (A tuple: every record makes a new one, four times as fast.)

    `messages` is what the model is shown of this turn after the user's message; `iteration` the number of finished
    passes; `succeeded` names the tools that did; `repeats` says how often each (tool, arguments, result) came since
    something new happened; `failures` are the passes that earlier attempts ended with. `after_text`: people saw text
    before the calls of the newest pass. `muted`: a call behind visible text failed and none has succeeded since,
    `failures_after_text` counts those failures.
    """

    started: TurnStarted
    admitted: ToolsAdmitted | None = None
    resumes: int = 0
    attempts: tuple[AttemptStarted, ...] = ()
    failures: tuple[PassFinished, ...] = ()
    iteration: int = 0
    passes: tuple[PassFinished, ...] = ()
    calls: tuple[CallState, ...] = ()
    messages: tuple[TurnMessage, ...] = ()
    history: tuple[ToolHistoryEntry, ...] = ()
    usage: tuple[PassUsage, ...] = ()
    consecutive_errors: int = 0
    repeats: tuple[tuple[str, int], ...] = ()
    succeeded: frozenset[str] = frozenset()
    contexts: tuple[ContextAdded, ...] = ()
    after_text: bool = False
    muted: bool = False
    failures_after_text: int = 0
    sticker: str = ""
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
    def attempt(self) -> AttemptStarted | None:
        """The attempt that runs, or ran last."""
        return self.attempts[-1] if self.attempts else None

    @property
    def is_cut(self) -> bool:
        """The newest pass broke off at the model's output limit: the next one goes on with its text."""
        return bool(self.passes) and self.passes[-1].is_cut

    @property
    def handles(self) -> dict[str, str]:
        """The short names that the model was given, with the ids they stand for."""
        return dict(pair for added in self.contexts for pair in added.handles)

    @property
    def open_calls(self) -> tuple[CallState, ...]:
        return tuple(call for call in self.calls if call.finished is None)

    @property
    def text(self) -> str:
        """What people saw, pass by pass. A pass that goes on with a cut one continues its text."""
        whole = ""
        cut = False
        for finished in self.passes:
            text = finished.text if cut else finished.text.lstrip()
            text = text if finished.is_cut else text.rstrip()
            whole += text if cut or not whole or not text else f"\n\n{text}"
            cut = finished.is_cut
        return whole.strip()

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
        case MessageEdited():
            return state._replace(started=replace(state.started, text=record.text))
        case ToolsAdmitted():
            return state._replace(admitted=state.admitted or record)
        case TurnResumed():
            return state._replace(resumes=state.resumes + 1)
        case AttemptStarted():
            return _attempt_started(state, record)
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
        case ContextAdded():
            return _context_added(state, record)
        case StopRequested() if state.stop is None or state.stop.reason is Reason.FOLLOW_UP:  # a stop outdoes those
            return state._replace(stop=record)
        case Noticed():
            return state._replace(notices=(*state.notices, record))
        case AttemptEnded():
            return state._replace(ending=state.ending or record)
        case TurnEnded():
            return state._replace(ended=True)
    return state  # a fact that is known already (written again after a conflict)


def _attempt_started(state: LoopState, record: AttemptStarted) -> LoopState:
    """A further attempt takes back the pass that the one before it failed with; finished passes stay."""
    if record.n != len(state.attempts) + 1:
        return state
    fresh = state._replace(attempts=(*state.attempts, record), muted=False, failures_after_text=0, ending=None)
    failed = state.passes[-1] if state.passes else None
    if failed is None or failed.status not in (StreamStatus.ERROR, StreamStatus.TIMEOUT):
        return fresh
    messages = state.messages[:-1] if _is_said(failed) else state.messages
    return fresh._replace(passes=state.passes[:-1], failures=(*state.failures, failed), messages=messages)


def _context_added(state: LoopState, record: ContextAdded) -> LoopState:
    if any((known.iteration, known.index) == (record.iteration, record.index) for known in state.contexts):
        return state
    return state._replace(contexts=(*state.contexts, record), consecutive_errors=0, failures_after_text=0)


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
    if _is_said(record):
        replay = Replay(origin=record.replay_origin, data=record.replay) if record.replay else None
        text, goes_on = record.text or record.hidden, messages[-1] if state.is_cut and messages else None
        if isinstance(goes_on, AssistantMessage) and goes_on.replay is None:
            text, messages = goes_on.text + text, messages[:-1]
        messages = (*messages, AssistantMessage(text=text, calls=tuple(call.call for call in calls), replay=replay))
    return state._replace(
        iteration=state.iteration + 1,
        passes=(*state.passes, record),
        calls=calls,
        messages=messages,
        usage=usage_added(state.usage, record),
        after_text=bool(record.text.strip()) or state.muted,
    )


def _is_said(record: PassFinished) -> bool:
    """Whether this pass is a message that the model is shown."""
    return bool(record.text.strip() or record.hidden.strip() or record.calls or record.replay)


def _tool_finished(state: LoopState, record: ToolFinished) -> LoopState:
    done = state.unfinished(record.iteration, record.index)
    if done is None:
        return state
    is_error, failed = record.outcome is not Outcome.OK, record.outcome in FAILURES
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
    calls = _with(state.calls, done, replace(done, finished=record))
    messages = (*state.messages, result)
    if state.contexts and all(call.finished is not None for call in calls):
        messages += _added(state.contexts, record.iteration)
    succeeded = state.succeeded
    if not is_error and done.call.name not in succeeded:
        succeeded |= {done.call.name}
    return state._replace(
        calls=calls,
        messages=messages,
        history=(*state.history, entry),
        consecutive_errors=errors_counted(state.consecutive_errors, record.outcome),
        succeeded=succeeded,
        repeats=repeat_counted(state.repeats, record.fingerprint),
        tool_response_delivered=state.tool_response_delivered or record.response_delivered,
        muted=(failed or state.muted) and state.after_text and record.outcome is not Outcome.OK,
        failures_after_text=errors_counted(state.failures_after_text, record.outcome) if state.after_text else 0,
        sticker=state.sticker if record.sticker is None else record.sticker,
    )


def _added(contexts: tuple[ContextAdded, ...], iteration: int) -> tuple[ContextMessage, ...]:
    """What the calls of this pass brought beside their results: it comes behind all of these."""
    found = (added for added in contexts if added.iteration == iteration and (added.text or added.images))
    return tuple(ContextMessage(text=added.text, images=added.images) for added in found)
