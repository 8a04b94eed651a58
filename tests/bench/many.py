"""200 channels that stream at once in one bot, which is a process of its own: its CPU and memory are its alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.preview.server import Twin
from tests.bench.stage import Bot, percentile, running_bot, twin_with
from tests.bench.table import Row
from tests.bench.watching import Channels, Pace, environment, watching
from tests.support.provider_server import ScriptedProvider

CHANNELS = 200
WAIT_S = 90.0
ANSWERS = (Pace(deltas=200, chars=9, every_s=0.1), Pace(deltas=200, chars=15, every_s=0.1))
"""1,800 and 3,000 characters in 20 s: one message, and two."""


async def measure() -> list[Row]:
    """Delay of text, CPU, memory, refusals and the time until all final texts are there."""
    rows = []
    for pace in ANSWERS:
        with TemporaryDirectory() as name:
            async with (
                twin_with(CHANNELS) as twin,
                ScriptedProvider() as server,
                running_bot(twin, Path(name), **environment(server)) as bot,
                watching(twin, server, pace) as channels,
            ):
                rows += await _stream(twin, bot, channels, pace)
    return rows


async def _stream(twin: Twin, bot: Bot, channels: Channels, pace: Pace) -> list[Row]:
    idle_mib, bot_cpu, own_cpu, begun = bot.memory_mib(), bot.cpu_s(), time.process_time(), time.monotonic()
    watched = await asyncio.gather(*(channels.ask(number) for number in range(CHANNELS)))
    async with asyncio.timeout(WAIT_S):
        await asyncio.gather(*(one.whole.wait() for one in watched))
    spent = time.monotonic() - begun
    bot_cpu, own_cpu = bot.cpu_s() - bot_cpu, time.process_time() - own_cpu
    delays = [delay for one in watched for delay in one.delays]
    late = max(_late(one.answer.sent, pace) for one in watched)
    records = twin.recorder.since(0)
    left = [record.t_ms / 1000 for record in records]
    busiest = max(sum(at <= other < at + 1 for other in left) for at in left)
    peak = bot.memory_mib(peak=True)
    what = f"{CHANNELS} streams of {pace.deltas * pace.chars:,}"
    return [
        Row(part="many", what=f"{what}, first delta to text, p95", value=f"{_p95(o.first_delay for o in watched)} s"),
        Row(part="many", what=f"{what}, delta sent to seen, p95", value=f"{percentile(delays, 0.95):.2f} s"),
        Row(
            part="many",
            what=f"{what}, end to all seen, p95 and most",
            value=f"{_p95(o.rest_delay for o in watched)} s, {max(o.rest_delay for o in watched):.2f} s",
            aim="<= 6 s",
        ),
        Row(
            part="many",
            what=f"{what}, requests refused with 429",
            value=str(sum(record.status == 429 for record in records)),
            aim="0",
        ),
        Row(part="many", what=f"{what}, most requests in a second", value=str(busiest), aim="< 50"),
        Row(part="many", what=f"{what}, requests", value=f"{len(records)} in {spent:.0f} s"),
        Row(
            part="many",
            what=f"{what}, CPU of the bot (of twin and model beside it)",
            value=f"{bot_cpu / spent:.0%} ({own_cpu / spent:.0%})",
        ),
        Row(
            part="many",
            what=f"{what}, memory before and at its peak",
            value=f"{idle_mib:.0f} MiB, {peak:.0f} MiB",
            ratio=f"{peak / idle_mib:.2f} of before",
        ),
        Row(part="many", what=f"{what}, latest delta of the model itself", value=f"{late:.2f} s late"),
    ]


def _late(sent: Sequence[float], pace: Pace) -> float:
    """By how much the model's server fell behind its own pace, at most, in seconds."""
    return max(at - sent[0] - number * pace.every_s for number, at in enumerate(sent))


def _p95(values: Iterable[float]) -> str:
    return f"{percentile(list(values), 0.95):.2f}"
