"""Read a text file, whole or a window of its lines, without ever loading more than is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from pydantic import Field

from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.blocking import in_thread
from tools.builtin import Deps
from tools.builtin._text import refuse_by_content, refuse_by_name
from tools.output import cut, truncation_marker, visible
from tools.scope import ProjectScope

MAX_SCANNED_BYTES = 64 * 1024 * 1024
"""How far into a file lines are counted."""

_BLOCK_BYTES = 256 * 1024
_FRAME_BYTES = 160  # room for the first and the last line that we add


class Arguments(ToolArguments):
    path: str = Field(description="The file, relative to the project.")
    offset: int = Field(default=1, ge=1, description="The first line to show, counted from 1.")
    limit: int | None = Field(default=None, ge=1, description="How many lines to show; as many as fit if left out.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """Lines up to number `last`, which ends before byte `end`; `cut_bytes` is what of it did not fit.

    `is_full` says that it was the size limit that ended the window.
    """

    text: str
    last: int
    end: int
    is_full: bool
    cut_bytes: int


async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
    scope = ctx.project()
    refuse_by_name(args.path)
    content = await in_thread(lambda: _read(scope, args, max(1, ctx.max_result_bytes - _FRAME_BYTES)))
    return ToolResult(content=content)


def _read(scope: ProjectScope, args: Arguments, max_bytes: int) -> str:
    with scope.open_read(args.path) as opened:
        refuse_by_content(opened, args.path)
        file, size = opened.file, opened.stat.st_size
        if args.offset > 1:
            _skip(file, args, size)
        window = _take(file, args, max_bytes)
        file.seek(window.end)
        more = _count_lines(file, MAX_SCANNED_BYTES)
    at_end = window.end >= size
    if args.offset == 1 and at_end and not window.cut_bytes:
        return window.text or "(empty file)"
    total = f"{window.last + more}" if size - window.end <= MAX_SCANNED_BYTES else f"more than {window.last + more}"
    onward = "" if at_end else f"; go on with offset={window.last + 1}"
    is_cut = f"; line {window.last} is cut" if window.cut_bytes else ""
    head = f"[lines {args.offset}-{window.last} of {total}{is_cut}{onward}]"
    dropped = window.cut_bytes + (size - window.end if window.is_full else 0)
    return "\n".join([head, window.text.removesuffix("\n"), *([truncation_marker(dropped)] if dropped else [])])


def _skip(file: BinaryIO, args: Arguments, size: int) -> None:
    """Move to the start of line `offset`. Raises ToolError if the file has no such line, or not near enough."""
    wanted = args.offset - 1
    passed = position = 0
    while passed < wanted and position < MAX_SCANNED_BYTES and (block := file.read(_BLOCK_BYTES)):
        newlines = block.count(b"\n")
        if passed + newlines < wanted:
            passed += newlines
            position += len(block)
            continue
        index = -1
        while passed < wanted:
            index = block.index(b"\n", index + 1)
            passed += 1
        position += index + 1
    if passed < wanted and position >= MAX_SCANNED_BYTES:
        raise ToolError(f"line {args.offset} lies beyond the first {MAX_SCANNED_BYTES} bytes; use search_files")
    if passed < wanted or position >= size:
        raise ToolError(f"{visible(args.path)} has no line {args.offset}, it has {_lines_of(file)}")
    file.seek(position)


def _lines_of(file: BinaryIO) -> int:
    file.seek(0)
    return _count_lines(file, MAX_SCANNED_BYTES)


def _take(file: BinaryIO, args: Arguments, max_bytes: int) -> _Window:
    """Whole lines while they fit; a first line that does not fit is cut."""
    lines: list[str] = []
    room, end, last = max_bytes, file.tell(), args.offset - 1
    while args.limit is None or len(lines) < args.limit:
        raw = file.readline(max_bytes + 1)
        if not raw:
            return _Window(text="".join(lines), last=last, end=end, is_full=False, cut_bytes=0)
        text = raw.decode("utf-8", "replace")
        needed = len(text.encode())
        if needed > room:
            if lines:
                return _Window(text="".join(lines), last=last, end=end, is_full=True, cut_bytes=0)
            return _cut_line(file, raw, args.offset, end, room)
        lines.append(text)
        room, end, last = room - needed, end + len(raw), last + 1
    return _Window(text="".join(lines), last=last, end=end, is_full=False, cut_bytes=0)


def _cut_line(file: BinaryIO, raw: bytes, number: int, start: int, room: int) -> _Window:
    end = start + len(raw)
    while not raw.endswith(b"\n") and end - start < MAX_SCANNED_BYTES and (raw := file.readline(_BLOCK_BYTES)):
        end += len(raw)
    file.seek(start)
    text = cut(file.read(room + 4).decode("utf-8", "replace"), room)  # 4 more: the last character is then whole
    dropped = max(1, end - start - len(text.encode()))
    return _Window(text=text, last=number, end=end, is_full=True, cut_bytes=dropped)


def _count_lines(file: BinaryIO, max_bytes: int) -> int:
    """The lines from here on, the last one with or without its newline."""
    count, ends_open = 0, False
    while max_bytes > 0 and (block := file.read(min(_BLOCK_BYTES, max_bytes))):
        count += block.count(b"\n")
        ends_open = not block.endswith(b"\n")
        max_bytes -= len(block)
    return count + ends_open


def tools(deps: Deps) -> tuple[Tool[Arguments]]:
    del deps
    return (
        define_tool(
            name="read_file",
            description=(
                "Read a text file of the project. A long file comes in parts: the first line of the answer then says "
                "which lines are shown and the offset to go on with."
            ),
            arguments=Arguments,
            subject="files",
            run=run,
            idempotent=True,
        ),
    )
