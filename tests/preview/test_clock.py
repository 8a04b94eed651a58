"""Time that can be moved, and ids that carry it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.preview.clock import Clock, ShiftedLoop
from bot.preview.server import Twin
from bot.preview.snowflake import Snowflakes, created_at
from tests.support.control import ControlClient


def test_a_long_timeout_fires_when_the_clock_has_moved() -> None:
    clock = Clock()

    async def work() -> timedelta:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ShiftedLoop)
        before = loop.now()
        loop.call_soon(loop.advance, 122)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 121)
        return loop.now() - before

    with asyncio.Runner(loop_factory=lambda: ShiftedLoop(clock)) as runner:
        assert runner.run(work()) >= timedelta(seconds=122)


def test_the_twin_and_the_loop_move_together() -> None:
    clock = Clock()

    async def work() -> None:
        twin = Twin(clock=clock)
        await twin.start()
        try:
            async with ControlClient(twin.url) as control:
                waiting = asyncio.create_task(asyncio.sleep(3600))
                timer = asyncio.Event()
                twin.clock.call_later(3600, timer.set)
                await control.advance(3599)
                assert not waiting.done()
                assert not timer.is_set()
                await control.advance(1)
                await asyncio.gather(waiting, timer.wait())
        finally:
            await twin.close()

    with asyncio.Runner(loop_factory=lambda: ShiftedLoop(clock)) as runner:
        runner.run(work())


async def test_a_callback_is_told_how_far_time_moved(twin: Twin, control: ControlClient) -> None:
    moved: list[float] = []
    twin.on_clock.append(moved.append)
    await control.advance(1.5)
    assert moved == [1.5]


async def test_a_cancelled_timer_never_fires() -> None:
    clock, fired = Clock(), []
    timer = clock.call_later(1, lambda: fired.append("cancelled"))
    done = asyncio.Event()
    clock.call_later(2, done.set)
    timer.cancel()
    clock.advance(5)
    await done.wait()
    assert fired == []


async def test_time_never_goes_back() -> None:
    with pytest.raises(ValueError, match="forward"):
        Clock().advance(-1)


@given(st.lists(st.floats(0, 1e6), max_size=20))
def test_snowflakes_only_grow_and_carry_their_time(steps: list[float]) -> None:
    clock = Clock()
    ids = Snowflakes(clock)
    made = []
    for step in steps:
        clock.advance(step)
        made.append(int(ids.next()))
        assert abs(created_at(str(made[-1])) - clock.time()) < 1
    assert made == sorted(set(made))


@given(st.integers(1, 1 << 62))
def test_a_new_id_is_above_everything_seen(snowflake: int) -> None:
    ids = Snowflakes(Clock())
    ids.seen(str(snowflake))
    assert int(ids.next()) > snowflake
