"""A message that is submitted twice is answered once, and never told the opposite."""

from __future__ import annotations

import asyncio

from pipeline.runtime import Submission
from tests.support.runtimes import RuntimeInMemory
from tests.support.scripts import Say, script


async def test_a_known_message_is_known_during_a_drain_too_whether_its_turn_runs_or_has_ended() -> None:
    gate = asyncio.Event()
    bench = RuntimeInMemory(model=script(Say(text=["hm"], hang=gate)))
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    draining = asyncio.create_task(bench.runtime.drain(10))
    await asyncio.sleep(0)  # the drain begins
    assert await bench.submit("2") is Submission.CLOSING
    assert await bench.submit("1") is Submission.KNOWN
    gate.set()
    await draining
    assert await bench.submit("1") is Submission.KNOWN
