"""Stage 02: one run of one tool call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from hashlib import blake2b

import orjson

from pipeline.messages import ToolCall
from pipeline.params import ToolLoopParams
from pipeline.records import ContextAdded, ToolFinished
from pipeline.results import Outcome
from pipeline.stages.enhanced_context_restart import enhanced_context_restart
from pipeline.state import LoopState
from pipeline.steps import RunCall
from tools.base import ToolContext, ToolResult
from tools.output import scrub
from tools.registry import run_tool

STOP_SETTLE_S = 0.5  # a stop is done within a second, also inside a tool

NO_MORE_RESTARTS = "\n\n[Nothing was added: this turn has been shown more than enough. Answer with what you have.]"
CANCELLED = "Cancelled: the person stopped the turn while this ran. It may have taken effect."


async def execute_tool_call(
    params: ToolLoopParams, state: LoopState, step: RunCall
) -> tuple[ContextAdded | ToolFinished, ...]:
    """Run the tool and return its one result, behind what else it has the model see.

    The run ends after `tool_timeout_s` or at a stop: its task is cancelled, given a moment to settle, and the result
    says that the action may have taken effect. Never raises for what a tool does; a hard cancel stays one.
    """
    now = asyncio.get_running_loop().time
    began = now()
    call = step.call
    context = replace(params.context, handles=state.handles) if state.contexts else params.context
    outcome, result = await _run(params, step, context)
    content = scrub(result.content)
    fingerprint = fingerprint_of(call.call, content)
    added = None
    if outcome is Outcome.OK and result.restart is not None:
        added = await enhanced_context_restart(params, state, call, result.restart)
        if added is None:
            content += NO_MORE_RESTARTS
    finished = ToolFinished(
        iteration=call.iteration,
        index=call.index,
        run=call.run + 1,
        outcome=outcome,
        content=content + _repeat_warning(params, state, fingerprint),
        duration_ms=round((now() - began) * 1000),
        fingerprint=fingerprint,
        end_turn=result.end_turn,
        response_delivered=result.response_delivered and outcome is Outcome.OK,
        sticker=result.sticker,
    )
    return (finished,) if added is None else (added, finished)


async def _run(params: ToolLoopParams, step: RunCall, context: ToolContext) -> tuple[Outcome, ToolResult]:
    limits, loop = params.limits, asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()  # finished, stopped or out of time: whatever comes first

    def wake(*_: object) -> None:
        if not over.done():
            over.set_result(None)

    task = loop.create_task(run_tool(step.tool, step.arguments, context))
    task.add_done_callback(wake)
    timer = loop.call_later(limits.tool_timeout_s, wake)
    try:
        with params.stop.listening(wake):
            await over
        stopped = params.stop.requested
        if not task.done():
            task.cancel()
            patience = min(limits.settle_timeout_s, STOP_SETTLE_S) if stopped else limits.settle_timeout_s
            await asyncio.wait({task}, timeout=patience)
    finally:
        timer.cancel()
        task.cancel()
    if task.done() and not task.cancelled():
        result = task.result()
        return (Outcome.ERROR if result.is_error else Outcome.OK), result
    if stopped:
        return Outcome.CANCELLED, ToolResult(content=CANCELLED, is_error=True)
    why = f"Timed out: {step.tool.name} did not finish within {limits.tool_timeout_s:g} s. It may have taken effect."
    return Outcome.ERROR, ToolResult(content=why, is_error=True)


def fingerprint_of(call: ToolCall, content: str) -> str:
    """Names a call together with its result; the order of the arguments' keys does not matter."""
    try:
        arguments = orjson.dumps(orjson.loads(call.arguments or "{}"), option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # no JSON, or nested deeper than can be written
        arguments = call.arguments.encode()
    return blake2b(b"\0".join([call.name.encode(), arguments, content.encode()]), digest_size=12).hexdigest()


def _repeat_warning(params: ToolLoopParams, state: LoopState, fingerprint: str) -> str:
    """What the model is told when it makes the same call with the same result again and again."""
    count = dict(state.repeats).get(fingerprint, 0) + 1
    if count < params.limits.max_identical_tool_calls:
        return ""
    left = 2 * params.limits.max_identical_tool_calls - count
    return (
        f"\n\n[This same call has brought this same result {count} times. Do something else, or answer with what "
        f"you have: after {left} more the turn is stopped.]"
    )
