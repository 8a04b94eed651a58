"""What tools leave for the next pass: for a while, not too much, once."""

from __future__ import annotations

import pytest

from tools.base import ContextItem
from tools.stash import ContextStash


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def stash(clock: Clock, *, ttl_s: float = 300.0, max_entries: int = 16) -> ContextStash:
    return ContextStash(ttl_s=ttl_s, max_entries=max_entries, now=clock)


def test_an_item_comes_back_once() -> None:
    kept = stash(Clock())
    key = kept.put(ContextItem(text="a"))
    assert kept.take(key) == ContextItem(text="a")
    assert kept.take(key) is None
    assert kept.take("no such key") is None


@pytest.mark.covers("limit ENHANCED_CONTEXT_STASH_TTL_MS")
@pytest.mark.parametrize("ttl_s", [10.0, 300.0])
def test_an_item_is_gone_after_its_time(ttl_s: float) -> None:
    clock = Clock()
    kept = stash(clock, ttl_s=ttl_s)
    early, late = kept.put(ContextItem(text="a")), kept.put(ContextItem(text="b"))
    clock.now += ttl_s
    assert kept.take(early) is not None
    clock.now += 0.1
    assert kept.take(late) is None
    assert len(kept) == 0


@pytest.mark.covers("limit ENHANCED_CONTEXT_STASH_MAX_ENTRIES")
@pytest.mark.parametrize("most", [1, 3])
def test_the_oldest_goes_where_there_are_too_many(most: int) -> None:
    kept = stash(Clock(), max_entries=most)
    keys = [kept.put(ContextItem(text=str(n))) for n in range(most + 1)]
    assert len(kept) == most
    assert kept.take(keys[0]) is None
    assert all(kept.take(key) is not None for key in keys[1:])
