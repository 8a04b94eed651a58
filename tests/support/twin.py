"""Fixtures of a twin of one's own, each call of which is held against Discord's description.

Register it once with `pytest_plugins = ["tests.support.twin"]`; the summary then says how much was validated, also with
pytest-xdist.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bot.preview.server import Twin
from tests.support.control import ControlClient
from tests.support.openapi import Counts, OpenApiValidator, description

COUNTS = pytest.StashKey[Counts]()
_OUTPUT = "twin_counts"

MakeTwin = Callable[..., Awaitable[Twin]]


def counts_of(config: pytest.Config) -> Counts:
    return config.stash.setdefault(COUNTS, Counts())


@pytest.fixture
async def make_twin(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MakeTwin]:
    """Starts twins as a test wants them (the keywords of `Twin`), on free ports; they are closed after the test.

    A call that does not fit Discord's description fails the test.
    """
    known = description()
    validator = OpenApiValidator(known, counts_of(request.config)) if known else None

    async with AsyncExitStack() as stack:

        async def make(**keywords: Any) -> Twin:
            keywords.setdefault("data_dir", tmp_path / "twin")
            twin = Twin(validator=validator, **keywords)
            await twin.start()
            stack.push_async_callback(twin.close)
            return twin

        yield make
    mismatches = validator.mismatches if validator else []
    assert not mismatches, "\n".join(f"{one.where}: {one.what}" for one in mismatches)


@pytest.fixture
async def twin(make_twin: MakeTwin) -> Twin:
    """A twin of one's own: the default world, no rate limits in the way."""
    return await make_twin(rate_limits=False)


@pytest.fixture
async def control(twin: Twin) -> AsyncIterator[ControlClient]:
    """The people in front of `twin`."""
    async with ControlClient(twin.url) as client:
        yield client


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = asdict(counts_of(session.config))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    del error
    worker = getattr(node, "workeroutput", {}).get(_OUTPUT, {})
    counts = counts_of(node.config)
    counts.requests += worker.get("requests", 0)
    counts.answers += worker.get("answers", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = counts_of(config)
    if counts.answers:
        told = f"{counts.requests} requests and {counts.answers} answers were held against Discord's description"
        terminalreporter.write_sep("-", told)
