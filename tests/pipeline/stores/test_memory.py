"""What the bot notes about a channel, and reminders: kept over a restart, bounded, closed once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from alembic.script import ScriptDirectory

from pipeline.memory import MEMORY_TTL_S
from pipeline.reminders import MAX_OPEN_REMINDERS, Reminder, reminder_id
from pipeline.stores.engine import open_store
from pipeline.stores.store import Store
from pipeline.stores.upgrade import MIGRATIONS
from tests.pipeline.stores.samples import RawSql, exchange, finish_turn, output
from tests.support.scripts import NOW

WEEK_S = 7 * 24 * 3600


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(url: str, clock: Clock) -> AsyncIterator[Store]:
    async with open_store(url, clock=clock) as opened:
        yield opened


def reminder(number: int = 1, *, user: str = "100", due: float = NOW + 60) -> Reminder:
    return Reminder(
        reminder=f"r{number}", user=user, channel="10", guild="1", message="1", text=f"text {number}", due=due
    )


async def test_a_note_is_one_a_channel_and_the_newest_counts(store: Store) -> None:
    await store.memory.note("10", "first")
    await store.memory.note("10", "second\n🙂")
    await store.memory.note("11", "other")
    assert [await store.memory.recall(channel) for channel in ("10", "11", "12")] == ["second\n🙂", "other", ""]


async def test_a_note_is_there_after_a_restart(url: str) -> None:
    for _ in range(2):
        async with open_store(url, clock=lambda: NOW) as store:
            known = await store.memory.recall("10")
            await store.memory.note("10", "kept")
    assert known == "kept"


async def test_a_note_expires_after_seven_days_and_is_then_dropped(store: Store, clock: Clock, raw_sql: RawSql) -> None:
    await store.memory.note("10", "old")
    clock.now = NOW + MEMORY_TTL_S
    assert await store.memory.recall("10") == "old"
    clock.now += 1
    assert await store.memory.recall("10") == ""
    await store.memory.note("11", "new")
    assert raw_sql("SELECT channel FROM memories") == [("11",)]


async def test_an_empty_note_forgets(store: Store) -> None:
    await store.memory.note("10", "text")
    await store.memory.note("10", "")
    assert await store.memory.recall("10") == ""


async def test_clear_forgets_the_note_of_its_channel_only(store: Store) -> None:
    await finish_turn(store.journal, "1", output(*exchange("a")))
    await store.memory.note("10", "gone")
    await store.memory.note("11", "stays")
    assert await store.conversations.clear("10", NOW) == 1
    assert [await store.memory.recall(channel) for channel in ("10", "11")] == ["", "stays"]


async def test_reminders_come_back_equal_the_earliest_first(store: Store) -> None:
    late, early = reminder(1, due=NOW + 100), reminder(2, due=NOW + 50)
    other = reminder(3, user="200")
    for each in (late, early, other):
        assert await store.reminders.add(each)
    assert await store.reminders.open("100") == [early, late]
    assert await store.reminders.due(NOW + 60) == [early, other]
    assert await store.reminders.next_due(NOW) == NOW + 50
    assert await store.reminders.next_due(NOW + 50) == NOW + 60
    assert await store.reminders.next_due(NOW + 100) is None


async def test_a_reminder_that_is_known_stays_as_it_is_even_when_it_was_said(store: Store) -> None:
    assert await store.reminders.add(reminder())
    assert await store.reminders.add(reminder(due=NOW + 999))
    assert await store.reminders.open("100") == [reminder()]
    assert await store.reminders.close("r1")
    assert await store.reminders.add(reminder())
    assert await store.reminders.open("100") == []


async def test_a_person_has_at_most_twenty_waiting(store: Store) -> None:
    for number in range(MAX_OPEN_REMINDERS):
        assert await store.reminders.add(reminder(number))
    assert not await store.reminders.add(reminder(99))
    assert await store.reminders.add(reminder(0)), "a repeated call is no further reminder"
    assert await store.reminders.add(reminder(99, user="200"))
    assert await store.reminders.close("r0")
    assert await store.reminders.add(reminder(100))


async def test_a_reminder_is_closed_once(store: Store) -> None:
    await store.reminders.add(reminder())
    assert [await store.reminders.close("r1") for _ in range(2)] == [True, False]
    assert not await store.reminders.close("nobody")
    assert await store.reminders.due(NOW + 999) == []


async def test_the_first_try_is_what_is_remembered(store: Store) -> None:
    await store.reminders.add(reminder())
    await store.reminders.tried("r1", NOW + 60)
    await store.reminders.tried("r1", NOW + 90)
    assert await store.reminders.open("100") == [replace(reminder(), tried_at=NOW + 60)]


async def test_what_was_said_long_ago_is_dropped(store: Store, clock: Clock, raw_sql: RawSql) -> None:
    await store.reminders.add(reminder())
    await store.reminders.close("r1")
    clock.now = NOW + WEEK_S + 1
    await store.reminders.add(reminder(2, due=clock.now + 1))
    assert raw_sql("SELECT reminder FROM reminders") == [("r2",)]


def test_the_id_of_a_reminder_says_what_was_asked_for_and_where() -> None:
    known = {reminder_id("1", "a", "60"), reminder_id("2", "a", "60"), reminder_id("1", "b", "60")}
    assert len(known | {reminder_id("1", "a", "61")}) == 4
    assert reminder_id("1", "a", "60") in known
    assert all(len(each) <= 25 for each in known), "it is a nonce too"


def test_the_migrations_are_one_chain() -> None:
    assert len(ScriptDirectory(str(MIGRATIONS)).get_heads()) == 1
