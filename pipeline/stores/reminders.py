"""Reminders that wait, and for a while those that do not any more: a repeated call must find its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from functools import partial

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from pipeline.reminders import MAX_OPEN_REMINDERS, Reminder
from pipeline.stores.database import Database
from pipeline.stores.schema import WAITS, reminders

_KEPT_S = 7 * 24 * 3600.0


class ReminderStore:
    """The port `Reminders` on a database. `clock` gives epoch seconds."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, reminder: Reminder) -> bool:
        of_person = select(func.count()).select_from(reminders).where(reminders.c.user == reminder.user, WAITS)
        known = select(reminders.c.reminder).where(reminders.c.reminder == reminder.reminder)

        def work(connection: Connection) -> bool:
            connection.execute(delete(reminders).where(reminders.c.closed_at < self._clock() - _KEPT_S))
            if connection.scalar(known) is not None:
                return True
            if (connection.scalar(of_person) or 0) >= MAX_OPEN_REMINDERS:
                return False
            connection.execute(insert(reminders).values(**asdict(reminder)))
            return True

        return await self._database.run(work)

    async def open(self, user: str) -> Sequence[Reminder]:
        return await self._database.run(partial(_found, reminders.c.user == user))

    async def due(self, now: float) -> Sequence[Reminder]:
        return await self._database.run(partial(_found, reminders.c.due <= now))

    async def next_due(self, now: float) -> float | None:
        query = select(func.min(reminders.c.due)).where(WAITS, reminders.c.due > now)
        return await self._database.run(lambda connection: connection.scalar(query))

    async def tried(self, reminder: str, at: float) -> None:
        first = reminders.c.reminder == reminder, reminders.c.tried_at.is_(None)
        statement = update(reminders).where(*first).values(tried_at=at)
        await self._database.run(lambda connection: connection.execute(statement).close())

    async def close(self, reminder: str) -> bool:
        statement = update(reminders).where(reminders.c.reminder == reminder, WAITS).values(closed_at=self._clock())
        return await self._database.run(lambda connection: connection.execute(statement).rowcount > 0)


def _found(which: ColumnElement[bool], connection: Connection) -> list[Reminder]:
    columns = [reminders.c[field.name] for field in fields(Reminder)]
    query = select(*columns).where(which, WAITS).order_by(reminders.c.due, reminders.c.reminder)
    return [Reminder(**row) for row in connection.execute(query).mappings()]
