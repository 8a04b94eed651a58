"""A message on Discord becomes the start of a turn: whether it is one, what was said, and what comes along as data."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection
from dataclasses import dataclass

import aiohttp
import discord
import structlog

from bot.render.text import clip, one_line
from pipeline.messages import Image
from pipeline.records import TurnStarted
from tools.output import scrub

_log = structlog.get_logger()

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_IMAGES = 4
MAX_IMAGE_BYTES = 5 * 1024 * 1024
QUOTE_UNITS = 1500
_STARTING_TYPES = (discord.MessageType.default, discord.MessageType.reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Who may start a turn: ids of channels where no mention is needed, ids of roles (empty: everyone)."""

    chat_channels: frozenset[str] = frozenset()
    allowed_roles: frozenset[str] = frozenset()

    def addresses_bot(self, message: discord.Message, me: discord.ClientUser) -> bool:
        """Whether `message` is meant for the bot: a mention, a reply to it, a direct message, a chat channel."""
        if not is_a_persons(message):
            return False
        if message.guild is None or self._is_chat_channel(message):
            return True
        return mentions(message, me) or _replies_to(message, me)

    def admits(self, author: discord.User | discord.Member) -> bool:
        """Whether this person may start turns. Where roles are asked for, a direct message shows none."""
        if not self.allowed_roles:
            return True
        roles = author.roles if isinstance(author, discord.Member) else []
        return any(str(role.id) in self.allowed_roles for role in roles)

    def _is_chat_channel(self, message: discord.Message) -> bool:
        parent = message.channel.parent_id if isinstance(message.channel, discord.Thread) else None
        return bool(self.chat_channels & {str(message.channel.id), str(parent)})


def is_a_persons(message: discord.Message) -> bool:
    """Whether a person wrote `message`: no bot, no webhook, none of Discord's own."""
    return not message.author.bot and message.webhook_id is None and message.type in _STARTING_TYPES


def is_said_to_another(message: discord.Message, me: discord.ClientUser) -> bool:
    """Whether `message` replies to somebody else and does not name the bot."""
    quoted = message.reference.resolved if message.reference is not None else None
    return isinstance(quoted, discord.Message) and quoted.author.id != me.id and not mentions(message, me)


def mentions(message: discord.Message, me: discord.ClientUser) -> bool:
    """Whether the text names the bot, or the role that Discord made for it; `@everyone` does not count."""
    if re.search(rf"<@!?{me.id}>", message.content):
        return True
    own_role = message.guild.self_role if message.guild is not None else None
    return own_role is not None and own_role in message.role_mentions


def _replies_to(message: discord.Message, me: discord.ClientUser) -> bool:
    quoted = message.reference.resolved if message.reference is not None else None
    return isinstance(quoted, discord.Message) and quoted.author.id == me.id


def text_of(message: discord.Message, me: discord.ClientUser) -> str:
    """What was written: the bot's own mention gone, other mentions as names."""
    names = {f"<@{user.id}>": f"@{one_line(user.display_name, 80)}" for user in message.mentions}
    names |= {f"<@!{user.id}>": f"@{one_line(user.display_name, 80)}" for user in message.mentions}
    names |= {f"<#{channel.id}>": f"#{one_line(channel.name, 100)}" for channel in message.channel_mentions}
    names |= {f"<@&{role.id}>": f"@{one_line(role.name, 100)}" for role in message.role_mentions}
    names |= {f"<@{me.id}>": "", f"<@!{me.id}>": ""}
    if message.guild is not None and message.guild.self_role is not None:
        names[f"<@&{message.guild.self_role.id}>"] = ""
    text = re.sub(r"<(?:@[!&]?|#)[0-9]+>", lambda match: names.get(match[0], match[0]), message.content)
    return scrub(text).strip()


def attachment_lines(message: discord.Message, shown: frozenset[str]) -> list[str]:
    """One line of data for each attachment; `shown` are the ids of those that the model sees."""
    lines = []
    for attachment in message.attachments:
        name, kind = one_line(attachment.filename, 100), one_line(attachment.content_type or "unknown type", 60)
        seen = "" if str(attachment.id) in shown else ", not shown to you"
        lines.append(f"[attachment: {name}, {kind}, {attachment.size} bytes{seen}]")
    return lines


def words_of(message: discord.Message, me: discord.ClientUser, shown: frozenset[str]) -> str:
    """What the model reads of a message: its text, then its attachments; `shown` are the ids of those that it sees."""
    return clip("\n".join([text_of(message, me), *attachment_lines(message, shown)]).strip(), 8000)


def quoted_of(message: discord.Message) -> str:
    """The message that was replied to, as one line of data; empty where there is none."""
    quoted = message.reference.resolved if message.reference is not None else None
    if not isinstance(quoted, discord.Message):
        return ""
    author = one_line(quoted.author.display_name, 80) or "somebody"
    return f"{author}: {one_line(quoted.content, QUOTE_UNITS)}"


async def images_of(message: discord.Message) -> dict[str, Image]:
    """The pictures of a message by attachment id; ones that cannot be had are left out."""
    wanted = [a for a in message.attachments if _media_type(a) in IMAGE_TYPES and a.size <= MAX_IMAGE_BYTES]
    images: dict[str, Image] = {}
    for attachment in wanted[:MAX_IMAGES]:
        try:
            data = await attachment.read()
        except (discord.DiscordException, aiohttp.ClientError, OSError):
            _log.info("image_not_read", attachment=attachment.id)
            continue
        if len(data) <= MAX_IMAGE_BYTES:
            encoded = base64.b64encode(data).decode()
            images[str(attachment.id)] = Image(media_type=_media_type(attachment), data=encoded)
    return images


def _media_type(attachment: discord.Attachment) -> str:
    return (attachment.content_type or "").partition(";")[0].strip().lower()


def turn_of(message: discord.Message, me: discord.ClientUser, images: Collection[str], now: float) -> TurnStarted:
    """The turn that `message` starts; `images` are the ids of the pictures that come along, `now` epoch seconds."""
    return TurnStarted(
        turn=str(message.id),
        channel=str(message.channel.id),
        guild=str(message.guild.id) if message.guild is not None else "",
        user=str(message.author.id),
        author=one_line(message.author.display_name, 80) or "somebody",
        text=words_of(message, me, frozenset(images)),
        quoted=quoted_of(message),
        images=tuple(images),
        parent=str(message.channel.parent_id) if isinstance(message.channel, discord.Thread) else "",
        at=now,
    )
