"""Paths as text: how the model may write them, and which names are never touched. Nothing here looks at a disk."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from fnmatch import translate

from tools.errors import ToolError
from tools.output import visible

DEFAULT_DENY: tuple[str, ...] = (
    ".env*",
    ".git",
    ".hg",
    ".svn",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
)
"""Names of files and folders that no tool reads, lists, searches or writes, at any depth, in any case."""

TEMPORARY = ".countersign-*.tmp"
"""What an unfinished write is called; a crash can leave one behind."""

_MAX_CHARS = 4096
_ENCODED = re.compile(r"%(?:2e|2f|5c|00)", re.IGNORECASE)


class OutsideScopeError(ToolError):
    """The path, or a link on it, leads out of the project."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{visible(path)} is outside the project; use a path inside it")


def check_spelling(path: str) -> str:
    """`path` without surrounding space. Raises ToolError for what is no plain path with `/` between its parts."""
    path = path.strip()
    if not path:
        raise ToolError("path must be a non-empty string")
    if len(path) > _MAX_CHARS:
        raise ToolError(f"the path is too long ({len(path)} characters)")
    if "\0" in path:
        raise ToolError(f"{visible(path)} holds a NUL character; no path does")
    if "\\" in path:
        raise ToolError(f"{visible(path)} holds a backslash; write / between folders")
    if _ENCODED.search(path):
        raise ToolError(f"{visible(path)} is percent-encoded; write the path as it is")
    if path == "~" or path.startswith("~/"):
        raise ToolError(f"{visible(path)} starts with ~, which is not expanded; use a path inside the project")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ToolError(f"{visible(path)} holds half of a surrogate pair; no path does") from None
    return path


def split(path: str) -> list[str]:
    """The parts of a path; empty ones and `.` say nothing."""
    return [part for part in path.split("/") if part not in ("", ".")]


def lexical_name(path: str) -> str:
    """One spelling for a path as the model wrote it, without looking at the disk: `./a//b` is `a/b`."""
    return posixpath.normpath(path.strip())


class DenyList:
    """Shell patterns for single names; upper and lower case are the same, as they are on some disks.

    Raises ValueError for a pattern with a `/` in it, which no name could fit.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = (*patterns, TEMPORARY)
        if deep := [pattern for pattern in self.patterns if "/" in pattern]:
            raise ValueError(f"a pattern of the deny list is for one name, without /: {deep[0]}")
        self._regex = re.compile("|".join(translate(pattern.casefold()) for pattern in self.patterns))

    def __contains__(self, name: str) -> bool:
        return self._regex.match(name.casefold()) is not None
