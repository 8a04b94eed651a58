"""Messages that were written while the bot was away: read from the history, each answered once by its id."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import discord
import structlog

_log = structlog.get_logger()


async def missed_messages(client: discord.Client, since: float) -> AsyncIterator[discord.Message]:
    """What was written in the bot's guilds since the epoch second `since`, channel by channel, oldest first.

    Only channels whose newest message is that young are asked for; their ids say so without a request. Direct messages
    are left out: Discord does not say at a start which there are.
    """
    after = datetime.fromtimestamp(since, UTC)
    for guild in client.guilds:
        channels: list[discord.TextChannel | discord.Thread] = [*guild.text_channels, *guild.threads]
        for channel in channels:
            last = channel.last_message_id
            if last is None or discord.utils.snowflake_time(last) < after:
                continue
            try:
                async for message in channel.history(after=after, limit=100, oldest_first=True):
                    yield message
            except discord.HTTPException as error:
                _log.info("history_not_read", channel=channel.id, code=error.code)
