"""What can be told of settings without connecting: placeholders, providers that nobody can reach, folders and databases
that cannot be written. Each check yields a sentence for a thing to mend."""

from __future__ import annotations

import errno
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from bot.settings import Settings

VENDORS = ("anthropic", "novelai", "openai_compat")
"""Kinds whose own address, the default, answers nobody without a key."""

_PLACEHOLDER = re.compile(
    r"""\.{2,} | …+ | x{3,} | \*{3,} | <.*> | \[.*\] | \{.*\} | .*\.\.\.
    | (change|replace|fill)[-_ ]?(me|this|it|in) | placeholder | todo | tbd
    | (your|my|the|insert|put|paste|enter|add)[-_ ].*(token|key|secret|password|here)
    | ((bot|discord|api)[-_ ])*(token|key|secret)([-_ ]?here)?""",
    re.IGNORECASE | re.VERBOSE,
)


def placeholders(settings: Settings) -> Iterator[str]:
    """Of values that are what an example had in their place."""
    for variable, value in _needed(settings):
        if _PLACEHOLDER.fullmatch(value.strip(" \"'")):
            yield f"{variable} is still a placeholder: put the real one in its place."


def _needed(settings: Settings) -> Iterator[tuple[str, str]]:
    """What a service has to know, by its variable."""
    if settings.discord_token is not None:
        yield "DISCORD_TOKEN", settings.discord_token.get_secret_value()
    for name, provider in settings.providers.items():
        if provider.keys and not provider.base_url:  # a server of one's own may take any key
            yield settings.key_variable(name), provider.keys[0].get_secret_value()
        yield f"PROVIDERS__{name.upper()}__MODEL", provider.model


def unreachable(settings: Settings) -> Iterator[str]:
    """Of providers that have neither a key nor an address of their own."""
    for name, provider in settings.providers.items():
        if provider.kind in VENDORS and not provider.keys and not provider.base_url:
            yield (
                f"Provider {name} has neither a key nor an address: set {settings.key_variable(name)}, or "
                f"PROVIDERS__{name.upper()}__BASE_URL for a server that needs no key."
            )


def unwritable(settings: Settings) -> Iterator[str]:
    """Of the data folder and the database, where they cannot be opened. They are tried, and left as they were."""
    try:
        _try_folder(settings.data_dir)
    except (OSError, ValueError) as error:
        yield f'DATA_DIR is "{settings.data_dir}", where nothing can be written: {_reason(error)}.'
        if settings.database_url is None:
            return
    variable, file = "DATA_DIR" if settings.database_url is None else "DATABASE_URL", _database(settings)
    if file is None:
        yield "DATABASE_URL has to name an SQLite file, such as sqlite:///path/to/file.db."
        return
    try:
        _try_folder(file.parent)
        _try_database(file)
    except (OSError, ValueError, sqlite3.Error) as error:
        yield f'{variable} puts the database at "{file}", where it cannot be opened: {_reason(error)}.'


def _database(settings: Settings) -> Path | None:
    """The file of the database; None for an address that names none."""
    try:
        url = make_url(settings.database)
    except (ArgumentError, ValueError):
        return None
    is_file = url.get_backend_name() == "sqlite" and url.database not in {None, "", ":memory:"}
    return Path(str(url.database)) if is_file else None


def _try_folder(folder: Path) -> None:
    """Write in `folder`, or in the nearest one above it that is there. Raises OSError."""
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{there} is not a folder")
    with TemporaryFile(dir=there) as file:
        file.write(b"x")


def _try_database(file: Path) -> None:
    """Open a database that is there, for writing. Raises OSError or sqlite3.Error."""
    if not file.exists():
        return
    with file.open("r+b"):
        pass
    # `immutable` keeps SQLite from making the files of its journal; only the first page is read.
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.execute("PRAGMA schema_version")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
