"""The twin's fixtures."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.preview.server import Twin
from tests.support.discord_bot import Bot, running


@pytest.fixture
async def bot(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    """A real discord.py client, ready on `twin`."""
    async with running(twin, monkeypatch) as client:
        yield client
