"""A store in a real file, and records as the loop writes them."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.stores.engine import open_store
from pipeline.stores.store import Store
from tests.pipeline.stores.samples import RawSql
from tests.support.scripts import NOW


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "countersign.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    async with open_store(url, clock=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def raw_sql(path: Path) -> RawSql:
    def run(statement: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(path)) as connection, connection:
            return connection.execute(statement).fetchall()

    return run
