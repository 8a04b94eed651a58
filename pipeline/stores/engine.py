"""Opens the database: one writer thread with one connection, under a lock on a file beside the database.

A whole transaction is one call into that thread, so a cancelled caller never leaves half of one, and a later caller
waits behind it. Measured against the asyncio extension, whose every statement crosses threads, it takes half the time.
PostgreSQL needs one more class with `run` (`async with engine.begin() as c: return await c.run_sync(work)`): the stores
hand over synchronous work and know nothing of SQLite.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol, TypeVar, cast

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError

from pipeline.errors import StoreError
from pipeline.stores.store import Store
from pipeline.stores.upgrade import upgrade

BUSY_TIMEOUT_MS = 5_000

T = TypeVar("T")


@asynccontextmanager
async def open_store(url: str, *, clock: Callable[[], float]) -> AsyncIterator[Store]:
    """The stores in the SQLite file that `url` names (`sqlite:///path`), made or migrated first.

    `clock` gives epoch seconds. Raises `StoreError`, with a sentence for people, when the database cannot be opened,
    is in use by another bot or is from a newer version.
    """
    database = SqliteDatabase(_path_of(url))
    try:
        await database.open()
        yield Store.on(database, clock)
    finally:
        await database.close()


class SqliteDatabase:
    """The port `Database` on one SQLite file. `close` it even when `open` failed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._held = ExitStack()  # used in the thread only
        self._connection: Connection | None = None

    async def open(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._open)

    async def run(self, work: Callable[[Connection], T]) -> T:
        transaction = asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)
        return await asyncio.shield(transaction)  # a cancel would reach work that has not begun

    async def close(self) -> None:
        """Give up the file, after the work that was begun; a cancel does not prevent it."""
        closing = self._thread.submit(self._held.close)
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(closing))  # a cancel would reach the queued work

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _lock(self._path, self._held)
            engine = _engine(self._path)
            self._held.callback(engine.dispose)
            self._connection = self._held.enter_context(engine.connect())
        except (OSError, SQLAlchemyError) as error:
            raise StoreError(f"the database {self._path} cannot be opened: {_reason(error)}") from error
        self._transact(lambda connection: upgrade(connection, str(self._path)))

    def _transact(self, work: Callable[[Connection], T]) -> T:
        if self._connection is None:
            raise StoreError(f"the database {self._path} is not open")
        try:
            with self._connection.begin():
                return work(self._connection)
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            raise StoreError(f"the database {self._path} cannot be used: {_reason(error)}") from error


def _path_of(url: str) -> Path:
    try:
        parsed: URL = make_url(url)
    except ArgumentError as error:
        raise StoreError("DATABASE_URL is not a database's address; sqlite:///path/to/file.db is one") from error
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        raise StoreError("DATABASE_URL has to name an SQLite file, such as sqlite:///path/to/file.db")
    return Path(str(parsed.database)).absolute()


def _lock(path: Path, held: ExitStack) -> None:
    handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    held.callback(os.close, handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StoreError(f"the database {path} is in use by another Countersign") from error


class _SqliteConnection(Protocol):
    isolation_level: str | None

    def execute(self, statement: str, /) -> object: ...


def _engine(path: Path) -> Engine:
    engine = create_engine(URL.create("sqlite+pysqlite", database=str(path)))
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: _SqliteConnection, _: object) -> None:
    connection.isolation_level = None  # the driver begins nothing by itself
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    # Straight to the driver, which is cheaper. A deferred one would fail when it turns from reading to writing.
    driver = cast("_SqliteConnection", connection.connection.dbapi_connection)
    driver.execute("BEGIN IMMEDIATE")


def _reason(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error)
