"""The transcripts of channels and what a channel remembers beside them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select, update

from pipeline.journal import ChannelState, UsageRow
from pipeline.messages import Message, NoteMessage, Usage
from pipeline.results import PassUsage
from pipeline.stores.database import Database, put
from pipeline.stores.memory import forget
from pipeline.stores.schema import channels, messages, usage
from pipeline.stores.transcript import newest_turns, write_messages

_NO_TURN = ""  # where a note stands that was added before the channel's first turn


class ConversationStore:
    """The port `Conversations` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def channel(self, channel: str) -> ChannelState:
        query = select(channels.c.model, channels.c.system).where(channels.c.channel == channel)

        def work(connection: Connection) -> ChannelState:
            row = connection.execute(query).one_or_none()
            if row is None:
                return ChannelState(channel=channel)
            return ChannelState(channel=channel, model=row.model, system=row.system)

        return await self._database.run(work)

    async def set_model(self, channel: str, model: str) -> None:
        await self._remember(channel, model=model)

    async def set_system(self, channel: str, text: str) -> None:
        await self._remember(channel, system=text)

    async def clear(self, channel: str, at: float) -> int:
        def work(connection: Connection) -> int:
            of_channel = messages.c.channel == channel
            counted = select(func.count(messages.c.turn.distinct())).where(of_channel, messages.c.turn != _NO_TURN)
            forgotten = connection.scalar(counted)
            connection.execute(delete(messages).where(of_channel))
            forget(connection, channel)
            connection.execute(update(usage).where(usage.c.channel == channel).values(since_clear=False))
            put(connection, channels, {"channel": channel}, {"cleared_at": at})
            return int(forgotten or 0)

        return await self._database.run(work)

    async def add_note(self, channel: str, text: str, at: float) -> None:
        newest = select(messages.c.turn).where(messages.c.channel == channel).order_by(messages.c.n.desc()).limit(1)

        def work(connection: Connection) -> None:
            # A note belongs to the turn it follows: as one of its own it could pass for the newest.
            turn = connection.scalar(newest) or _NO_TURN
            write_messages(connection, channel, turn, [NoteMessage(text=text)], at)

        await self._database.run(work)

    async def turns(self, channel: str, max_bytes: int) -> Sequence[Sequence[Message]]:
        return await self._database.run(lambda connection: newest_turns(connection, channel, max_bytes))

    async def usage(self, channel: str) -> Sequence[UsageRow]:
        who = (usage.c.user, usage.c.provider, usage.c.model, usage.c.since_clear)
        sums = [
            func.sum(usage.c[name]).label(name)
            for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        ]
        query = select(*who, *sums).where(usage.c.channel == channel).group_by(*who).order_by(func.min(usage.c.n))

        def work(connection: Connection) -> list[UsageRow]:
            return [
                UsageRow(
                    user=row.user,
                    usage=PassUsage(
                        provider=row.provider,
                        model=row.model,
                        usage=Usage(
                            input_tokens=int(row.input_tokens),
                            output_tokens=int(row.output_tokens),
                            cache_read_tokens=int(row.cache_read_tokens),
                            cache_write_tokens=int(row.cache_write_tokens),
                        ),
                    ),
                    since_clear=row.since_clear,
                )
                for row in connection.execute(query)
            ]

        return await self._database.run(work)

    async def _remember(self, channel: str, **values: object) -> None:
        await self._database.run(lambda connection: put(connection, channels, {"channel": channel}, values))
