"""A twin for each test, with Discord's rate limits, every call of which is held against Discord's description."""

from __future__ import annotations

import pytest

from bot.preview.server import Twin
from tests.support.twin import MakeTwin


@pytest.fixture
async def twin(make_twin: MakeTwin) -> Twin:
    return await make_twin(rate_limits=True)
