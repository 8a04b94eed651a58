"""The world on disk: an append-only log of `[table, key, value]` lines; the last line of a key wins, null deletes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

Entry = tuple[str, str, Any]


class Log:
    """Writes each change before its request is answered: one write without fsync, so it outlives the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def read(self) -> Iterator[Entry]:
        """What was written, oldest first. A last line without its end was never answered, and is left out."""
        if not self._path.exists():
            return
        for line in self._path.read_bytes().split(b"\n")[:-1]:
            table, key, value = orjson.loads(line)
            yield table, key, value

    def open(self, entries: Iterable[Entry]) -> None:
        """Start anew from `entries`, so that the log holds each key once; then stay open for appending.

        Raises OSError when the folder cannot be written.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.writelines(_line(entry) for entry in entries)
        fresh.replace(self._path)
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND)

    def append(self, table: str, key: str, value: object) -> None:
        """Write one change."""
        if self._file is not None:
            os.write(self._file, _line((table, key, value)))

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _line(entry: Entry) -> bytes:
    return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)
