"""Requests to Discord about messages, and what their failures mean. Pings nobody but the person who is answered."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import aiohttp
import discord
from discord.ui import View

from pipeline.records import TurnStarted

REST_NAME = "answer-continued.md"
NO_PINGS = discord.AllowedMentions.none()
ONLY_THE_PERSON = discord.AllowedMentions(everyone=False, users=False, roles=False, replied_user=True)

# Discord's codes: https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
_UNKNOWN_CHANNEL, _MISSING_ACCESS = 10003, 50001
_TOO_MANY_EDITS, _ARCHIVED_THREAD = 30046, 50083
_FAILURES = (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError)


class MessageGone(Exception):
    """The message cannot be edited any more (deleted, too old, not ours): post it afresh."""


class Unreachable(Exception):
    """Nothing can be posted there: the channel is gone or closed to the bot. The message is a sentence."""


class Refused(Exception):
    """Discord does not take this content; the same again would fail again."""


class Transient(Exception):
    """Discord or the network failed for a moment; trying again later may help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a turn is answered: its channel, its guild (empty: a direct message), the message that is answered.
    `since` is the id after which the turn's own messages came, where that is not the trigger's."""

    channel: str
    guild: str
    trigger: str
    since: str = ""


def place_of(started: TurnStarted) -> Place:
    """Where the answer to a turn stands. One that a button began answers the message that the button was about."""
    trigger = started.reply_to or started.turn
    return Place(channel=started.channel, guild=started.guild, trigger=trigger, since=started.turn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a message is to hold; `sticker` is the id of one."""

    content: str = ""
    embeds: tuple[discord.Embed, ...] = ()
    view: View | None = None
    rest: str = ""
    sticker: str = ""

    def files(self) -> list[discord.File]:
        return [discord.File(io.BytesIO(self.rest.encode()), REST_NAME)] if self.rest else []


def nonce_of(turn: str, slot: str, generation: int) -> str:
    """The same for a repeated create, so that it is not a second message. At most 25 characters."""
    return blake2b(f"{turn}/{slot}/{generation}".encode(), digest_size=10).hexdigest()


def button_ids(message: discord.Message) -> set[str]:
    """The custom ids of a message's buttons."""
    rows = (row for row in message.components if isinstance(row, discord.ActionRow))
    return {child.custom_id or "" for row in rows for child in row.children}


class Outbox:
    """Creates, edits and finds the bot's messages. All methods raise the errors above, nothing of discord.py's."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client

    async def create(self, place: Place, draft: Draft, *, nonce: str, reply: bool) -> str:
        """Post a message, as a reply to the trigger or not; its id."""
        options: dict[str, Any] = {}
        if reply:
            options["reference"] = discord.MessageReference(
                message_id=int(place.trigger), channel_id=int(place.channel), fail_if_not_exists=False
            )
        if draft.view is not None:
            options["view"] = draft.view
        if draft.sticker:
            options["stickers"] = [discord.Object(int(draft.sticker))]
        try:
            message = await self._channel(place).send(
                draft.content or None,
                embeds=draft.embeds,
                files=draft.files(),
                nonce=nonce,
                allowed_mentions=ONLY_THE_PERSON if reply else NO_PINGS,
                **options,
            )
        except _FAILURES as error:
            raise _meaning(error, of_edit=False) from error
        return str(message.id)

    async def edit(self, place: Place, message: str, draft: Draft) -> None:
        files = draft.files()
        try:
            await (
                self._channel(place)
                .get_partial_message(int(message))
                .edit(
                    content=draft.content or None,
                    embeds=draft.embeds,
                    view=draft.view,
                    attachments=files if files else discord.utils.MISSING,
                    allowed_mentions=NO_PINGS,
                )
            )
        except _FAILURES as error:
            raise _meaning(error, of_edit=True) from error

    async def delete(self, place: Place, message: str) -> None:
        try:
            await self._channel(place).get_partial_message(int(message)).delete()
        except _FAILURES as error:
            raise _meaning(error, of_edit=True) from error

    async def type(self, place: Place) -> None:
        """Show that the bot types, for some ten seconds."""
        try:
            await self._channel(place).typing()
        except _FAILURES as error:
            raise _meaning(error, of_edit=False) from error

    async def react(self, place: Place, emoji: str, *, add: bool) -> None:
        """Put a reaction on the trigger, or take it away."""
        trigger = self._channel(place).get_partial_message(int(place.trigger))
        try:
            if add:
                await trigger.add_reaction(emoji)
            elif self._client.user is not None:
                await trigger.remove_reaction(emoji, self._client.user)
        except _FAILURES as error:
            raise _meaning(error, of_edit=True) from error

    async def own_messages(self, place: Place) -> Sequence[discord.Message]:
        """The bot's own messages since the turn began, oldest first; at most the first hundred messages are looked
        at."""
        after = discord.Object(int(place.since or place.trigger))
        try:
            found = [message async for message in self._channel(place).history(after=after, limit=100)]
        except _FAILURES as error:
            raise _meaning(error, of_edit=False) from error
        return [message for message in found if message.author == self._client.user]

    def _channel(self, place: Place) -> discord.PartialMessageable:
        guild = int(place.guild) if place.guild else None
        return self._client.get_partial_messageable(int(place.channel), guild_id=guild)


def _meaning(error: Exception, *, of_edit: bool) -> Exception:
    """What a failure of discord.py means for a message."""
    if not isinstance(error, discord.HTTPException) or error.status >= 500 or error.status == 429:
        return Transient(str(error))
    if error.code == _UNKNOWN_CHANNEL:
        return Unreachable("the channel is gone")
    if of_edit and (error.status in (403, 404) or error.code in (_TOO_MANY_EDITS, _ARCHIVED_THREAD)):
        return MessageGone(str(error))
    if error.status in (401, 403, 404) or error.code in (_MISSING_ACCESS, _ARCHIVED_THREAD):
        return Unreachable(f"the bot may not write in this channel ({error.text or error.status})")
    return Refused(str(error))
