"""How long a start takes, with an empty database and with 100 turns that wait for a person; what such a turn holds."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bot.preview.server import Twin
from tests.bench.stage import ROOT, channel_ids, running_bot, twin_with
from tests.bench.table import Row
from tests.support.control import ControlClient

PARKED = 100
WAIT_S = 60.0
QUIET_S = 1.0  # without a request for so long, a start is over
DEMO = {"PROVIDERS__DEMO__KIND": "demo"}
IMPORT = "import time; t = time.perf_counter(); import bot.app; print(time.perf_counter() - t)"


async def measure() -> list[Row]:
    """Import, start without and with parked turns, memory a parked turn."""
    imports = [_import_s() for _ in range(3)]
    rows = [Row(part="start", what="import bot.app, median of 3", value=f"{median(imports):.2f} s")]
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with twin_with(PARKED) as twin:
            await _start(twin, folder / "empty")  # the files that a start reads are in memory after this
            empty_s, empty_mib = await _start(twin, folder / "empty")
            await _park(twin, folder / "full")
            known = len(twin.recorder.since(0))
            full_s, full_mib = await _start(twin, folder / "full")
            calls = len(twin.recorder.since(0)) - known
    held = (full_mib - empty_mib) * 1024 / PARKED
    parked = f"{PARKED} parked turns"
    return [
        *rows,
        Row(part="start", what="process to online, empty database", value=f"{empty_s:.2f} s"),
        Row(
            part="start",
            what=f"process to online, {parked}",
            value=f"{full_s:.2f} s",
            ratio=f"{full_s / empty_s:.2f} of empty",
        ),
        Row(part="start", what=f"REST calls of a start with {parked}", value=str(calls)),
        Row(
            part="start",
            what=f"memory a turn, {parked}",
            value=f"{held:.0f} KiB",
            ratio=f"{full_mib / empty_mib:.2f} of empty",
        ),
    ]


def _import_s() -> float:
    told = subprocess.run([sys.executable, "-c", IMPORT], cwd=ROOT, check=True, capture_output=True, text=True)
    return float(told.stdout)


async def _start(twin: Twin, folder: Path) -> tuple[float, float]:
    """Seconds until the bot is online (its open turns are taken up before that), and the MiB that it holds when
    it has come to rest."""
    begun = time.monotonic()
    async with running_bot(twin, folder, **DEMO) as bot, ControlClient(twin.url) as control:
        online = time.monotonic() - begun
        await control.command(channel_ids(twin)[0], "alice", "limits")
        known = -1
        while known < (known := len(twin.recorder.since(0))):
            await asyncio.sleep(QUIET_S)
        return online, bot.memory_mib()


async def _park(twin: Twin, folder: Path) -> None:
    """Have a bot ask about one call in every channel, then end it as a power cut would."""
    channels, bot_id = channel_ids(twin), twin.backend.world.bot_id
    async with ControlClient(twin.url) as control, running_bot(twin, folder, **DEMO) as bot:
        async with control.events() as events, asyncio.timeout(WAIT_S):
            for channel in channels:
                await control.say(channel, "alice", f"<@{bot_id}> write hello to a.txt")
            waiting = set(channels)
            async for event in events:
                if event["type"] == "message_create" and "Approve" in str(event["message"]["components"]):
                    waiting.discard(event["channel_id"])
                if not waiting:
                    break
        bot.kill()
        await bot.wait()
