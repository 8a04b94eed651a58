"""The examples of docs/adding.md work as they are written there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from pipeline.messages import UserMessage
from pipeline.provider import PassEnded, ProviderRequest, StreamEvent, TextDelta
from pipeline.providers import ProviderConfig
from tools.base import ToolContext
from tools.builtin import Deps
from tools.registry import ToolRegistry
from tools.scope import ProjectScope

PAGE = Path(__file__).parents[1] / "docs" / "adding.md"


@pytest.fixture
def examples() -> Iterator[dict[str, ModuleType]]:
    """The Python blocks of the page as modules, by the path that stands before each."""
    found = re.findall(r"make `([\w/]+\.py)`[^`]*```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S | re.I)
    modules = {}
    for path, code in found:
        module = ModuleType(path.removesuffix(".py").replace("/", ".") + "_example")
        sys.modules[module.__name__] = module
        exec(compile(code, path, "exec"), module.__dict__)
        modules[path] = module
    yield modules
    for module in modules.values():
        del sys.modules[module.__name__]


async def test_the_tool_of_the_page_counts_words(examples: dict[str, ModuleType], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two three")
    registry = ToolRegistry(examples["tools/builtin/count_words.py"].tools(Deps()))
    context = ToolContext(
        scope=ProjectScope("p", tmp_path),
        turn="1",
        user_id="1",
        channel_id="2",
        guild_id=None,
        now=lambda: 0.0,
        max_result_bytes=1000,
    )
    assert (await registry.execute("count_words", '{"path": "a.txt"}', context)).content == "3 words"


async def test_the_provider_of_the_page_answers(examples: dict[str, ModuleType]) -> None:
    create = examples["pipeline/providers/echo.py"].create
    async with httpx.AsyncClient() as client:
        provider = create(ProviderConfig(name="e", kind="echo"), client)
        request = ProviderRequest(model="", messages=(UserMessage(text="hello"),))
        async with aclosing(provider.stream(request)) as stream:
            events: list[StreamEvent] = [event async for event in stream]
    assert events[0] == TextDelta(text="hello")
    assert isinstance(events[-1], PassEnded)


async def test_the_command_of_the_page_says_how_many_wait(examples: dict[str, ModuleType]) -> None:
    parts: Any = Mock()
    parts.runtime.queued.return_value = [1, 2]
    (cog,) = examples["bot/exts/queue.py"].cogs(parts)
    assert [command.name for command in cog.get_app_commands()] == ["queue"]
    assert (await cog._waiting("10")).text == "2 messages wait here."
