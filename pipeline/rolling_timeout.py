"""A timeout whose deadline moves with every event, cheaply."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from types import TracebackType


class RollingTimeout:
    """`async with` it round the work, `allow` more time at every event, `expire` it to end the work at once.

    The work is cancelled when the time is up, and leaves the block as TimeoutError. Work that takes its time to clean
    up is cancelled once more `settle_s` seconds later. Moving the deadline is one assignment: the timer looks at it
    when it fires, and sleeps on.
    """

    def __init__(self, *, first_s: float, settle_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + first_s
        self._settle_s = max(settle_s, 0.001)  # two cancels in one pass of the loop would count as one
        self._inner = asyncio.timeout(None)
        self._outer = asyncio.timeout(None)
        self._blocks = AsyncExitStack()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def expired(self) -> bool:
        return self._inner.expired() or self._outer.expired()

    def allow(self, seconds: float) -> None:
        """Let the work go on for `seconds` from now, if it has not expired."""
        self._deadline = self._loop.time() + seconds
        if self._timer is not None and self._deadline < self._timer.when():
            self._arm()

    def expire(self) -> None:
        """End the work now."""
        if not self._inner.expired():
            now = self._loop.time()
            self._inner.reschedule(now)
            self._outer.reschedule(now + self._settle_s)

    async def __aenter__(self) -> RollingTimeout:
        await self._blocks.enter_async_context(self._outer)
        await self._blocks.enter_async_context(self._inner)
        self._arm()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if self._timer is not None:
            self._timer.cancel()
        return await self._blocks.__aexit__(kind, error, trace)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._deadline, self._look)

    def _look(self) -> None:
        if self._loop.time() < self._deadline:
            self._arm()
        else:
            self.expire()
