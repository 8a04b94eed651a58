"""What the twin carries: REST calls and gateway events, with a bare client in the same process.

Half of the work is the client's, so the twin alone is faster than these figures.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bot.preview.server import Twin
from tests.bench.table import Row
from tests.support.raw_bot import RawBot

REQUESTS = 1200
AT_ONCE = 16
EVENTS = 3000
BATCH = 50  # events between two looks at the socket


class _CountingBot(RawBot):
    """Counts what the gateway sends, instead of answering it."""

    def __init__(self, twin: Twin) -> None:
        super().__init__(twin.api_base, twin.gateway_url, twin.token)
        self.count = 0
        self.enough = asyncio.Event()

    async def _read(self) -> None:
        async for _ in self._socket:
            self.count += 1
            if self.count >= EVENTS:
                self.enough.set()


async def measure() -> list[Row]:
    """Calls and events a second; the twin keeps its world on the disk, as in the preview."""
    async with _served() as (twin, bot):
        channel = next(iter(twin.backend.world.channels)).id
        message = await bot.post(channel, "hello")
        one = await _edits_a_second(bot, message, at_once=1)
        many = await _edits_a_second(bot, message, at_once=AT_ONCE)
    async with _served() as (twin, bot):
        channel = next(iter(twin.backend.world.channels)).id
        events = await _events_a_second(twin, bot, await bot.post(channel, "hello"))
    what = "edits a second over REST"
    return [
        Row(part="twin", what=f"{what}, one after the other", value=f"{one:,.0f}"),
        Row(part="twin", what=f"{what}, {AT_ONCE} at once", value=f"{many:,.0f}", ratio=f"{many / one:.2f} of one"),
        Row(part="twin", what="gateway events a second", value=f"{events:,.0f}"),
    ]


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[Twin, _CountingBot]]:
    with TemporaryDirectory() as folder:
        twin = Twin(data_dir=Path(folder), rate_limits=False)
        await twin.start()
        try:
            async with _CountingBot(twin) as bot:
                yield twin, bot
        finally:
            await twin.close()


async def _edits_a_second(bot: RawBot, message: dict[str, Any], *, at_once: int) -> float:
    async def some() -> None:
        for number in range(REQUESTS // at_once):
            await bot.edit(message, content=f"hello {number}")

    begun = time.perf_counter()
    await asyncio.gather(*(some() for _ in range(at_once)))
    return REQUESTS // at_once * at_once / (time.perf_counter() - begun)


async def _events_a_second(twin: Twin, bot: _CountingBot, message: dict[str, Any]) -> float:
    changed = twin.backend.world.messages.get(message["id"])
    assert changed is not None
    begun, before = time.perf_counter(), bot.count
    for number in range(EVENTS):
        twin.backend.events.message_updated(changed)
        if number % BATCH == 0:
            await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await bot.enough.wait()
    return (EVENTS - before) / (time.perf_counter() - begun)
