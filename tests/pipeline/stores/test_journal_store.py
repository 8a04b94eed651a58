"""Records by turn: all or none, once each, with what is derived from them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from pipeline.errors import Conflict, StoreError
from pipeline.events import NullSink
from pipeline.journal import OpenTurn, PendingApproval, Place
from pipeline.messages import Image
from pipeline.stores.engine import open_store
from pipeline.stores.store import Store
from pipeline.turn_log import TurnLog
from tests.pipeline.stores.samples import ENDED, RawSql, asked, decided, output, records_of, said
from tests.support.scripts import NOW, started


async def test_records_come_back_in_order_with_their_numbers(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    await store.journal.append("1", 1, [said(0), said(1)])
    await store.journal.append("1", 3, [said(2)])
    assert await store.journal.load("1") == [(1, started()), (2, said(0)), (3, said(1)), (4, said(2))]


async def test_an_unknown_turn_has_no_records(store: Store) -> None:
    assert await store.journal.load("nobody") == []


async def test_a_message_is_taken_once(store: Store) -> None:
    assert await store.journal.create(started(), images=(), queued=False)
    assert not await store.journal.create(started(text="again"), images=(), queued=True)
    assert await records_of(store.journal, "1") == [started()]


async def test_a_taken_number_is_a_conflict_and_nothing_of_the_batch_is_kept(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    await store.journal.append("1", 1, [said(0)])
    with pytest.raises(Conflict):
        await store.journal.append("1", 0, [said(5), said(6), said(7)])
    assert await records_of(store.journal, "1") == [started(), said(0)]


async def test_of_many_writers_at_one_number_one_wins(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    writes = [store.journal.append("1", 1, [said(n)]) for n in range(8)]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if outcome is not None] == [Conflict] * 7
    assert len(await store.journal.load("1")) == 2


async def test_an_append_to_an_unknown_turn_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="turn 404"):
        await store.journal.append("404", 1, [said(0)])


async def test_records_survive_a_restart(url: str) -> None:
    async with open_store(url, clock=lambda: NOW) as store:
        await store.journal.create(started(), images=(), queued=False)
        await store.journal.append("1", 1, [said(0)])
    async with open_store(url, clock=lambda: NOW) as store:
        assert await records_of(store.journal, "1") == [started(), said(0)]


async def test_a_kind_from_a_newer_version_is_left_out(store: Store, raw_sql: RawSql) -> None:
    await store.journal.create(started(), images=(), queued=False)
    raw_sql("INSERT INTO records VALUES ('1', 2, '{\"kind\": \"from_the_future\"}', 0)")
    await store.journal.append("1", 2, [said(0)])
    assert await store.journal.load("1") == [(1, started()), (2, None), (3, said(0))]


async def test_a_turn_that_ends_with_a_kind_from_a_newer_version_can_go_on(store: Store, raw_sql: RawSql) -> None:
    await store.journal.create(started(), images=(), queued=False)
    raw_sql("INSERT INTO records VALUES ('1', 2, '{\"kind\": \"from_the_future\"}', 0)")
    log = await TurnLog.load(store.journal, NullSink(), "1")
    assert await log.commit(said(0))
    assert await store.journal.load("1") == [(1, started()), (2, None), (3, said(0))]


async def test_a_channel_has_one_active_turn(store: Store) -> None:
    await store.journal.create(started("1"), images=(), queued=False)
    with pytest.raises(Conflict):
        await store.journal.create(started("2"), images=(), queued=False)
    assert await store.journal.create(started("3"), images=(), queued=True)
    assert await store.journal.create(started("4", channel="11"), images=(), queued=False)


async def test_a_parked_turn_holds_its_channel(store: Store) -> None:
    await store.journal.create(started("1"), images=(), queued=False)
    await store.journal.create(started("2"), images=(), queued=True)
    assert await store.journal.place("1", Place.PARKED)
    assert not await store.journal.place("2", Place.ACTIVE)
    await store.journal.append("1", 1, [ENDED], output())
    assert await store.journal.place("2", Place.ACTIVE)


async def test_an_ended_turn_stays_where_it_is(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    await store.journal.append("1", 1, [ENDED])
    assert not await store.journal.place("1", Place.ACTIVE)
    assert await store.journal.open_turns() == []


async def test_open_turns_are_listed_oldest_first(store: Store) -> None:
    for turn, at in (("10", NOW), ("9", NOW), ("5", NOW + 1)):
        await store.journal.create(replace(started(turn, channel=turn), at=at), images=(), queued=turn == "5")
    turns = await store.journal.open_turns()
    assert [turn.turn for turn in turns] == ["9", "10", "5"]
    assert turns[2] == OpenTurn(turn="5", channel="5", guild="1", user="100", place=Place.QUEUED, created_at=NOW + 1)


async def test_an_open_turn_keeps_how_many_follow_ups_it_makes(store: Store) -> None:
    await store.journal.create(replace(started(), follow_ups=2), images=(), queued=True)
    assert [turn.follow_ups for turn in await store.journal.open_turns()] == [2]


async def test_questions_are_pending_until_they_are_decided(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    await store.journal.append("1", 1, [asked("late", NOW + 9), asked("soon", NOW + 5)])
    soon = PendingApproval(approval="soon", turn="1", channel="10", expires=NOW + 5)
    assert [pending.approval for pending in await store.journal.pending_approvals()] == ["soon", "late"]
    await store.journal.append("1", 3, [decided("late")])
    assert await store.journal.pending_approvals("10") == [soon]
    assert await store.journal.pending_approvals("11") == []
    assert await store.journal.turn_of_approval("late") == "1"
    assert await store.journal.turn_of_approval("forged") is None


async def test_a_question_is_decided_once(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    await store.journal.append("1", 1, [asked("a"), decided("a", by="7")])
    with pytest.raises(Conflict):
        await store.journal.append("1", 3, [decided("a", by="8")])
    assert await records_of(store.journal, "1") == [started(), asked("a"), decided("a", by="7")]


async def test_a_question_of_an_ended_turn_waits_for_nobody(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    await store.journal.append("1", 1, [asked("a"), ENDED])
    assert await store.journal.pending_approvals() == []


async def test_pictures_are_kept_under_their_ids(store: Store) -> None:
    cat, dog = Image(media_type="image/png", data="Y2F0"), Image(media_type="image/png", data="ZG9n")
    await store.journal.create(replace(started(), images=("c", "d")), images=(cat, dog), queued=False)
    await store.journal.create(replace(started("2"), images=("d",)), images=(dog,), queued=True)
    assert await store.journal.images(("d", "gone", "c")) == [dog, cat]
    assert await store.journal.images(()) == []
