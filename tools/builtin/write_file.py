"""Write a whole file: new, or in the place of what was there."""

from __future__ import annotations

from pydantic import Field

from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.blocking import in_thread
from tools.builtin import Deps
from tools.builtin._text import MAX_TEXT_BYTES, current_text
from tools.diff import diff
from tools.output import visible
from tools.paths import lexical_name
from tools.scope import ProjectScope


class Arguments(ToolArguments):
    path: str = Field(description="The file, relative to the project. Missing folders are made.")
    content: str = Field(description="The whole new content of the file.")


async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
    scope = ctx.project()
    return ToolResult(content=await in_thread(lambda: _write(scope, args)))


async def preview(args: Arguments, ctx: ToolContext) -> str:
    scope = ctx.project()
    return await in_thread(lambda: _diff(scope, args))


def _write(scope: ProjectScope, args: Arguments) -> str:
    data = _data(args)
    current_text(scope, args.path)  # what is not text is not replaced by text
    is_new = scope.write_atomic(args.path, data)
    return f"{'created' if is_new else 'replaced'} {visible(args.path.strip())} ({len(data)} bytes)"


def _diff(scope: ProjectScope, args: Arguments) -> str:
    _data(args)
    change = diff(lexical_name(args.path), current_text(scope, args.path), args.content)
    return change or "(no change: the file has this content already)"


def _data(args: Arguments) -> bytes:
    data = args.content.encode()
    if len(data) > MAX_TEXT_BYTES:
        raise ToolError(f"the content is too large ({len(data)} bytes, {MAX_TEXT_BYTES} are the most)")
    return data


def touches(args: Arguments) -> tuple[str, ...]:
    return (lexical_name(args.path),)


def tools(deps: Deps) -> tuple[Tool[Arguments]]:
    del deps
    return (
        define_tool(
            name="write_file",
            description=(
                "Write a text file of the project: a new one, or the whole content of an existing one. A person has to "
                "approve it. To change a part of a file, use edit_file."
            ),
            arguments=Arguments,
            subject="files",
            run=run,
            needs_approval=True,
            preview=preview,
            touches=touches,
        ),
    )
