"""The whole program: every test here runs on a loop whose time it can move."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

import tests.support.extra_tools
import tools.builtin
from bot.preview.clock import ShiftedLoop
from tests.support.bot_process import make_bot
from tests.support.minds import KINDS, WIRES, Mind, mind
from tests.support.stage import make_stage, shifted_loop

__all__ = ["make_bot", "make_stage"]


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], ShiftedLoop]]:
    return {"shifted": shifted_loop}


@pytest.fixture(params=KINDS)
async def model(request: pytest.FixtureRequest) -> AsyncIterator[Mind]:
    """Each kind of model in turn, for what must be the same with all of them."""
    async with mind(request.param) as made:
        yield made


@pytest.fixture
async def demo() -> Mind:
    """The demo model."""
    return Mind("demo", None)


@pytest.fixture(params=["openai_compat"])
async def wire(request: pytest.FixtureRequest) -> AsyncIterator[Mind]:
    """A model behind a wire, for tests in which the kind makes no difference."""
    async with mind(request.param) as made:
        yield made


@pytest.fixture(params=WIRES)
async def each_wire(request: pytest.FixtureRequest) -> AsyncIterator[Mind]:
    """Each model behind a wire in turn."""
    async with mind(request.param) as made:
        yield made


@pytest.fixture
def extra_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools for tests beside the built-in ones, for bots that start in this process."""
    folder = Path(tests.support.extra_tools.__file__).parent
    monkeypatch.setattr(tools.builtin, "__path__", [*tools.builtin.__path__, str(folder)])
