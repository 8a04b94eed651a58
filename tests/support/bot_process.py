"""`python -m bot run` as a process of its own on a twin in this one, so that it can be killed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

import pytest

from bot.preview.server import Twin
from tests.support.control import ControlClient, real_timeout
from tests.support.minds import Mind
from tests.support.stage import MESSAGES, Json, People, bot_environment
from tests.support.twin import MakeTwin

ROOT = Path(__file__).parents[2]
START_S = 60.0


class BotProcess(People):
    """A bot that can be killed and started again with the same files. `log` is all that it wrote so far."""

    def __init__(
        self, twin: Twin, control: ControlClient, world: Json, folder: Path, environment: Mapping[str, str]
    ) -> None:
        super().__init__(control, world)
        self.twin = twin
        self.project = folder / "project"
        self._folder = folder
        self.environment = environment
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the bot and wait until it is online."""
        with (self._folder / "bot.log").open("ab") as log:
            self._process = await start_program(
                "--verbose", "run", folder=self._folder, environment=self.environment, output=log
            )
        async with real_timeout(START_S):
            while not self.twin.backend.hub.online:
                assert self._process.returncode is None, self.log
                await asyncio.sleep(0.01)

    async def kill(self) -> None:
        """End it as a power cut would, and wait until Discord has noticed."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        async with real_timeout(START_S):
            while self.twin.backend.hub.online:
                await asyncio.sleep(0.01)

    def terminate(self) -> None:
        """Ask it to end."""
        assert self._process is not None
        self._process.terminate()

    async def ended(self) -> int:
        """Its exit code, once it has ended."""
        assert self._process is not None
        async with real_timeout(START_S):
            return await self._process.wait()

    @property
    def log(self) -> str:
        return (self._folder / "bot.log").read_text()


async def start_program(
    *arguments: str, folder: Path, environment: Mapping[str, str], output: object
) -> asyncio.subprocess.Process:
    """The program, with the tools for tests, in `folder` with nothing but `environment` set; `output` takes all that it
    writes."""
    own = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.extra_tools", *arguments),
        cwd=folder,
        env={**own, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output,  # type: ignore[arg-type]
        stderr=asyncio.subprocess.STDOUT,
    )


async def run_program(*arguments: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """The program from start to end; its exit code and all that it wrote."""
    pipe = asyncio.subprocess.PIPE
    process = await start_program(*arguments, folder=folder, environment=environment, output=pipe)
    try:
        async with real_timeout(START_S):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode or 0, said.decode()


async def lose_the_next_answer(bot: BotProcess) -> None:
    """The next message is created and the bot never learns its id; nor do its further tries succeed."""
    await bot.control.fault("POST", MESSAGES, after=True, cut=True)
    await bot.control.fault("POST", MESSAGES, status=503, times=1000)


class MakeBot(Protocol):
    def __call__(self, model: Mind, /, **environment: str) -> Awaitable[BotProcess]: ...


@pytest.fixture
async def make_bot(make_twin: MakeTwin, tmp_path: Path) -> AsyncIterator[MakeBot]:
    """Starts a bot with these settings; it is killed after the test."""
    async with AsyncExitStack() as stack:

        async def make(model: Mind, /, **environment: str) -> BotProcess:
            twin = await make_twin(data_dir=tmp_path / "discord")
            control = await stack.enter_async_context(ControlClient(twin.url))
            world = await control.world()
            settings = bot_environment(twin, world, tmp_path) | model.environment() | environment
            made = BotProcess(twin, control, world, tmp_path, settings)
            stack.push_async_callback(made.kill)
            await made.start()
            return made

        yield make
