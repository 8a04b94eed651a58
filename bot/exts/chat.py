"""A message that is meant for the bot becomes a turn, or ends one; one that waits may be changed or taken back."""

from __future__ import annotations

from collections.abc import Coroutine

import aiohttp
import discord
import structlog
from discord.ext import commands

from bot.catch_up import messages_of, missed_messages
from bot.exts import Parts
from bot.exts.controls import Controls
from bot.inbound import images_of, is_a_persons, is_said_to_another, text_of, turn_of, words_of
from bot.render.chips import Chip
from bot.render.outbox import ONLY_THE_PERSON, Place
from bot.render.pacer import Kind, Priority
from bot.render.text import one_line
from bot.views.answering import SORRY, Said
from pipeline.conversation import parse_command
from pipeline.phrases import is_stop_phrase
from pipeline.results import Reason
from pipeline.runtime import Submission

_log = structlog.get_logger()

_EMPTY = "Write what you want after the mention, for example: what is in this folder?"
_FULL = "Too many messages wait in this channel already, so I did not take this one. Try again when some are answered."
_CLOSING = "I am about to restart. If I do not answer this within a few minutes, please send it again."


class Chat(commands.Cog):
    """Listens for messages. Edits never start anything: they only change messages that wait."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._controls = Controls(parts)
        self._arriving: dict[int, discord.Message] = {}  # those whose pictures are still fetched, as they read now

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        me = self._parts.client.user
        if me is None:
            return
        if self._asks_to_stop(message, me):
            await self._safely(message, self._stop(message))
            return
        if not self._parts.admission.addresses_bot(message, me):
            return
        if not self._parts.admission.admits(message.author):
            _log.info("not_admitted", user=message.author.id, channel=message.channel.id)
            return
        await self._safely(message, self._answer(message, me))

    async def _answer(self, message: discord.Message, me: discord.ClientUser) -> None:
        text = text_of(message, me)
        if (command := parse_command(text)) is not None:
            await self._tell(message, await self._controls.run(command, str(message.channel.id)))
        elif not text and not message.attachments:
            await self._tell(message, Said(text=_EMPTY))
        else:
            await self._submit(message, me)

    def _asks_to_stop(self, message: discord.Message, me: discord.ClientUser) -> bool:
        """Whether these words of the person whose turn is under way here end it. They need no mention."""
        return (
            self._parts.runtime.requester(str(message.channel.id)) == str(message.author.id)
            and is_a_persons(message)
            and is_stop_phrase(text_of(message, me))
            and not is_said_to_another(message, me)
        )

    async def _stop(self, message: discord.Message) -> None:
        channel, author = str(message.channel.id), message.author
        name = one_line(author.display_name, 80) or "somebody"
        await self._parts.runtime.stop(channel, by=str(author.id), name=name, reason=Reason.PHRASE)
        guild = str(message.guild.id) if message.guild is not None else ""
        self._parts.sink.chips.show(Place(channel=channel, guild=guild, trigger=str(message.id)), Chip.USED)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        await self._edited(payload.message)

    async def _edited(self, message: discord.Message) -> None:
        """A person changed a message, which may wait for its turn. (A preview of a link is no edit.)"""
        me = self._parts.client.user
        if me is None or not is_a_persons(message) or message.edited_at is None:
            return
        if message.id in self._arriving:
            self._arriving[message.id] = message
        elif text_of(message, me) or message.attachments:
            await self._parts.runtime.edit(
                str(message.id), lambda started: words_of(message, me, frozenset(started.images))
            )

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        await self._deleted(payload.message_id)

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        for message in payload.message_ids:
            await self._deleted(message)

    async def _deleted(self, message: int) -> None:
        self._arriving.pop(message, None)
        await self._parts.runtime.drop(str(message))

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """After a start or a lost session: answer what was written meanwhile. Commands and stops are not run late."""
        await self._parts.sink.chips.tidy(self._parts.runtime.is_open)
        async for turn, now_there in messages_of(self._parts.client, self._parts.runtime.waiting()):
            await (self._parts.runtime.drop(turn) if now_there is None else self._edited(now_there))
        me, now = self._parts.client.user, self._parts.now()
        if me is None or self._parts.catch_up_max_age_s <= 0:
            return
        admission = self._parts.admission
        async for message in missed_messages(self._parts.client, now - self._parts.catch_up_max_age_s):
            text = text_of(message, me)
            meant = admission.addresses_bot(message, me) and admission.admits(message.author)
            steers = parse_command(text) is not None or is_stop_phrase(text)
            if meant and not steers and (text or message.attachments):
                await self._safely(message, self._submit(message, me))

    async def _safely(self, message: discord.Message, work: Coroutine[None, None, None]) -> None:
        """Do `work` about `message`; when it fails, its author is told."""
        try:
            await work
        except Exception:
            _log.exception("message_not_answered", message=message.id, channel=message.channel.id)
            await self._tell(message, Said(text=SORRY))

    async def _submit(self, message: discord.Message, me: discord.ClientUser) -> None:
        self._arriving[message.id] = message
        try:
            sees_images = bool(message.attachments) and await self._sees_images(str(message.channel.id))
            images = await images_of(message) if sees_images else {}
        finally:
            newest = self._arriving.pop(message.id, None)
        if newest is None:  # deleted meanwhile
            return
        started = turn_of(newest, me, images, self._parts.now())
        match await self._parts.runtime.submit(started, tuple(images.values())):
            case Submission.FULL:
                await self._tell(message, Said(text=_FULL))
            case Submission.CLOSING:
                await self._tell(message, Said(text=_CLOSING))
            case Submission.STARTED | Submission.QUEUED | Submission.KNOWN:
                pass

    async def _sees_images(self, channel: str) -> bool:
        chosen = (await self._parts.conversations.channel(channel)).model
        found = self._parts.catalog.find(chosen) if chosen else None
        provider = found[0] if found is not None else self._parts.catalog.default
        return provider.traits.sees_images

    async def _tell(self, message: discord.Message, said: Said) -> None:
        await self._parts.pacer.leave(str(message.channel.id), lambda: (Priority.FIRST, Kind.CREATE))
        try:
            await message.reply(said.text or None, embeds=said.embeds, allowed_mentions=ONLY_THE_PERSON)
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            _log.info("answer_not_delivered", channel=message.channel.id, why=str(error))


def cogs(parts: Parts) -> tuple[commands.Cog, ...]:
    return (Chat(parts),)
