"""The bot's own notes about channels."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, delete, select

from pipeline.memory import MEMORY_TTL_S
from pipeline.stores.database import Database, put
from pipeline.stores.schema import memories


class MemoryStore:
    """The port `ShortTermMemory` on a database. `clock` gives epoch seconds."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def recall(self, channel: str) -> str:
        oldest = self._clock() - MEMORY_TTL_S
        query = select(memories.c.text).where(memories.c.channel == channel, memories.c.at >= oldest)
        return await self._database.run(lambda connection: connection.scalar(query) or "")

    async def note(self, channel: str, text: str) -> None:
        now = self._clock()

        def work(connection: Connection) -> None:
            connection.execute(delete(memories).where(memories.c.at < now - MEMORY_TTL_S))
            if text:
                put(connection, memories, {"channel": channel}, {"text": text, "at": now})
            else:
                forget(connection, channel)

        await self._database.run(work)


def forget(connection: Connection, channel: str) -> None:
    """Drop what was noted about a channel."""
    connection.execute(delete(memories).where(memories.c.channel == channel))
