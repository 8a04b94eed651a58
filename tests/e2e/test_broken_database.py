"""Another program holds the database for a while: people are told, and no channel is lost."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from pipeline.stores import engine
from tests.support.control import real_timeout
from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import WAIT_S, MakeStage


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_MS", 20)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    other = sqlite3.connect(folder / "bot" / "countersign.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


async def test_a_message_that_cannot_be_noted_is_answered_with_a_sentence(
    make_stage: MakeStage, wire: Mind, tmp_path: Path
) -> None:
    stage = await make_stage(wire)
    with locked(tmp_path), capture_logs():
        await stage.mention("hello")
        await stage.until_reply("Something went wrong")
    await stage.mention("hello again")
    await stage.until_reply("You said: hello again")


async def test_a_turn_goes_on_by_itself_when_the_database_is_free_again(
    make_stage: MakeStage, wire: Mind, tmp_path: Path
) -> None:
    stage = await make_stage(wire)
    go_on = asyncio.Event()
    wire.script(Pass(text=["Half ", go_on, "and lost."]), Pass(text=["All of it."]))
    await stage.mention("tell me")
    await stage.until(lambda message: "Half" in message["content"])
    with locked(tmp_path), capture_logs() as logged:
        go_on.set()
        async with real_timeout(WAIT_S):
            while not any(entry["event"] == "turn_failed" for entry in logged):
                await asyncio.sleep(0)
    await stage.control.advance(2)
    reply = await stage.until_reply("All of it.")
    assert reply["content"] == "All of it."
    assert len(await stage.replies()) == 1
