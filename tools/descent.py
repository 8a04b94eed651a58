"""From the root of a project down to a file, one open directory at a time.

Every step is relative to a directory that is already open and never follows a link by itself, so nothing that is
renamed or swapped between a look and an open can lead outside. Links are read here and walked by the same rules.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EINVAL, ELOOP, ENAMETOOLONG, ENOENT
from pathlib import Path
from stat import S_ISLNK

from tools.paths import split

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_MAX_LINKS = 40
_MAX_DEPTH = 100


class LeavesRootError(Exception):
    """The walk would step out of the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a path leads: the entry `name` of the open directory `parent`.

    `stat` is of the entry itself, which is no link; None when there is no such entry yet. `parts` is the way from
    the root, links resolved. A path that ends at a directory by `..` has that directory as parent and the name `.`.
    """

    parent: int
    name: str
    parts: tuple[str, ...]
    stat: os.stat_result | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """`relative` turns an absolute path into parts below the root, or None; `forbid` raises for a name not allowed."""

    relative: Callable[[str], list[str] | None]
    forbid: Callable[[str], None]


@contextmanager
def descend(root: Path, parts: list[str], rules: Rules, *, create: bool = False) -> Iterator[Place]:
    """The place that `parts` lead to below `root`; its directory stays open inside the `with`.

    With `create`, missing folders on the way are made, but never where a link points: a link to nothing stays one.
    Raises OSError, LeavesRootError and what `rules.forbid` raises.
    """
    walk = _Walk(root, rules)
    try:
        yield walk.to(parts, create)
    finally:
        walk.close()


class _Walk:
    def __init__(self, root: Path, rules: Rules) -> None:
        self._rules = rules
        self._names: list[str] = []
        self._directories = [os.open(root, DIRECTORY)]  # of the root, then one a name: `..` goes back to one of them

    def close(self) -> None:
        for directory in self._directories:
            os.close(directory)

    def to(self, parts: list[str], create: bool) -> Place:
        ahead = [(part, False) for part in reversed(parts)]  # a name, and whether a link named it
        links = 0
        while ahead:
            name, from_link = ahead.pop()
            if name == "..":
                self._up()
                continue
            self._rules.forbid(name)
            here = self._directories[-1]
            stat = _stat_entry(name, here)
            if stat is None and from_link:
                raise OSError(EINVAL, "a link to nothing")
            if stat is None and ahead:
                if not create or any(later == ".." for later, _ in ahead):
                    raise FileNotFoundError(ENOENT, "")
                _make_directory(name, here)
                stat = os.stat(name, dir_fd=here, follow_symlinks=False)
            if stat is not None and S_ISLNK(stat.st_mode):
                links += 1
                if links > _MAX_LINKS:
                    raise OSError(ELOOP, "too many links on the way to it")
                target = os.readlink(name, dir_fd=here)
                ahead.extend((part, True) for part in reversed(self._follow(target)))
            elif ahead:
                self._down(name, here)
            else:
                return Place(parent=here, name=name, parts=(*self._names, name), stat=stat)
        here = self._directories[-1]
        return Place(parent=here, name=".", parts=tuple(self._names), stat=os.fstat(here))

    def _follow(self, target: str) -> list[str]:
        if not target.startswith("/"):
            return split(target)
        inside = self._rules.relative(target)
        if inside is None:
            raise LeavesRootError
        while self._names:
            self._up()
        return inside

    def _up(self) -> None:
        if not self._names:
            raise LeavesRootError
        self._names.pop()
        os.close(self._directories.pop())

    def _down(self, name: str, here: int) -> None:
        if len(self._names) >= _MAX_DEPTH:
            raise OSError(ENAMETOOLONG, "too many folders deep")
        self._directories.append(os.open(name, DIRECTORY, dir_fd=here))
        self._names.append(name)


def _stat_entry(name: str, directory: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _make_directory(name: str, parent: int) -> None:
    try:
        os.mkdir(name, dir_fd=parent)
    except FileExistsError:
        return
