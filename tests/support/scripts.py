"""A provider that plays a script in this process, tools that count their runs, and a loop wired round them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from pipeline.errors import ProviderError
from pipeline.events import EventSink, LoopEvent, NullSink
from pipeline.journal import Blobs
from pipeline.messages import SystemMessage, Usage
from pipeline.params import LoopLimits, ToolLoopParams, definitions_of
from pipeline.pictures import Pictures
from pipeline.policy import ToolPolicies
from pipeline.provider import (
    CallRequest,
    Finish,
    PassEnded,
    ProviderRequest,
    ProviderTraits,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from pipeline.records import TurnStarted
from pipeline.stop import StopSignal
from tests.support.memory_journal import MemoryJournal
from tools.base import ContextRestart, Tool, ToolContext, ToolError, ToolResult, define_tool
from tools.registry import ToolRegistry
from tools.stash import ContextStash

NOW = 1_700_000_000.0


@dataclass(frozen=True, kw_only=True)
class Say:
    """One pass of a script."""

    text: Sequence[str] = ()
    thinking: Sequence[str] = ()
    calls: Sequence[tuple[str, str]] = ()
    finish: Finish = Finish.END
    usage: Usage | None = None
    error: ProviderError | None = None
    hang: asyncio.Event | None = None
    without_end: bool = False


@dataclass(kw_only=True)
class ScriptedModel:
    """Plays `passes` by the number of answers that the request shows, so a repeated pass repeats its script."""

    passes: Callable[[int], Say]
    name: str = "scripted"
    model: str = "script-1"
    traits: ProviderTraits = field(default_factory=ProviderTraits)
    requests: list[ProviderRequest] = field(default_factory=list)
    closed: int = 0

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent]:
        self.requests.append(request)
        say = self.passes(len(self.requests) - 1)
        try:
            for text in say.thinking:
                yield ThinkingDelta(text=text)
            for text in say.text:
                yield TextDelta(text=text)
            if say.hang is not None:
                await say.hang.wait()
            if say.error is not None:
                raise say.error
            if say.usage is not None:
                yield UsageReported(usage=say.usage)
            if not say.without_end:
                calls = tuple(CallRequest(name=name, arguments=arguments) for name, arguments in say.calls)
                yield PassEnded(finish=say.finish, calls=calls, model=self.model)
        finally:
            self.closed += 1


def script(*passes: Say) -> ScriptedModel:
    """A model that plays `passes` in order, the last one again and again."""
    return ScriptedModel(passes=lambda n: passes[min(n, len(passes) - 1)])


class Text(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str = Field(default="", description="Any text.")


@dataclass(kw_only=True)
class Workbench:
    """Tools with known behaviour, and every run they made (name, text)."""

    runs: list[tuple[str, str]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    handles: dict[str, str] = field(default_factory=dict)
    restart: ContextRestart = field(default_factory=lambda: ContextRestart(kind="image"))
    started: asyncio.Event = field(default_factory=asyncio.Event)

    def registry(self) -> ToolRegistry:
        return ToolRegistry(self._tools())

    def _tools(self) -> list[Tool[Text]]:
        return [
            self._tool("echo", self._echo),
            self._tool("note", self._echo, idempotent=True),
            self._tool("write", self._echo, needs_approval=True),
            self._tool("fail", self._fail),
            self._tool("hang", self._hang),
            self._tool("finish", self._finish),
            self._tool("post", self._post, requires_follow_up=False),
            self._tool("remember", self._echo, requires_follow_up=False, is_silent=True, once_a_turn=True),
            self._tool("look", self._look),
            self._tool("view_picture", self._look, needs_sight=True),
            self._tool("look_once", self._look, once_a_turn=True),
            self._tool("sticker", self._sticker),
            self._tool("resolve", lambda _, text: ToolResult(content=self.handles.get(text, text))),
        ]

    def _tool(self, name: str, act: Callable[[str, str], object], **traits: bool) -> Tool[Text]:
        async def run(arguments: Text, context: ToolContext) -> ToolResult:
            self.runs.append((name, arguments.text))
            self.handles = dict(context.handles)
            result = act(name, arguments.text)
            if asyncio.iscoroutine(result):
                result = await result
            assert isinstance(result, ToolResult)
            return result

        return define_tool(name=name, description=f"{name}.", arguments=Text, run=run, **traits)  # type: ignore[arg-type]

    def _echo(self, name: str, text: str) -> ToolResult:
        return ToolResult(content=f"{name}: {text}")

    def _fail(self, name: str, text: str) -> ToolResult:
        raise ToolError(f"cannot {text or name}")

    async def _hang(self, name: str, text: str) -> ToolResult:
        self.started.set()
        await self.gate.wait()
        return ToolResult(content="came through")

    def _post(self, name: str, text: str) -> ToolResult:
        return ToolResult(content="posted", response_delivered=True)

    def _look(self, name: str, text: str) -> ToolResult:
        return ToolResult(content="it follows", restart=self.restart)

    def _sticker(self, name: str, text: str) -> ToolResult:
        return ToolResult(content="chosen" if text else "no such sticker", is_error=not text, sticker=text)

    def _finish(self, name: str, text: str) -> ToolResult:
        return ToolResult(content="posted", end_turn=True, response_delivered=True)


@dataclass(kw_only=True)
class Recorder:
    """A sink that keeps every event."""

    events: list[LoopEvent] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)

    def emit(self, event: LoopEvent) -> None:
        self.events.append(event)

    async def settle(self, turn: str) -> None:
        self.settled.append(turn)


def started(turn: str = "1", *, text: str = "hello", user: str = "100", channel: str = "10") -> TurnStarted:
    return TurnStarted(turn=turn, channel=channel, guild="1", user=user, author="alice", text=text, at=NOW)


def params(
    model: ScriptedModel,
    tools: ToolRegistry,
    *,
    limits: LoopLimits | None = None,
    policies: ToolPolicies | None = None,
    sink: EventSink | None = None,
    stop: StopSignal | None = None,
    now: Callable[[], float] = lambda: NOW,
    blobs: Blobs | None = None,
) -> ToolLoopParams:
    limits = limits or LoopLimits(max_iterations=100, empty_retry_delay_s=0)
    policies = policies or ToolPolicies()
    context = ToolContext(
        scope=None,
        turn="1",
        user_id="100",
        channel_id="10",
        guild_id="1",
        now=now,
        max_result_bytes=limits.tool_result_max_bytes,
    )
    return ToolLoopParams(
        provider=model,
        model=model.model,
        prefix=(SystemMessage(text="system"),),
        tools=tools,
        definitions=definitions_of(tools, policies),
        policies=policies,
        context=context,
        limits=limits,
        stop=stop or StopSignal(),
        sink=sink or NullSink(),
        now=now,
        pictures=Pictures(blobs or MemoryJournal()),
        stash=ContextStash(ttl_s=300, max_entries=16, now=now),
    )
