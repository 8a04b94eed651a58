"""The tools of a turn by name, and the one way to run one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import structlog

from tools.base import Tool, ToolContext, ToolResult
from tools.errors import ToolError
from tools.output import cap, scrub, visible
from tools.schema import parse_arguments

_log = structlog.get_logger()

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
        result = await self._run(name, arguments_json, ctx)
        return replace(result, content=cap(scrub(result.content), ctx.max_result_bytes))

    async def _run(self, name: str, arguments_json: str, ctx: ToolContext) -> ToolResult:
        tool = self._tools.get(name)
        if tool is None:
            return ToolResult(content=self.unknown_tool_message(name), is_error=True)
        try:
            return await tool.run(parse_arguments(tool, arguments_json), ctx)
        except ToolError as error:
            return ToolResult(content=f"tool error: {error}", is_error=True)
        except Exception as error:
            _log.exception("tool_failed", tool=name)
            return ToolResult(content=f"tool error: {_describe(error)}", is_error=True)


def _describe(error: Exception) -> str:
    """An unexpected exception in one line that tells the model nothing about the host."""
    text = (error.strerror or "") if isinstance(error, OSError) else str(error)
    line = _HOST_PATH.sub("[path]", text.strip().partition("\n")[0])
    return visible(f"{type(error).__name__}: {line}" if line else type(error).__name__, _MAX_MESSAGE_CHARS)
