"""Which tools stay on offer in which channel, in a real file."""

from __future__ import annotations

from pipeline.stores.engine import open_store
from pipeline.stores.store import Store
from tests.pipeline.stores.samples import RawSql
from tests.support.scripts import NOW


async def test_a_kept_tool_is_on_offer_for_that_many_turns(store: Store) -> None:
    await store.affordances.keep("10", "1", ["now", "echo"], 2)
    assert [await store.affordances.take("10", turn) for turn in "234"] == [["echo", "now"], ["echo", "now"], []]


async def test_the_same_turn_gets_the_same_however_often_it_asks(store: Store) -> None:
    await store.affordances.keep("10", "1", ["now"], 1)
    assert [await store.affordances.take("10", "2") for _ in range(4)] == [["now"]] * 4
    assert await store.affordances.take("10", "3") == []


async def test_a_tool_that_is_used_again_stays_as_long_as_one_used_for_the_first_time(store: Store) -> None:
    await store.affordances.keep("10", "1", ["now"], 2)
    await store.affordances.take("10", "2")
    for _ in range(2):  # the end of a turn may come twice
        await store.affordances.keep("10", "2", ["now"], 2)
    assert [await store.affordances.take("10", turn) for turn in "345"] == [["now"], ["now"], []]


async def test_channels_do_not_share(store: Store) -> None:
    await store.affordances.keep("10", "1", ["now"], 1)
    assert await store.affordances.take("11", "2") == []
    assert await store.affordances.take("10", "3") == ["now"]


async def test_what_is_used_up_leaves_no_row(store: Store, raw_sql: RawSql) -> None:
    await store.affordances.keep("10", "1", ["now"], 1)
    await store.affordances.take("10", "2")
    await store.affordances.take("10", "3")
    assert raw_sql("SELECT * FROM affordances") == []


async def test_a_restart_changes_nothing(url: str) -> None:
    async with open_store(url, clock=lambda: NOW) as store:
        await store.affordances.keep("10", "1", ["now"], 2)
        assert await store.affordances.take("10", "2") == ["now"]
    async with open_store(url, clock=lambda: NOW) as store:
        assert await store.affordances.take("10", "2") == ["now"]
        assert [await store.affordances.take("10", turn) for turn in "34"] == [["now"], []]
