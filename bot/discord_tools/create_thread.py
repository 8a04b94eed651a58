"""Open a thread, on a message or on its own."""

from __future__ import annotations

import discord
from pydantic import Field

from bot.discord_tools import DiscordDeps
from bot.discord_tools._channel import explained, open_channel
from bot.discord_tools._find import message_of
from bot.discord_tools._ids import Reference
from bot.render.text import clip, one_line
from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool

MAX_TITLE_UNITS = 100


class Arguments(ToolArguments):
    title: str = Field(min_length=1, max_length=MAX_TITLE_UNITS, description="The title of the thread.")
    message: Reference = Field(
        default="", description="The handle or id of the message that it begins with; without one it stands alone."
    )


def tools(deps: DiscordDeps) -> tuple[Tool[Arguments]]:
    async def parent(ctx: ToolContext) -> discord.TextChannel:
        rights = ("read_message_history", "create_public_threads")
        channel = await open_channel(deps.client, ctx, bot=rights, person=rights)
        if not isinstance(channel, discord.TextChannel):
            raise ToolError("threads can be opened in text channels only, neither in threads nor in direct messages")
        return channel

    async def check(args: Arguments, ctx: ToolContext) -> str:
        """Nobody is asked about what cannot be done; there is nothing to compare."""
        _title(args)
        await parent(ctx)
        return ""

    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        channel, title = await parent(ctx), _title(args)
        message = await message_of(channel, ctx, args.message) if args.message else None
        with explained("message"):
            if message is not None:
                thread = await message.create_thread(name=title)
            else:
                thread = await channel.create_thread(name=title, type=discord.ChannelType.public_thread)
        return ToolResult(content=f"The thread is open: <#{thread.id}>")

    return (
        define_tool(
            name="create_thread",
            description="Open a public thread in this channel, on a message or on its own.",
            arguments=Arguments,
            run=run,
            needs_approval=True,
            preview=check,
            subject="thread",
        ),
    )


def _title(args: Arguments) -> str:
    """The title on one line, with no mention in it that Discord would understand. Raises ToolError for none."""
    title = clip(discord.utils.escape_mentions(one_line(args.title, MAX_TITLE_UNITS)), MAX_TITLE_UNITS)
    if not title:
        raise ToolError("the title is blank; give it words")
    return title
