"""Where a search looks: with ripgrep, or without it by plain comparison. Both answer places only, never text.

What is shown is read through the scope afterwards, so a finder that is led astray by a renamed folder shows nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Event

from tools.blocking import in_thread
from tools.builtin._text import is_binary
from tools.errors import ToolError
from tools.output import visible
from tools.scope import ProjectScope

MAX_HITS = 100
MAX_FILE_BYTES = 8 * 1024 * 1024

SKIPPED_FOLDERS = frozenset(
    {"node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
)

_HIT = re.compile(rb"([^\0]+)\0(\d+):(\d+):[^\n]*\n")
_OPTIONS = (
    *("--no-config", "--no-follow", "--no-messages", "--no-ignore", "--hidden", "--encoding=none"),
    *("--color=never", "--no-heading", "--with-filename", "--null", "--line-number", "--byte-offset"),
    *("--max-columns=1", "--smart-case", "--sort=path", f"--max-filesize={MAX_FILE_BYTES}"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for: `start` is a project-relative file or folder, `glob` limits the file names ("" for all).

    Without an upper-case letter in `text` upper and lower case are the same.
    """

    text: str
    is_regex: bool
    start: str
    glob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A line that matches: its number from 1, and where it begins in the file, in bytes."""

    name: str
    line: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`ended_early` is why there may be more hits, in words; empty when these are all."""

    hits: tuple[Hit, ...]
    ended_early: str = ""


async def with_ripgrep(ripgrep: Path, scope: ProjectScope, query: Query, timeout_s: float) -> Found:
    """Raises ToolError for a regular expression or a glob that ripgrep does not take."""
    process = await asyncio.create_subprocess_exec(
        ripgrep, *_arguments(scope, query), stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=scope.root, env={}
    )
    hits: list[Hit] = []
    try:
        async with asyncio.timeout(timeout_s):
            await _collect(process, hits)
            if len(hits) > MAX_HITS:
                return _first(hits)
            await _check_end(process, hits)
            return Found(hits=tuple(hits))
    except TimeoutError:
        return Found(hits=tuple(hits), ended_early=f"stopped after {timeout_s:g} s")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()


def _arguments(scope: ProjectScope, query: Query) -> Iterator[str]:
    yield from _OPTIONS
    if query.glob:
        yield f"--glob={query.glob}"
    for folder in sorted(SKIPPED_FOLDERS):
        yield f"--glob=!{folder}/"
    for pattern in scope.deny.patterns:
        yield f"--iglob=!{pattern}"
    if not query.is_regex:
        yield "--fixed-strings"
    yield from ("-e", query.text, "--", f"./{query.start}")


async def _collect(process: Process, hits: list[Hit]) -> None:
    assert process.stdout is not None  # noqa: S101 (it was asked for)
    rest = b""
    while len(hits) <= MAX_HITS and (block := await process.stdout.read(64 * 1024)):
        found, rest = _parse(rest + block)
        hits.extend(found)


def _parse(output: bytes) -> tuple[list[Hit], bytes]:
    """The hits in ripgrep's output so far, and the part of one that is not whole yet."""
    hits: list[Hit] = []
    end = 0
    for found in _HIT.finditer(output):
        name = os.path.normpath(os.fsdecode(found[1]))
        hits.append(Hit(name=name, line=int(found[2]), offset=int(found[3])))
        end = found.end()
    return hits, output[end:]


async def _check_end(process: Process, hits: list[Hit]) -> None:
    assert process.stderr is not None  # noqa: S101
    complaint = (await process.stderr.read(4096)).decode("utf-8", "replace")
    if await process.wait() > 1 and complaint and not hits:
        reason = complaint.removeprefix("rg: ").partition("\n\n")[0].strip()
        raise ToolError(f"the search cannot be done: {visible(reason, 400)}")


def _first(hits: list[Hit]) -> Found:
    return Found(hits=tuple(hits[:MAX_HITS]), ended_early=f"stopped at {MAX_HITS} matches")


async def without_ripgrep(scope: ProjectScope, query: Query, timeout_s: float) -> Found:
    """Literal only: Python's regular expressions can take for ever, and no other task would run meanwhile."""
    if query.is_regex:
        raise ToolError("regular expressions need ripgrep, which is not installed here; search for plain text")
    stop = Event()
    return await in_thread(lambda: _compare(scope, query, stop, time.monotonic() + timeout_s), stop=stop)


def _compare(scope: ProjectScope, query: Query, stop: Event, deadline: float) -> Found:
    hits: list[Hit] = []
    for name in scope.walk(query.start, SKIPPED_FOLDERS):
        if stop.is_set() or time.monotonic() > deadline:
            return Found(hits=tuple(hits), ended_early="stopped because it took too long")
        if _fits(name, query.glob):
            hits.extend(_lines_of(scope, name, query.text))
        if len(hits) > MAX_HITS:
            return _first(hits)
    return Found(hits=tuple(hits))


def _fits(name: str, glob: str) -> bool:
    """About what ripgrep means by a glob; here `*` matches a `/` too, and there are no braces."""
    glob = glob.removeprefix("**/")
    return not glob or fnmatchcase(name if "/" in glob else name.rpartition("/")[2], glob.lstrip("/"))


def _lines_of(scope: ProjectScope, name: str, text: str) -> Iterator[Hit]:
    try:
        with scope.open_read(name) as opened:
            if opened.stat.st_size > MAX_FILE_BYTES or is_binary(opened.file):
                return
            data = opened.file.read(MAX_FILE_BYTES)
    except ToolError:
        return
    any_case = text == text.lower()
    offset = 0
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.decode("utf-8", "replace")
        if text in (line.lower() if any_case else line):
            yield Hit(name=name, line=number, offset=offset)
        offset += len(raw) + 1
