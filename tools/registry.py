"""The tools of a turn by name, and the one way to run one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, TypeVar

import structlog
from pydantic import BaseModel

from tools.base import Tool, ToolContext, ToolResult
from tools.errors import ToolError
from tools.output import cap, scrub, visible
from tools.schema import parse_arguments

_log = structlog.get_logger()

A = TypeVar("A", bound=BaseModel)

_MAX_MESSAGE_CHARS = 500
_HOST_PATH = re.compile(
    r"""(?x)
    (?P<quote>['"]) (?: / | [A-Za-z]:[\\/] ) [^'"\n]* (?P=quote)    # quoted, with spaces in it
    | (?<![\w.:/~-]) / [\w.@+~-]+ (?: / [\w.@+~-]* )*                # bare, but not the path of an address
    | \b [A-Za-z]:[\\/] [^\s'"]*                                     # with a drive
    """
)


class ToolRegistry:
    """An ordered, fixed set of tools. Raises ValueError when two have one name."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        self._tools: dict[str, Tool[Any]] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are called {tool.name}")
            self._tools[tool.name] = tool
        self._restricted = tuple(tool for tool in self._tools.values() if tool.once_a_turn or tool.needs_sight)

    @property
    def restricted(self) -> tuple[Tool[Any], ...]:
        """The tools that a turn or a model may not have, whatever the operator allows."""
        return self._restricted

    def __iter__(self) -> Iterator[Tool[Any]]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def get(self, name: str) -> Tool[Any] | None:
        return self._tools.get(name)

    def unknown_tool_message(self, name: str) -> str:
        """What a model is told that asks for a tool which does not exist."""
        near = get_close_matches(name[:100].lower().rpartition(".")[2], self.names, 1)
        suggestion = f" Did you mean {near[0]}?" if near else ""
        available = ", ".join(self.names) or "none"
        return f"unknown tool: {visible(name, 100)}.{suggestion} Available: {available}"

    async def execute(self, name: str, arguments_json: str, ctx: ToolContext) -> ToolResult:
        """Run the tool called `name`; whatever goes wrong is an error result. Raises nothing but CancelledError.

        The content has at most `ctx.max_result_bytes` bytes of UTF-8 (see `cap`) and can always be encoded.
        """
        tool = self._tools.get(name)
        if tool is None:
            return _bounded(ToolResult(content=self.unknown_tool_message(name), is_error=True), ctx)
        try:
            arguments = parse_arguments(tool, arguments_json)
        except ToolError as error:
            return _bounded(_failed(str(error)), ctx)
        return await run_tool(tool, arguments, ctx)


async def run_tool(tool: Tool[A], arguments: A, ctx: ToolContext) -> ToolResult:
    """Run `tool` with arguments that are validated; bounds and errors as in `ToolRegistry.execute`."""
    try:
        result = await tool.run(arguments, ctx)
    except ToolError as error:
        result = _failed(str(error))
    except Exception as error:
        _log.exception("tool_failed", tool=tool.name)
        result = _failed(_describe(error))
    return _bounded(result, ctx)


def _failed(why: str) -> ToolResult:
    return ToolResult(content=f"tool error: {why}", is_error=True)


def _bounded(result: ToolResult, ctx: ToolContext) -> ToolResult:
    content = cap(scrub(result.content), ctx.max_result_bytes)
    return result if content == result.content else replace(result, content=content)


def _describe(error: Exception) -> str:
    """An unexpected exception in one line that tells the model nothing about the host."""
    text = (error.strerror or "") if isinstance(error, OSError) else str(error)
    line = _HOST_PATH.sub("[path]", text.strip().partition("\n")[0])
    return visible(f"{type(error).__name__}: {line}" if line else type(error).__name__, _MAX_MESSAGE_CHARS)
