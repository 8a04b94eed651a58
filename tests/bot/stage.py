"""The real discord.py client on a twin, with our sink and buttons; the runtime only takes notes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.client import CountersignClient, point_at
from bot.deciders import Deciders
from bot.desk import Desk, DeskParts
from bot.preview.server import Twin
from bot.render.outbox import Outbox
from bot.render.pacer import Pacer
from bot.render.sink import DiscordSink, SinkParts
from pipeline.approvals import Accepted, Actor, Answer, Approvers, DecisionResult
from pipeline.events import LoopEvent
from pipeline.journal import Delivery, OpenTurn
from pipeline.records import CardPosted, LoopRecord, TurnEnded, TurnStarted
from pipeline.results import Reason, TurnStatus
from pipeline.runtime import Submission
from tests.bot.turns import Script
from tests.support.control import ControlClient

WAIT_S = 20.0
APPROVERS = Approvers(allowed=frozenset({"manage_guild"}))


class MemoryDeliveries:
    """The deliveries port in memory."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Delivery] = {}

    async def of_turn(self, turn: str) -> Sequence[Delivery]:
        return [row for row in self.rows.values() if row.turn == turn]

    async def chips(self, emojis: Collection[str]) -> Sequence[Delivery]:
        return [row for row in self.rows.values() if row.slot.startswith("chip:") and row.nonce in emojis]

    async def put(self, delivery: Delivery) -> None:
        self.rows[delivery.turn, delivery.slot] = delivery

    async def drop(self, turn: str, slot: str) -> None:
        self.rows.pop((turn, slot), None)


@dataclass
class NotedRuntime:
    """Notes what the sink and the buttons tell the runtime; a posted card becomes a record, as in the real one."""

    scripts: dict[str, Script] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    answers: list[tuple[str, Answer, Actor]] = field(default_factory=list)
    stops: list[tuple[str, str]] = field(default_factory=list)
    submitted: list[TurnStarted] = field(default_factory=list)
    submission: Submission = Submission.STARTED
    result: DecisionResult | None = None
    hold: asyncio.Event | None = None
    on_answer: Callable[[str, Answer, Actor], None] = lambda *_: None

    def queued(self, channel: str) -> Sequence[OpenTurn]:
        return []

    async def card_posted(self, turn: str, approval: str, message: str) -> None:
        self.scripts[turn].commit(CardPosted(approval=approval, message=message))

    async def card_failed(self, turn: str, approval: str, why: str) -> None:
        self.failed.append((approval, why))

    async def undeliverable(self, turn: str) -> None:
        self.gone.append(turn)

    async def decide(self, approval: str, answer: Answer, actor: Actor) -> DecisionResult:
        self.answers.append((approval, answer, actor))
        self.on_answer(approval, answer, actor)
        if self.hold is not None:
            await self.hold.wait()
        return self.result or Accepted(verdict=answer.verdict)

    async def stop_turn(self, turn: str, *, by: str, name: str) -> bool:
        self.stops.append((turn, by))
        return True

    async def submit(self, started: TurnStarted) -> Submission:
        known = any(one.turn == started.turn for one in self.submitted)
        self.submitted.append(started)
        return Submission.KNOWN if known else self.submission

    async def records(self, turn: str) -> Sequence[tuple[int, LoopRecord | None]]:
        """What the journal holds of a turn."""
        script = self.scripts.get(turn)
        return list(enumerate(script.records, start=1)) if script is not None else []


class Stage:
    """A channel of the twin, a bot in it, and hand-written turns."""

    def __init__(self, twin: Twin, control: ControlClient, folder: Path) -> None:
        self.twin = twin
        self.control = control
        self.folder = folder
        self.now = 1_700_000_000.0
        self.admits = True
        self.deliveries = MemoryDeliveries()
        self.runtime = NotedRuntime()
        self.client: CountersignClient
        self.sink: DiscordSink
        self._serving: asyncio.Task[None]

    async def open(self, max_reply_messages: int = 5, pacer: Pacer | None = None) -> None:
        """Start the bot; after `kill`, start it again."""
        point_at(self.twin.api_base, self.twin.gateway_url)
        self.client = CountersignClient(commands_file=self.folder / "commands", guild_ready_timeout=0.05)
        parts = SinkParts(
            outbox=Outbox(self.client),
            pacer=pacer or Pacer(),
            deliveries=self.deliveries,
            deciders=Deciders(APPROVERS, lambda _: None).words,
            refusal=Deciders(APPROVERS, lambda _: None).refusal,
            max_reply_messages=max_reply_messages,
            max_iterations=100,
            now=self._now,
        )
        self.sink = DiscordSink(parts)
        self.sink.bind(self.runtime)
        desk = Desk(
            DeskParts(
                runtime=self.runtime,
                approvers=APPROVERS,
                question=self.sink.question,
                deciders=Deciders(APPROVERS, lambda _: None).words,
                records=self.runtime.records,
                admits=lambda _: self.admits,
                now=self._now,
            )
        )
        self.client.bind(desk=desk, sink=self.sink, cogs=())
        self._serving = asyncio.create_task(self.client.serve(self.twin.token))
        ready = asyncio.create_task(self.client.wait_until_ready())
        await asyncio.wait([ready, self._serving], return_when=asyncio.FIRST_COMPLETED, timeout=WAIT_S)
        assert ready.done(), "the bot did not come up"

    async def close(self) -> None:
        await self.sink.close()
        await self.client.close()
        await asyncio.gather(self._serving, return_exceptions=True)

    async def ask(self, content: str = "hello", *, author: str = "alice", channel: str = "general") -> Script:
        """A person writes, and a turn begins."""
        return await self.begin(await self.control.say(channel, author, content))

    async def begin(self, message: dict[str, Any]) -> Script:
        """The turn of a message begins."""
        start = TurnStarted(
            turn=message["id"],
            channel=message["channel_id"],
            guild=message.get("guild_id") or await self.guild(),
            user=message["author"]["id"],
            author=message["author"]["username"],
            text=message["content"],
            at=self._now(),
        )
        script = Script(self.emit, start)
        self.runtime.scripts[script.turn] = script
        return script

    def emit(self, event: LoopEvent) -> None:
        self.sink.emit(event)

    async def guild(self) -> str:
        world = await self.control.world()
        return str(world["guilds"][0]["id"])

    async def finish(self, script: Script) -> None:
        """Deliver the turn and end it."""
        async with asyncio.timeout(WAIT_S):
            await self.sink.settle(script.turn)
        script.commit(TurnEnded(status=TurnStatus.COMPLETED, reason=Reason.END))

    async def settled(self, script: Script) -> None:
        async with asyncio.timeout(WAIT_S):
            await self.sink.settle(script.turn)

    async def replies(self, channel: str = "general", viewer: str = "alice") -> list[dict[str, Any]]:
        """The bot's messages, oldest first."""
        shown = await self.control.messages(channel, viewer)
        return [message for message in shown if message["author"].get("bot")]

    async def contents(self) -> list[str]:
        return [message["content"] for message in await self.replies()]

    def _now(self) -> float:
        return self.now


@asynccontextmanager
async def staged(twin: Twin, folder: Path, pacer: Pacer | None = None) -> AsyncIterator[Stage]:
    """A bot on `twin`, closed at the end."""
    async with ControlClient(twin.url) as control:
        stage = Stage(twin, control, folder)
        await stage.open(pacer=pacer)
        try:
            yield stage
        finally:
            await stage.close()
