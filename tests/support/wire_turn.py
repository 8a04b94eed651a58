"""One turn over the real wire: the real adapters against scripted servers on loopback, a real SQLite file.

async with wire_turn() as turn:
    turn.server.script([Pass(calls=[("echo", '{"text": "hi"}')]), Pass(text=["done"])])
    result = await turn.run()
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from pydantic import SecretStr

from pipeline.events import Committed, TextArrived
from pipeline.keys import KeyRest
from pipeline.messages import Message
from pipeline.params import LoopLimits
from pipeline.policy import ToolPolicies
from pipeline.provider import Provider
from pipeline.providers import Catalog, ProviderConfig, build, http_client
from pipeline.records import LoopRecord, Noticed, StopRequested
from pipeline.results import GenerationTurnResult, NoticeKind, Reason
from pipeline.state import LoopState
from pipeline.stop import StopSignal
from pipeline.stores.engine import open_store
from pipeline.stores.store import Store
from pipeline.turn import ToolAdmission, TurnDeps, run_generation_turn
from pipeline.turn_log import TurnLog
from tests.support.minds import Asked, read
from tests.support.provider_server import ScriptedProvider
from tests.support.scripts import NOW, Recorder, Workbench, started
from tools.stash import ContextStash

WAIT_S = 20.0
LIMITS = LoopLimits(max_iterations=100)


@dataclass(kw_only=True)
class WireTurn:
    """A turn and everything round it. `servers` are in the order of the chain."""

    store: Store
    servers: Sequence[ScriptedProvider]
    providers: Sequence[Provider]
    bench: Workbench = field(default_factory=Workbench)
    sink: Recorder = field(default_factory=Recorder)
    stop: StopSignal = field(default_factory=StopSignal)
    limits: LoopLimits = LIMITS
    policies: ToolPolicies = field(default_factory=ToolPolicies)
    admission: ToolAdmission | None = None
    offset: float = 0.0
    chain: Sequence[int] = ()
    keys: KeyRest = field(init=False)
    stash: ContextStash = field(init=False)
    turn: str = "1"
    _log: TurnLog | None = None

    def __post_init__(self) -> None:
        self.keys = KeyRest(now=self.now)
        self.stash = ContextStash(ttl_s=300, max_entries=16, now=self.now)

    def now(self) -> float:
        return NOW + self.offset

    @property
    def server(self) -> ScriptedProvider:
        return self.servers[0]

    def deps(self) -> TurnDeps:
        chain = [(self.providers[n].name, self.providers[n].model) for n in self.chain or range(len(self.providers))]
        return TurnDeps(
            bot_name="Countersign",
            journal=self.store.journal,
            conversations=self.store.conversations,
            sink=self.sink,
            catalog=Catalog(self.providers, chain),
            tools=self.bench.registry(),
            policies=self.policies,
            limits=self.limits,
            conversation_max_bytes=200_000,
            project_of=lambda _: None,
            keys=self.keys,
            stash=self.stash,
            now=self.now,
            admission=self.admission,
        )

    async def log(self) -> TurnLog:
        if self._log is None:
            await self.store.journal.create(started(self.turn, channel=self.turn), images=(), queued=False)
            self._log = await TurnLog.load(self.store.journal, self.sink, self.turn)
        return self._log

    async def run(self) -> GenerationTurnResult:
        """Advance the turn until it has ended or waits for people."""
        async with asyncio.timeout(WAIT_S):
            return await run_generation_turn(self.deps(), await self.log(), self.stop)

    async def request_stop(self, reason: Reason = Reason.PERSON) -> None:
        """What the runtime does when a person stops the turn or writes on."""
        await (await self.log()).commit(StopRequested(reason=reason, by="100", name="alice"))
        self.stop.request(follow_up=reason is Reason.FOLLOW_UP)

    def crash(self) -> None:
        """Forget everything but the database."""
        self._log, self.stop, self.sink = None, StopSignal(), Recorder()

    async def again(self) -> GenerationTurnResult:
        """Take the turn up from the database, as a start does."""
        self.crash()
        self._log = await TurnLog.load(self.store.journal, self.sink, self.turn)
        return await self.run()

    @property
    def state(self) -> LoopState:
        assert self._log is not None
        return self._log.state

    @property
    def records(self) -> list[LoopRecord]:
        return [event.record for event in self.sink.events if isinstance(event, Committed)]

    @property
    def notices(self) -> list[NoticeKind]:
        return [record.notice for record in self.records if isinstance(record, Noticed)]

    @property
    def streamed(self) -> str:
        """All text that was handed out to be shown, in order."""
        return "".join(event.text for event in self.sink.events if isinstance(event, TextArrived))

    def asked(self, server: int = 0) -> list[Asked]:
        """What the requests to a server said."""
        return [read(self.servers[server].kind, body) for body in self.servers[server].requests]

    def wire(self, n: int, server: int = 0) -> list[dict[str, Any]]:
        """The messages of one request as they were sent."""
        messages: list[dict[str, Any]] = self.servers[server].requests[n]["messages"]
        return messages

    def results(self) -> list[str]:
        return [entry.content for entry in self.state.history]

    async def transcript(self) -> Sequence[Message]:
        turns = await self.store.conversations.turns(self.turn, 1_000_000)
        return turns[-1] if turns else ()

    def with_traits(self, **traits: bool) -> None:
        """Give the first provider other habits: they are data."""
        provider: Any = self.providers[0]
        provider.traits = replace(provider.traits, **traits)


@asynccontextmanager
async def wire_turn(
    *kinds: str, keys: Sequence[int] = (), limits: LoopLimits = LIMITS, chain: Sequence[int] = ()
) -> AsyncIterator[WireTurn]:
    """A turn with a scripted server for each of `kinds` (one OpenAI-compatible as a rule); `keys` says how many keys
    each provider has, `chain` in which order they are asked (one may come twice)."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        store = await stack.enter_async_context(open_store(f"sqlite:///{folder}/db.sqlite", clock=time.time))
        client: httpx.AsyncClient = await stack.enter_async_context(http_client())
        servers = [await stack.enter_async_context(ScriptedProvider(kind=kind)) for kind in kinds or ("openai_compat",)]
        counts = [*keys, *[1] * len(servers)]
        providers = [
            build(
                ProviderConfig(
                    name=f"p{n}",
                    kind=server.kind,
                    base_url=server.base_url,
                    model=f"m{n}",
                    api_key=SecretStr(f"key-{n}-0"),
                    more_keys=tuple(SecretStr(f"key-{n}-{more}") for more in range(1, counts[n])),
                    retry_attempts=1,
                ),
                client,
            )
            for n, server in enumerate(servers)
        ]
        yield WireTurn(store=store, servers=servers, providers=providers, limits=limits, chain=chain)
