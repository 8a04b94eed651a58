"""Who may do what: roles, then the channel's overwrites, as Discord computes it.

Source: https://discord.com/developers/docs/topics/permissions#permission-overwrites
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.preview.values import Channel, Json
from bot.preview.world import World


class P:
    """The permission bits that the twin looks at; plain numbers, because every event and request compares them."""

    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_EXTERNAL_EMOJIS = 1 << 18
    MANAGE_ROLES = 1 << 28
    MANAGE_WEBHOOKS = 1 << 29
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


ALL = (1 << 53) - 1
EVERYONE = (
    P.ADD_REACTIONS
    | P.VIEW_CHANNEL
    | P.SEND_MESSAGES
    | P.EMBED_LINKS
    | P.ATTACH_FILES
    | P.READ_MESSAGE_HISTORY
    | P.USE_APPLICATION_COMMANDS
    | P.CREATE_PUBLIC_THREADS
    | P.SEND_MESSAGES_IN_THREADS
)
BOT = EVERYONE | P.MANAGE_MESSAGES | P.MANAGE_THREADS | P.MANAGE_WEBHOOKS | P.USE_EXTERNAL_EMOJIS
DIRECT = EVERYONE & ~(P.CREATE_PUBLIC_THREADS | P.SEND_MESSAGES_IN_THREADS)


def in_guild(world: World, guild_id: str, user_id: str) -> int:
    """The permissions a member's roles give in the whole guild; 0 for somebody who is not a member."""
    member, guild = world.member(guild_id, user_id), world.guilds.get(guild_id)
    if member is None or guild is None:
        return 0
    if guild.owner_id == user_id:
        return ALL
    granted = 0
    for role_id in (guild_id, *member.roles):
        role = world.roles.get(role_id)
        granted |= role.permissions if role else 0
    return ALL if granted & P.ADMINISTRATOR else granted


def in_channel(world: World, channel: Channel, user_id: str) -> int:
    """The permissions a person has in a channel. A thread asks its parent."""
    if channel.guild_id is None:
        return DIRECT if user_id in (channel.recipient_id, world.bot_id) else 0
    granted = in_guild(world, channel.guild_id, user_id)
    member = world.member(channel.guild_id, user_id)
    if granted == ALL or member is None:
        return granted
    place = world.channels.get(channel.parent_id or "") if channel.is_thread else channel
    overwrites = {entry["id"]: entry for entry in (place or channel).overwrites}
    granted = _overwritten(granted, overwrites, [channel.guild_id])
    granted = _overwritten(granted, overwrites, member.roles)
    granted = _overwritten(granted, overwrites, [user_id])
    if not granted & P.VIEW_CHANNEL:
        return 0
    if channel.is_thread:
        can_send = granted & P.SEND_MESSAGES_IN_THREADS
        granted = granted | P.SEND_MESSAGES if can_send else granted & ~P.SEND_MESSAGES
    return granted


def can(world: World, channel: Channel, user_id: str, needed: int) -> bool:
    """Whether a person has all of the `needed` bits in a channel."""
    return in_channel(world, channel, user_id) & needed == needed


def _overwritten(granted: int, overwrites: Mapping[str, Json], ids: Iterable[str]) -> int:
    allow = deny = 0
    for snowflake in ids:
        entry = overwrites.get(snowflake)
        if entry is not None:
            allow |= int(entry["allow"])
            deny |= int(entry["deny"])
    return (granted & ~deny) | allow
