"""Work in threads ends with its caller."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from tools.blocking import in_thread


async def test_the_result_and_the_error_of_the_work_come_back() -> None:
    assert await in_thread(lambda: 7) == 7

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await in_thread(fail)


async def test_a_cancel_waits_until_the_work_has_ended() -> None:
    started, go_on = Event(), Event()
    done: list[str] = []

    def work() -> None:
        started.set()
        go_on.wait()
        done.append("written")

    call = asyncio.create_task(in_thread(work, stop=go_on))
    await asyncio.to_thread(started.wait)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert done == ["written"]
