"""Search the text of the project's files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from pydantic import Field

from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.blocking import in_thread
from tools.builtin import Deps
from tools.builtin._find import Found, Query, with_ripgrep, without_ripgrep
from tools.builtin._text import is_binary
from tools.output import visible
from tools.scope import ProjectScope

_MAX_LINE_CHARS = 240
_MAX_LINE_BYTES = 64 * 1024
_NOTE_BYTES = 100


class Arguments(ToolArguments):
    query: str = Field(min_length=1, max_length=1000, description="The text to look for, within one line.")
    regex: bool = Field(default=False, description="Take the query as a regular expression.")
    path: str = Field(default=".", description="The folder or file to search; the whole project when left out.")
    glob: str = Field(default="", max_length=200, description='Search only files with such names, as "*.py".')


def _show(scope: ProjectScope, found: Found, query: Query, max_bytes: int) -> str:
    lines: list[str] = []
    room = max_bytes - _NOTE_BYTES
    note = found.ended_early
    for line in _lines(scope, found, query):
        room -= len(line.encode()) + 1
        if room < 0:
            note = "more matches do not fit"
            break
        lines.append(line)
    if note:
        lines.append(f"[{note}; narrow the search with path or glob]")
    return "\n".join(lines) or "(no matches)"


def _lines(scope: ProjectScope, found: Found, query: Query) -> Iterator[str]:
    """Every hit with its text, read through the scope; what the scope refuses was no hit."""
    for name, hits in groupby(found.hits, key=lambda hit: hit.name):
        try:
            with scope.open_read(name) as opened:
                if is_binary(opened.file):
                    continue
                for hit in hits:
                    opened.file.seek(hit.offset)
                    raw = opened.file.readline(_MAX_LINE_BYTES)
                    yield f"{visible(name)}:{hit.line}: {_excerpt(raw, query)}"
        except ToolError:
            continue


def _excerpt(raw: bytes, query: Query) -> str:
    """The line, or the part of a long one that holds the query."""
    line = raw.decode("utf-8", "replace").rstrip("\r\n")
    if len(line) <= _MAX_LINE_CHARS:
        return line
    at = -1 if query.is_regex else line.lower().find(query.text.lower())
    start = max(0, at - _MAX_LINE_CHARS // 3)
    end = start + _MAX_LINE_CHARS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def tools(deps: Deps) -> tuple[Tool[Arguments]]:
    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        scope = ctx.project()
        if not {"\n", "\r", "\0"}.isdisjoint(args.query + args.glob):
            raise ToolError("a query and a glob are one line of text each; search for one line")
        if args.glob.startswith("!"):
            raise ToolError('a glob says which files to search, it cannot exclude with "!"')
        start = await in_thread(lambda: scope.resolve(args.path.strip() or "."))
        query = Query(text=args.query, is_regex=args.regex, start=start, glob=args.glob.strip())
        if deps.ripgrep is None:
            found = await without_ripgrep(scope, query, deps.search_timeout_s)
        else:
            found = await with_ripgrep(deps.ripgrep, scope, query, deps.search_timeout_s)
        return ToolResult(content=await in_thread(lambda: _show(scope, found, query, ctx.max_result_bytes)))

    return (
        define_tool(
            name="search_files",
            description=(
                "Search the text files of the project. Answers lines as path:number: text. A query in lower case finds "
                "upper case too. Links, secret files and folders of installed packages are not searched."
            ),
            arguments=Arguments,
            subject="search",
            run=run,
            idempotent=True,
        ),
    )
