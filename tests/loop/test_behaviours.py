"""What the loop does around tools: over the real wire, one test a behaviour."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from pipeline.messages import AssistantMessage
from pipeline.results import NoticeKind, Outcome, Reason, StreamStatus, TurnStatus
from tests.support.provider_server import Pass
from tests.support.wire_turn import LIMITS, WireTurn, wire_turn
from tools.base import Picture

ECHO = ("echo", '{"text": "hi"}')
PIXEL = Picture(media_type="image/png", data="aGk=")


def call(name: str, text: str = "x") -> tuple[str, str]:
    return name, json.dumps({"text": text})


def pre_tool_texts(turn: WireTurn) -> list[str]:
    return [entry.pre_tool_text for entry in turn.state.history]


async def test_the_first_request_has_no_history_and_the_second_shows_one_call_with_its_result() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(calls=[ECHO]), Pass(text=["done"])])
        result = await turn.run()
        first, second = turn.asked()
        assert (first.calls, first.all_results) == ([], [])
        assert second.all_results == ["echo: hi"]
        assert turn.bench.runs == [("echo", "hi")]
        assert result.statuses == (StreamStatus.FUNCTION_CALL, StreamStatus.COMPLETED)
        assert result.text == "done"


async def test_a_tool_that_delivered_and_ends_the_turn_completes_without_text() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(calls=[call("finish")])])
        result = await turn.run()
        assert (result.status, result.reason, result.text) == (TurnStatus.COMPLETED, Reason.END_TURN, "")
        assert result.tool_response_delivered


async def test_a_failure_is_told_to_the_model_and_not_to_people() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(calls=[call("fail", "find it")]), Pass(text=["I could not."])])
        result = await turn.run()
        assert turn.state.history[0].outcome is Outcome.ERROR
        assert "cannot find it" in turn.asked()[1].results[0]
        assert "cannot find it" not in result.text


@pytest.mark.parametrize("cap", [2, 5])
async def test_tools_that_always_fail_end_the_turn_after_exactly_the_cap(cap: int) -> None:
    async with wire_turn(limits=replace(LIMITS, max_consecutive_tool_errors=cap)) as turn:
        turn.server.respond(lambda body: Pass(calls=[call("fail", str(len(turn.server.requests)))]))
        result = await turn.run()
        assert result.reason is Reason.TOOL_ERRORS
        assert len(turn.bench.runs) == cap
        assert result.text == ""


async def test_tools_without_end_meet_the_ceiling_with_as_many_passes_as_calls() -> None:
    async with wire_turn(limits=replace(LIMITS, max_iterations=7)) as turn:
        turn.server.respond(lambda body: Pass(calls=[call("echo", str(len(turn.server.requests)))]))
        result = await turn.run()
        assert (result.status, result.reason) == (TurnStatus.TIMEOUT, Reason.ITERATION_LIMIT)
        assert len(turn.server.requests) == len(turn.bench.runs) == len(result.statuses) == 7
        assert turn.notices == [NoticeKind.ITERATION_LIMIT]


async def test_a_call_without_a_name_is_answered_and_dispatches_nothing() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(calls=[("", "{}")]), Pass(text=["sorry"])])
        result = await turn.run()
        assert turn.bench.runs == []
        assert turn.state.history[0].outcome is Outcome.ERROR
        assert result.status is TurnStatus.COMPLETED


async def test_pre_tool_text_goes_with_its_call_and_the_final_text_has_every_pass() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=["Let me check. "], calls=[ECHO]), Pass(text=["It says hi."])])
        result = await turn.run()
        assert pre_tool_texts(turn) == ["Let me check. "]
        assert turn.wire(1)[-2]["content"] == "Let me check. "
        assert result.text == "Let me check.\n\nIt says hi."


async def test_blank_text_before_a_call_is_no_pre_tool_text() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=["\n "], calls=[call("remember")]), Pass(text=["ok"])])
        result = await turn.run()
        assert result.text == "ok"
        assert len(turn.server.requests) == 2


async def test_each_call_of_a_chain_has_only_its_own_text() -> None:
    async with wire_turn() as turn:
        turn.server.script(
            [Pass(text=["One."], calls=[call("echo", "1")]), Pass(text=["Two."], calls=[call("echo", "2")]), Pass()]
        )
        await turn.run()
        assert pre_tool_texts(turn) == ["One.", "Two."]


@pytest.mark.covers("status completed/pretool_text")
async def test_a_silent_tool_behind_text_ends_the_turn_at_once() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=["Noted."], calls=[call("remember")])])
        result = await turn.run()
        assert (result.status, result.reason, result.text) == (TurnStatus.COMPLETED, Reason.PRETOOL_TEXT, "Noted.")
        assert len(turn.server.requests) == 1


async def test_a_silent_tool_without_text_goes_on_and_is_not_to_be_had_again() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(calls=[call("remember")]), Pass(calls=[call("remember", "y")]), Pass(text=["ok"])])
        assert (await turn.run()).text == "ok"
        assert turn.bench.runs == [("remember", "x")]


async def test_a_silent_tool_that_failed_behind_text_goes_on() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=["Noted."], calls=[("remember", '{"txt": 1}')]), Pass(text=["ok"])])
        assert (await turn.run()).text == "Noted.\n\nok"


@pytest.mark.parametrize(
    ("chosen", "sticker"), [(["5"], "5"), (["5", "6"], "6"), (["5", ""], ""), (["", "5"], "5"), ([""], "")]
)
async def test_the_last_choice_of_a_sticker_is_carried_and_a_failed_one_clears_it(
    chosen: list[str], sticker: str
) -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(calls=[call("sticker", one)]) for one in chosen] + [Pass(text=["ok"])])
        assert (await turn.run()).sticker == sticker


async def test_a_sticker_is_dropped_with_any_other_status() -> None:
    async with wire_turn(limits=replace(LIMITS, max_iterations=1)) as turn:
        turn.server.script([Pass(calls=[call("sticker", "5")])])
        result = await turn.run()
        assert (result.status, result.sticker) == (TurnStatus.TIMEOUT, "")


async def test_truncated_arguments_are_not_dispatched_and_the_model_hears_why() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(calls=[("echo", '{"text": "hel')], finish="length"), Pass(text=["again"])])
        await turn.run()
        assert turn.bench.runs == []
        assert "Nothing ran and nothing changed" in turn.results()[0]


async def test_truncated_calls_count_to_the_error_cap() -> None:
    async with wire_turn(limits=replace(LIMITS, max_consecutive_tool_errors=2)) as turn:
        turn.server.respond(lambda body: Pass(calls=[("echo", '{"text": "hel')], finish="length"))
        result = await turn.run()
        assert result.reason is Reason.TOOL_ERRORS
        assert len(turn.server.requests) == 2


async def test_a_plain_stop_before_a_tool_executes_nothing() -> None:
    async with wire_turn() as turn:
        gate = asyncio.Event()
        turn.server.script([Pass(text=["So.", gate], calls=[ECHO])])
        running = asyncio.create_task(turn.run())
        await turn.server.arrived(1)
        await turn.request_stop()
        result = await running
        gate.set()
        assert result.status is TurnStatus.STOPPED_BY_USER
        assert turn.bench.runs == []


@pytest.mark.covers("pass follow_up_interrupt")
async def test_a_follow_up_ends_the_pass_and_the_text_that_people_saw_stays() -> None:
    async with wire_turn() as turn:
        gate = asyncio.Event()
        turn.server.script([Pass(text=["I think ", gate])])
        running = asyncio.create_task(turn.run())
        await turn.server.arrived(1)
        while "I think " not in turn.streamed:
            await asyncio.sleep(0)
        await turn.request_stop(Reason.FOLLOW_UP)
        result = await running
        gate.set()
        assert (result.status, result.text) == (TurnStatus.FOLLOW_UP_INTERRUPT, "I think")
        assert result.statuses == (StreamStatus.FOLLOW_UP_INTERRUPT,)
        said = [message.text for message in await turn.transcript() if isinstance(message, AssistantMessage)]
        assert said[0] == "I think "


async def test_an_answer_cut_at_its_length_goes_on_at_most_twice_and_its_parts_join() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=[part], finish="length") for part in ("One, t", "wo, thr", "ee", "never")])
        result = await turn.run()
        assert (result.text, result.reason) == ("One, two, three", Reason.LENGTH)
        assert len(turn.server.requests) == 3
        assert turn.notices == [NoticeKind.CUT_AT_LENGTH]
        said = [message.text for message in await turn.transcript() if isinstance(message, AssistantMessage)]
        assert said == ["One, two, three"]


async def test_an_empty_answer_is_asked_for_again_at_most_twice() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(), Pass(text=[" \n"]), Pass(text=["at last"])])
        assert (await turn.run()).text == "at last"
    async with wire_turn() as turn:
        turn.server.script([Pass(), Pass(), Pass(), Pass(text=["too late"])])
        result = await turn.run()
        assert result.status is TurnStatus.EMPTY_RESPONSE
        assert len(turn.server.requests) == 3
        assert turn.notices == [NoticeKind.EMPTY_RESPONSE]


async def test_silence_after_a_tool_is_an_end_where_people_have_their_answer() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=["Posted it."], calls=[call("post")]), Pass()])
        result = await turn.run()
        assert (result.status, result.reason, result.text) == (TurnStatus.COMPLETED, Reason.END, "Posted it.")
        assert len(turn.server.requests) == 2


async def test_silence_after_a_tool_whose_result_has_to_be_told_is_asked_for_again() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=["Let me look."], calls=[ECHO]), Pass(), Pass(text=["It says hi."])])
        assert (await turn.run()).text == "Let me look.\n\nIt says hi."


async def test_the_thoughts_of_all_passes_are_in_the_log_with_their_model() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(thinking=["first"], calls=[ECHO]), Pass(thinking=["second"], text=["ok"])])
        log = (await turn.run()).thought_log
        assert log is not None
        assert (log.text, log.owner) == ("first\n\nsecond", "m0")


async def test_without_thoughts_there_is_no_thought_log() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=["ok"])])
        assert (await turn.run()).thought_log is None


async def test_a_failed_tool_that_says_it_delivered_has_not_delivered() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(calls=[call("fail")]), Pass(text=["ok"])])
        assert not (await turn.run()).tool_response_delivered


async def test_details_are_kept_and_not_shown() -> None:
    async with wire_turn() as turn:
        turn.with_traits(has_details=True)
        turn.server.script(
            [
                Pass(text=["Yes.<det", "ails><summary>Scene</summary>at sea</details>"], calls=[ECHO]),
                Pass(text=["Land!<details>on land"]),
            ]
        )
        result = await turn.run()
        assert turn.streamed == "Yes.Land!"
        assert result.text == "Yes.\n\nLand!\n\n[Scene Metadata]\nat sea\n\non land"
