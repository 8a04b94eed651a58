"""The world's values as Discord's JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.preview.permissions import in_channel
from bot.preview.values import (
    DM,
    EPHEMERAL,
    Channel,
    Command,
    Emoji,
    Guild,
    Json,
    Member,
    Message,
    Role,
    Sticker,
    User,
    Webhook,
)
from bot.preview.world import World


def user_object(user: User) -> Json:
    body: Json = {
        "id": user.id,
        "username": user.username,
        "global_name": user.global_name,
        "discriminator": "0000" if user.bot else "0",
        "avatar": None,
        "public_flags": 0,
        "flags": 0,
        "primary_guild": None,
    }
    return {**body, "bot": True} if user.bot else body


def self_object(user: User) -> Json:
    """The bot's own user, as `/users/@me` and READY tell it."""
    return {**user_object(user), "mfa_enabled": False, "locale": "en-US", "verified": True, "email": None}


def member_object(member: Member, user: User | None = None) -> Json:
    """A member; without `user` the partial one that messages carry."""
    body: Json = {
        "roles": list(member.roles),
        "nick": member.nick,
        "joined_at": member.joined_at,
        "avatar": None,
        "banner": None,
        "communication_disabled_until": None,
        "flags": 0,
        "pending": False,
        "premium_since": None,
        "mute": False,
        "deaf": False,
    }
    return {**body, "user": user_object(user)} if user else body


def role_object(role: Role) -> Json:
    return {
        "id": role.id,
        "name": role.name,
        "permissions": str(role.permissions),
        "position": role.position,
        "color": role.color,
        "colors": {"primary_color": role.color, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": role.managed,
        "mentionable": role.mentionable,
        "icon": None,
        "unicode_emoji": None,
        "flags": 0,
    }


def channel_object(world: World, channel: Channel) -> Json:
    last = next(reversed(world.messages.of(channel.id)), None)
    body: Json = {"id": channel.id, "type": channel.type, "flags": 0, "last_message_id": last}
    if channel.type == DM:
        person = world.users.get(channel.recipient_id or "")
        return {**body, "recipients": [user_object(person)] if person else []}
    body |= {
        "guild_id": channel.guild_id,
        "name": channel.name,
        "parent_id": channel.parent_id,
        "rate_limit_per_user": channel.rate_limit_per_user,
    }
    if not channel.is_thread:
        overwrites = [dict(entry) for entry in channel.overwrites]
        extra = {"topic": channel.topic, "position": channel.position, "nsfw": channel.nsfw}
        return {**body, **extra, "permission_overwrites": overwrites, "last_pin_timestamp": None}
    count = sum(message.viewer_id is None for message in world.messages.of(channel.id).values())
    return body | {
        "owner_id": channel.owner_id,
        "thread_metadata": {
            "archived": channel.archived,
            "archive_timestamp": channel.archive_timestamp,
            "auto_archive_duration": channel.auto_archive_duration,
            "locked": channel.locked,
            "create_timestamp": channel.archive_timestamp,
        },
        "message_count": count,
        "member_count": 1,
        "total_message_sent": count,
    }


def interaction_channel(world: World, channel: Channel, user_id: str) -> Json:
    """The channel an interaction happened in, with the person's permissions there."""
    return {**channel_object(world, channel), "permissions": str(in_channel(world, channel, user_id))}


def guild_object(world: World, guild: Guild) -> Json:
    return {
        "id": guild.id,
        "name": guild.name,
        "owner_id": guild.owner_id,
        "roles": [role_object(role) for role in world.roles_of(guild.id)],
        "icon": None,
        "description": None,
        "home_header": None,
        "splash": None,
        "discovery_splash": None,
        "features": [],
        "banner": None,
        "application_id": None,
        "region": "us-east",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "widget_enabled": False,
        "widget_channel_id": None,
        "verification_level": 0,
        "default_message_notifications": 0,
        "mfa_level": 0,
        "explicit_content_filter": 0,
        "max_presences": None,
        "max_members": 500_000,
        "max_stage_video_channel_users": 50,
        "max_video_channel_users": 25,
        "vanity_url_code": None,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": "en-US",
        "rules_channel_id": None,
        "safety_alerts_channel_id": None,
        "public_updates_channel_id": None,
        "premium_progress_bar_enabled": False,
        "nsfw": False,
        "nsfw_level": 0,
        "emojis": [guild_emoji(emoji) for emoji in world.emojis_of(guild.id)],
        "stickers": [sticker_object(sticker) for sticker in world.stickers_of(guild.id)],
        "incidents_data": None,
    }


def message_object(world: World, message: Message, base_url: str, *, reader: str | None = None) -> Json:
    """A message as `reader` (the bot by default) sees it: `me` of a reaction is the reader."""
    body: Json = {
        "id": message.id,
        "type": message.type,
        "channel_id": message.channel_id,
        "author": author_object(world, message),
        "content": message.content,
        "timestamp": message.timestamp,
        "edited_timestamp": message.edited_timestamp,
        "flags": message.flags,
        "tts": message.tts,
        "pinned": message.pinned,
        "mention_everyone": message.mention_everyone,
        "mentions": [user_object(user) for user in map(world.users.get, message.mentions) if user],
        "mention_roles": list(message.mention_roles),
        "attachments": [attachment_object(entry, base_url, message) for entry in message.attachments],
        "embeds": list(message.embeds),
        "components": list(message.components),
    }
    if message.reactions:
        body["reactions"] = [
            _reaction(reader or world.bot_id, emoji, people) for emoji, people in message.reactions.items()
        ]
    stickers = [sticker for sticker in map(world.stickers.get, message.stickers) if sticker]
    if stickers:
        body["sticker_items"] = [{"id": one.id, "name": one.name, "format_type": 1} for one in stickers]
    if message.webhook_id:
        body["webhook_id"] = message.webhook_id
    if message.application_id:
        body["application_id"] = message.application_id
    if message.interaction:
        body["interaction_metadata"] = message.interaction
    if message.reference:
        body["message_reference"] = message.reference
        target = world.messages.get(message.reference.get("message_id", ""))
        # Discord shows one level: the message replied to comes without the one that it replied to.
        body["referenced_message"] = target and message_object(world, replace(target, reference=None), base_url)
    thread = world.channels.get(message.id)
    if thread is not None:
        body["thread"] = channel_object(world, thread)
    return body


def author_object(world: World, message: Message) -> Json:
    if message.webhook_name is not None:
        return user_object(User(id=message.author_id, username=message.webhook_name, bot=True))
    user = world.users.get(message.author_id)
    return user_object(user or User(id=message.author_id, username="Deleted User"))


def attachment_object(entry: Json, base_url: str, message: Message) -> Json:
    """An attachment; its address is made here, because the port may be another after a restart."""
    url = f"{base_url}/attachments/{message.channel_id}/{entry['id']}/{entry['filename']}"
    body = {**entry, "url": url, "proxy_url": url}
    return {**body, "ephemeral": True} if message.flags & EPHEMERAL else body


def emoji_object(emoji: str) -> Json:
    """`👀`, or `name:id` for a custom one."""
    name, _, snowflake = emoji.partition(":")
    return {"id": snowflake or None, "name": name}


def guild_emoji(emoji: Emoji) -> Json:
    shown = {"managed": False, "animated": False, "available": True, "require_colons": True}
    return {"id": emoji.id, "name": emoji.name, "roles": [], **shown}


def sticker_object(sticker: Sticker) -> Json:
    return {
        "id": sticker.id,
        "name": sticker.name,
        "tags": sticker.tags,
        "description": sticker.description,
        "type": 2,
        "format_type": 1,
        "available": True,
        "guild_id": sticker.guild_id,
    }


def command_object(command: Command) -> Json:
    body: Json = {
        **command.body,
        "id": command.id,
        "application_id": command.application_id,
        "version": command.version,
    }
    return {**body, "guild_id": command.guild_id} if command.guild_id else body


def webhook_object(world: World, webhook: Webhook) -> Json:
    return {
        "id": webhook.id,
        "type": 1,
        "name": webhook.name,
        "avatar": None,
        "channel_id": webhook.channel_id,
        "guild_id": webhook.guild_id,
        "application_id": world.bot_id,
        "token": webhook.token,
        "user": user_object(world.bot),
    }


def _reaction(reader: str, emoji: str, people: Sequence[str]) -> Json:
    return {
        "emoji": emoji_object(emoji),
        "count": len(people),
        "count_details": {"burst": 0, "normal": len(people)},
        "burst_colors": [],
        "me_burst": False,
        "me": reader in people,
    }
