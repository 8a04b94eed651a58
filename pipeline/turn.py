"""One turn: its attempt, its context, its loop, its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from pipeline.attempts import Entry, chain_of, next_attempt
from pipeline.context import system_message, user_message
from pipeline.conversation import transcript_of, window
from pipeline.endings import Ending, close, unannounced
from pipeline.errors import StoreError
from pipeline.events import EventSink
from pipeline.journal import ChannelState, Conversations, Journal, TurnOutput
from pipeline.keys import KeyRest
from pipeline.messages import UserMessage
from pipeline.params import LoopLimits, ToolLoopParams, definitions_of
from pipeline.pictures import Pictures
from pipeline.policy import ToolPolicies
from pipeline.provider import Provider, ProviderCatalog
from pipeline.records import AttemptStarted, LoopRecord, ToolsAdmitted, TurnEnded, TurnStarted
from pipeline.results import GenerationTurnResult, NoticeKind, Reason, StreamStatus, TurnStatus
from pipeline.stages.build_result import build_result
from pipeline.state import LoopState
from pipeline.stop import StopSignal
from pipeline.tool_loop import run_tool_loop
from pipeline.turn_log import TurnLog
from tools.base import ToolContext
from tools.registry import ToolRegistry
from tools.scope import ProjectScope
from tools.stash import ContextStash

_log = structlog.get_logger()


class ToolAdmission(Protocol):
    """Deliberate mode: which tools a message calls for."""

    async def admit(self, started: TurnStarted) -> ToolsAdmitted:
        """The tools of a turn that begins."""
        ...

    async def retain(self, state: LoopState) -> None:
        """A turn ended: what it used may be used again soon."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDeps:
    """What every turn needs. `project_of` finds the folder of a channel's file tools, which is that of its threads too;
    `now` is the wall clock, `recall` brings what the bot noted about a channel, `admission` is None outside deliberate
    mode."""

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
    keys: KeyRest
    stash: ContextStash
    now: Callable[[], float]
    recall: Callable[[str], Awaitable[str]] | None = None
    admission: ToolAdmission | None = None


async def run_generation_turn(deps: TurnDeps, log: TurnLog, stop: StopSignal) -> GenerationTurnResult:
    """Advance a turn until it has ended, delivery and transcript included, or waits for a person.

    The same call begins a turn and takes it up after a crash. An unexpected error ends the turn with a sentence; only
    an error of the journal itself is raised, and leaves the turn open.
    """
    if deps.admission is not None and log.state.attempt is None:
        admitted = await deps.admission.admit(log.state.started)
        await log.commit(admitted, when=lambda state: state.admitted is None)
    asked = user_message(log.state.started, await deps.journal.images(log.state.started.images))
    while (attempt := await _attempt(deps, log)) is not None:
        try:
            result = await run_tool_loop(await _params(deps, log, stop, asked, attempt), log)
        except StoreError:
            raise
        except Exception:
            _log.exception("turn_interrupted", turn=log.turn)
            await _give_up(log)
            break
        if result.status is TurnStatus.AWAITING_APPROVAL:
            return result
        _note_health(deps.keys, log.state)
        await deps.sink.settle(log.turn)  # what a failed attempt showed has arrived, so it can be taken back
    if (told := unannounced(log.state)) is not None:
        await log.commit(told, when=lambda state: unannounced(state) is not None)
    result = build_result(log.state)
    await deps.sink.settle(log.turn)
    output = TurnOutput(
        channel=log.state.started.channel,
        user=log.state.started.user,
        messages=transcript_of(log.state, asked),
        usage=result.usage,
    )
    if deps.admission is not None:
        await deps.admission.retain(log.state)
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


async def _params(
    deps: TurnDeps, log: TurnLog, stop: StopSignal, asked: UserMessage, attempt: _Attempt
) -> ToolLoopParams:
    started = log.state.started
    provider, chain = attempt.provider, attempt.chain
    scope = deps.project_of(started.parent or started.channel)
    turns = await deps.conversations.turns(started.channel, deps.conversation_max_bytes)
    memory = await deps.recall(started.channel) if deps.recall is not None else ""
    system = system_message(
        memory=memory,
        name=deps.bot_name,
        project="" if scope is None else scope.name,
        channel_prompt=attempt.channel.system,
    )
    context = ToolContext(
        scope=scope,
        turn=started.reply_to or started.turn,
        user_id=started.user,
        channel_id=started.channel,
        guild_id=started.guild or None,
        now=deps.now,
        max_result_bytes=deps.limits.tool_result_max_bytes,
    )
    return ToolLoopParams(
        provider=provider,
        model=attempt.started.model,
        prefix=(system, *window(turns, deps.conversation_max_bytes), asked),
        tools=deps.tools,
        definitions=definitions_of(deps.tools, deps.policies) if provider.traits.has_tools else (),
        policies=deps.policies,
        context=context,
        limits=deps.limits,
        stop=stop,
        sink=deps.sink,
        now=deps.now,
        pictures=Pictures(deps.journal),
        stash=deps.stash,
        key=attempt.started.key,
        falls_back=lambda state: next_attempt(chain, state, deps.keys) is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """An attempt to be made, or to go on with after a restart."""

    started: AttemptStarted
    provider: Provider
    chain: Sequence[Entry]
    channel: ChannelState


async def _attempt(deps: TurnDeps, log: TurnLog) -> _Attempt | None:
    """The attempt that is under way, or else the next one, begun; None when the turn has ended."""
    state = log.state
    channel = await deps.conversations.channel(state.started.channel)
    chain = chain_of(deps.catalog, channel.model)
    begun = state.attempt if state.ending is None else None
    if begun is None:
        begun = next_attempt(chain, state, deps.keys)
        if begun is None:
            return None
        await log.commit(begun, when=lambda now: len(now.attempts) == begun.n - 1)
    found = deps.catalog.find(f"{begun.provider}/{begun.model}")
    if found is None:  # the operator took it away meanwhile
        found = chain[0].provider, chain[0].model
    return _Attempt(started=begun, provider=found[0], chain=chain, channel=channel)


def _note_health(keys: KeyRest, state: LoopState) -> None:
    """Let the key of an attempt rest that ended with an error of the provider."""
    attempt, last = state.attempt, state.passes[-1] if state.passes else None
    if attempt is None or last is None:
        return
    if last.status is StreamStatus.ERROR:
        keys.failed(attempt.provider, attempt.key, last.failure)
    elif last.status is not StreamStatus.TIMEOUT:
        keys.succeeded(attempt.provider, attempt.key)
