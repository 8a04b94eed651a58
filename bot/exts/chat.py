"""A message that is meant for the bot becomes a turn."""

from __future__ import annotations

from collections.abc import Coroutine

import aiohttp
import discord
import structlog
from discord.ext import commands

from bot.catch_up import missed_messages
from bot.exts import Parts
from bot.exts.controls import Controls
from bot.inbound import text_of, turn_of
from bot.render.outbox import ONLY_THE_PERSON
from bot.render.pacer import Kind, Priority
from bot.views.answering import SORRY, Said
from pipeline.conversation import parse_command
from pipeline.runtime import Submission

_log = structlog.get_logger()

_EMPTY = "Write what you want after the mention, for example: what is in this folder?"
_FULL = "Too many messages wait in this channel already, so I did not take this one. Try again when some are answered."
_CLOSING = "I am about to restart. If I do not answer this within a few minutes, please send it again."


class Chat(commands.Cog):
    """Listens for messages. Edits never start anything."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._controls = Controls(parts)

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        me = self._parts.client.user
        if me is None or not self._parts.admission.addresses_bot(message, me):
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

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """After a start or a lost session: answer what was written meanwhile. Commands are not run late."""
        me, now = self._parts.client.user, self._parts.now()
        if me is None or self._parts.catch_up_max_age_s <= 0:
            return
        admission = self._parts.admission
        async for message in missed_messages(self._parts.client, now - self._parts.catch_up_max_age_s):
            text = text_of(message, me)
            meant = admission.addresses_bot(message, me) and admission.admits(message.author)
            if meant and parse_command(text) is None and (text or message.attachments):
                await self._safely(message, self._submit(message, me))

    async def _safely(self, message: discord.Message, work: Coroutine[None, None, None]) -> None:
        """Do `work` about `message`; when it fails, its author is told."""
        try:
            await work
        except Exception:
            _log.exception("message_not_answered", message=message.id, channel=message.channel.id)
            await self._tell(message, Said(text=SORRY))

    async def _submit(self, message: discord.Message, me: discord.ClientUser) -> None:
        sees_images = bool(message.attachments) and await self._sees_images(str(message.channel.id))
        started, images = await turn_of(message, me, sees_images=sees_images, now=self._parts.now())
        match await self._parts.runtime.submit(started, images):
            case Submission.QUEUED:
                self._parts.sink.mark_queued(started)
            case Submission.FULL:
                await self._tell(message, Said(text=_FULL))
            case Submission.CLOSING:
                await self._tell(message, Said(text=_CLOSING))
            case Submission.STARTED | Submission.KNOWN:
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
