"""What is in a folder."""

from __future__ import annotations

from pydantic import Field

from tools.base import Tool, ToolArguments, ToolContext, ToolResult, define_tool
from tools.blocking import in_thread
from tools.builtin import Deps
from tools.output import visible


class Arguments(ToolArguments):
    path: str = Field(default=".", description="The folder, relative to the project; the project itself when left out.")


async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
    scope = ctx.project()
    entries = await in_thread(lambda: scope.list_dir(args.path.strip() or "."))
    lines = [f"{'d' if entry.is_dir else 'f'} {visible(entry.name, 1000)}" for entry in entries]
    return ToolResult(content="\n".join(lines) or "(empty)")


def tools(deps: Deps) -> tuple[Tool[Arguments]]:
    del deps
    return (
        define_tool(
            name="list_dir",
            description=(
                'List a folder of the project: a line "d name" for a folder, "f name" for a file, folders first. '
                "Secret files and version control data are not shown."
            ),
            arguments=Arguments,
            subject="files",
            run=run,
            idempotent=True,
        ),
    )
