"""Answers whose deltas leave at set times, and when a person could see them: both on one monotonic clock."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, overload

from bot.preview.server import Twin
from tests.bench.stage import channel_ids
from tests.support.control import ControlClient
from tests.support.provider_server import Frame, Pass, Raw, ScriptedProvider, render

_ASKED = re.compile(r"answer c(\d+)")
_MARK = re.compile(r"\b\d{5}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`deltas` deltas of `chars` characters, one every `every_s` seconds; the first after `first_s`."""

    deltas: int
    chars: int
    every_s: float
    first_s: float = 0.2


class PacedAnswer(Sequence[Frame]):
    """The frames of an answer. Each delta ends in its number; a late one does not delay those behind it."""

    def __init__(self, pace: Pace) -> None:
        words = ("lorem ipsum dolor sit amet " * (pace.chars // 27 + 1))[: pace.chars - 7]
        text = [f"{words} {number:05d} " for number in range(pace.deltas)]
        self._frames = render("openai_compat", Pass(text=text))
        self._pace = pace
        self.sent: list[float] = []
        """When each delta left, in monotonic seconds."""
        self.ended = 0.0

    def __len__(self) -> int:
        return len(self._frames)

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | Sequence[Frame]:
        return self._frames[index]

    def __iter__(self) -> Iterator[Frame]:
        opening, *rest = self._frames
        due = time.monotonic() + self._pace.first_s
        yield opening
        for frame in rest[: self._pace.deltas]:
            if (early := due - time.monotonic()) > 0:
                yield early
            self.sent.append(time.monotonic())
            yield frame
            due += self._pace.every_s
        yield from rest[self._pace.deltas :]
        self.ended = time.monotonic()


@dataclass(slots=True, kw_only=True)
class Watched:
    """One channel: its answer, and which number could be read at which moment (monotonic seconds)."""

    answer: PacedAnswer
    seen: list[tuple[float, int]] = field(default_factory=list)
    whole: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, at: float, content: str) -> None:
        for mark in _MARK.findall(content)[-1:]:
            self.seen.append((at, int(mark)))
            if int(mark) == len(self.answer.sent) - 1 and self.answer.ended:
                self.whole.set()

    @property
    def delays(self) -> list[float]:
        """How long each delta took to be seen, in seconds."""
        found = []
        arrivals = iter(self.seen)
        at, newest = next(arrivals)
        for number, sent in enumerate(self.answer.sent):
            while newest < number:
                at, newest = next(arrivals)
            found.append(at - sent)
        return found

    @property
    def first_delay(self) -> float:
        return self.delays[0]

    @property
    def rest_delay(self) -> float:
        """From the end of the stream to the moment when all of it could be read, at least 0."""
        last = next(at for at, number in self.seen if number == len(self.answer.sent) - 1)
        return max(0.0, last - self.answer.ended)


class Channels:
    """Somebody asks in the channels of a twin; the answers come at `pace`."""

    def __init__(self, twin: Twin, control: ControlClient, server: ScriptedProvider, pace: Pace) -> None:
        self._twin = twin
        self._control = control
        self._pace = pace
        self.by_number: dict[int, Watched] = {}
        self._ids = channel_ids(twin)
        self._by_id: dict[str, Watched] = {}
        server.respond(self._respond)

    async def ask(self, number: int) -> Watched:
        """Ask in channel c<number>."""
        watched = self.by_number[number] = self._by_id[self._ids[number]] = Watched(answer=PacedAnswer(self._pace))
        bot = self._twin.backend.world.bot_id
        await self._control.say(self._ids[number], "alice", f"<@{bot}> answer c{number}")
        return watched

    def requests_of(self, number: int) -> list[tuple[str, str]]:
        """Method and route of the bot's REST calls about channel c<number>."""
        about = f"/channels/{self._ids[number]}/"
        records = self._twin.recorder.since(0)
        return [(record.method, record.route or "") for record in records if record.path.startswith(about)]

    def _respond(self, request: dict[str, Any]) -> Raw:
        asked = [str(message["content"]) for message in request["messages"] if message["role"] == "user"]
        found = _ASKED.findall(asked[-1])
        return Raw(frames=self.by_number[int(found[-1])].answer)

    async def watch(self, events: AsyncIterator[dict[str, Any]]) -> None:
        async for event in events:
            watched = self._by_id.get(event.get("channel_id", ""))
            if watched is not None and event["type"] in ("message_create", "message_update"):
                watched.note(event["t_ms"] / 1000, event["message"]["content"])


@asynccontextmanager
async def watching(twin: Twin, server: ScriptedProvider, pace: Pace) -> AsyncIterator[Channels]:
    """Channels whose messages are looked at while the block runs."""
    async with ControlClient(twin.url) as control, control.events() as events:
        channels = Channels(twin, control, server, pace)
        watcher = asyncio.create_task(channels.watch(events))
        try:
            yield channels
        finally:
            watcher.cancel()


def environment(server: ScriptedProvider) -> dict[str, str]:
    """The settings of a bot that asks `server`."""
    return {
        "PROVIDERS__BENCH__KIND": server.kind,
        "PROVIDERS__BENCH__BASE_URL": server.base_url,
        "PROVIDERS__BENCH__API_KEY": "bench",
        "PROVIDERS__BENCH__MODEL": "scripted-1",
    }
