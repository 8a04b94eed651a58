"""Change a part of a file by naming the text that goes and the text that comes."""

from __future__ import annotations

import os

from pydantic import Field

from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.blocking import in_thread
from tools.builtin import Deps
from tools.builtin._text import MAX_TEXT_BYTES, read_whole
from tools.diff import diff
from tools.output import visible
from tools.paths import lexical_name
from tools.scope import ProjectScope

_MAX_PLACES_NAMED = 5


class Arguments(ToolArguments):
    path: str = Field(description="The file, relative to the project.")
    old: str = Field(min_length=1, description="The text to replace, exactly as it stands in the file.")
    new: str = Field(description="The text to put in its place; empty to remove it.")
    replace_all: bool = Field(default=False, description="Replace every occurrence; else there must be exactly one.")


async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
    scope = ctx.project()
    return ToolResult(content=await in_thread(lambda: _edit(scope, args)))


async def preview(args: Arguments, ctx: ToolContext) -> str:
    scope = ctx.project()
    return await in_thread(lambda: _diff(scope, args))


def _edit(scope: ProjectScope, args: Arguments) -> str:
    text, stat = _read(scope, args.path)
    changed, count = replaced(text, args)
    scope.write_atomic(args.path, changed.encode(), expected=stat)
    return f"edited {visible(args.path.strip())} ({count} replacement{'s' if count > 1 else ''})"


def _diff(scope: ProjectScope, args: Arguments) -> str:
    text, _ = _read(scope, args.path)
    return diff(lexical_name(args.path), text, replaced(text, args)[0])


def _read(scope: ProjectScope, path: str) -> tuple[str, os.stat_result]:
    with scope.open_read(path) as opened:
        return read_whole(opened, path), opened.stat


def replaced(text: str, args: Arguments) -> tuple[str, int]:
    """`text` after the edit, and how many places changed. Raises ToolError where the edit does not fit.

    Models write plain newlines; in a file with Windows line ends they mean those.
    """
    old, new = args.old, args.new
    if old not in text and "\r\n" in text and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
    if old == new:
        raise ToolError("old and new are the same text; nothing would change")
    count = text.count(old)
    if count == 0:
        raise ToolError(
            f"old was not found in {visible(args.path)}; read the file again and copy the text exactly, spaces included"
        )
    places = _places(text, old)
    if not args.replace_all and len(places) > 1:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:_MAX_PLACES_NAMED])
        more = " and more" if len(places) > _MAX_PLACES_NAMED else ""
        raise ToolError(
            f"old occurs more than once in {visible(args.path)} (lines {lines}{more}); "
            "add text around it to make it unique, or set replace_all"
        )
    if len(text) + count * (len(new) - len(old)) > MAX_TEXT_BYTES:
        raise ToolError(f"the file would become too large ({MAX_TEXT_BYTES} bytes are the most)")
    return text.replace(old, new), count


def _places(text: str, old: str) -> list[int]:
    """Where `old` begins, overlaps counted, at most one more than is named."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and len(places) <= _MAX_PLACES_NAMED:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def touches(args: Arguments) -> tuple[str, ...]:
    return (lexical_name(args.path),)


def tools(deps: Deps) -> tuple[Tool[Arguments]]:
    del deps
    return (
        define_tool(
            name="edit_file",
            description=(
                "Replace a piece of text in a file of the project. A person has to approve it. Read the file first: "
                "the old text must match exactly, and exactly once unless replace_all is set."
            ),
            arguments=Arguments,
            subject="files",
            run=run,
            needs_approval=True,
            preview=preview,
            touches=touches,
        ),
    )
