"""The port to whoever advances turns, and the adapter that does it with tasks of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

import structlog

_log = structlog.get_logger()

RETRY_S = (1.0, 5.0, 15.0, 60.0)


class Dispatcher(Protocol):
    def wake(self, turn: str) -> None:
        """Have `turn` advanced soon. Waking one that is being advanced has it looked at again: no click is lost."""
        ...


class TaskDispatcher:
    """Advances each turn in a task of its own, one task a turn at most.

    A turn whose advance fails (the disk is full, the database is locked) is tried again until it comes through: nothing
    else would free its channel.
    """

    def __init__(self, advance: Callable[[str], Awaitable[None]]) -> None:
        self._advance = advance
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._woken: dict[str, asyncio.Event] = {}
        self._closed = False

    def wake(self, turn: str) -> None:
        if turn in self._tasks:
            self._woken[turn].set()
        elif not self._closed:  # else the next start takes it up: what it is woken for is a record
            self._woken[turn] = asyncio.Event()
            self._tasks[turn] = asyncio.create_task(self._run(turn, self._woken[turn]), name=f"turn {turn}")

    async def _run(self, turn: str, woken: asyncio.Event) -> None:
        failures = 0
        woken.set()
        try:
            while woken.is_set():
                woken.clear()
                try:
                    await self._advance(turn)
                    failures = 0
                except Exception:
                    _log.exception("turn_failed", turn=turn)
                    if self._closed:
                        return
                    with suppress(TimeoutError):
                        await asyncio.wait_for(woken.wait(), RETRY_S[min(failures, len(RETRY_S) - 1)])
                    failures += 1
                    woken.set()
        finally:
            del self._tasks[turn], self._woken[turn]

    async def drain(self, grace_s: float) -> None:
        """Give running turns `grace_s` seconds to come to an end, then cancel them: a start takes them up again."""
        self._closed = True
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=grace_s)
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
