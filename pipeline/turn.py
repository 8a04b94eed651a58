"""One turn: its attempt, its context, its loop, its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from pipeline.context import system_message, user_message
from pipeline.conversation import transcript_of, window
from pipeline.endings import Ending, close
from pipeline.errors import StoreError
from pipeline.events import EventSink
from pipeline.journal import Conversations, Journal, TurnOutput
from pipeline.messages import UserMessage
from pipeline.params import LoopLimits, ToolLoopParams, definitions_of
from pipeline.policy import ToolPolicies
from pipeline.provider import Provider, ProviderCatalog
from pipeline.records import AttemptStarted, LoopRecord, TurnEnded
from pipeline.results import GenerationTurnResult, NoticeKind, Reason, TurnStatus
from pipeline.stages.build_result import build_result
from pipeline.state import LoopState
from pipeline.stop import StopSignal
from pipeline.tool_loop import run_tool_loop
from pipeline.turn_log import TurnLog
from tools.base import ToolContext
from tools.registry import ToolRegistry
from tools.scope import ProjectScope

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDeps:
    """What every turn needs. `project_of` finds the folder of a channel's file tools, which is that of its threads too;
    `now` is the wall clock."""

    bot_name: str
    journal: Journal
    conversations: Conversations
    sink: EventSink
    catalog: ProviderCatalog
    tools: ToolRegistry
    policies: ToolPolicies
    limits: LoopLimits
    conversation_max_bytes: int
    project_of: Callable[[str], ProjectScope | None]
    now: Callable[[], float]


async def run_generation_turn(deps: TurnDeps, log: TurnLog, stop: StopSignal) -> GenerationTurnResult:
    """Advance a turn until it has ended, delivery and transcript included, or waits for a person.

    The same call begins a turn and takes it up after a crash. An unexpected error ends the turn with a sentence; only
    an error of the journal itself is raised, and leaves the turn open.
    """
    asked = user_message(log.state.started, await deps.journal.images(log.state.started.images))
    if log.state.ending is None:
        try:
            result = await run_tool_loop(await _params(deps, log, stop, asked), log)
        except StoreError:
            raise
        except Exception:
            _log.exception("turn_interrupted", turn=log.turn)
            await _give_up(log)
            result = build_result(log.state)
        if result.status is TurnStatus.AWAITING_APPROVAL:
            return result
    result = build_result(log.state)
    await deps.sink.settle(log.turn)
    output = TurnOutput(
        channel=log.state.started.channel,
        user=log.state.started.user,
        messages=transcript_of(log.state, asked),
        usage=result.usage,
    )
    ended = TurnEnded(status=result.status, reason=result.reason)
    await log.commit(ended, when=lambda state: not state.ended, output=output)
    return result


async def _give_up(log: TurnLog) -> None:
    detail = "Something went wrong inside the bot. The operator finds the details in its log."
    ending = Ending(status=TurnStatus.ERROR, reason=Reason.INTERRUPTED, notice=NoticeKind.INTERRUPTED, detail=detail)

    def plan(state: LoopState) -> _Close:
        return _Close(records=() if state.ending else close(state, ending))

    await log.advance((), plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Close:
    records: tuple[LoopRecord, ...]


async def _params(deps: TurnDeps, log: TurnLog, stop: StopSignal, asked: UserMessage) -> ToolLoopParams:
    started = log.state.started
    channel = await deps.conversations.channel(started.channel)
    provider, model = await _attempt(deps, log, channel.model)
    scope = deps.project_of(started.parent or started.channel)
    turns = await deps.conversations.turns(started.channel, deps.conversation_max_bytes)
    system = system_message(
        name=deps.bot_name, project="" if scope is None else scope.name, channel_prompt=channel.system
    )
    context = ToolContext(
        scope=scope,
        user_id=started.user,
        channel_id=started.channel,
        guild_id=started.guild or None,
        now=deps.now,
        max_result_bytes=deps.limits.tool_result_max_bytes,
    )
    return ToolLoopParams(
        provider=provider,
        model=model,
        prefix=(system, *window(turns, deps.conversation_max_bytes), asked),
        tools=deps.tools,
        definitions=definitions_of(deps.tools, deps.policies) if provider.traits.has_tools else (),
        policies=deps.policies,
        context=context,
        limits=deps.limits,
        stop=stop,
        sink=deps.sink,
        now=deps.now,
    )


async def _attempt(deps: TurnDeps, log: TurnLog, wanted: str) -> tuple[Provider, str]:
    """The provider and model of this turn: those it began with, else the channel's, else the default."""
    begun = log.state.attempt
    default = deps.catalog.default, deps.catalog.default.model
    found = deps.catalog.find(f"{begun.provider}/{begun.model}" if begun else wanted) if begun or wanted else default
    provider, model = found or default
    if begun is None:
        attempt = AttemptStarted(n=1, provider=provider.name, model=model)
        await log.commit(attempt, when=lambda state: state.attempt is None)
    return provider, model
