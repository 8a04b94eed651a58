"""Blocking work in a thread, that is over when its caller is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event
from typing import TypeVar

T = TypeVar("T")

_GRACE_S = 1.0


async def in_thread(work: Callable[[], T], *, stop: Event | None = None) -> T:
    """Run `work` in a thread and return what it returns.

    On a cancel `stop` is set, for work that looks at it, and the thread gets a second to end: a cancelled write is
    then done or not done, not still to come. The cancel goes on afterwards.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if stop is not None:
            stop.set()
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, so never reported as lost
        await asyncio.wait({task}, timeout=_GRACE_S)
        raise
