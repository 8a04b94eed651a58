"""The task behind something that is kept on Discord: it brings what is there to what should be there."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

import structlog

from bot.render.outbox import Transient, Unreachable

_log = structlog.get_logger()

BACKOFF_S = (1.0, 2.0, 4.0, 8.0, 15.0)


class Keeper(ABC):
    """Runs `step` until it has nothing to do, then waits for a change. Requests are never cancelled by the turn."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._done = False
        self._is_dead = False
        self._task: asyncio.Task[None] | None = None

    @abstractmethod
    async def step(self) -> bool:
        """Do the next thing that is left to do; False when there is none.

        Raises Transient (it is tried again later) or Unreachable (nothing is tried any more).
        """

    @abstractmethod
    async def gave_up(self, why: str) -> None:
        """Nothing can be shown any more; `why` is a sentence."""

    def changed(self) -> None:
        """What should be there is different now. Cheap, synchronous."""
        if self._is_dead:
            return
        self._idle.clear()
        self._wake.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def settle(self) -> None:
        """Return when everything is there, or cannot be."""
        if self._task is not None:
            await self._idle.wait()

    def finish(self) -> None:
        """Nothing will change any more: end when everything is there."""
        self._done = True
        self._wake.set()

    async def close(self) -> None:
        """Stop now."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            while await self._bring():
                self._idle.set()
                if self._done:
                    return
                await self._wake.wait()
        finally:
            self._is_dead = True
            self._idle.set()

    async def _bring(self) -> bool:
        """Step until there is nothing to do; False when it was given up."""
        failures = 0
        while True:
            self._wake.clear()
            try:
                if not await self.step():
                    return True
                failures = 0
            except Unreachable as error:
                return await self._give_up(str(error))
            except Exception as error:
                if not isinstance(error, Transient):
                    _log.exception("delivery_failed")
                if failures == len(BACKOFF_S):
                    return await self._give_up("Discord could not be reached")
                await asyncio.sleep(BACKOFF_S[failures])
                failures += 1

    async def _give_up(self, why: str) -> bool:
        _log.warning("delivery_given_up", why=why)
        self._is_dead = True
        self._idle.set()
        await self.gave_up(why)
        return False
