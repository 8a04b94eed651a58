"""The loop. READ THIS FIRST.

A turn is a list of records; `LoopState` is their fold (`state.py`), `next_step` says what it calls for (`steps.py`).
The loop interprets that, stage by stage:

    next_step ──> Stream ────> 01 stream_once ───────> PassFinished
        ▲         AskPeople ─> 02 ask_people ────────> ApprovalAsked      (then it waits, as a row)
        │         RunCall ───> 02 execute_tool_call ─> ToolFinished
        │                        03 enhanced_context_restart ─> ContextAdded (the next pass sees more)
        │         Record ────> (a result or an end that needs no act)
        │         Wait, Finished ────────────────────> 04 build_result
        └──────── every fact is committed together with what announces the next act, before that act

A restart, a click and a stop enter the same way: as records. So there is no second path to recover by.
"""

from __future__ import annotations

from functools import partial

from pipeline.params import ToolLoopParams
from pipeline.records import LoopRecord
from pipeline.results import GenerationTurnResult
from pipeline.stages.ask_people import ask_people
from pipeline.stages.build_result import build_result
from pipeline.stages.execute_tool_call import execute_tool_call
from pipeline.stages.stream_once import stream_once
from pipeline.steps import AskPeople, Finished, Record, RunCall, Stream, Wait, next_step
from pipeline.turn_log import TurnLog


async def run_tool_loop(params: ToolLoopParams, log: TurnLog) -> GenerationTurnResult:
    """Advance the turn in `log` until it ends or only a person can move it.

    May be called at any time, again after a crash too: the journal says where the turn stands. Raises what a provider
    or the journal raises unexpectedly; then the turn is still open.
    """
    facts: tuple[LoopRecord, ...] = ()
    while True:
        step = await log.advance(facts, partial(next_step, params))
        match step:
            case Stream():
                facts = (await stream_once(params, log.state),)
            case AskPeople(calls=calls, ask=ask):
                facts = await ask_people(params, log.state, calls, ask)
            case RunCall():
                facts = await execute_tool_call(params, log.state, step)
            case Record():
                facts = ()
            case Wait(reason=reason):
                return build_result(log.state, reason)
            case Finished():
                return build_result(log.state)
