"""The whole bot on a twin, with the real runtime and store; only the model is a script."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.client import CountersignClient, point_at
from bot.deciders import Deciders
from bot.desk import Desk, DeskParts
from bot.exts import Parts, all_cogs
from bot.inbound import Admission
from bot.preview.server import Twin
from bot.render.outbox import Outbox
from bot.render.pacer import Pacer
from bot.render.sink import DiscordSink, SinkParts
from pipeline.approvals import Approvers
from pipeline.cost import total
from pipeline.events import Committed, LoopEvent
from pipeline.keys import KeyRest
from pipeline.params import LoopLimits
from pipeline.policy import ToolPolicies
from pipeline.records import TurnEnded
from pipeline.runtime import ChannelRuntime, RuntimeLimits
from pipeline.stores.engine import open_store
from pipeline.turn import TurnDeps
from tests.support.control import ControlClient
from tests.support.runtimes import OneModel
from tests.support.scripts import ScriptedModel, Workbench
from tools.stash import ContextStash

WAIT_S = 20.0


class WatchedSink:
    """Passes everything on, and says when a turn has ended."""

    def __init__(self, sink: DiscordSink) -> None:
        self._sink = sink
        self._telling: set[asyncio.Task[None]] = set()
        self.ended: set[str] = set()
        self.news = asyncio.Condition()

    def emit(self, event: LoopEvent) -> None:
        self._sink.emit(event)
        if isinstance(event, Committed) and isinstance(event.record, TurnEnded):
            self.ended.add(event.turn)
            self._telling.add(asyncio.create_task(self._tell()))

    async def settle(self, turn: str) -> None:
        await self._sink.settle(turn)

    async def _tell(self) -> None:
        async with self.news:
            self.news.notify_all()


@dataclass(kw_only=True)
class FullBot:
    """A running bot and what a test looks at."""

    control: ControlClient
    client: CountersignClient
    runtime: ChannelRuntime
    sink: WatchedSink
    bench: Workbench
    model: ScriptedModel

    async def replies(self, channel: str = "general", viewer: str = "alice") -> list[dict[str, Any]]:
        shown = await self.control.messages(channel, viewer)
        return [message for message in shown if message["author"].get("bot")]

    async def say(self, content: str, *, author: str = "alice", channel: str = "general") -> dict[str, Any]:
        """A person mentions the bot."""
        return await self.control.say(channel, author, f"<@{self.me}> {content}")

    async def until_reply(self, text: str, channel: str = "general") -> dict[str, Any]:
        """A message of the bot with `text` anywhere in it, once there is one."""

        def fits(message: dict[str, Any]) -> bool:
            return bool(message["author"].get("bot")) and text in str(message)

        return await self.control.until_message(channel, fits, viewer="alice", timeout_s=WAIT_S)

    async def ended(self, count: int) -> None:
        """`count` turns have ended since the start, their transcripts written."""
        async with asyncio.timeout(WAIT_S), self.sink.news:
            await self.sink.news.wait_for(lambda: len(self.sink.ended) >= count)

    @property
    def me(self) -> int:
        assert self.client.user is not None
        return self.client.user.id


@dataclass(kw_only=True)
class Choices:
    """What a test sets up otherwise."""

    approvers: frozenset[str] = frozenset({"manage_guild"})
    admission: Admission = field(default_factory=Admission)
    limits: RuntimeLimits = field(default_factory=RuntimeLimits)
    catch_up_max_age_s: float = 0.0


@asynccontextmanager
async def full_bot(
    twin: Twin, folder: Path, model: ScriptedModel, choices: Choices | None = None
) -> AsyncIterator[FullBot]:
    """The bot, wired as the program wires it; drained and closed at the end."""
    choices = choices or Choices()
    approvers, bench = Approvers(allowed=choices.approvers), Workbench()
    point_at(twin.api_base, twin.gateway_url)
    client = CountersignClient(commands_file=folder / "commands", guild_ready_timeout=0.05)
    deciders = Deciders(approvers, lambda _: None)

    async with (
        ControlClient(twin.url) as control,
        open_store(f"sqlite:///{folder}/db.sqlite", clock=time.time) as store,
    ):
        outbox, pacer = Outbox(client), Pacer()
        parts = SinkParts(
            outbox=outbox,
            pacer=pacer,
            deliveries=store.deliveries,
            deciders=deciders.words,
            refusal=deciders.refusal,
            max_reply_messages=5,
            max_iterations=LoopLimits().max_iterations,
            now=time.time,
        )
        sink = DiscordSink(parts)
        watched = WatchedSink(sink)
        deps = TurnDeps(
            bot_name="Countersign",
            journal=store.journal,
            conversations=store.conversations,
            sink=watched,
            catalog=OneModel(default=model),
            tools=bench.registry(),
            policies=ToolPolicies(),
            limits=LoopLimits(),
            conversation_max_bytes=200_000,
            project_of=lambda _: None,
            keys=KeyRest(now=time.time),
            stash=ContextStash(ttl_s=300, max_entries=16, now=time.time),
            now=time.time,
        )
        runtime = ChannelRuntime(deps, choices.limits, approvers)
        sink.bind(runtime)
        desk = Desk(
            DeskParts(
                runtime=runtime,
                approvers=approvers,
                question=sink.question,
                deciders=deciders.words,
                records=store.journal.load,
                admits=choices.admission.admits,
                now=time.time,
            )
        )
        extensions = Parts(
            client=client,
            runtime=runtime,
            sink=sink,
            desk=desk,
            outbox=outbox,
            pacer=pacer,
            conversations=store.conversations,
            catalog=deps.catalog,
            tools=deps.tools,
            policies=deps.policies,
            admission=choices.admission,
            limits={"BOT_MAX_FUNCTION_CALL_ITERATIONS": "100"},
            price=lambda usages: total(usages, {}),
            now=time.time,
            catch_up_max_age_s=choices.catch_up_max_age_s,
        )
        client.bind(desk=desk, sink=sink, cogs=all_cogs(extensions))
        serving = asyncio.create_task(client.serve(twin.token))
        ready = asyncio.create_task(client.wait_until_ready())
        await asyncio.wait([ready, serving], return_when=asyncio.FIRST_COMPLETED, timeout=WAIT_S)
        assert ready.done(), "the bot did not come up"
        await runtime.resume()
        try:
            yield FullBot(control=control, client=client, runtime=runtime, sink=watched, bench=bench, model=model)
        finally:
            await runtime.drain(0)
            await sink.close()
            await client.close()
            await asyncio.gather(serving, return_exceptions=True)
