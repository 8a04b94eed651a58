"""A real discord.py client, pointed at a twin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import discord
import pytest
import yarl
from discord import app_commands

from bot.preview.server import Twin


class Bot(discord.Client):
    """Keeps what it hears; what it answers, the test says with `answers`, `pressed` and commands on `tree`."""

    def __init__(self, intents: discord.Intents) -> None:
        super().__init__(intents=intents, guild_ready_timeout=0.01, max_messages=100)
        self.tree = app_commands.CommandTree(self)
        self.heard: asyncio.Queue[discord.Message] = asyncio.Queue()
        self.raw: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.ready = asyncio.Event()
        self.resumed = asyncio.Event()
        self.pressed: Callable[[discord.Interaction[Bot]], Awaitable[Any]] | None = None

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """No waiting before a second IDENTIFY: the twin has no limit on them."""

    async def on_ready(self) -> None:
        self.ready.set()

    async def on_resumed(self) -> None:
        self.resumed.set()

    async def on_message(self, message: discord.Message) -> None:
        self.heard.put_nowait(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        self.raw.put_nowait(("edit", payload))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        self.raw.put_nowait(("delete", payload))

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        self.raw.put_nowait(("bulk delete", payload))

    async def on_raw_reaction_add(self, payload: discord.RawReactionActionEvent) -> None:
        self.raw.put_nowait(("react", payload))

    async def on_raw_reaction_remove(self, payload: discord.RawReactionActionEvent) -> None:
        self.raw.put_nowait(("unreact", payload))

    async def on_raw_typing(self, payload: discord.RawTypingEvent) -> None:
        self.raw.put_nowait(("typing", payload))

    async def on_guild_channel_update(self, _: Any, after: Any) -> None:
        self.raw.put_nowait(("channel", after))

    async def on_thread_create(self, thread: discord.Thread) -> None:
        self.raw.put_nowait(("thread", thread))

    async def on_interaction(self, interaction: discord.Interaction[Bot]) -> None:
        if interaction.type is not discord.InteractionType.application_command and self.pressed is not None:
            await self.pressed(interaction)

    async def hear(self) -> discord.Message:
        """The next message that this bot did not write itself."""
        async with asyncio.timeout(10):
            while (message := await self.heard.get()).author == self.user:
                pass
            return message

    async def next(self, kind: str) -> Any:
        """The next raw event of a kind."""
        async with asyncio.timeout(10):
            while (event := await self.raw.get())[0] != kind:
                pass
            return event[1]

    def channel(self, name: str) -> discord.TextChannel:
        found = discord.utils.get(self.get_all_channels(), name=name)
        assert isinstance(found, discord.TextChannel)
        return found


@asynccontextmanager
async def running(
    twin: Twin, monkeypatch: pytest.MonkeyPatch, *, intents: discord.Intents | None = None, bot: Bot | None = None
) -> AsyncIterator[Bot]:
    """A bot that is ready; it is closed at the end of the block."""
    point_at(twin, monkeypatch)
    wanted = intents or discord.Intents(guilds=True, messages=True, message_content=True, reactions=True, typing=True)
    bot = bot or Bot(wanted)
    running = asyncio.create_task(bot.start(twin.token))
    try:
        async with asyncio.timeout(10):
            waiting = asyncio.create_task(bot.ready.wait())
            await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
        if running.done():
            await running
        yield bot
    finally:
        await bot.close()
        await asyncio.wait([running])


def point_at(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lead every client of this process to the twin, for the length of the test."""
    monkeypatch.setattr(discord.http.Route, "BASE", twin.api_base)
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(twin.gateway_url))
    monkeypatch.setattr(discord.Asset, "BASE", twin.cdn_url)
