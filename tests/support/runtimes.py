"""A `ChannelRuntime` over a journal in memory and a scripted model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from pipeline.approvals import Actor, Answer, Approvers, DecisionResult
from pipeline.events import Committed, LoopEvent
from pipeline.keys import KeyRest
from pipeline.params import LoopLimits
from pipeline.policy import ToolPolicies
from pipeline.provider import Provider
from pipeline.records import ApprovalAsked, LoopRecord, Verdict
from pipeline.runtime import ChannelRuntime, RuntimeLimits, Submission
from pipeline.turn import TurnDeps
from tests.support.memory_journal import MemoryConversations, MemoryJournal
from tests.support.scripts import NOW, ScriptedModel, Workbench, started
from tools.stash import ContextStash

OWNER = Actor(user="7", name="olga", manage_guild=True)


@dataclass(kw_only=True)
class OneModel:
    """A catalog with one provider."""

    default: Provider

    def find(self, name: str) -> tuple[Provider, str] | None:
        return (self.default, self.default.model) if name.startswith(self.default.name) else None

    @property
    def chain(self) -> list[tuple[Provider, str]]:
        return [(self.default, self.default.model)]

    def choices(self) -> list[str]:
        return [f"{self.default.name}/{self.default.model}"]


class WatchedSink:
    """Keeps records by turn and lets a test wait for one of a kind."""

    def __init__(self) -> None:
        self.records: list[tuple[str, LoopRecord]] = []
        self._changed = asyncio.Condition()
        self._seen: set[tuple[str, int]] = set()

    def emit(self, event: LoopEvent) -> None:
        if isinstance(event, Committed) and (event.turn, event.seq) not in self._seen:
            self._seen.add((event.turn, event.seq))
            self.records.append((event.turn, event.record))

    async def settle(self, turn: str) -> None:
        return None

    def of(self, turn: str, kind: str) -> list[LoopRecord]:
        return [record for known, record in self.records if known == turn and record.kind == kind]


@dataclass(kw_only=True)
class RuntimeInMemory:
    model: ScriptedModel
    bench: Workbench = field(default_factory=Workbench)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    sink: WatchedSink = field(default_factory=WatchedSink)
    limits: RuntimeLimits = field(default_factory=RuntimeLimits)
    loop_limits: LoopLimits = field(default_factory=LoopLimits)
    approvers: frozenset[str] = frozenset({"manage_guild"})
    offset: float = 0.0
    runtime: ChannelRuntime = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Build the runtime anew, as a start of the program does: only the journal is kept."""
        deps = TurnDeps(
            bot_name="Countersign",
            journal=self.journal,
            conversations=MemoryConversations(self.journal),
            sink=self.sink,
            catalog=OneModel(default=self.model),
            tools=self.bench.registry(),
            policies=ToolPolicies(),
            limits=self.loop_limits,
            conversation_max_bytes=200_000,
            project_of=lambda _: None,
            keys=KeyRest(now=lambda: NOW + self.offset),
            stash=ContextStash(ttl_s=300, max_entries=16, now=lambda: NOW + self.offset),
            now=lambda: NOW + self.offset,
        )
        self.runtime = ChannelRuntime(deps, self.limits, Approvers(allowed=self.approvers))

    async def submit(self, turn: str, *, channel: str = "10", user: str = "", text: str = "hello") -> Submission:
        """A person writes; somebody else each time, unless `user` says who (turn 1 is of user 100)."""
        user = user or str(99 + int(turn))
        asked = started(turn, channel=channel, user=user, text=text)
        return await self.runtime.submit(replace(asked, at=NOW + self.offset))

    async def until(self, turn: str, kind: str, count: int = 1) -> None:
        """Return when `count` records of `kind` are committed for `turn`."""
        async with asyncio.timeout(10):
            while len(self.sink.of(turn, kind)) < count:
                await asyncio.sleep(0)

    async def ended(self, *turns: str) -> None:
        for turn in turns:
            await self.until(turn, "turn_ended")

    def approval(self, turn: str, n: int = 0) -> str:
        asked = self.sink.of(turn, "approval_asked")[n]
        assert isinstance(asked, ApprovalAsked)
        return asked.approval

    async def answer(self, turn: str, verdict: Verdict, actor: Actor = OWNER, note: str = "") -> DecisionResult:
        return await self.runtime.decide(self.approval(turn), Answer(verdict=verdict, note=note), actor)
