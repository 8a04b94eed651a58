"""When requests may leave, on a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

import pytest

from bot.render.pacer import Kind, Pacer, Priority


class Clock:
    """A clock with timers: `advance` runs what falls due on the way, and lets tasks follow."""

    def __init__(self) -> None:
        self.now = 100.0
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def call_at(self, when: float, call: Callable[[], None]) -> None:
        heappush(self._timers, (when, next(self._numbers), call))

    async def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while self._timers and self._timers[0][0] <= end:
            self.now, _, call = heappop(self._timers)
            call()
            await settled()
        self.now = end

    def hold_up(self, seconds: float) -> None:
        """The loop does nothing for a while; its timers are late."""
        self.now += seconds

    async def run_late_timers(self) -> None:
        while self._timers and self._timers[0][0] <= self.now:
            heappop(self._timers)[2]()
            await settled()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Requests:
    """Asks the pacer and notes when each request left."""

    def __init__(self, per_second: int = 40) -> None:
        self.clock = Clock()
        self.pacer = Pacer(per_second=per_second, time=lambda: self.clock.now, call_at=self.clock.call_at)
        self.left: list[tuple[str, float]] = []
        self.changed: dict[str, tuple[Priority, Kind]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def ask(self, name: str, priority: Priority, channel: str = "1", kind: Kind = Kind.OTHER) -> None:
        self._tasks.append(asyncio.create_task(self._ask(name, priority, channel, kind)))
        await settled()

    async def _ask(self, name: str, priority: Priority, channel: str, kind: Kind) -> None:
        await self.pacer.leave(channel, lambda: self.changed.get(name, (priority, kind)))
        self.left.append((name, self.clock.now - 100.0))

    def cancel_last(self) -> None:
        self._tasks[-1].cancel()


async def test_a_request_leaves_at_once_when_nothing_waits() -> None:
    requests = Requests()
    await requests.ask("a", Priority.EDIT)
    assert requests.left == [("a", 0.0)]


async def test_fewer_than_the_limit_leave_in_any_second() -> None:
    requests = Requests()
    for number in range(120):
        await requests.ask(str(number), Priority.EDIT, channel=str(number))
    await requests.clock.advance(10)
    times = [time for _, time in requests.left]
    assert len(times) == 120
    assert max(sum(1 for other in times if time <= other < time + 1.0) for time in times) < 40


async def test_the_most_urgent_leaves_first() -> None:
    requests = Requests(per_second=2)
    await requests.ask("busy", Priority.EDIT)
    for priority in (Priority.EDIT, Priority.FULL, Priority.FIRST, Priority.CARD, Priority.FINAL):
        await requests.ask(priority.name, priority)
    await requests.clock.advance(10)
    assert [name for name, _ in requests.left] == ["busy", "FINAL", "CARD", "FIRST", "FULL", "EDIT"]


async def test_text_edits_of_a_channel_are_more_than_a_second_apart() -> None:
    requests = Requests()
    for number in range(4):
        await requests.ask(str(number), Priority.EDIT, kind=Kind.TEXT_EDIT)
    await requests.ask("other", Priority.EDIT, channel="2", kind=Kind.TEXT_EDIT)
    await requests.clock.advance(10)
    times = dict(requests.left)
    assert times["other"] == 0.0
    assert all(times[str(n + 1)] - times[str(n)] >= 1.0 for n in range(3))


async def test_a_card_need_not_wait_for_the_pace_of_the_text() -> None:
    requests = Requests()
    await requests.ask("text", Priority.EDIT, kind=Kind.TEXT_EDIT)
    await requests.ask("card", Priority.CARD, kind=Kind.EDIT)
    assert requests.left == [("text", 0.0), ("card", 0.0)]


async def test_edits_leave_the_last_of_five_places_to_a_final_text() -> None:
    requests = Requests()
    for number in range(5):
        await requests.ask(str(number), Priority.CARD, kind=Kind.EDIT)
    await requests.ask("final", Priority.FINAL, kind=Kind.EDIT)
    await requests.ask("second final", Priority.FINAL, kind=Kind.EDIT)
    assert [name for name, _ in requests.left] == ["0", "1", "2", "3", "final"]
    await requests.clock.advance(10)
    assert requests.left[-2:] == [("second final", 5.0), ("4", 5.0)]


async def test_however_long_a_text_was_edited_its_final_form_leaves_at_once() -> None:
    for at in range(40):
        requests = Requests()
        for number in range(10):
            await requests.ask(str(number), Priority.EDIT, kind=Kind.TEXT_EDIT)
        await requests.clock.advance(at * 0.17)
        await requests.ask("final", Priority.FINAL, kind=Kind.EDIT)
        name, when = requests.left[-1]
        assert (name, when) == ("final", requests.clock.now - 100.0)
        await requests.clock.advance(10)
        times = [time for _, time in requests.left]
        assert max(sum(1 for other in times if time <= other < time + 5.0) for time in times) <= 5


async def test_a_channel_has_at_most_five_new_messages_in_five_seconds_the_last_not_for_an_overflow() -> None:
    requests = Requests()
    for number in range(5):
        await requests.ask(f"overflow {number}", Priority.EDIT, kind=Kind.CREATE)
    await requests.ask("card", Priority.CARD, kind=Kind.CREATE)
    await requests.ask("first", Priority.FIRST, kind=Kind.CREATE)
    await requests.ask("edit", Priority.EDIT, kind=Kind.EDIT)
    assert [name for name, _ in requests.left] == [*(f"overflow {n}" for n in range(4)), "card", "edit"]
    await requests.clock.advance(20)
    assert [name for name, _ in requests.left[-2:]] == ["first", "overflow 4"]


async def test_a_cancelled_request_takes_no_place() -> None:
    requests = Requests(per_second=2)
    await requests.ask("first", Priority.EDIT)
    await requests.ask("gone", Priority.EDIT)
    requests.cancel_last()
    await requests.ask("last", Priority.EDIT)
    await requests.clock.advance(1.0)
    assert [name for name, _ in requests.left] == ["first", "last"]


async def test_what_waits_can_become_more_urgent() -> None:
    requests = Requests()
    for name in ("before", "text"):
        await requests.ask(name, Priority.EDIT, kind=Kind.TEXT_EDIT)
    requests.changed["text"] = (Priority.FIRST, Kind.EDIT)
    requests.pacer.nudge()
    await settled()
    assert requests.left == [("before", 0.0), ("text", 0.0)]


async def test_reactions_of_a_channel_are_spaced_out() -> None:
    requests = Requests()
    for number in range(2):
        await requests.ask(str(number), Priority.EDIT, kind=Kind.REACTION)
    await requests.clock.advance(1.0)
    assert [time for _, time in requests.left] == pytest.approx([0.0, 0.3])


async def test_typing_leaves_room_for_texts() -> None:
    requests = Requests(per_second=10)
    for number in range(9):
        await requests.ask(f"typing {number}", Priority.TYPING)
    await requests.clock.advance(0.7)
    await requests.ask("text", Priority.FIRST)
    assert [name for name, _ in requests.left].index("text") == 5
    await requests.clock.advance(3)
    assert len(requests.left) == 10


async def test_requests_do_not_leave_all_at_once() -> None:
    requests = Requests()
    for number in range(39):
        await requests.ask(str(number), Priority.EDIT, channel=str(number))
    assert len(requests.left) == 8
    await requests.clock.advance(1.0)
    assert len(requests.left) == 39


async def test_after_a_hold_up_what_left_late_still_counts() -> None:
    requests = Requests()
    for number in range(60):
        await requests.ask(str(number), Priority.EDIT, channel=str(number))
    before = len(requests.left)
    requests.clock.hold_up(5.0)
    await requests.clock.run_late_timers()
    assert len(requests.left) == before
    await requests.clock.advance(5.0)
    assert len(requests.left) == 60


async def test_a_machine_that_is_always_late_still_sends() -> None:
    requests = Requests()
    for number in range(60):
        await requests.ask(str(number), Priority.EDIT, channel=str(number))
    for _ in range(20):
        requests.clock.hold_up(0.5)
        await requests.clock.run_late_timers()
    assert len(requests.left) == 60
