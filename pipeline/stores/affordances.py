"""Which tools stay on offer in which channel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, select, update

from pipeline.stores.database import Database, put
from pipeline.stores.schema import affordances


class AffordanceStore:
    """The port `Affordances` on a database.

    A row names the turn that it was last counted for. One that has no turn left stays until another turn begins, so
    that a turn which asks again after a crash gets the same answer.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, channel: str, turn: str) -> Sequence[str]:
        of_channel = affordances.c.channel == channel
        other_turn = affordances.c.turn != turn
        spent = delete(affordances).where(of_channel, other_turn, affordances.c.remaining <= 0)
        count = (
            update(affordances).where(of_channel, other_turn).values(remaining=affordances.c.remaining - 1, turn=turn)
        )
        on_offer = select(affordances.c.tool).where(of_channel).order_by(affordances.c.tool)

        def work(connection: Connection) -> list[str]:
            connection.execute(spent)
            connection.execute(count)
            return list(connection.scalars(on_offer))

        return await self._database.run(work)

    async def keep(self, channel: str, turn: str, tools: Iterable[str], turns: int) -> None:
        names = tuple(tools)

        def work(connection: Connection) -> None:
            for tool in names:
                put(connection, affordances, {"channel": channel, "tool": tool}, {"remaining": turns, "turn": turn})

        await self._database.run(work)
