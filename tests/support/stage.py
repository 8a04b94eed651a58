"""The whole program on a twin, in this process: real discord.py, real files and store, people behind /control.

    async def test_x(make_stage: MakeStage, model: Mind) -> None:
        stage = await make_stage(model)
        await stage.mention("what is in this folder?")
        await stage.until_reply("todo.txt")

`stage.control.advance(s)` moves the bot's time too; so the test has to run on a `ShiftedLoop`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from bot.app import App, build_app
from bot.preview.clock import Clock, ShiftedLoop
from bot.preview.server import Twin
from bot.settings import load_settings
from tests.support.control import ControlClient, real_timeout
from tests.support.minds import Mind
from tests.support.twin import MakeTwin

Json = dict[str, Any]

MESSAGE = "/channels/{channel_id}/messages/{message_id}"
MESSAGES = "/channels/{channel_id}/messages"
WAIT_S = 20.0
FILES = {"README.md": "# Sample\n", "todo.txt": "water the plants\nwrite the report\n", "src/greet.py": "print(1)\n"}


class People:
    """What people do and see, whatever process the bot runs in."""

    def __init__(self, control: ControlClient, world: Json) -> None:
        self.control = control
        self.bot_id: str = world["bot"]["id"]
        self.roles: dict[str, str] = {role["name"]: role["id"] for role in world["guilds"][0]["roles"]}
        self.members: dict[str, str] = {m["user"]["username"]: m["user"]["id"] for m in world["guilds"][0]["members"]}
        self.channels: dict[str, str] = {channel["name"]: channel["id"] for channel in world["guilds"][0]["channels"]}

    async def mention(self, text: str, *, author: str = "alice", channel: str = "general", **more: Any) -> Json:
        """A person writes to the bot."""
        return await self.control.say(channel, author, f"<@{self.bot_id}> {text}", **more)

    async def replies(self, channel: str = "general", viewer: str | None = None) -> list[Json]:
        """The bot's messages, oldest first."""
        shown = await self.control.messages(channel, viewer)
        return [message for message in shown if message["author"]["id"] == self.bot_id]

    async def until(self, fits: Callable[[Json], Any], *, channel: str = "general") -> Json:
        """A message of the bot for which `fits` holds, as soon as there is one."""

        def one_of_mine(message: Json) -> bool:
            return message["author"]["id"] == self.bot_id and bool(fits(message))

        return await self.control.until_message(channel, one_of_mine, timeout_s=WAIT_S)

    async def until_reply(self, text: str, *, channel: str = "general") -> Json:
        """A message whose text has `text` in it and that is finished: nothing runs in it any more."""
        return await self.until(lambda message: text in message["content"] and is_finished(message), channel=channel)

    async def until_notice(self, title: str, *, channel: str = "general") -> Json:
        """A message with an embed of this title, in a turn that has ended."""
        return await self.until(
            lambda message: title in [embed.get("title") for embed in message["embeds"]] and is_finished(message),
            channel=channel,
        )

    async def until_card(self, about: str = "", *, channel: str = "general") -> Json:
        """An open approval card with `about` anywhere on it."""
        return await self.until(
            lambda message: "Approve" in labels(message) and about in words(message), channel=channel
        )

    async def until_changed(self, message: Json, text: str) -> Json:
        """That message, once `text` is anywhere in its embeds."""
        return await self.until(
            lambda shown: shown["id"] == message["id"] and text in str(shown["embeds"]),
            channel=message["channel_id"],
        )

    async def edits_of(self, message: Json) -> list[Json]:
        """The bot's edits of one message."""
        calls = await self.control.requests(method="PATCH", route=MESSAGE)
        return [call for call in calls if call["path"].endswith(message["id"]) and call["status"] == 200]


class Stage(People):
    """A bot on a twin; `restart` is an orderly end and a start with the same files."""

    def __init__(self, twin: Twin, control: ControlClient, world: Json, folder: Path, environment: Json) -> None:
        super().__init__(control, world)
        self.twin = twin
        self.project = folder / "project"
        self.app: App
        self._folder = folder
        self._environment = environment
        self._running: AsyncExitStack | None = None

    async def start(self, **changed: str) -> None:
        """Start the bot; `changed` settings stay so."""
        self._environment |= changed
        settings = load_settings(self._environment, env_file=None)
        async with AsyncExitStack() as stack:
            self.app = await stack.enter_async_context(build_app(settings, now=self.twin.clock.time))
            await stack.enter_async_context(_serving(self.app, self.control))
            self._running = stack.pop_all()

    async def stop(self) -> None:
        if self._running is not None:
            await self._running.aclose()
        self._running = None

    async def idle(self, channel: str = "general") -> None:
        """Every turn of this channel has ended for good: what was said is in the transcript."""
        async with real_timeout(WAIT_S):
            while self.app.runtime.is_busy(self.channels[channel]):
                await asyncio.sleep(0)

    async def restart(self, **changed: str) -> None:
        await self.stop()
        await self.start(**changed)


class MakeStage(Protocol):
    def __call__(self, model: Mind, /, **environment: str) -> Awaitable[Stage]: ...


@pytest.fixture
async def make_stage(make_twin: MakeTwin, tmp_path: Path) -> AsyncIterator[MakeStage]:
    """Starts a stage with these settings; it is over after the test."""
    async with AsyncExitStack() as stack:

        async def make(model: Mind, /, **environment: str) -> Stage:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, ShiftedLoop), "this fixture needs the loop factory of tests/e2e/conftest.py"
            twin = await make_twin(data_dir=tmp_path / "discord", clock=loop.clock)
            control = await stack.enter_async_context(ControlClient(twin.url))
            world = await control.world()
            settings = bot_environment(twin, world, tmp_path) | model.environment() | environment
            made = Stage(twin, control, world, tmp_path, settings)
            stack.push_async_callback(made.stop)
            await made.start()
            return made

        yield make


def bot_environment(twin: Twin, world: Json, folder: Path) -> dict[str, str]:
    """The settings of a bot on `twin`, with its own files and a small project in `folder`; Approver may decide."""
    for name, text in FILES.items():
        file = folder / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    approver = next(role["id"] for role in world["guilds"][0]["roles"] if role["name"] == "Approver")
    return {
        "DISCORD_TOKEN": twin.token,
        "DISCORD_API_BASE": twin.api_base,
        "DISCORD_GATEWAY_URL": twin.gateway_url,
        "DATA_DIR": str(folder / "bot"),
        "PROJECTS__SAMPLE__PATH": str(folder / "project"),
        "APPROVERS": f"manage_guild,{approver}",
        "SHUTDOWN_GRACE_S": "0",
    }


@asynccontextmanager
async def _serving(app: App, control: ControlClient) -> AsyncIterator[None]:
    """The app, ready for messages, until the end of the block."""
    stopping, connected, ready = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def note_connected() -> None:
        connected.set()

    async def note_ready() -> None:
        ready.set()

    app.client.add_listener(note_connected, "on_connect")
    app.client.add_listener(note_ready, "on_ready")
    serving = asyncio.create_task(app.serve(stopping))
    try:
        await _first_of(serving, connected)
        while not (ready.is_set() or serving.done()):
            await control.advance(0.25)  # the client waits two seconds for further guilds
        yield
    finally:
        stopping.set()
        await serving


async def _first_of(serving: asyncio.Task[None], event: asyncio.Event) -> None:
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if serving.done():
        await serving


def labels(message: Json) -> list[str]:
    """The labels of the buttons that can be pressed."""
    rows = message.get("components") or []
    return [button["label"] for row in rows for button in row["components"] if not button.get("disabled")]


def is_finished(message: Json) -> bool:
    """Nothing of the turn of this message goes on: it has no Stop button."""
    return "Stop" not in labels(message)


def words(message: Json) -> str:
    """Everything that stands on a message: content and embeds, as one text."""
    parts = [message["content"]]
    for embed in message["embeds"]:
        parts += [embed.get("title", ""), embed.get("description", "")]
        parts += [f"{field['name']} {field['value']}" for field in embed.get("fields", ())]
    return "\n".join(parts)


def shifted_loop() -> ShiftedLoop:
    """A loop whose time starts as it is and is moved by `control.advance`."""
    return ShiftedLoop(Clock())
