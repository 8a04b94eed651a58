"""The whole program on a twin: `python -m bot run` as a process of its own, twin and model's server in this one."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bot.preview.server import Twin

ROOT = Path(__file__).parents[2]
START_S = 60.0
"""The longest that a bot may take to come online."""

MANY = 100_000  # turns of one person at once: the benchmark is that person


class Bot:
    """A running bot. CPU and memory are read from /proc, so these figures need Linux."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._proc = Path(f"/proc/{process.pid}")

    def cpu_s(self) -> float:
        """Seconds of CPU that it has used so far."""
        fields = (self._proc / "stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self, *, peak: bool = False) -> float:
        """MiB of memory that it holds, or the most that it ever held."""
        wanted = "VmHWM:" if peak else "VmRSS:"
        lines = (self._proc / "status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(wanted))

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()

    async def wait(self) -> int:
        return await self._process.wait()


@asynccontextmanager
async def running_bot(twin: Twin, folder: Path, **environment: str) -> AsyncIterator[Bot]:
    """The bot, online in `twin`; its own files and its log are in `folder`. `environment` is in the settings' names.

    Raises RuntimeError, with the end of its log, when it does not come online.
    """
    (folder / "project").mkdir(parents=True, exist_ok=True)
    settings = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(ROOT),
        "DISCORD_TOKEN": twin.token,
        "DISCORD_API_BASE": twin.api_base,
        "DISCORD_GATEWAY_URL": twin.gateway_url,
        "DATA_DIR": str(folder / "data"),
        "PROJECTS__BENCH__PATH": str(folder / "project"),
        "MAX_USER_ACTIVE_TURNS": str(MANY),
        "MAX_GUILD_ACTIVE_TURNS": str(MANY),
        "CATCH_UP_MAX_AGE_S": "0",
        **environment,
    }
    log = folder / "bot.log"
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "run", cwd=folder, env=settings, stdout=output, stderr=output
        )
    try:
        await _online(twin, process, log)
        yield Bot(process)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def _online(twin: Twin, process: asyncio.subprocess.Process, log: Path) -> None:
    begun = time.monotonic()
    while not twin.backend.hub.online:
        if process.returncode is not None or time.monotonic() - begun > START_S:
            raise RuntimeError(f"the bot does not come online; the end of its log:\n{log.read_text()[-2000:]}")
        await asyncio.sleep(0.005)


@asynccontextmanager
async def twin_with(channels: int, data_dir: Path | None = None) -> AsyncIterator[Twin]:
    """A twin, rate limits on, with one guild of `channels` channels c0, c1, ... in which alice and the bot are."""
    seed = {
        "guilds": [
            {
                "name": "Bench",
                "owner": "alice",
                "roles": [],
                "channels": [{"name": f"c{number}"} for number in range(channels)],
                "members": [{"name": "alice"}],
            }
        ]
    }
    twin = Twin(seed=seed, data_dir=data_dir)
    await twin.start()
    try:
        yield twin
    finally:
        await twin.close()


def channel_ids(twin: Twin) -> list[str]:
    """The ids of the channels c0, c1, ... of `twin_with`."""
    return [channel.id for channel in twin.backend.world.channels]


def percentile(values: Sequence[float], share: float) -> float:
    """The value under which `share` (0 to 1) of all values are."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
