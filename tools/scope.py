"""The one chokepoint between file tools and the disk.

What is promised, for every path that a model can write: nothing outside the root is read, listed, made or changed,
whatever links, names, devices or racing renames there are; what the deny list names is as if out of reach. A failure
names the path as it was written, never one of the host.

Hard links: a file with a second name may be a file from outside, and nothing can tell. It is neither read nor
written, unless the operator says that the project's hard links are its own (`allow_hard_links`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EACCES, EISDIR, ENOENT, ENOTDIR, EPERM
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO

from tools.atomic import replace_file
from tools.descent import DIRECTORY, LeavesRootError, Place, Rules, descend
from tools.errors import ToolError
from tools.output import visible
from tools.paths import DEFAULT_DENY, DenyList, OutsideScopeError, check_spelling, split

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_REASONS = {
    ENOTDIR: "not a folder",
    EISDIR: "a folder, not a file",
    EACCES: "permission denied",
    EPERM: "permission denied",
}


class MissingError(ToolError):
    """There is nothing at the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """A regular file of the project, open for reading. `name` is its project-relative path, links resolved."""

    file: BinaryIO
    name: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in a folder; a link counts as what it leads to, as a file if that is out of reach."""

    name: str
    is_dir: bool


class ProjectScope:
    """The folder `root` as the project `name`. All methods block; call them in a thread (`blocking.in_thread`).

    Paths are project-relative, or absolute below the root. Every method raises ToolError for what it refuses.
    The constructor raises ValueError, for the operator: a name that is no plain word, a root that is no folder or
    is the whole disk.
    """

    def __init__(
        self, name: str, root: Path, deny: Iterable[str] = DEFAULT_DENY, *, allow_hard_links: bool = False
    ) -> None:
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"a project name is made of letters, digits, '_', '-' and '.', which {name!r} is not")
        try:
            self.root = root.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise ValueError(f"the folder of project {name} cannot be used: {error}") from None
        if not self.root.is_dir() or self.root == Path(self.root.anchor):
            raise ValueError(f"the folder of project {name} must be a folder and not the whole disk: {root}")
        self.name = name
        self.deny = DenyList(deny)
        self._allow_hard_links = allow_hard_links
        self._root_spellings = (split(str(self.root)), split(os.path.abspath(root)))

    def resolve(self, path: str) -> str:
        """The project-relative name of a file or folder that exists, links resolved; `.` is the root."""
        with self._at(path) as place:
            stat = _existing(place)
            if not S_ISDIR(stat.st_mode):
                self._check_file(path, stat)
            return "/".join(place.parts) or "."

    @contextmanager
    def open_read(self, path: str) -> Iterator[OpenFile]:
        """A regular file, open for reading inside the `with`; a pipe or a device is refused without waiting for it."""
        with self._at(path) as place:
            self._check_file(path, _existing(place))
            with os.fdopen(os.open(place.name, _READ, dir_fd=place.parent), "rb") as file:
                stat = os.fstat(file.fileno())
                self._check_file(path, stat)
                yield OpenFile(file=file, name="/".join(place.parts), stat=stat)

    def list_dir(self, path: str) -> tuple[Entry, ...]:
        """What is in a folder: folders first, then by name; what is denied is not shown."""
        with self._at(path) as place, _directory(place) as descriptor:
            parent = "/".join(place.parts)
            with os.scandir(descriptor) as entries:
                found = [
                    Entry(name=entry.name, is_dir=self._leads_to_folder(entry, parent))
                    for entry in entries
                    if entry.name not in self.deny
                ]
        return tuple(sorted(found, key=lambda entry: (not entry.is_dir, entry.name.casefold(), entry.name)))

    def walk(self, path: str, skip: frozenset[str] = frozenset()) -> Iterator[str]:
        """The project-relative names of all regular files at or below `path`, in order of their bytes.

        Links are not followed; folders named in `skip` and what cannot be entered are left out.
        """
        with self._at(path) as place:
            yield from self._walk(place.parent, place.name, place.parts, skip)

    def write_atomic(self, path: str, data: bytes, *, expected: os.stat_result | None = None) -> bool:
        """Make `data` the whole content of a file, in one step, and say whether the file is new.

        Missing folders are made. A link inside the project stays and its target is written; a link to nothing is
        refused. With `expected`, the state that was read, a file that has changed since is refused too.
        """
        if path.strip().endswith("/"):
            raise ToolError(f"{visible(path)} ends with /, so it names a folder; name a file")
        with self._at(path, create=True) as place:
            if place.stat is not None:
                self._check_file(path, place.stat)
                if not place.stat.st_mode & 0o222:
                    raise ToolError(f"{visible(path)} is read-only")
            if expected is not None and (place.stat is None or _version(place.stat) != _version(expected)):
                raise ToolError(f"{visible(path)} was changed by somebody else just now; read it again")
            replace_file(place.parent, place.name, data, place.stat)
            return place.stat is None

    @contextmanager
    def _at(self, path: str, *, create: bool = False) -> Iterator[Place]:
        """The place of `path`; whatever goes wrong before or inside the `with` is told in terms of `path`."""
        written = check_spelling(path)
        parts = self._below_root(written) if written.startswith("/") else split(written)
        if parts is None:
            raise OutsideScopeError(path)

        def forbid(name: str) -> None:
            if name in self.deny:
                raise ToolError(f"{visible(path)} is off limits: tools never touch files like {visible(name)}")

        for part in parts:  # before anything is made on the way
            forbid(part)
        try:
            with descend(self.root, parts, Rules(relative=self._below_root, forbid=forbid), create=create) as place:
                yield place
        except LeavesRootError:
            raise OutsideScopeError(path) from None
        except FileNotFoundError:
            raise MissingError(f"{visible(path)}: no such file or folder") from None
        except OSError as error:
            reason = _REASONS.get(error.errno or 0, error.strerror or "cannot be used")
            raise ToolError(f"{visible(path)}: {reason}") from None

    def _below_root(self, absolute: str) -> list[str] | None:
        parts = split(absolute)
        for root in self._root_spellings:
            if parts[: len(root)] == root:
                return parts[len(root) :]
        return None

    def _check_file(self, path: str, stat: os.stat_result) -> None:
        if S_ISDIR(stat.st_mode):
            raise IsADirectoryError(EISDIR, "")
        if not S_ISREG(stat.st_mode):
            raise ToolError(f"{visible(path)} is not a regular file")
        if stat.st_nlink > 1 and not self._allow_hard_links:
            raise ToolError(f"{visible(path)} has a second name (a hard link), which may lie outside the project")

    def _leads_to_folder(self, entry: os.DirEntry[str], parent: str) -> bool:
        if not entry.is_symlink():
            return entry.is_dir(follow_symlinks=False)
        with suppress(ToolError), self._at(f"{parent}/{entry.name}".lstrip("/")) as place:
            return place.stat is not None and S_ISDIR(place.stat.st_mode)
        return False

    def _walk(self, parent: int, name: str, parts: tuple[str, ...], skip: frozenset[str]) -> Iterator[str]:
        try:
            stat = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if S_ISREG(stat.st_mode):
                yield "/".join(parts)
                return
            if not S_ISDIR(stat.st_mode):
                return
            descriptor = os.open(name, DIRECTORY, dir_fd=parent)
        except OSError:  # gone, swapped or closed to us
            return
        try:
            for child in sorted(os.listdir(descriptor), key=os.fsencode):
                if child not in self.deny and child not in skip:
                    yield from self._walk(descriptor, child, (*parts, child), skip)
        finally:
            os.close(descriptor)


def _existing(place: Place) -> os.stat_result:
    if place.stat is None:
        raise FileNotFoundError(ENOENT, "")
    return place.stat


@contextmanager
def _directory(place: Place) -> Iterator[int]:
    _existing(place)
    descriptor = os.open(place.name, DIRECTORY, dir_fd=place.parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _version(stat: os.stat_result) -> tuple[int, int, int, int]:
    return (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
