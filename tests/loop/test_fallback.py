"""The fallback chain: models, keys, what is taken back and what people hear."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pipeline.keys import FAILURE_REST_S, RATE_LIMIT_REST_S, KeyRest
from pipeline.messages import AssistantMessage
from pipeline.params import LoopLimits
from pipeline.records import AttemptEnded, AttemptStarted, Noticed
from pipeline.results import Failure, NoticeKind, Reason, TurnStatus
from pipeline.standing import may_be_stopped
from tests.support.provider_server import Pass, Raw, refusal
from tests.support.scripts import NOW
from tests.support.wire_turn import LIMITS, WireTurn, wire_turn

TWO = ("openai_compat", "anthropic")


def attempts(turn: WireTurn) -> list[tuple[str, int]]:
    return [(r.provider, r.key) for r in turn.records if isinstance(r, AttemptStarted)]


@pytest.mark.covers("embed fallback")
async def test_the_next_model_answers_when_the_first_cannot_and_people_hear_who_did() -> None:
    async with wire_turn(*TWO) as turn:
        turn.server.script([refusal(500, "overloaded")])
        turn.servers[1].script([Pass(text=["Here."])])
        result = await turn.run()
        assert (result.status, result.reason, result.text) == (TurnStatus.COMPLETED, Reason.END, "Here.")
        assert turn.notices == [NoticeKind.FALLBACK]
        detail = next(r.detail for r in turn.records if isinstance(r, Noticed))
        assert detail.splitlines()[0] == "p1/m1"
        assert "p0/m0" in detail and "overloaded" in detail


async def test_the_error_of_an_attempt_is_not_shown_while_a_fallback_is_pending() -> None:
    async with wire_turn(*TWO) as turn:
        turn.server.script([refusal(503)])
        turn.servers[1].script([refusal(503)])
        result = await turn.run()
        assert result.reason is Reason.PROVIDER
        assert turn.notices == [NoticeKind.PROVIDER_ERROR]


async def test_a_fallback_model_continues_with_what_the_tools_have_done_and_runs_nothing_twice() -> None:
    async with wire_turn(*TWO) as turn:
        turn.server.script([Pass(text=["Let me see."], calls=[("echo", '{"text": "a"}')]), refusal(500)])
        turn.servers[1].script([Pass(text=["It is a."])])
        result = await turn.run()
        assert turn.bench.runs == [("echo", "a")]
        assert result.text == "Let me see.\n\nIt is a."
        (asked,) = turn.asked(1)
        assert asked.results == ["echo: a"]
        assert asked.calls == asked.answered


async def test_the_text_of_a_failed_pass_is_taken_back_and_that_of_finished_passes_stays() -> None:
    async with wire_turn(*TWO) as turn:
        turn.server.script(
            [Pass(text=["First. "], calls=[("echo", "{}")]), Pass(text=["Half an ans"], cut=True, hang_up=True)]
        )
        turn.servers[1].script([Pass(text=["The whole answer."])])
        result = await turn.run()
        assert result.text == "First.\n\nThe whole answer."
        said = [message.text for message in await turn.transcript() if isinstance(message, AssistantMessage)]
        assert said == ["First. ", "The whole answer."]
        assert "Half" not in str(turn.wire(0, server=1))


async def test_what_the_last_attempt_showed_stays_when_nobody_can_answer() -> None:
    async with wire_turn(*TWO) as turn:
        turn.server.script([Pass(text=["one"], cut=True, hang_up=True)])
        turn.servers[1].script([Pass(text=["two"], cut=True, hang_up=True)])
        assert (await turn.run()).text == "two"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (replace(LIMITS, max_iterations=2), Reason.ITERATION_LIMIT),
        (replace(LIMITS, max_consecutive_tool_errors=2), Reason.TOOL_ERRORS),
    ],
)
async def test_a_turn_that_ended_by_its_own_limits_is_never_tried_on_another_model(
    limits: LoopLimits, reason: Reason
) -> None:
    async with wire_turn(*TWO, limits=limits) as turn:
        turn.server.script([Pass(calls=[("fail", f'{{"text": "{n}"}}')]) for n in range(3)])
        assert (await turn.run()).reason is reason
        assert turn.servers[1].requests == []


async def test_a_refusal_of_the_model_is_an_answer_and_goes_to_no_other_model() -> None:
    async with wire_turn(*TWO) as turn:
        turn.server.script([Pass(text=["I will not."], finish="content_filter")])
        assert (await turn.run()).reason is Reason.REFUSED
        assert turn.servers[1].requests == []


async def test_a_silent_model_is_followed_by_the_next() -> None:
    async with wire_turn(*TWO, limits=replace(LIMITS, first_token_timeout_s=0.05)) as turn:
        turn.server.script([Raw(frames=[asyncio.Event()])])
        turn.servers[1].script([Pass(text=["in time"])])
        result = await turn.run()
        assert result.text == "in time"
        ends = [(r.status, r.reason) for r in turn.records if isinstance(r, AttemptEnded)]
        assert ends == [(TurnStatus.TIMEOUT, Reason.FIRST_TOKEN), (TurnStatus.COMPLETED, Reason.END)]


async def test_a_rate_limited_key_is_followed_by_the_next_key_of_the_same_model_without_a_notice() -> None:
    async with wire_turn(keys=[3]) as turn:
        turn.server.script([refusal(429), refusal(401), Pass(text=["Here."])])
        assert (await turn.run()).text == "Here."
        sent = [headers["authorization"] for headers in turn.server.headers]
        assert sent == ["Bearer key-0-0", "Bearer key-0-1", "Bearer key-0-2"]
        assert attempts(turn) == [("p0", 0), ("p0", 1), ("p0", 2)]
        assert turn.notices == []


async def test_a_key_that_failed_rests_and_a_later_turn_begins_with_another() -> None:
    async with wire_turn(keys=[2]) as turn:
        turn.server.script([refusal(429), Pass(text=["one"])])
        await turn.run()
        turn.turn, turn._log = "2", None
        turn.server.script([Pass(text=["two"])])
        await turn.run()
        assert turn.server.headers[-1]["authorization"] == "Bearer key-0-1"
        turn.offset = RATE_LIMIT_REST_S + 1
        turn.turn, turn._log = "3", None
        turn.server.script([Pass(text=["three"])])
        await turn.run()
        assert turn.server.headers[-1]["authorization"] == "Bearer key-0-0"


async def test_a_request_that_the_model_will_never_take_goes_to_another_model_not_to_another_key() -> None:
    async with wire_turn(*TWO, keys=[2], chain=[0, 0, 1]) as turn:
        turn.server.script([refusal(400, "context too long")])
        turn.servers[1].script([Pass(text=["Here."])])
        assert (await turn.run()).text == "Here."
        assert len(turn.server.requests) == 1


async def test_a_model_that_is_named_twice_is_asked_twice() -> None:
    async with wire_turn(chain=[0, 0]) as turn:
        turn.server.script([refusal(500), Pass(text=["at last"])])
        assert (await turn.run()).text == "at last"
        assert turn.notices == []


async def test_a_stop_during_an_attempt_ends_the_turn_and_asks_nobody_else() -> None:
    async with wire_turn(*TWO) as turn:
        gate = asyncio.Event()
        turn.server.script([Pass(text=["Be", gate, "gin"])])
        running = asyncio.create_task(turn.run())
        await turn.server.arrived(1)
        await turn.request_stop()
        result = await running
        assert result.status is TurnStatus.STOPPED_BY_USER
        assert turn.servers[1].requests == []
        assert NoticeKind.FALLBACK not in turn.notices


async def test_a_stop_between_two_attempts_ends_the_turn_as_stopped() -> None:
    async with wire_turn(*TWO) as turn:
        turn.server.script([Pass(text=["half"], cut=True, hang_up=True)])
        sink: Any = turn.sink
        log, settle = await turn.log(), sink.settle

        async def stop_then_settle(name: str) -> None:
            if turn.state.stop is None:
                assert may_be_stopped(turn.state)
                await turn.request_stop()
            await settle(name)

        sink.settle = stop_then_settle
        result = await turn.run()
        assert (result.status, result.text) == (TurnStatus.STOPPED_BY_USER, "")
        assert log.state.ended and turn.servers[1].requests == []


async def test_an_error_that_was_kept_from_people_is_told_when_no_attempt_follows_after_all() -> None:
    async with wire_turn(keys=[2]) as turn:
        turn.server.script([refusal(500, "overloaded")])
        sink: Any = turn.sink
        settle = sink.settle

        async def rest_then_settle(name: str) -> None:
            turn.keys.failed("p0", 1, Failure.RATE_LIMITED)
            await settle(name)

        sink.settle = rest_then_settle
        result = await turn.run()
        assert result.reason is Reason.PROVIDER
        assert turn.notices == [NoticeKind.PROVIDER_ERROR]


@pytest.mark.covers("status skipped/unreachable")
async def test_a_channel_that_is_gone_ends_the_chain_and_the_turn_is_skipped() -> None:
    async with wire_turn(*TWO) as turn:
        await turn.request_stop(Reason.UNDELIVERABLE)
        result = await turn.run()
        assert (result.status, result.reason) == (TurnStatus.SKIPPED, Reason.UNREACHABLE)
        assert turn.server.requests == turn.servers[1].requests == []


async def test_a_turn_taken_up_after_a_crash_goes_on_with_the_attempt_it_had_begun() -> None:
    async with wire_turn(*TWO) as turn:
        turn.server.script([refusal(500)])
        gate = asyncio.Event()
        turn.servers[1].script([Pass(text=["ha", gate]), Pass(text=["whole"])])
        running = asyncio.create_task(turn.run())
        await turn.servers[1].arrived(1)
        running.cancel()
        await asyncio.wait({running})
        result = await turn.again()
        assert result.text == "whole"
        assert attempts(turn) == [("p0", 0), ("p1", 0)]
        assert len(turn.server.requests) == 1


@pytest.mark.parametrize(
    ("failure", "rest_s"),
    [
        (Failure.RATE_LIMITED, RATE_LIMIT_REST_S),
        (Failure.KEY, FAILURE_REST_S),
        (Failure.TRANSIENT, FAILURE_REST_S),
        (Failure.REQUEST, 0.0),
    ],
)
def test_how_long_a_key_rests_depends_on_its_failure(failure: Failure, rest_s: float) -> None:
    clock = [NOW]
    keys = KeyRest(now=lambda: clock[0])
    keys.failed("p", 0, failure)
    assert keys.order("p", 2) == ((1, 0) if rest_s else (0, 1))
    clock[0] += rest_s
    assert keys.order("p", 2) == (0, 1)


def test_a_key_that_worked_does_not_rest_any_more_and_tired_keys_are_better_than_none() -> None:
    keys = KeyRest(now=lambda: NOW)
    keys.failed("p", 0, Failure.KEY)
    keys.failed("p", 1, Failure.RATE_LIMITED)
    assert keys.order("p", 2) == (1, 0)
    keys.succeeded("p", 0)
    assert keys.order("p", 2) == (0, 1)
