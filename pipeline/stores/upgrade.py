"""Brings a database to this version's tables, or refuses one from a newer version."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, select

from pipeline.errors import StoreError
from pipeline.records import JOURNAL_VERSION
from pipeline.stores.database import put
from pipeline.stores.schema import meta

MIGRATIONS = Path(__file__).parent / "migrations"
_VERSION = {"key": "journal_version"}


def upgrade(connection: Connection, name: str) -> None:
    """Run the migrations that are missing, in the transaction of `connection`. `name` is the database's, for people.

    Raises `StoreError` when the tables or the records are from a newer version.
    """
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    script = ScriptDirectory.from_config(config)
    current = MigrationContext.configure(connection).get_current_revision()
    if current not in (None, *(revision.revision for revision in script.walk_revisions())):
        raise _newer(name)
    if current != script.get_current_head():
        command.upgrade(config, "head")
    written = connection.scalar(select(meta.c.value).where(meta.c.key == _VERSION["key"]))
    if written is not None and int(written) > JOURNAL_VERSION:
        raise _newer(name)
    if written is None or int(written) < JOURNAL_VERSION:
        put(connection, meta, _VERSION, {"value": str(JOURNAL_VERSION)})


def _newer(name: str) -> StoreError:
    return StoreError(f"the database {name} was written by a newer version of Countersign: update Countersign first")
