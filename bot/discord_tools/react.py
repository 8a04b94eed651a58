"""Put a reaction on a message."""

from __future__ import annotations

import re
from collections.abc import Sequence

import discord
from pydantic import Field

from bot.discord_tools import DiscordDeps
from bot.discord_tools._channel import Channel, explained, open_channel
from bot.discord_tools._ids import Reference, snowflake
from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.output import visible

_CUSTOM = re.compile(r"<?a?:?(\w{2,32}):([0-9]{1,19})>?")
_BY_NAME = re.compile(r":?(\w{2,32}):?", re.ASCII)


class Arguments(ToolArguments):
    emoji: str = Field(
        min_length=1, max_length=64, description='One emoji, such as "👍", or a custom one of this server by its name.'
    )
    message: Reference = Field(
        default="", description="The handle or id of the message; the one that you answer if left out."
    )


def tools(deps: DiscordDeps) -> tuple[Tool[Arguments]]:
    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        rights = ("read_message_history", "add_reactions")
        channel = await open_channel(deps.client, ctx, bot=rights, person=rights)
        emoji = await _emoji(channel, args.emoji.strip())
        message = snowflake(ctx, args.message or ctx.turn)
        with explained(f"message {visible(args.message, 80)}".strip()):
            try:
                await channel.get_partial_message(message).add_reaction(emoji)
            except TypeError as error:
                raise ToolError(f"{visible(args.emoji, 64)} is not an emoji") from error
        return ToolResult(content=f"Reacted with {visible(args.emoji, 64)}.")

    return (
        define_tool(
            name="react",
            description="Put an emoji under a message of this channel as a reaction.",
            arguments=Arguments,
            run=run,
            idempotent=True,
            requires_follow_up=False,
            subject="message-action",
        ),
    )


async def _emoji(channel: Channel, text: str) -> str:
    """The emoji as Discord's API takes it. Raises ToolError for a name that this server does not know."""
    if custom := _CUSTOM.fullmatch(text):
        return f"{custom[1]}:{custom[2]}"
    if name := _BY_NAME.fullmatch(text):
        known: Sequence[discord.Emoji] = ()
        if channel.guild is not None:
            with explained("emoji"):
                known = await channel.guild.fetch_emojis()
        found = next((each for each in known if each.name.lower() == name[1].lower()), None)
        if found is None:
            raise ToolError(f"this server has no emoji called {name[1]}; use one that everybody has, such as 👍")
        return f"{found.name}:{found.id}"
    return text
