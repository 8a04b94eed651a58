"""How an answer reaches a channel: the program as people start it, real discord.py, twin and model on loopback."""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

from bot.preview.server import Twin
from tests.bench.stage import percentile, running_bot, twin_with
from tests.bench.table import Row
from tests.bench.watching import Channels, Pace, environment, watching
from tests.support.provider_server import ScriptedProvider

FIRSTS = 20
LONG = 3
WAIT_S = 60.0
SHORT_ANSWER = Pace(deltas=8, chars=12, every_s=0.05)
LONG_ANSWER = Pace(deltas=200, chars=20, every_s=0.05)


async def measure() -> list[Row]:
    """First text, REST calls of a long answer, and the wait for its end."""
    with TemporaryDirectory() as name:
        async with (
            twin_with(FIRSTS + LONG) as twin,
            ScriptedProvider() as server,
            running_bot(twin, Path(name), **environment(server)),
        ):
            return await _first_text(twin, server) + await _long_answers(twin, server)


async def _first_text(twin: Twin, server: ScriptedProvider) -> list[Row]:
    """One answer after the other, each in a channel of its own."""
    async with watching(twin, server, SHORT_ANSWER) as channels:
        for number in range(FIRSTS):
            await _until_whole(channels, number)
        delays = [watched.first_delay * 1000 for watched in channels.by_number.values()]
    what = f"first delta sent to first text seen, of {FIRSTS}"
    return [
        Row(part="delivery", what=f"{what}, median", value=f"{median(delays):.0f} ms", aim="< 150 ms"),
        Row(part="delivery", what=f"{what}, p95", value=f"{percentile(delays, 0.95):.0f} ms", aim="< 150 ms"),
    ]


async def _long_answers(twin: Twin, server: ScriptedProvider) -> list[Row]:
    """4,000 characters in 10 s, in a few channels at once."""
    numbers = range(FIRSTS, FIRSTS + LONG)
    async with watching(twin, server, LONG_ANSWER) as channels:
        await asyncio.gather(*(_until_whole(channels, number) for number in numbers))
        requests = [channels.requests_of(number) for number in numbers]
        delays = [channels.by_number[number].delays for number in numbers]
        rests = [channels.by_number[number].rest_delay for number in numbers]
        streamed = [watched.answer.ended - watched.answer.sent[0] for watched in channels.by_number.values()]
    edits = [sum(method == "PATCH" for method, _ in calls) for calls in requests]
    creates = [sum(call == ("POST", "/channels/{channel_id}/messages") for call in calls) for calls in requests]
    per_second = max(count / seconds for count, seconds in zip(edits, streamed, strict=True))
    shape = f"{mean(creates):.1f} posts, {mean(edits):.1f} edits, {mean(map(len, requests)):.1f} in all"
    seen = [delay for channel in delays for delay in channel]
    what = "4,000 characters in 10 s"
    return [
        Row(part="delivery", what=f"{what}, REST calls", value=shape),
        Row(part="delivery", what=f"{what}, edits a second", value=f"{per_second:.2f}", aim="<= 1.20"),
        Row(part="delivery", what=f"{what}, delta sent to seen, p95", value=f"{percentile(seen, 0.95):.2f} s"),
        Row(part="delivery", what=f"{what}, end to all seen", value=f"{max(rests):.2f} s", aim="<= 1.50 s"),
    ]


async def _until_whole(channels: Channels, number: int) -> None:
    watched = await channels.ask(number)
    async with asyncio.timeout(WAIT_S):
        await watched.whole.wait()
