"""The world on disk: an append-only log of `[table, key, value]` lines; the last line of a key wins, null deletes."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

Entry = tuple[str, str, Any]
REWRITE_BYTES = 64 * 1024 * 1024


class Log:
    """Writes each change before its request is answered: one write without fsync, so it outlives the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._lock: int | None = None
        self._entries: Callable[[], Iterable[Entry]] = tuple
        self._written = self._appended = 0  # bytes of the last rewrite, and since then

    def read(self) -> Iterator[Entry]:
        """What was written, oldest first. A last line without its end was never answered, and is left out."""
        if not self._path.exists():
            return
        for line in self._path.read_bytes().split(b"\n")[:-1]:
            table, key, value = orjson.loads(line)
            yield table, key, value

    def open(self, entries: Callable[[], Iterable[Entry]]) -> None:
        """Start anew from `entries`, so that the log holds each key once; then stay open for appending.

        `entries` is asked again whenever the log has grown far beyond what it says. Raises OSError when the folder
        cannot be written.
        """
        self.lock()
        self._entries = entries
        self._rewrite()

    def lock(self) -> None:
        """Keep the log for this process. Raises OSError when another twin has it, or the folder cannot be written."""
        if self._lock is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise OSError(error.errno, f"the data folder {self._path.parent} is in use by another preview") from error
        self._lock = lock

    def append(self, table: str, key: str, value: object) -> None:
        """Write one change."""
        if self._file is None:
            return
        self._appended += os.write(self._file, _line((table, key, value)))
        if self._appended > max(REWRITE_BYTES, 4 * self._written):
            self._rewrite()

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _rewrite(self) -> None:
        fresh = self._path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.writelines(_line(entry) for entry in self._entries())
            self._written, self._appended = file.tell(), 0
        fresh.replace(self._path)
        if self._file is not None:
            os.close(self._file)
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND)


def _line(entry: Entry) -> bytes:
    return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)
