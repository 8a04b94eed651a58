"""What comes next in a turn: pure, so that every step can be tested without running any.

`next_step` reads the state, the limits and the policy. A step carries the records that announce it; they are
committed before anybody acts on the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from pipeline.calls import CallState
from pipeline.endings import close, closed_by_rule, pass_ending
from pipeline.params import ToolLoopParams
from pipeline.provider import Finish
from pipeline.records import ApprovalAsked, Ask, LoopRecord, Noticed, ToolFinished, ToolStarted, Verdict
from pipeline.results import NoticeKind, Outcome, Reason
from pipeline.state import LoopState
from tools.base import Tool, ToolError
from tools.schema import parse_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Ask the provider for the next pass."""

    records: tuple[LoopRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCall:
    """Run `tool` with `arguments`, the validated ones of `call`. Whoever commits `records` at the expected number, and
    nobody else, may."""

    call: CallState
    tool: Tool[Any]
    arguments: BaseModel
    records: tuple[LoopRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPeople:
    """Put a question for each of `calls`."""

    calls: tuple[CallState, ...]
    ask: Ask
    records: tuple[LoopRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Nothing to do but to write `records`: a result that needs no run, or the end."""

    records: tuple[LoopRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Only a person's answer, a stop or the clock can move this turn."""

    reason: Reason
    records: tuple[LoopRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The attempt has ended."""

    records: tuple[LoopRecord, ...] = ()


Step = Stream | RunCall | AskPeople | Record | Wait | Finished


def next_step(params: ToolLoopParams, state: LoopState) -> Step:
    """The first that fits: finished, closed by a rule, a call to settle, the end of the last pass, a new pass."""
    if state.ending is not None:
        return Finished()
    if (ending := closed_by_rule(params.limits, state)) is not None:
        return Record(records=close(state, ending))
    if open_calls := state.open_calls:
        if (unasked := _unasked(params, state)) and not any(call.is_running for call in open_calls):
            return AskPeople(calls=unasked, ask=Ask.RUN)
        return _advance(params, state, open_calls[0])
    if (ending := pass_ending(params, state)) is not None:
        return Record(records=close(state, ending, params.falls_back))
    warn = state.iteration >= params.limits.soft_warn_iteration and not state.noticed(NoticeKind.STILL_WORKING)
    return Stream(records=(Noticed(notice=NoticeKind.STILL_WORKING),) if warn else ())


def _unasked(params: ToolLoopParams, state: LoopState) -> tuple[CallState, ...]:
    """The calls that need a question and have none. Two calls that touch one file are asked about in turn: the
    second would be shown a file that the first is about to change."""
    open_calls = state.open_calls
    if not any(params.asks_first(call.call.name) for call in open_calls):
        return ()
    taken: set[str] = set()
    unasked = []
    for call in open_calls:
        touched = _touched(params, call)
        is_new = call.question is None and call.run == 0 and taken.isdisjoint(touched)
        if is_new and _needs_question(params, state, call):
            unasked.append(call)
        taken |= touched
    return tuple(unasked)


def _needs_question(params: ToolLoopParams, state: LoopState, call: CallState) -> bool:
    return params.asks_first(call.call.name) and isinstance(_run(params, state, call), RunCall)


def _touched(params: ToolLoopParams, call: CallState) -> set[str]:
    tool = params.tool(call.call.name)
    if tool is None:
        return set()
    try:
        return set(tool.touches(parse_arguments(tool, call.call.arguments)))
    except ToolError:
        return set()


def _run(params: ToolLoopParams, state: LoopState, call: CallState) -> RunCall | str:
    """The run of this call; or, when it can never run, why, in words for the model."""
    name = call.call.name
    tool = params.tool(name)
    if tool is None:
        known = params.tools.get(name) is not None
        return f"{name} is switched off by the operator" if known else params.tools.unknown_tool_message(name)
    if (why := params.unavailable(state, tool)) is not None:
        return why
    try:
        arguments = parse_arguments(tool, call.call.arguments)
    except ToolError as error:
        return f"{error}{_TRUNCATED}" if state.passes[-1].finish is Finish.LENGTH else str(error)
    started = ToolStarted(iteration=call.iteration, index=call.index, run=call.run + 1)
    return RunCall(call=call, tool=tool, arguments=arguments, records=(started,))


def _advance(params: ToolLoopParams, state: LoopState, call: CallState) -> Step:
    """The step for the first open call: all others wait behind it."""
    if call.is_running:
        return _after_a_crash(params, state, call)
    if call.question is not None and call.decision is not None:
        return _decided(params, state, call)
    if call.question is not None:
        return Wait(reason=Reason.APPROVAL)
    return _run_or(params, state, call, Outcome.ERROR)


def _decided(params: ToolLoopParams, state: LoopState, call: CallState) -> Step:
    question, decision = call.question, call.decision
    assert question is not None and decision is not None  # noqa: S101, PT018
    match decision.verdict:
        case Verdict.APPROVE:
            holds = _seal_holds(params, call, question)
            return _run_or(params, state, call, Outcome.DENIED) if holds else Record(records=(_drifted(call),))
        case Verdict.DENY_WITH_REASON:
            why = f"Not run: {decision.name} denied this call and says: {decision.note}"
            return Record(records=(_result(call, Outcome.DENIED, why),))
        case Verdict.UNDELIVERABLE:
            return Record(records=(_result(call, Outcome.ERROR, f"Not run: {decision.note}"),))
        case Verdict.DENY | Verdict.EXPIRED | Verdict.SKIP:
            return Record(records=(_result(call, Outcome.DENIED, "Not run: it was not approved."),))


def _seal_holds(params: ToolLoopParams, call: CallState, question: ApprovalAsked) -> bool:
    tool = params.tool(call.call.name)
    try:
        return tool is not None and params.seal(tool, call.call.arguments, question.expires) == question.seal
    except ToolError:
        return False


def _drifted(call: CallState) -> ToolFinished:
    return _result(call, Outcome.DENIED, f"Not run: {_DRIFTED} Ask for it again if it is still needed.")


def _after_a_crash(params: ToolLoopParams, state: LoopState, call: CallState) -> Step:
    """A call that was started and never finished: run it again if that is harmless, else ask, never guess."""
    tool = params.tool(call.call.name)
    if tool is not None and tool.idempotent:
        return _run_or(params, state, call, Outcome.UNKNOWN)
    question, decision = call.question, call.decision
    if question is None or question.ask is not Ask.AGAIN or question.run != call.run:
        return AskPeople(calls=(call,), ask=Ask.AGAIN)
    if decision is None:
        return Wait(reason=Reason.AGAIN)
    if decision.verdict is Verdict.APPROVE:
        run = _run(params, state, call)
        if isinstance(run, RunCall) and _seal_holds(params, call, question):
            return run
        why = _DRIFTED if isinstance(run, RunCall) else run
        return Record(records=(_result(call, Outcome.UNKNOWN, f"{UNKNOWN_OUTCOME} It cannot run again: {why}"),))
    return Record(records=(_result(call, Outcome.UNKNOWN, UNKNOWN_OUTCOME),))


_TRUNCATED = (
    " The provider cut the arguments at its output limit. Nothing ran and nothing changed: send the whole call again,"
    " in smaller pieces if it is long."
)

_DRIFTED = "the tool, its folder or its policy is no longer what was approved."

UNKNOWN_OUTCOME = (
    "The bot was interrupted while this call ran. Whether it took effect is unknown, and it was not run again."
)


def _run_or(params: ToolLoopParams, state: LoopState, call: CallState, outcome: Outcome) -> RunCall | Record:
    """The run of this call, or its result with `outcome` when it can never run."""
    run = _run(params, state, call)
    return run if isinstance(run, RunCall) else Record(records=(_result(call, outcome, run),))


def _result(call: CallState, outcome: Outcome, content: str) -> ToolFinished:
    return ToolFinished(iteration=call.iteration, index=call.index, run=call.run, outcome=outcome, content=content)
