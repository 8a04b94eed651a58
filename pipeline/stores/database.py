"""The port between the stores and a database: one piece of synchronous work is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, and_, insert, update

T = TypeVar("T")


class Database(Protocol):
    """Runs work in transactions. The work knows no driver, and neither threads nor coroutines."""

    async def run(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, after its transaction is on the disk.

        Whatever `work` raises undoes all of it. A cancel leaves the outcome unknown, but never half of it, and the
        next `run` sees it. Raises `StoreError` when the database cannot be read or written; `IntegrityError` of
        SQLAlchemy passes, for the stores know what it means.
        """
        ...


def put(connection: Connection, table: Table, key: Mapping[str, object], values: Mapping[str, object]) -> None:
    """Write the row of `table` that `key` names, whether there is one or not. For tables with a single writer."""
    this: ColumnElement[bool] = and_(*(table.c[name] == value for name, value in key.items()))
    if connection.execute(update(table).where(this).values(**values)).rowcount == 0:
        connection.execute(insert(table).values(**key, **values))
