"""Records by turn, and the rows that are derived from them in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from pipeline.errors import Conflict, StoreError
from pipeline.journal import OpenTurn, PendingApproval, Place, TurnOutput
from pipeline.messages import Image
from pipeline.records import ApprovalAsked, Decided, LoopRecord, TurnEnded, TurnStarted, dump_record, load_record
from pipeline.stores import blobs
from pipeline.stores.database import Database
from pipeline.stores.schema import HOLDS_CHANNEL, IS_OPEN, IS_UNDECIDED, approvals, records, turns
from pipeline.stores.transcript import write_output

_INSERT_RECORDS = insert(records)
_RECORDS = select(records.c.seq, records.c.json).where(records.c.turn == bindparam("turn")).order_by(records.c.seq)
_AGE = (turns.c.created_at, func.length(turns.c.turn), turns.c.turn)  # ids are numbers: the shorter is older


class JournalStore:
    """The port `Journal` on a database. `clock` gives epoch seconds."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def create(self, started: TurnStarted, *, images: Sequence[Image], queued: bool) -> bool:
        pictures = dict(zip(started.images, images, strict=True))
        place = Place.QUEUED if queued else Place.ACTIVE
        row = {
            "turn": started.turn,
            "channel": started.channel,
            "guild": started.guild,
            "user": started.user,
            "place": place.value,
            "created_at": started.at,
            "follow_ups": started.follow_ups,
        }
        rows = self._rows(started.turn, 0, [started])

        def work(connection: Connection) -> None:
            connection.execute(insert(turns), row)
            connection.execute(_INSERT_RECORDS, rows)
            blobs.keep(connection, pictures)

        try:
            await self._database.run(work)
        except IntegrityError as error:
            known, taken = await self._database.run(lambda connection: _why_not(connection, started))
            if known:
                return False
            if taken:
                raise Conflict(f"channel {started.channel} has an active turn") from error
            raise StoreError(f"turn {started.turn} cannot be written: {error.orig}") from error
        return True

    async def append(
        self, turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None
    ) -> None:
        if not records:
            return
        now, rows = self._clock(), self._rows(turn, after_seq, records)

        def work(connection: Connection) -> None:
            connection.execute(_INSERT_RECORDS, rows)
            for record in records:
                _derive(connection, turn, record, now)
            if output is not None:
                write_output(connection, turn, output, now)

        try:
            await self._database.run(work)
        except IntegrityError as error:
            if await self._database.run(lambda connection: _is_taken(connection, turn, after_seq + 1)):
                raise Conflict(f"record {after_seq + 1} of turn {turn} is taken") from error
            raise StoreError(f"records of turn {turn} cannot be written: {error.orig}") from error

    async def load(self, turn: str) -> Sequence[tuple[int, LoopRecord | None]]:
        def work(connection: Connection) -> list[tuple[int, LoopRecord | None]]:
            return [(seq, load_record(data)) for seq, data in connection.execute(_RECORDS, {"turn": turn})]

        return await self._database.run(work)

    async def images(self, ids: Sequence[str]) -> Sequence[Image]:
        found = await self._database.run(lambda connection: blobs.fetch(connection, ids)) if ids else {}
        return [found[blob] for blob in ids if blob in found]

    async def keep(self, pictures: Mapping[str, Image]) -> None:
        await self._database.run(lambda connection: blobs.keep(connection, pictures))

    async def open_turns(self) -> Sequence[OpenTurn]:
        query = select(turns).where(IS_OPEN).order_by(*_AGE)

        def work(connection: Connection) -> list[OpenTurn]:
            return [OpenTurn(**{**row, "place": Place(row["place"])}) for row in connection.execute(query).mappings()]

        return await self._database.run(work)

    async def place(self, turn: str, place: Place) -> bool:
        statement = update(turns).where(turns.c.turn == turn, IS_OPEN).values(place=place.value)
        try:
            return await self._database.run(lambda connection: connection.execute(statement).rowcount == 1)
        except IntegrityError:
            return False

    async def pending_approvals(self, channel: str | None = None) -> Sequence[PendingApproval]:
        query = (
            select(approvals.c.approval, approvals.c.turn, turns.c.channel, approvals.c.expires)
            .join_from(approvals, turns)
            .where(IS_UNDECIDED, IS_OPEN)
            .order_by(approvals.c.expires, approvals.c.approval)
        )
        if channel is not None:
            query = query.where(turns.c.channel == channel)

        def work(connection: Connection) -> list[PendingApproval]:
            return [PendingApproval(**row) for row in connection.execute(query).mappings()]

        return await self._database.run(work)

    async def turn_of_approval(self, approval: str) -> str | None:
        query = select(approvals.c.turn).where(approvals.c.approval == approval)
        found = await self._database.run(lambda connection: connection.scalar(query))
        return None if found is None else str(found)

    def _rows(self, turn: str, after_seq: int, records: Sequence[LoopRecord]) -> list[dict[str, object]]:
        now = self._clock()
        return [
            {"turn": turn, "seq": seq, "json": dump_record(record).decode(), "at": now}
            for seq, record in enumerate(records, start=after_seq + 1)
        ]


def _derive(connection: Connection, turn: str, record: LoopRecord, now: float) -> None:
    """The rows that keep what `record` says where it can be looked up."""
    match record:
        case ApprovalAsked():
            connection.execute(
                insert(approvals).values(
                    approval=record.approval,
                    turn=turn,
                    iteration=record.iteration,
                    call_index=record.index,
                    asked_at=now,
                    expires=record.expires,
                )
            )
        case Decided():
            answer = {"verdict": record.verdict.value, "by": record.by, "name": record.name, "decided_at": record.at}
            question = update(approvals).where(approvals.c.approval == record.approval, approvals.c.turn == turn)
            if connection.execute(question.where(IS_UNDECIDED).values(**answer)).rowcount != 1:
                raise Conflict(f"approval {record.approval} is not open")
        case TurnEnded():
            connection.execute(update(turns).where(turns.c.turn == turn).values(place=Place.ENDED.value))
        case _:
            pass


def _is_taken(connection: Connection, turn: str, seq: int) -> bool:
    query = select(records.c.seq).where(records.c.turn == turn, records.c.seq == seq)
    return connection.scalar(query) is not None


def _why_not(connection: Connection, started: TurnStarted) -> tuple[bool, bool]:
    """Whether the turn is known, and whether its channel is taken."""
    known = connection.scalar(select(turns.c.turn).where(turns.c.turn == started.turn))
    holder = connection.scalar(select(turns.c.turn).where(turns.c.channel == started.channel, HOLDS_CHANNEL))
    return known is not None, holder is not None
