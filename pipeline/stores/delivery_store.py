"""Which message on Discord belongs to which turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Select, delete, func, select

from pipeline.journal import Delivery
from pipeline.stores.database import Database, put
from pipeline.stores.schema import deliveries


class DeliveryStore:
    """The port `Deliveries` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_turn(self, turn: str) -> Sequence[Delivery]:
        query = (
            select(deliveries).where(deliveries.c.turn == turn).order_by(func.length(deliveries.c.slot), "slot")
        )  # by length first: reply:10 comes after reply:9

        return await self._database.run(lambda connection: _found(connection, query))

    async def chips(self, emojis: Collection[str]) -> Sequence[Delivery]:
        query = select(deliveries).where(deliveries.c.slot.startswith("chip:"), deliveries.c.nonce.in_(emojis))
        return await self._database.run(lambda connection: _found(connection, query))

    async def put(self, delivery: Delivery) -> None:
        key = {"turn": delivery.turn, "slot": delivery.slot}
        values = {"nonce": delivery.nonce, "message": delivery.message}
        await self._database.run(lambda connection: put(connection, deliveries, key, values))

    async def drop(self, turn: str, slot: str) -> None:
        statement = delete(deliveries).where(deliveries.c.turn == turn, deliveries.c.slot == slot)

        def work(connection: Connection) -> None:
            connection.execute(statement)

        await self._database.run(work)


def _found(connection: Connection, query: Select[str, str, str, str]) -> list[Delivery]:
    return [Delivery(**row) for row in connection.execute(query).mappings()]
