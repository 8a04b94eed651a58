"""What people wrote, changed and deleted while the bot was away. Each message is answered once, by its id."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime

import discord
import structlog

from pipeline.journal import OpenTurn

_log = structlog.get_logger()

_UNKNOWN_MESSAGE = 10008


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


async def messages_of(
    client: discord.Client, waiting: Iterable[OpenTurn]
) -> AsyncIterator[tuple[str, discord.Message | None]]:
    """The messages of turns that wait, as they read now, by the ids of the turns; None for one that was deleted."""
    for turn in waiting:
        channel = client.get_partial_messageable(int(turn.channel), guild_id=int(turn.guild) if turn.guild else None)
        try:
            yield turn.turn, await channel.fetch_message(int(turn.turn))
        except discord.HTTPException as error:
            if error.code == _UNKNOWN_MESSAGE:
                yield turn.turn, None
            else:
                _log.info("message_not_read", channel=turn.channel, code=error.code)
