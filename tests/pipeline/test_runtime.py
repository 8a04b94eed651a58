"""Channels: one turn at a time, a queue, stop, decisions, resume, drain."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.approvals import Accepted, Actor, AlreadyDecided, Answer, Expired, NotAllowed, UnknownApproval
from pipeline.params import LoopLimits
from pipeline.records import AttemptEnded, Verdict
from pipeline.results import Reason, TurnStatus
from pipeline.runtime import RuntimeLimits, Submission
from tests.support.runtimes import OWNER, RuntimeInMemory
from tests.support.scripts import Say, ScriptedModel, script, started

ASKS = (Say(text=["I will."], calls=[("write", '{"text": "x"}')]), Say(text=["Done."]))


def hanging() -> tuple[RuntimeInMemory, asyncio.Event]:
    gate = asyncio.Event()
    return RuntimeInMemory(model=script(Say(text=["hm"], hang=gate))), gate


def ending(bench: RuntimeInMemory, turn: str) -> tuple[TurnStatus, Reason]:
    (record,) = bench.sink.of(turn, "attempt_ended")
    assert isinstance(record, AttemptEnded)
    return record.status, record.reason


async def test_one_turn_of_a_channel_runs_at_a_time_and_the_others_follow_in_order() -> None:
    bench, gate = hanging()
    assert await bench.submit("1") is Submission.STARTED
    assert await bench.submit("2") is Submission.QUEUED
    assert await bench.submit("3") is Submission.QUEUED
    await bench.until("1", "attempt_started")
    assert bench.sink.of("2", "turn_started") == []
    gate.set()
    await bench.ended("1", "2", "3")
    order = [turn for turn, record in bench.sink.records if record.kind == "turn_ended"]
    assert order == ["1", "2", "3"]


async def test_two_channels_run_side_by_side() -> None:
    bench, gate = hanging()
    await bench.submit("1", channel="10")
    await bench.submit("2", channel="20")
    await bench.until("1", "attempt_started")
    await bench.until("2", "attempt_started")
    gate.set()
    await bench.ended("1", "2")


async def test_a_message_is_answered_once() -> None:
    bench, gate = hanging()
    await bench.submit("1")
    assert await bench.submit("1") is Submission.KNOWN
    gate.set()
    await bench.ended("1")
    assert await bench.submit("1") is Submission.KNOWN


@pytest.mark.covers("limit MAX_QUEUED_MESSAGES")
@pytest.mark.parametrize("most", [0, 2])
async def test_the_queue_of_a_channel_is_bounded(most: int) -> None:
    bench, gate = hanging()
    bench.limits = RuntimeLimits(max_queued_messages=most)
    bench.start()
    await bench.submit("0")
    outcomes = [await bench.submit(str(n)) for n in range(1, most + 2)]
    assert outcomes == [Submission.QUEUED] * most + [Submission.FULL]
    gate.set()
    await bench.ended("0")


@pytest.mark.covers("limit MAX_USER_ACTIVE_TURNS", "limit MAX_GUILD_ACTIVE_TURNS")
@pytest.mark.parametrize("limits", [RuntimeLimits(max_user_active_turns=1), RuntimeLimits(max_guild_active_turns=1)])
async def test_a_person_or_guild_with_enough_active_turns_waits_in_every_channel(limits: RuntimeLimits) -> None:
    bench, gate = hanging()
    bench.limits = limits
    bench.start()
    assert await bench.submit("1", channel="10", user="100") is Submission.STARTED
    assert await bench.submit("2", channel="20", user="100") is Submission.QUEUED
    gate.set()
    await bench.ended("1", "2")


async def test_a_parked_turn_holds_its_channel_but_does_not_count_as_active() -> None:
    bench = RuntimeInMemory(model=script(*ASKS), limits=RuntimeLimits(max_user_active_turns=1))
    await bench.submit("1", channel="10")
    await bench.until("1", "approval_asked")
    while not bench.runtime.is_busy("10") or bench.journal.turns["1"].place != "parked":
        await asyncio.sleep(0)
    assert await bench.submit("2", channel="10") is Submission.QUEUED
    assert await bench.submit("3", channel="20", user="100") is Submission.STARTED


async def test_a_stop_ends_the_turn_that_holds_the_channel_and_the_next_one_begins() -> None:
    bench, gate = hanging()
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    await bench.submit("2")
    assert await bench.runtime.stop("10", by="100", name="alice")
    await bench.ended("1")
    assert ending(bench, "1") == (TurnStatus.STOPPED_BY_USER, Reason.PERSON)
    gate.set()
    await bench.ended("2")
    assert not await bench.runtime.stop("10", by="100", name="alice")


async def test_a_stop_closes_a_parked_turn_and_its_question() -> None:
    bench = RuntimeInMemory(model=script(*ASKS))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    await bench.runtime.stop("10", by="100", name="alice")
    await bench.ended("1")
    assert await bench.answer("1", Verdict.APPROVE) == Expired()
    assert bench.bench.runs == []


async def test_an_approved_call_runs_and_the_turn_goes_on() -> None:
    bench = RuntimeInMemory(model=script(*ASKS))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    assert await bench.answer("1", Verdict.APPROVE) == Accepted(verdict=Verdict.APPROVE)
    await bench.ended("1")
    assert bench.bench.runs == [("write", "x")]


async def test_the_second_answer_hears_who_was_first() -> None:
    bench = RuntimeInMemory(model=script(*ASKS))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    second = Actor(user="8", name="bob", manage_guild=True)
    first, late = await asyncio.gather(bench.answer("1", Verdict.APPROVE), bench.answer("1", Verdict.DENY, second))
    assert first == Accepted(verdict=Verdict.APPROVE)
    assert late == AlreadyDecided(verdict=Verdict.APPROVE, name="olga")
    await bench.ended("1")
    assert await bench.answer("1", Verdict.DENY, second) == AlreadyDecided(verdict=Verdict.APPROVE, name="olga")
    assert bench.bench.runs == [("write", "x")]


@pytest.mark.parametrize(
    ("allowed", "actor", "may"),
    [
        ({"manage_guild"}, OWNER, True),
        ({"manage_guild"}, Actor(user="9", name="bob"), False),
        ({"9"}, Actor(user="9", name="bob"), True),
        ({"55"}, Actor(user="9", name="bob", roles=frozenset({"55"})), True),
        ({"55"}, Actor(user="9", name="bob", roles=frozenset({"56"})), False),
        ({"requester"}, Actor(user="100", name="alice"), True),
        ({"requester"}, OWNER, False),
        (set(), OWNER, False),
    ],
)
async def test_who_may_decide_is_what_the_operator_said_and_nobody_else(
    allowed: set[str], actor: Actor, may: bool
) -> None:
    bench = RuntimeInMemory(model=script(*ASKS), approvers=frozenset(allowed))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    result = await bench.answer("1", Verdict.APPROVE, actor)
    assert result == (Accepted(verdict=Verdict.APPROVE) if may else NotAllowed())


async def test_an_answer_after_the_expiry_decides_nothing_and_ends_the_turn() -> None:
    bench = RuntimeInMemory(model=script(*ASKS), loop_limits=LoopLimits(approval_timeout_s=60))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    bench.offset = 61
    assert await bench.answer("1", Verdict.APPROVE) == Expired()
    await bench.ended("1")
    assert ending(bench, "1") == (TurnStatus.DENIED, Reason.EXPIRED)
    assert bench.bench.runs == []


@pytest.mark.covers("limit APPROVAL_TIMEOUT_S")
@pytest.mark.parametrize("timeout_s", [0.01, 0.03])
async def test_a_question_expires_by_itself_after_the_approval_timeout(timeout_s: float) -> None:
    bench = RuntimeInMemory(model=script(*ASKS), loop_limits=LoopLimits(approval_timeout_s=timeout_s))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    bench.offset = timeout_s
    await bench.ended("1")
    assert ending(bench, "1") == (TurnStatus.DENIED, Reason.EXPIRED)


async def test_an_unknown_question_is_said_to_be_unknown() -> None:
    bench = RuntimeInMemory(model=script(*ASKS))
    result = await bench.runtime.decide("nope", Answer(verdict=Verdict.APPROVE), OWNER)
    assert result == UnknownApproval()


async def test_a_card_that_cannot_be_posted_is_told_to_the_model() -> None:
    bench = RuntimeInMemory(model=script(*ASKS))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    await bench.runtime.card_failed("1", bench.approval("1"), "it does not fit its card")
    await bench.ended("1")
    assert bench.bench.runs == []
    assert ending(bench, "1")[0] is TurnStatus.COMPLETED


async def test_a_drain_leaves_a_running_turn_open_and_the_next_start_finishes_it() -> None:
    bench, gate = hanging()
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    await bench.submit("2")
    await bench.runtime.drain(0)
    assert await bench.submit("3") is Submission.CLOSING
    gate.set()
    bench.start()
    assert await bench.runtime.resume() == 2
    await bench.ended("1", "2")
    assert len(bench.sink.of("1", "turn_resumed")) == 1
    assert ending(bench, "1")[0] is TurnStatus.COMPLETED


async def test_a_drain_lets_a_short_turn_finish() -> None:
    bench, gate = hanging()
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    gate.set()
    await bench.runtime.drain(10)
    assert ending(bench, "1")[0] is TurnStatus.COMPLETED


async def test_a_pending_question_can_be_answered_after_a_restart() -> None:
    bench = RuntimeInMemory(model=script(*ASKS))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    await bench.runtime.drain(0)
    bench.start()
    await bench.runtime.resume()
    assert await bench.answer("1", Verdict.APPROVE) == Accepted(verdict=Verdict.APPROVE)
    await bench.ended("1")
    assert bench.bench.runs == [("write", "x")]


@pytest.mark.covers("status error/interrupted", "embed interrupted", "limit RESUME_MAX_AGE_S")
@pytest.mark.parametrize(("max_age_s", "resumed"), [(10.0, False), (1000.0, True)])
async def test_a_turn_older_than_the_resume_age_ends_as_interrupted(max_age_s: float, resumed: bool) -> None:
    bench, gate = hanging()
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    await bench.runtime.drain(0)
    gate.set()
    bench.offset = 500
    bench.limits = RuntimeLimits(resume_max_age_s=max_age_s)
    bench.start()
    await bench.runtime.resume()
    await bench.ended("1")
    expected = (TurnStatus.COMPLETED, Reason.END) if resumed else (TurnStatus.ERROR, Reason.INTERRUPTED)
    assert ending(bench, "1") == expected


@pytest.mark.covers("status error/crash_loop")
async def test_a_turn_that_is_found_running_again_and_again_is_given_up() -> None:
    bench, _ = hanging()
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    for start in range(5):
        await bench.runtime.drain(0)
        bench.start()
        await bench.runtime.resume()
        await bench.until("1", "turn_resumed", start + 1)
    await bench.ended("1")
    assert ending(bench, "1") == (TurnStatus.ERROR, Reason.CRASH_LOOP)


@pytest.mark.covers("status error/undeliverable")
async def test_a_channel_that_is_gone_ends_its_turn_as_undeliverable() -> None:
    bench, _ = hanging()
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    await bench.runtime.undeliverable("1")
    await bench.ended("1")
    assert ending(bench, "1") == (TurnStatus.ERROR, Reason.UNDELIVERABLE)


async def test_an_error_inside_the_bot_ends_the_turn_with_a_sentence() -> None:
    def broken(_: int) -> Say:
        raise RuntimeError("bug")

    bench = RuntimeInMemory(model=ScriptedModel(passes=broken))
    await bench.submit("1")
    await bench.ended("1")
    assert ending(bench, "1") == (TurnStatus.ERROR, Reason.INTERRUPTED)


async def test_the_next_turn_is_shown_the_one_before() -> None:
    bench = RuntimeInMemory(model=script(Say(text=["one"]), Say(text=["two"])))
    await bench.submit("1")
    await bench.ended("1")
    await bench.submit("2")
    await bench.ended("2")
    shown = [getattr(message, "text", "") for message in bench.model.requests[1].messages]
    assert shown[1:] == ["alice: hello", "one", "alice: hello"]


@pytest.mark.covers("limit SHUTDOWN_GRACE_S")
@pytest.mark.parametrize(("grace_s", "finished"), [(0.0, 0), (10.0, 1)])
async def test_the_shutdown_grace_decides_whether_a_running_turn_may_finish(grace_s: float, finished: int) -> None:
    bench, gate = hanging()
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    asyncio.get_running_loop().call_later(0.05, gate.set)
    await bench.runtime.drain(grace_s)
    assert len(bench.sink.of("1", "turn_ended")) == finished


async def test_a_message_for_a_channel_that_another_process_holds_waits() -> None:
    bench, _ = hanging()
    await bench.journal.create(started("9"), images=(), queued=False)
    assert await bench.submit("1") is Submission.QUEUED
