"""The tools that act on Discord, with the real client on a twin and a store in a file."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bot.client import CountersignClient, point_at
from bot.discord_tools import DiscordDeps, Downloads, ReminderDelivery, discord_tools
from bot.preview.assets import square
from bot.preview.permissions import P
from bot.preview.server import Twin
from pipeline.stores.engine import open_store
from pipeline.stores.store import Store
from tests.support.control import ControlClient
from tools.base import ContextItem, ToolContext, ToolResult
from tools.registry import ToolRegistry
from tools.stash import ContextStash

Json = dict[str, Any]
WAIT_S = 20.0
PNG = square(0x3BA55C, 8)


@dataclass(kw_only=True)
class ToolStage:
    """A channel, somebody who asks in it, and the tools."""

    twin: Twin
    control: ControlClient
    client: CountersignClient
    store: Store
    stash: ContextStash
    delivery: ReminderDelivery
    registry: ToolRegistry
    world: Json
    handles: dict[str, str] = field(default_factory=dict)

    async def ask(self, content: str = "hello", *, author: str = "alice", channel: str = "general") -> ToolContext:
        """Somebody writes; the context of the turn that answers it."""
        return self.context(await self.control.say(channel, author, content), direct=channel.startswith("@"))

    def context(self, message: Json, *, direct: bool = False, max_result_bytes: int = 12_288) -> ToolContext:
        return ToolContext(
            scope=None,
            turn=message["id"],
            user_id=message["author"]["id"],
            channel_id=message["channel_id"],
            guild_id=None if direct else self.world["guilds"][0]["id"],
            now=self.twin.clock.time,
            max_result_bytes=max_result_bytes,
            handles=self.handles,
        )

    async def call(self, ctx: ToolContext, tool: str, /, **arguments: Any) -> ToolResult:
        return await self.registry.execute(tool, json.dumps(arguments), ctx)

    async def ok(self, ctx: ToolContext, tool: str, /, **arguments: Any) -> ToolResult:
        result = await self.call(ctx, tool, **arguments)
        assert not result.is_error, result.content
        return result

    async def refused(self, ctx: ToolContext, tool: str, /, **arguments: Any) -> str:
        result = await self.call(ctx, tool, **arguments)
        assert result.is_error, result.content
        assert result.restart is None
        return result.content

    def brought(self, result: ToolResult) -> ContextItem:
        """What the next pass sees beside the result."""
        assert result.restart is not None
        item = result.restart.item or self.stash.take(result.restart.key)
        assert item is not None
        return item

    async def deny(self, member: str, bits: int) -> None:
        """Take rights away from somebody in #general, and wait until the client knows."""
        heard = asyncio.create_task(self.client.wait_for("guild_channel_update", timeout=WAIT_S))
        await asyncio.sleep(0)
        await self.control.set_channel("general", overwrites=[{"member": member, "deny": bits}])
        await heard

    async def attach(self, *files: tuple[str, bytes], channel: str = "general", author: str = "bob") -> Json:
        sent = [{"filename": name, "base64": base64.b64encode(data).decode()} for name, data in files]
        return await self.control.say(channel, author, "", attachments=sent)

    async def said_by_bot(self, channel: str = "general") -> list[Json]:
        return [m for m in await self.control.messages(channel) if m["author"]["id"] == self.world["bot"]["id"]]

    def user(self, name: str) -> str:
        members = self.world["guilds"][0]["members"]
        return next(str(member["user"]["id"]) for member in members if member["user"]["username"] == name)


@asynccontextmanager
async def tool_stage(twin: Twin, folder: Path) -> AsyncIterator[ToolStage]:
    """The stage, online; reminders are delivered only once a test adds `delivery` to the client."""
    point_at(twin.api_base, twin.gateway_url)
    client = CountersignClient(commands_file=folder / "commands", guild_ready_timeout=0.05)
    now = twin.clock.time
    async with (
        ControlClient(twin.url) as control,
        httpx.AsyncClient() as http,
        open_store(f"sqlite:///{folder}/db.sqlite", clock=now) as store,
    ):
        stash = ContextStash(ttl_s=300, max_entries=16, now=now)
        delivery = ReminderDelivery(client, store.reminders, now)
        deps = DiscordDeps(
            client=client,
            downloads=Downloads(http=http, api_base=twin.api_base),
            stash=stash,
            memory=store.memory,
            reminders=store.reminders,
            wake=delivery.wake,
        )
        serving = asyncio.create_task(client.serve(twin.token))
        ready = asyncio.create_task(client.wait_until_ready())
        await asyncio.wait([ready, serving], return_when=asyncio.FIRST_COMPLETED, timeout=WAIT_S)
        assert ready.done(), "the bot did not come up"
        try:
            yield ToolStage(
                twin=twin,
                control=control,
                client=client,
                store=store,
                stash=stash,
                delivery=delivery,
                registry=ToolRegistry(discord_tools(deps)),
                world=await control.world(),
            )
        finally:
            await client.close()
            await asyncio.gather(serving, return_exceptions=True)


def seed(**changed: Any) -> Mapping[str, Any]:
    """One guild with stickers, an emoji and a place that only owner and bot see."""
    let_in = {"member": "Countersign", "allow": P.VIEW_CHANNEL}
    hidden = {"name": "hidden", "overwrites": [{"role": "@everyone", "deny": P.VIEW_CHANNEL}, let_in]}
    guild = {
        "name": "Preview",
        "owner": "owner",
        "roles": [{"name": "Manager"}],
        "channels": [{"name": "general"}, {"name": "ops"}, hidden],
        "members": [{"name": "owner"}, {"name": "alice", "display": "Alice"}, {"name": "bob", "display": "Bob"}],
        "stickers": [{"name": "Wave"}, {"name": "party cat"}],
        "emojis": [{"name": "blobcat"}],
    }
    return {"guilds": [guild | changed]}
