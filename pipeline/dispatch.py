"""The port to whoever advances turns, and the adapter that does it with tasks of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

_log = structlog.get_logger()


class Dispatcher(Protocol):
    def wake(self, turn: str) -> None:
        """Have `turn` advanced soon. Waking one that is being advanced has it looked at again: no click is lost."""
        ...


class TaskDispatcher:
    """Advances each turn in a task of its own, one task a turn at most."""

    def __init__(self, advance: Callable[[str], Awaitable[None]]) -> None:
        self._advance = advance
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()

    def wake(self, turn: str) -> None:
        self._again.add(turn)
        if turn not in self._tasks:
            self._tasks[turn] = asyncio.create_task(self._run(turn), name=f"turn {turn}")

    async def _run(self, turn: str) -> None:
        try:
            while turn in self._again:
                self._again.discard(turn)
                await self._advance(turn)
        except Exception:
            _log.exception("turn_failed", turn=turn)
        finally:
            self._again.discard(turn)
            del self._tasks[turn]

    async def drain(self, grace_s: float) -> None:
        """Give running turns `grace_s` seconds to come to an end, then cancel them: a start takes them up again."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=grace_s)
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
