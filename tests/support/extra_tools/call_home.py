"""A tool that acts outside and takes its time: it rings a server on loopback, and waits for the answer."""

from __future__ import annotations

import asyncio

from pydantic import Field

from tools.base import Tool, ToolArguments, ToolContext, ToolResult, define_tool
from tools.builtin import Deps


class Arguments(ToolArguments):
    port: int = Field(description="Where the server listens.")
    says: str = Field(default="hello", description="What to say.")


async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
    del ctx
    reader, writer = await asyncio.open_connection("127.0.0.1", args.port)
    try:
        writer.write(args.says.encode() + b"\n")
        return ToolResult(content=(await reader.readline()).decode().strip())
    finally:
        writer.close()


def tools(deps: Deps) -> tuple[Tool[Arguments]]:
    del deps
    return (define_tool(name="call_home", description="Rings a server.", arguments=Arguments, run=run),)
