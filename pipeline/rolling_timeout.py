"""A timeout whose deadline moves with every event, cheaply."""

from __future__ import annotations

import asyncio
from types import TracebackType


class RollingTimeout:
    """`async with` it round the work, `allow` more time at every event, `expire` it to end the work at once.

    The work is cancelled when the time is up, and leaves the block as TimeoutError. Work that takes its time to clean
    up is cancelled once more `settle_s` seconds later. A cancel that came from elsewhere stays one. Moving the deadline
    is one assignment: the timer looks at it when it fires, and sleeps on. (`asyncio.timeout` does one of these jobs.)
    """

    def __init__(self, *, first_s: float, settle_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + first_s
        self._settle_s = max(settle_s, 0.001)  # two cancels in one pass of the loop would count as one
        self._task: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ending = False
        self._cancels_before = 0
        self._cancels = 0  # our own

    @property
    def expired(self) -> bool:
        return self._cancels > 0

    def allow(self, seconds: float) -> None:
        """Let the work go on for `seconds` from now, if it has not expired."""
        if not self._ending:
            self._deadline = self._loop.time() + seconds
            if self._timer is not None and self._deadline < self._timer.when():
                self._arm(self._deadline)

    def expire(self) -> None:
        """End the work now."""
        if not self._ending:
            self._ending = True
            self._deadline = self._loop.time()
            self._arm(self._deadline)  # by the timer: a task that cancels itself could leave the block uncancelled

    async def __aenter__(self) -> RollingTimeout:
        self._task = asyncio.current_task()
        assert self._task is not None  # noqa: S101
        self._cancels_before = self._task.cancelling()
        self._arm(self._deadline)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is None or not self.expired:
            return
        left = 0
        for _ in range(self._cancels):
            left = self._task.uncancel()
        if isinstance(error, asyncio.CancelledError) and left <= self._cancels_before:
            raise TimeoutError from error

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._look)

    def _look(self) -> None:
        if self._loop.time() < self._deadline and not self._ending:
            self._arm(self._deadline)
            return
        self._ending = True
        self._cancels += 1
        if self._cancels == 1:
            self._arm(self._loop.time() + self._settle_s)
        if self._task is not None:
            self._task.cancel()
