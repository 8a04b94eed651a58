"""Says reminders when they are due: each once, whatever happens in between.

Before the first try a reminder is marked as tried. What was tried is looked for in the channel before it is sent again,
and for the minutes in which Discord's own history may lag behind, the nonce makes both sends one message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import aiohttp
import discord
import structlog
from discord.ext import commands

from pipeline.reminders import Reminder, Reminders

_log = structlog.get_logger()

FIRST_RETRY_S, MOST_RETRY_S = 30.0, 3600.0
GIVE_UP_S = 24 * 3600.0
LOOK_AGAIN_S = 3600.0  # a wall clock can be set
_SKEW_S = 60.0  # by how much Discord's clock may be behind ours
_LOOKED_THROUGH = 200
_FAILURES = (discord.HTTPException, aiohttp.ClientError, OSError)


class ReminderDelivery(commands.Cog, name="reminders"):
    """Runs from the login to the end of `client`. `now` gives epoch seconds."""

    def __init__(self, client: discord.Client, reminders: Reminders, now: Callable[[], float]) -> None:
        self._client = client
        self._reminders = reminders
        self._now = now
        self._changed = asyncio.Event()
        self._failures: dict[str, tuple[int, float]] = {}  # by reminder: how often, and when to try again
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """There is a reminder more or less: look again."""
        self._changed.set()

    async def cog_load(self) -> None:
        self._task = asyncio.create_task(self._run(), name="reminders")

    async def cog_unload(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                wait_s = await self._deliver_due()
            except Exception:
                _log.exception("reminders_failed")
                wait_s = FIRST_RETRY_S
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()

    async def _deliver_due(self) -> float:
        """Deliver what is due; the seconds until there is something to do again."""
        due = await self._reminders.due(self._now())
        waiting = {reminder.reminder for reminder in due}
        self._failures = {name: failed for name, failed in self._failures.items() if name in waiting}
        for reminder in due:
            if self._failures.get(reminder.reminder, (0, 0.0))[1] <= self._now():
                await self._deliver(reminder)
        following = await self._reminders.next_due(self._now())
        moments = [again for _, again in self._failures.values()] + ([] if following is None else [following])
        return min(max(min(moments, default=float("inf")) - self._now(), 0.0), LOOK_AGAIN_S)

    async def _deliver(self, reminder: Reminder) -> None:
        try:
            await self._say(reminder)
        except _FAILURES as error:
            if not self._may_try_again(reminder, error):
                _log.warning("reminder_given_up", reminder=reminder.reminder, channel=reminder.channel, why=str(error))
                await self._close(reminder)
        else:
            await self._close(reminder)

    async def _say(self, reminder: Reminder) -> None:
        guild = int(reminder.guild) if reminder.guild else None
        channel = self._client.get_partial_messageable(int(reminder.channel), guild_id=guild)
        if reminder.tried_at is None:
            await self._reminders.tried(reminder.reminder, self._now())
        elif await self._was_said(channel, reminder, reminder.tried_at):
            return
        person = discord.Object(int(reminder.user))
        original = discord.MessageReference(
            message_id=int(reminder.message), channel_id=int(reminder.channel), fail_if_not_exists=False
        )
        await channel.send(
            content_of(reminder),
            reference=original,
            nonce=reminder.reminder,
            allowed_mentions=discord.AllowedMentions(everyone=False, users=[person], roles=False, replied_user=False),
        )

    async def _was_said(self, channel: discord.PartialMessageable, reminder: Reminder, tried_at: float) -> bool:
        after = datetime.fromtimestamp(tried_at - _SKEW_S, UTC)
        async for message in channel.history(after=after, limit=_LOOKED_THROUGH):
            if message.author == self._client.user and message.content == content_of(reminder):
                return True
        return False

    def _may_try_again(self, reminder: Reminder, error: Exception) -> bool:
        gone = isinstance(error, discord.NotFound)
        if gone or self._now() - reminder.due > GIVE_UP_S:
            return False
        count = self._failures.get(reminder.reminder, (0, 0.0))[0] + 1
        delay_s = min(FIRST_RETRY_S * 2 ** (count - 1), MOST_RETRY_S)
        self._failures[reminder.reminder] = count, self._now() + delay_s
        _log.info("reminder_not_delivered", reminder=reminder.reminder, why=str(error), again_in_s=delay_s)
        return True

    async def _close(self, reminder: Reminder) -> None:
        await self._reminders.close(reminder.reminder)
        self._failures.pop(reminder.reminder, None)


def content_of(reminder: Reminder) -> str:
    """The message, the same at every try. Its time tells it from others of the same text."""
    return f"⏰ <@{reminder.user}> {reminder.text}\n-# A reminder for <t:{reminder.due:.0f}:f>"
