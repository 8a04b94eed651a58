"""A person writes on while their turn runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pipeline.events import Standing
from pipeline.follow_ups import MAX_JOINED_CHARS
from pipeline.journal import TurnOutput
from pipeline.messages import AssistantMessage, UserMessage
from pipeline.records import LoopRecord, PassFinished, StopRequested, ToolFinished, Verdict
from pipeline.results import Outcome, Reason, StreamStatus, TurnStatus
from pipeline.runtime import RuntimeLimits, Submission
from tests.support.memory_journal import MemoryJournal
from tests.support.scripts import Say, script
from tests.support.talk import ALICE, Talk, hangs

DONE = Say(text=["Done."])


@pytest.mark.covers("status follow_up_interrupt/follow_up", "pass follow_up_interrupt")
async def test_a_follow_up_interrupts_the_answer_and_what_was_seen_of_it_stays() -> None:
    talk = Talk(model=script(hangs(), DONE))
    await talk.say("1", "one")
    await talk.until_spoken()
    assert await talk.say("2", "two") is Submission.QUEUED
    await talk.ended("1", "2")
    assert talk.ending("1") == (TurnStatus.FOLLOW_UP_INTERRUPT, Reason.FOLLOW_UP)
    (cut,) = talk.sink.of("1", "pass_finished")
    assert isinstance(cut, PassFinished)
    assert (cut.status, cut.text) == (StreamStatus.FOLLOW_UP_INTERRUPT, "hm")
    assert talk.began("2").follow_ups == 1
    shown = [m.text for m in talk.model.requests[1].messages if isinstance(m, UserMessage | AssistantMessage)]
    assert shown == ["alice: one", "hm", "(The person wrote on before this answer was complete.)", "alice: two"]


async def test_a_follow_up_goes_before_what_others_wrote() -> None:
    talk = Talk(model=script(hangs(), DONE))
    await talk.say("1")
    await talk.until_spoken()
    await talk.say("2", user="200")
    await talk.say("3")
    await talk.ended("1", "2", "3")
    assert talk.order() == ["1", "3", "2"]


async def test_a_message_of_somebody_else_interrupts_nothing() -> None:
    talk = Talk(model=script(hangs()))
    await talk.say("1")
    await talk.until_spoken()
    await talk.say("2", user="200")
    assert talk.sink.of("1", "stop_requested") == []
    assert talk.began("2").follow_ups == 0


async def test_a_message_that_was_interrupted_before_any_answer_counts_as_used() -> None:
    talk = Talk(model=script(Say(hang=asyncio.Event()), DONE))
    await talk.say("1")
    await talk.until("1", "attempt_started")
    await talk.say("2")
    await talk.ended("1", "2")
    assert talk.standings == [("2", Standing.WAITING), ("1", Standing.USED)]


@pytest.mark.covers("limit MAX_FOLLOW_UP_INTERRUPTS")
@pytest.mark.parametrize("most", [0, 1, 2])
async def test_only_so_many_follow_ups_in_a_row_go_before_the_others(most: int) -> None:
    talk = Talk(model=script(hangs()), limits=RuntimeLimits(max_follow_up_interrupts=most))
    await talk.say("1")
    await talk.until_spoken()
    for turn in range(2, most + 2):
        await talk.say(str(turn))
        await talk.until(str(turn), "attempt_started")
        await talk.until_spoken()
    await talk.say("8", user="200")
    await talk.say("9")
    assert talk.waiting == ["8", "9"]
    assert talk.sink.of(str(most + 1), "stop_requested") == []
    assert talk.began("9").follow_ups == 0


async def test_a_follow_up_waits_while_a_tool_runs() -> None:
    talk = Talk(model=script(Say(calls=[("hang", "{}")]), DONE))
    await talk.say("1")
    await talk.bench.started.wait()
    await talk.say("2", user="200")
    await talk.say("3")
    assert talk.waiting == ["3", "2"]
    assert talk.sink.of("1", "stop_requested") == []
    talk.bench.gate.set()
    await talk.ended("1", "2", "3")
    assert talk.ending("1")[0] is TurnStatus.COMPLETED
    assert talk.order() == ["1", "3", "2"]


async def test_a_chain_of_tools_ends_with_the_first_text_after_it() -> None:
    silent = asyncio.Event()
    talk = Talk(model=script(Say(calls=[("echo", "{}")]), Say(text=[" "], hang=silent), DONE))
    await talk.say("1")
    await talk.until("1", "tool_finished")
    await talk.until_spoken()  # a blank is no text
    await talk.say("2")
    assert talk.sink.of("1", "stop_requested") == []

    talk = Talk(model=script(Say(calls=[("echo", "{}")]), hangs(), DONE))
    await talk.say("1")
    await talk.until("1", "tool_finished")
    await talk.until_spoken()
    await talk.say("2")
    await talk.ended("1", "2")
    assert talk.ending("1") == (TurnStatus.FOLLOW_UP_INTERRUPT, Reason.FOLLOW_UP)
    assert talk.bench.runs == [("echo", "")]


async def test_calls_that_arrive_just_after_a_follow_up_get_a_result_and_do_not_run() -> None:
    go_on, written, append = asyncio.Event(), asyncio.Event(), MemoryJournal.append
    talk = Talk(model=script(Say(text=["I look."], calls=[("echo", "{}")], hang=go_on), DONE))

    async def slow(turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None) -> None:
        if isinstance(records[0], StopRequested):
            go_on.set()
            await written.wait()
        await append(talk.journal, turn, after_seq, records, output)

    talk.journal.append = slow  # type: ignore[method-assign]
    await talk.say("1")
    await talk.until_spoken()
    saying = asyncio.create_task(talk.say("2"))
    while not talk.model.closed:
        await asyncio.sleep(0)
    written.set()
    await saying
    await talk.ended("1", "2")
    assert talk.ending("1") == (TurnStatus.FOLLOW_UP_INTERRUPT, Reason.FOLLOW_UP)
    assert talk.bench.runs == []
    (result,) = [r for r in talk.journal.records["1"] if isinstance(r, ToolFinished)]
    assert (result.outcome, "wrote on" in result.content) == (Outcome.NOT_RUN, True)


async def test_a_follow_up_to_a_turn_that_waits_for_a_person_goes_to_the_front_and_closes_no_card() -> None:
    talk = Talk(model=script(Say(calls=[("write", '{"text": "x"}')]), DONE))
    await talk.say("1")
    await talk.until("1", "approval_asked")
    await talk.say("2", user="200")
    await talk.say("3")
    assert talk.waiting == ["3", "2"]
    await talk.answer("1", Verdict.APPROVE)
    await talk.ended("1", "2", "3")
    assert talk.bench.runs == [("write", "x")]
    assert talk.order() == ["1", "3", "2"]


async def test_a_newer_follow_up_takes_in_the_one_that_still_waits() -> None:
    talk = Talk(model=script(Say(calls=[("hang", "{}")]), DONE))
    await talk.say("1")
    await talk.bench.started.wait()
    for turn, text in (("2", "first this"), ("3", "then that"), ("4", "and more")):
        await talk.say(turn, text)
    assert talk.waiting == ["4"]
    assert talk.ending("2") == talk.ending("3") == (TurnStatus.STOPPED_BY_USER, Reason.DROPPED)
    assert [turn for turn, standing in talk.standings if standing is Standing.USED] == ["2", "3"]
    assert {"2", "3"}.isdisjoint(talk.journal.outputs)
    talk.bench.gate.set()
    await talk.ended("1", "4")
    asked = [m.text for m in talk.model.requests[-1].messages if isinstance(m, UserMessage)]
    assert asked == ["alice: hello", "alice: first this\nthen that\nand more"]


async def test_follow_ups_that_are_too_long_together_are_answered_one_after_the_other() -> None:
    talk = Talk(model=script(Say(calls=[("hang", "{}")]), DONE))
    await talk.say("1")
    await talk.bench.started.wait()
    await talk.say("2", "a" * MAX_JOINED_CHARS)
    await talk.say("3", "b")
    assert talk.waiting == ["2", "3"]


@pytest.mark.covers("status stopped_by_user/dropped")
async def test_a_stop_drops_what_its_person_wrote_on_and_nobody_elses() -> None:
    talk = Talk(model=script(Say(calls=[("hang", "{}")]), DONE))
    await talk.say("1")
    await talk.bench.started.wait()
    await talk.say("2", "first")
    await talk.say("3", "second")
    await talk.say("4", user="200")
    await talk.runtime.stop("10", by=ALICE, name="alice")
    await talk.ended("1", "4")
    assert talk.order() == ["1", "4"]
    assert talk.ending("3") == (TurnStatus.STOPPED_BY_USER, Reason.DROPPED)
    assert talk.standings[-2:] == [("3", Standing.DROPPED), ("2", Standing.DROPPED)]
    assert "3" not in talk.journal.outputs


async def test_a_stop_outdoes_a_follow_up_that_came_before_it() -> None:
    talk = Talk(model=script(hangs(), DONE))
    await talk.say("1")
    await talk.until_spoken()
    hold = _hold_endings(talk, "1")
    await talk.say("2")
    assert await talk.runtime.stop("10", by="7", name="olga")
    hold.set()
    await talk.ended("1")
    assert talk.ending("1") == (TurnStatus.STOPPED_BY_USER, Reason.PERSON)
    await talk.until("1", "turn_ended")
    while talk.runtime.is_open("2"):
        await asyncio.sleep(0)
    assert talk.ending("2") == (TurnStatus.STOPPED_BY_USER, Reason.DROPPED)
    assert talk.order() == ["1"]


async def test_a_follow_up_does_not_weaken_a_stop_and_begins_afresh_behind_it() -> None:
    talk = Talk(model=script(hangs(), DONE))
    await talk.say("1")
    await talk.until_spoken()
    hold = _hold_endings(talk, "1")
    assert await talk.runtime.stop("10", by=ALICE, name="alice", reason=Reason.PHRASE)
    await talk.say("2")
    hold.set()
    await talk.ended("1", "2")
    assert talk.ending("1") == (TurnStatus.STOPPED_BY_USER, Reason.PHRASE)
    assert talk.ending("2")[0] is TurnStatus.COMPLETED
    assert talk.began("2").follow_ups == 0


def _hold_endings(talk: Talk, of: str) -> asyncio.Event:
    """Whatever turn `of` commits beside a stop waits for the event."""
    go_on, append = asyncio.Event(), MemoryJournal.append

    async def held(turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None) -> None:
        if turn == of and not isinstance(records[0], StopRequested):
            await go_on.wait()
        await append(talk.journal, turn, after_seq, records, output)

    talk.journal.append = held  # type: ignore[method-assign]
    return go_on
