"""A kill or a cancel at any moment leaves whole batches, and the store usable."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from pipeline.errors import StoreError
from pipeline.stores.engine import SqliteDatabase, open_store
from pipeline.stores.store import Store
from tests.pipeline.stores.samples import said
from tests.pipeline.stores.writer import BATCH
from tests.support.scripts import NOW, started


async def can_be_opened(url: str) -> bool:
    try:
        async with open_store(url, clock=lambda: NOW):
            return True
    except StoreError:
        return False


@pytest.mark.parametrize("batches", [1, 7, 40])
async def test_a_kill_leaves_whole_batches_and_all_that_were_acknowledged(url: str, batches: int) -> None:
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.pipeline.stores.writer", url, stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    acknowledged = [await writer.stdout.readline() for _ in range(batches)][-1]
    writer.kill()
    rest = await writer.stdout.read()
    await writer.wait()
    last = int([acknowledged, *rest.split()][-1])
    async with open_store(url, clock=lambda: NOW) as store:
        numbers = [seq for seq, _ in await store.journal.load("1")]
        assert numbers == list(range(1, len(numbers) + 1))
        assert (len(numbers) - 1) % BATCH == 0
        assert last <= len(numbers) <= last + BATCH
        await store.journal.append("1", len(numbers), [said(0)])


async def test_a_cancelled_append_is_whole_or_absent_and_the_next_one_works(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    kept = 1
    for turns_of_the_loop in range(12):
        batch = [said(kept + n) for n in range(BATCH)]
        task = asyncio.create_task(store.journal.append("1", kept, batch))
        for _ in range(turns_of_the_loop):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        found = len(await store.journal.load("1"))
        assert found in (kept, kept + BATCH)
        await store.journal.append("1", found, [said(found)])
        kept = found + 1


async def test_work_that_was_begun_is_finished_before_the_database_is_closed(url: str) -> None:
    async with open_store(url, clock=lambda: NOW) as store:
        await store.journal.create(started(), images=(), queued=False)
        writing = asyncio.create_task(store.journal.append("1", 1, [said(0)]))
        await asyncio.sleep(0)
    await writing
    async with open_store(url, clock=lambda: NOW) as store:
        assert len(await store.journal.load("1")) == 2


async def test_a_cancelled_close_still_gives_up_the_file(url: str) -> None:
    async def hold(opened: asyncio.Event) -> None:
        async with open_store(url, clock=lambda: NOW):
            opened.set()
            await asyncio.Event().wait()

    opened = asyncio.Event()
    holder = asyncio.create_task(hold(opened))
    await opened.wait()
    holder.cancel()
    await asyncio.sleep(0)
    holder.cancel()
    await asyncio.wait([holder])
    async with asyncio.timeout(30):
        while not await can_be_opened(url):
            await asyncio.sleep(0)


async def test_a_full_disk_is_said_and_the_store_works_again_when_there_is_room(path: Path) -> None:
    database = SqliteDatabase(path)
    try:
        await database.open()
        journal = Store.on(database, lambda: NOW).journal
        await journal.create(started(), images=(), queued=False)
        await database.run(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count=1").close())
        with pytest.raises(StoreError, match="disk is full"):
            await journal.append("1", 1, [said(n, "x" * 100_000) for n in range(BATCH)])
        await database.run(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count=100000").close())
        await journal.append("1", 1, [said(0)])
        assert [seq for seq, _ in await journal.load("1")] == [1, 2]
    finally:
        await database.close()
