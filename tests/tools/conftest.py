"""A project on a real disk, and what a call to its tools needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.base import ToolContext, ToolResult
from tools.builtin import Deps, builtin_tools, find_ripgrep
from tools.registry import ToolRegistry
from tools.scope import ProjectScope


@dataclass(kw_only=True)
class Project:
    """A folder with its tools; `outside` is a folder beside it that nothing may reach."""

    root: Path
    outside: Path
    scope: ProjectScope
    registry: ToolRegistry
    time: float = 1_772_366_400.0  # 2026-03-01, 12:00 UTC, a Sunday
    max_result_bytes: int = 12288

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def context(self) -> ToolContext:
        return ToolContext(
            scope=self.scope,
            turn="1",
            user_id="1",
            channel_id="2",
            guild_id=None,
            now=lambda: self.time,
            max_result_bytes=self.max_result_bytes,
        )

    async def call(self, tool: str, arguments: str) -> ToolResult:
        return await self.registry.execute(tool, arguments, self.context())

    async def ok(self, tool: str, arguments: str) -> str:
        result = await self.call(tool, arguments)
        assert not result.is_error, result.content
        return result.content

    async def refused(self, tool: str, arguments: str) -> str:
        result = await self.call(tool, arguments)
        assert result.is_error, result.content
        assert str(self.root.parent) not in result.content
        return result.content


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root, outside = tmp_path / "proj", tmp_path / "proj-evil"
    root.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("top secret\n")
    deps = Deps(ripgrep=find_ripgrep())
    return Project(
        root=root, outside=outside, scope=ProjectScope("demo", root), registry=ToolRegistry(builtin_tools(deps))
    )
