"""Messages, attachments and people of one channel, by what a model calls them."""

from __future__ import annotations

import discord

from bot.discord_tools._channel import Channel, explained, member_of
from bot.discord_tools._ids import snowflake
from bot.render.text import one_line
from tools.base import ToolContext, ToolError
from tools.output import visible

NEARBY = 100
"""How many messages are looked through."""


async def message_of(channel: Channel, ctx: ToolContext, name: str) -> discord.Message:
    """The message that `name` stands for. Raises ToolError when this channel has none."""
    with explained(f"message {visible(name, 80)}"):
        return await channel.fetch_message(snowflake(ctx, name))


async def attachments_of(channel: Channel, ctx: ToolContext, name: str) -> list[discord.Attachment]:
    """The attachment that `name` stands for, or those of the message. Raises ToolError when there is none."""
    wanted = snowflake(ctx, name)
    with explained("messages"):
        # Ids are times: an attachment stands beside its message.
        near = [message async for message in channel.history(limit=NEARBY, around=discord.Object(wanted))]
    for message in near:
        if message.id == wanted:
            if not message.attachments:
                raise ToolError(f"the message {visible(name, 80)} has no attachments")
            return message.attachments
    found = [each for message in near for each in message.attachments if each.id == wanted]
    if not found:
        raise ToolError(f"there is no message or attachment {visible(name, 80)} in this channel")
    return found


async def person_of(channel: Channel, ctx: ToolContext, name: str) -> discord.Member | discord.User:
    """Somebody who sees this channel, by id or mention, or by name if they wrote here lately. Raises ToolError."""
    try:
        wanted = snowflake(ctx, name)
    except ToolError:
        wanted = await _author_called(channel, name)
    found = await member_of(channel, wanted) if wanted else None
    if found is None:
        raise ToolError(f"nobody called {visible(name, 80)} has written here lately; name them by id or mention")
    return found


async def _author_called(channel: Channel, name: str) -> int:
    plain = name.strip().removeprefix("@").casefold()
    with explained("messages"):
        async for message in channel.history(limit=NEARBY):
            author = message.author
            if plain in (author.name.casefold(), author.display_name.casefold()):
                return author.id
    return 0


def file_line(attachment: discord.Attachment) -> str:
    """An attachment as data on one line."""
    name, kind = one_line(attachment.filename, 100), one_line(attachment.content_type or "unknown type", 60)
    return f"{name} ({kind}, {attachment.size} bytes)"
