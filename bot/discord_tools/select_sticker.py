"""Choose a sticker of the server to go with the answer."""

from __future__ import annotations

from collections.abc import Sequence

import discord
from pydantic import Field

from bot.discord_tools import DiscordDeps
from bot.discord_tools._channel import explained, open_channel
from bot.discord_tools._ids import Reference
from bot.render.text import one_line
from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool

CACHE_S = 300.0
_LISTED = 25


class Arguments(ToolArguments):
    sticker: Reference = Field(min_length=1, max_length=64, description="The name or id of a sticker of this server.")


def tools(deps: DiscordDeps) -> tuple[Tool[Arguments]]:
    cache: dict[int, tuple[float, Sequence[discord.GuildSticker]]] = {}

    async def stickers_of(guild: discord.Guild, now: float) -> Sequence[discord.GuildSticker]:
        fetched, known = cache.get(guild.id, (0.0, ()))
        if not 0 <= now - fetched < CACHE_S:
            with explained("sticker"):
                known = [sticker for sticker in await guild.fetch_stickers() if sticker.available]
            cache[guild.id] = now, known
        return known

    async def chosen(name: str, ctx: ToolContext) -> discord.GuildSticker:
        channel = await open_channel(deps.client, ctx, bot=("send_messages",))
        if channel.guild is None:
            raise ToolError("there are no stickers in direct messages")
        known = await stickers_of(channel.guild, ctx.now())
        plain = name.strip().casefold()
        found = next((each for each in known if plain in (str(each.id), each.name.casefold())), None)
        if found is None:
            names = ", ".join(one_line(each.name, 40) for each in known[:_LISTED]) or "none"
            raise ToolError(f"this server has no sticker called {one_line(name, 64)}; it has: {names}")
        return found

    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        try:
            sticker = await chosen(args.sticker, ctx)
        except ToolError as error:  # one that was chosen before is taken back
            return ToolResult(content=f"tool error: {error}", is_error=True, sticker="")
        content = f"The sticker {one_line(sticker.name, 40)} goes with your answer."
        return ToolResult(content=content, sticker=str(sticker.id))

    return (
        define_tool(
            name="select_sticker",
            description=(
                "Choose a sticker of this server to be posted with your answer; the newest choice counts. "
                "A name that does not exist brings the list of those that do."
            ),
            arguments=Arguments,
            run=run,
            idempotent=True,
            requires_follow_up=False,
            subject="sticker",
        ),
    )
