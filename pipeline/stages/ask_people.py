"""Stage 02, before a run: the questions to people about calls that must not run by themselves."""

from __future__ import annotations

import structlog

from pipeline.approvals import approval_id
from pipeline.calls import CallState
from pipeline.params import ToolLoopParams
from pipeline.records import ApprovalAsked, Ask, ToolFinished
from pipeline.results import Outcome
from pipeline.rolling_timeout import RollingTimeout
from pipeline.state import LoopState
from tools.base import ToolError
from tools.output import scrub
from tools.schema import parse_arguments

_log = structlog.get_logger()


async def ask_people(
    params: ToolLoopParams, state: LoopState, calls: tuple[CallState, ...], ask: Ask
) -> tuple[ApprovalAsked | ToolFinished, ...]:
    """A question for each of `calls`; for one that is bound to fail, its result instead, and nobody is bothered."""
    return tuple([await _question(params, state, call, ask) for call in calls])


async def _question(
    params: ToolLoopParams, state: LoopState, call: CallState, ask: Ask
) -> ApprovalAsked | ToolFinished:
    tool = params.tool(call.call.name)
    expires = params.now() + params.limits.approval_timeout_s
    seal = preview = ""
    try:
        if tool is not None:
            seal = params.seal(tool, call.call.arguments, expires)
            if tool.preview is not None and ask is Ask.RUN:
                watch = RollingTimeout(first_s=params.limits.tool_timeout_s, settle_s=params.limits.settle_timeout_s)
                async with watch:
                    with params.stop.listening(watch.expire):
                        preview = await tool.preview(parse_arguments(tool, call.call.arguments), params.context)
    except ToolError as error:
        if ask is Ask.RUN:
            return _failed(call, str(error))
    except TimeoutError:
        if params.stop.requested:
            return _failed(call, "the person stopped the turn.", Outcome.NOT_RUN)
        return _failed(call, f"{call.call.name} took too long to show what it would change.")
    except Exception:
        _log.exception("preview_failed", tool=call.call.name, turn=state.turn)
        return _failed(call, f"{call.call.name} could not show what it would change.")
    return ApprovalAsked(
        approval=approval_id(state.turn, call.iteration, call.index, call.asked),
        iteration=call.iteration,
        index=call.index,
        ask=ask,
        run=call.run,
        seal=seal,
        expires=expires,
        preview=scrub(preview),
    )


def _failed(call: CallState, why: str, outcome: Outcome = Outcome.ERROR) -> ToolFinished:
    return ToolFinished(
        iteration=call.iteration, index=call.index, run=0, outcome=outcome, content=scrub(f"Not run: {why}")
    )
