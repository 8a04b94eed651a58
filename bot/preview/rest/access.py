"""Finds what a request names, and refuses what the bot may not see or do."""

from __future__ import annotations

from bot.preview.backend import Backend
from bot.preview.errors import error
from bot.preview.permissions import P, in_channel
from bot.preview.values import Channel, Guild, Message


def open_channel(backend: Backend, channel_id: str, needed: int = 0) -> Channel:
    """The channel. Raises DiscordError: 10003, 50001 when the bot cannot see it, 50013 when it lacks `needed`."""
    channel = backend.world.channels.get(channel_id)
    if channel is None:
        raise error(10003)
    rights = in_channel(backend.world, channel, backend.world.bot_id)
    if not rights & P.VIEW_CHANNEL:
        raise error(50001)
    if rights & needed != needed:
        raise error(50013)
    return channel


def open_message(backend: Backend, channel: Channel, message_id: str) -> Message:
    """A message that the channel shows. Raises DiscordError 10008; an ephemeral one is unknown here."""
    message = backend.world.messages.get(message_id)
    if message is None or message.channel_id != channel.id or message.viewer_id is not None:
        raise error(10008)
    return message


def open_guild(backend: Backend, guild_id: str) -> Guild:
    """A guild of the bot. Raises DiscordError 10004."""
    guild = backend.world.guilds.get(guild_id)
    if guild is None:
        raise error(10004)
    return guild


def require_unarchived(channel: Channel) -> None:
    """Raises DiscordError 50083 for an archived thread."""
    if channel.archived:
        raise error(50083)
