"""Messages that wait: changed, taken back, taken up after a start; and no turn is cut by those that wait behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pipeline.errors import StoreError
from pipeline.events import Standing
from pipeline.journal import TurnOutput
from pipeline.messages import Image
from pipeline.params import LoopLimits
from pipeline.records import LoopRecord, TurnEnded, TurnStarted, Verdict
from pipeline.results import Reason, TurnStatus
from pipeline.runtime import RuntimeLimits, Submission
from tests.support.memory_journal import MemoryJournal
from tests.support.scripts import Say, script
from tests.support.talk import ALICE, Talk, hangs

DONE = Say(text=["Done."])
TOOL = Say(calls=[("hang", "{}")])


async def busy(*passes: Say) -> Talk:
    """Alice's turn 1 is in a tool, which goes on with `bench.gate`."""
    talk = Talk(model=script(TOOL, *passes or (DONE,)))
    await talk.say("1")
    await talk.bench.started.wait()
    return talk


async def start_again(talk: Talk) -> None:
    """A start of the program, which finds the tool interrupted and is told not to run it again."""
    await talk.runtime.drain(0)
    talk.start()
    await talk.runtime.resume()
    await talk.until("1", "approval_asked")
    await talk.answer("1", Verdict.SKIP)


def slow_to_write(talk: Talk) -> asyncio.Event:
    """New messages are written only after the event."""
    go_on, create = asyncio.Event(), talk.journal.create

    async def slow(started: TurnStarted, *, images: Sequence[Image], queued: bool) -> bool:
        await go_on.wait()
        return await create(started, images=images, queued=queued)

    talk.journal.create = slow  # type: ignore[method-assign]
    return go_on


async def test_an_edited_message_is_answered_as_it_reads_when_its_turn_begins() -> None:
    talk = await busy()
    await talk.say("2", "read it", user="200")
    assert await talk.runtime.edit("2", lambda _: "write it")
    talk.bench.gate.set()
    await talk.ended("1", "2")
    assert talk.asked()[-1] == "alice: write it"


async def test_an_edit_that_changes_nothing_writes_nothing() -> None:
    talk = await busy()
    await talk.say("2", "read it", user="200")
    assert not await talk.runtime.edit("2", lambda started: started.text)
    assert len(talk.journal.records["2"]) == 1


async def test_an_edit_of_a_follow_up_keeps_the_words_that_it_took_in() -> None:
    talk = await busy()
    await talk.say("2", "earlier")
    await talk.say("3", "latre")
    assert await talk.runtime.edit("3", lambda _: "later")
    await talk.say("4", "last")
    assert await talk.runtime.edit("4", lambda _: "last of all")
    talk.bench.gate.set()
    await talk.ended("1", "4")
    assert talk.asked()[-1] == "alice: earlier\nlater\nlast of all"


@pytest.mark.covers("status stopped_by_user/dropped")
async def test_a_deleted_message_is_never_answered_and_leaves_nothing() -> None:
    talk = await busy()
    await talk.say("2", user="200")
    assert await talk.runtime.drop("2")
    talk.bench.gate.set()
    await talk.ended("1")
    assert talk.ending("2") == (TurnStatus.STOPPED_BY_USER, Reason.DROPPED)
    assert set(talk.journal.outputs) == {"1"}
    assert talk.order() == ["1"]
    assert await talk.say("2", user="200") is Submission.KNOWN


async def test_an_edit_or_deletion_of_a_message_that_runs_or_has_ended_changes_nothing() -> None:
    talk = await busy()
    for _ in range(2):
        before = list(talk.journal.records["1"])
        assert not await talk.runtime.edit("1", lambda _: "something else")
        assert not await talk.runtime.drop("1")
        assert talk.journal.records["1"] == before
        talk.bench.gate.set()
        await talk.ended("1")
    assert not await talk.runtime.edit("404", lambda _: "unknown")
    assert not await talk.runtime.drop("404")


async def test_a_message_that_is_deleted_while_it_is_written_is_dropped() -> None:
    talk = await busy()
    go_on = slow_to_write(talk)
    saying = asyncio.create_task(talk.say("2", user="200"))
    await asyncio.sleep(0)
    dropping = asyncio.create_task(talk.runtime.drop("2"))
    await asyncio.sleep(0)
    go_on.set()
    assert await saying is Submission.QUEUED
    assert await dropping
    assert talk.waiting == []


async def test_an_edit_and_the_begin_of_the_turn_never_mix() -> None:
    talk = await busy()
    await talk.say("2", "old", user="200")
    talk.bench.gate.set()
    edited = False
    while not talk.sink.of("2", "attempt_started"):
        edited = await talk.runtime.edit("2", lambda started: f"{started.text}!") or edited
        await asyncio.sleep(0)
    await talk.ended("2")
    edits = [r for r in talk.journal.records["2"] if r.kind == "message_edited"]
    assert talk.asked()[-1] == f"alice: old{'!' * len(edits)}"


async def test_messages_that_wait_are_told_and_answered_in_order_after_a_start() -> None:
    talk = await busy()
    await talk.say("2", user="200")
    await talk.say("3")
    talk.standings.clear()
    await start_again(talk)
    assert {turn for turn, standing in talk.standings if standing is Standing.WAITING} == {"2", "3"}
    await talk.ended("1", "3", "2")
    assert [turn for turn in talk.order() if turn != "1"] == ["3", "2"]


async def test_words_that_were_taken_in_are_not_answered_twice_after_a_crash() -> None:
    talk = await busy()
    append = MemoryJournal.append

    async def full(turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None) -> None:
        if turn == "2" and isinstance(records[-1], TurnEnded):
            raise StoreError("the disk is full")
        await append(talk.journal, turn, after_seq, records, output)

    talk.journal.append = full  # type: ignore[method-assign]
    await talk.say("2", "first")
    assert await talk.say("3", "second") is Submission.QUEUED
    assert talk.waiting == ["3"]
    del talk.journal.append
    await start_again(talk)
    assert talk.waiting == ["3"]
    await talk.ended("1", "3")
    assert talk.asked()[-1] == "alice: first\nsecond"
    assert talk.ending("2") == (TurnStatus.STOPPED_BY_USER, Reason.DROPPED)


async def test_a_person_who_has_enough_active_turns_holds_up_nobody_else() -> None:
    talk = Talk(model=script(hangs()), limits=RuntimeLimits(max_user_active_turns=1))
    await talk.submit("1", channel="20", user="200")
    await talk.until("1", "attempt_started")
    await talk.say("2", user="300")
    await talk.say("3", user="200")
    await talk.say("4", user="400")
    await talk.runtime.stop("10", by="300", name="carol")
    await talk.until("4", "attempt_started")
    assert talk.waiting == ["3"]


async def test_a_long_turn_that_makes_progress_is_never_cut_by_messages_that_wait() -> None:
    passes = [Say(text=[f"{n} "], calls=[("echo", f'{{"text": "{n}"}}')]) for n in range(30)]
    talk = Talk(model=script(*passes, DONE), loop_limits=LoopLimits(max_iterations=100))
    await talk.say("1")
    for n in range(15):
        talk.offset += 600  # hours go by
        await talk.until("1", "pass_finished", 2 * n + 1)
        await talk.say(str(n + 2), user="200")
    await talk.ended("1")
    assert talk.ending("1") == (TurnStatus.COMPLETED, Reason.END)
    assert len(talk.sink.of("1", "pass_finished")) == 31


async def test_a_turn_that_hangs_is_ended_by_its_own_timeout_and_the_queue_goes_on() -> None:
    limits = LoopLimits(max_iterations=9, idle_timeout_s=0.02, settle_timeout_s=0.02)
    talk = Talk(model=script(hangs(), DONE), loop_limits=limits)
    await talk.say("1")
    await talk.until_spoken()
    await talk.say("2", user="200")
    await talk.ended("1", "2")
    assert talk.ending("1") == (TurnStatus.TIMEOUT, Reason.IDLE)
    assert talk.ending("2") == (TurnStatus.COMPLETED, Reason.END)
    assert talk.began("2").user != ALICE


async def test_a_turn_that_is_being_written_can_be_stopped() -> None:
    talk = Talk(model=script(hangs()))
    go_on = slow_to_write(talk)
    saying = asyncio.create_task(talk.say("1"))
    await asyncio.sleep(0)
    stopping = asyncio.create_task(talk.runtime.stop("10", by=ALICE, name="alice"))
    await asyncio.sleep(0)
    go_on.set()
    assert await saying is Submission.STARTED
    assert await stopping
    await talk.ended("1")
    assert talk.ending("1") == (TurnStatus.STOPPED_BY_USER, Reason.PERSON)
