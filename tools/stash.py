"""Where tools leave large things for the next pass, so that results and records hold only a key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

import structlog

from tools.base import ContextItem

_log = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class ContextStash:
    """Keeps items for `ttl_s` seconds, at most `max_entries`, the oldest first out. `now` is in seconds.

    A key works once.
    """

    ttl_s: float
    max_entries: int
    now: Callable[[], float]
    _items: OrderedDict[str, tuple[float, ContextItem]] = field(default_factory=OrderedDict)

    def put(self, item: ContextItem) -> str:
        """Keep `item`; the key that brings it back."""
        self._drop_expired()
        while len(self._items) >= max(self.max_entries, 1):
            self._items.popitem(last=False)
            _log.warning("stash_full", max_entries=self.max_entries)
        key = uuid4().hex
        self._items[key] = (self.now(), item)
        return key

    def take(self, key: str) -> ContextItem | None:
        """The item of `key`, which is gone from then on; None when it never was, was taken or is too old."""
        self._drop_expired()
        found = self._items.pop(key, None)
        return None if found is None else found[1]

    def __len__(self) -> int:
        return len(self._items)

    def _drop_expired(self) -> None:
        oldest = self.now() - self.ttl_s
        while self._items and next(iter(self._items.values()))[0] < oldest:
            self._items.popitem(last=False)
