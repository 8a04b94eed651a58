"""One timer for the earliest expiry of all open questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from pipeline.journal import Journal, PendingApproval

_log = structlog.get_logger()

RETRY_S = 1.0


class ExpiryTimer:
    """Calls `expire(turn, approval)` for each question when its time has come. `now` is epoch seconds."""

    def __init__(
        self, journal: Journal, now: Callable[[], float], expire: Callable[[str, str], Awaitable[None]]
    ) -> None:
        self._journal = journal
        self._now = now
        self._expire = expire
        self._handle: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def arm(self, at_least_s: float = 0.0) -> None:
        """Look up the earliest open question and wait for it, instead of whatever was waited for."""
        pending = await self._journal.pending_approvals()
        self._wait(max(at_least_s, pending[0].expires - self._now()) if pending else None)

    def cancel(self) -> None:
        """Expire nothing any more."""
        self._closed = True
        for waiting in (self._handle, self._task):
            if waiting is not None:
                waiting.cancel()

    def _wait(self, delay_s: float | None) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if delay_s is not None and not self._closed:
            self._handle = asyncio.get_running_loop().call_later(delay_s, self._fire)

    def _fire(self) -> None:
        self._task = asyncio.create_task(self._expire_all(), name="expiry")

    async def _expire_all(self) -> None:
        self._wait(RETRY_S)  # for the case that the journal cannot be read now
        try:
            for pending in await self._journal.pending_approvals():
                if pending.expires > self._now():
                    break
                await self._expire_one(pending)
            await self.arm(at_least_s=RETRY_S)  # one that could not be closed now is not tried in a tight loop
        except Exception:
            _log.exception("expiry_failed")

    async def _expire_one(self, pending: PendingApproval) -> None:
        try:
            await self._expire(pending.turn, pending.approval)
        except Exception:
            _log.exception("expiry_failed", approval=pending.approval)
