"""A database is made, locked, migrated, or refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from pipeline.errors import StoreError
from pipeline.records import JOURNAL_VERSION
from pipeline.stores.engine import SqliteDatabase, open_store
from pipeline.stores.schema import metadata
from pipeline.stores.store import Store
from tests.pipeline.stores.samples import RawSql, records_of
from tests.support.scripts import NOW, started


async def open_once(url: str) -> None:
    async with open_store(url, clock=lambda: NOW):
        pass


async def test_the_folder_and_the_file_are_made(url: str, path: Path) -> None:
    await open_once(url)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_size > 0


async def test_both_spellings_name_the_same_file(path: Path) -> None:
    async with open_store(f"sqlite+aiosqlite:///{path}", clock=lambda: NOW) as store:
        await store.journal.create(started(), images=(), queued=False)
    async with open_store(f"sqlite:///{path}", clock=lambda: NOW) as store:
        assert await records_of(store.journal, "1") == [started()]


async def test_migrations_make_exactly_the_tables_that_the_code_uses(url: str, path: Path) -> None:
    await open_once(url)
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()


async def test_the_database_is_durable_and_checks_its_references(path: Path) -> None:
    database = SqliteDatabase(path)
    try:
        await database.open()
        for pragma, wanted in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
            found = await database.run(lambda c, p=pragma: c.exec_driver_sql(f"PRAGMA {p}").scalar())  # type: ignore[misc]
            assert found == wanted, pragma
    finally:
        await database.close()


async def test_a_second_opener_is_refused_and_disturbs_nobody(store: Store, url: str, path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        await open_once(url)
    assert str(refused.value) == f"the database {path} is in use by another Countersign"
    await store.journal.create(started(), images=(), queued=False)
    assert await records_of(store.journal, "1") == [started()]


async def test_a_closed_database_can_be_opened_again(url: str) -> None:
    for _ in range(3):
        await open_once(url)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE alembic_version SET version_num = '9999'",
        f"UPDATE meta SET value = '{JOURNAL_VERSION + 1}' WHERE key = 'journal_version'",
    ],
)
async def test_a_database_from_a_newer_version_is_refused(url: str, raw_sql: RawSql, change: str) -> None:
    await open_once(url)
    raw_sql(change)
    with pytest.raises(StoreError, match="written by a newer version"):
        await open_once(url)


@pytest.mark.parametrize(
    "address", ["postgresql://bot:hunter2@db/x", "sqlite://", "sqlite:///:memory:", "countersign.db", ""]
)
async def test_an_address_without_a_file_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(StoreError, match=r"sqlite:///path/to/file\.db") as refused:
        await open_once(address)
    assert "hunter2" not in str(refused.value)


async def test_a_file_that_is_no_database_is_refused(url: str, path: Path) -> None:
    path.parent.mkdir()
    path.write_text("this is a letter, not a database\n" * 100)
    with pytest.raises(StoreError, match=r"countersign\.db cannot be (opened|used): .*not a database"):
        await open_once(url)
    assert path.read_text().startswith("this is a letter")


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be opened"):
        await open_once(f"sqlite:///{tmp_path}/file/countersign.db")
