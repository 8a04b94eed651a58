"""Time that a test can move: wall time, monotonic time and timers with one common offset."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime


class Timer:
    """A callback that waits for its time on a `Clock`."""

    __slots__ = ("_callback", "_clock", "_handle", "when")

    def __init__(self, clock: Clock, when: float, callback: Callable[[], None]) -> None:
        self._clock = clock
        self._callback = callback
        self._handle: asyncio.Handle | None = None
        self.when = when
        self.arm()

    def arm(self) -> None:
        """Wait on the running loop for what is left of the time."""
        if self._handle is not None:
            self._handle.cancel()
        left_s = self.when - self._clock.monotonic()
        self._handle = asyncio.get_running_loop().call_later(max(left_s, 0.0), self._fire)

    def cancel(self) -> None:
        """Never call back. Safe at any time."""
        if self._handle is not None:
            self._handle.cancel()
        self._clock.forget(self)

    def _fire(self) -> None:
        # A loop that was moved together with the clock may wake early by what was left.
        if self._clock.monotonic() + 1e-6 < self.when:
            self.arm()
            return
        self._clock.forget(self)
        self._callback()


class Clock:
    """The twin's time. `offset_s` is how far it was moved, in seconds."""

    def __init__(self) -> None:
        self.offset_s = 0.0
        self._timers: set[Timer] = set()

    def time(self) -> float:
        """Unix time in seconds."""
        return time.time() + self.offset_s

    def now(self) -> datetime:
        """The same as an aware UTC datetime."""
        return datetime.fromtimestamp(self.time(), UTC)

    def isoformat(self) -> str:
        """Now, the way Discord writes timestamps."""
        return self.now().isoformat(timespec="microseconds")

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic() + self.offset_s

    def advance(self, seconds: float) -> None:
        """Move time forward; every timer that is now due fires in the next pass of the loop.

        Raises ValueError for a step back: timers and snowflakes could not follow.
        """
        if seconds < 0:
            msg = "time only moves forward: advance_s must be 0 or more"
            raise ValueError(msg)
        self.offset_s += seconds
        for timer in list(self._timers):
            timer.arm()

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> Timer:
        """Call back in the running loop when `delay_s` of this clock's seconds have passed."""
        timer = Timer(self, self.monotonic() + delay_s, callback)
        self._timers.add(timer)
        return timer

    async def sleep(self, delay_s: float) -> None:
        """Wait for `delay_s` of this clock's seconds."""
        woken = asyncio.Event()
        timer = self.call_later(delay_s, woken.set)
        try:
            await woken.wait()
        finally:
            timer.cancel()

    def forget(self, timer: Timer) -> None:
        """Drop a timer that fired or was cancelled."""
        self._timers.discard(timer)


class ShiftedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is moved by a `Clock`: a two-minute timeout fires as soon as the clock has moved.

    Pass it to `asyncio.Runner(loop_factory=lambda: ShiftedLoop(clock))`. `now()` is the wall time with the same offset.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        super().__init__()

    def time(self) -> float:
        """The loop's monotonic seconds, moved."""
        return super().time() + self.clock.offset_s

    def now(self) -> datetime:
        """Wall time, moved by the same offset."""
        return self.clock.now()

    def advance(self, seconds: float) -> None:
        """Move the clock, and wake the loop in case another thread did it."""
        self.clock.advance(seconds)
        self.call_soon_threadsafe(lambda: None)
