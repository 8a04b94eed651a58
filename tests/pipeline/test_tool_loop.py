"""The loop's plain paths: answers, tool calls, errors, limits."""

from __future__ import annotations

import json

import pytest

from pipeline.errors import ProviderRejected
from pipeline.messages import AssistantMessage, ToolMessage, Usage
from pipeline.params import LoopLimits
from pipeline.policy import Policy, ToolPolicies
from pipeline.provider import Finish
from pipeline.records import Noticed, PassFinished, ToolStarted
from pipeline.results import NoticeKind, Outcome, Reason, StreamStatus, TurnStatus
from tests.support.scripts import Say, ScriptedModel, script
from tests.support.turns import TurnInMemory


def call(name: str, text: str = "") -> tuple[str, str]:
    return name, json.dumps({"text": text})


@pytest.mark.covers("status completed/end", "pass completed")
async def test_an_answer_without_calls_completes_the_turn() -> None:
    turn = TurnInMemory(model=script(Say(text=["Hel", "lo"], usage=Usage(input_tokens=3, output_tokens=2))))
    result = await turn.run()
    assert (result.status, result.reason, result.text) == (TurnStatus.COMPLETED, Reason.END, "Hello")
    assert result.usage[0].usage == Usage(input_tokens=3, output_tokens=2)
    assert turn.model.closed == 1


async def test_arguments_reach_the_tool_unchanged_and_the_second_request_shows_call_and_result() -> None:
    turn = TurnInMemory(model=script(Say(text=["Let me see."], calls=[call("echo", "ünï")]), Say(text=["Done."])))
    result = await turn.run()
    assert turn.bench.runs == [("echo", "ünï")]
    said, shown = turn.model.requests[1].messages[-2:]
    assert isinstance(said, AssistantMessage)
    assert isinstance(shown, ToolMessage)
    assert said.text == "Let me see."
    assert (shown.content, shown.call_id) == ("echo: ünï", said.calls[0].id)
    assert result.text == "Let me see.\n\nDone."
    assert result.history[0].pre_tool_text == "Let me see."


async def test_usage_is_summed_over_all_passes() -> None:
    spent = Usage(input_tokens=10, output_tokens=1)
    turn = TurnInMemory(model=script(Say(calls=[call("echo")], usage=spent), Say(text=["x"], usage=spent)))
    assert (await turn.run()).usage[0].usage == Usage(input_tokens=20, output_tokens=2)


@pytest.mark.covers("outcome ok")
async def test_several_calls_of_a_pass_run_in_order() -> None:
    turn = TurnInMemory(model=script(Say(calls=[call("echo", "a"), call("echo", "b")]), Say(text=["ok"])))
    await turn.run()
    assert turn.bench.runs == [("echo", "a"), ("echo", "b")]


@pytest.mark.parametrize("finish", list(Finish))
async def test_calls_run_whatever_the_finish_reason_says(finish: Finish) -> None:
    turn = TurnInMemory(model=script(Say(calls=[call("echo", "a")], finish=finish), Say(text=["ok"])))
    await turn.run()
    assert turn.bench.runs == [("echo", "a")]


@pytest.mark.parametrize("arguments", ["[]", '"x"', '{"text"', '{"text": 5}', '{"unknown": 1}'])
async def test_bad_arguments_are_an_error_result_and_the_tool_does_not_run(arguments: str) -> None:
    turn = TurnInMemory(model=script(Say(calls=[("echo", arguments)]), Say(text=["ok"])))
    result = await turn.run()
    assert turn.bench.runs == []
    assert result.status is TurnStatus.COMPLETED
    assert result.history[0].outcome is Outcome.ERROR
    assert not any(isinstance(record, ToolStarted) for record in turn.records)


@pytest.mark.parametrize("arguments", ["", "{}"])
async def test_empty_arguments_mean_an_empty_object(arguments: str) -> None:
    turn = TurnInMemory(model=script(Say(calls=[("echo", arguments)]), Say(text=["ok"])))
    await turn.run()
    assert turn.bench.runs == [("echo", "")]


async def test_an_unknown_tool_is_an_error_result_and_the_turn_goes_on() -> None:
    turn = TurnInMemory(model=script(Say(calls=[call("ecoh")]), Say(text=["ok"])))
    result = await turn.run()
    assert result.status is TurnStatus.COMPLETED
    assert "unknown tool: ecoh" in result.history[0].content
    assert "echo" in result.history[0].content


async def test_a_tool_that_the_operator_denies_is_neither_shown_nor_dispatched() -> None:
    denied = ToolPolicies(by_name={"echo": Policy.DENY})
    turn = TurnInMemory(model=script(Say(calls=[call("echo")]), Say(text=["ok"])), policies=denied)
    result = await turn.run()
    assert "echo" not in [tool.name for tool in turn.model.requests[0].tools]
    assert turn.bench.runs == []
    assert result.history[0].outcome is Outcome.ERROR


@pytest.mark.covers("outcome error")
async def test_a_failing_tool_is_an_error_result_and_the_turn_goes_on() -> None:
    turn = TurnInMemory(model=script(Say(calls=[call("fail", "fly")]), Say(text=["I could not."])))
    result = await turn.run()
    assert result.status is TurnStatus.COMPLETED
    assert "cannot fly" in result.history[0].content
    assert "cannot fly" not in result.text


@pytest.mark.covers("status error/tool_errors", "embed tool_errors", "limit BOT_MAX_CONSECUTIVE_TOOL_ERRORS")
@pytest.mark.parametrize("cap", [2, 4])
async def test_consecutive_tool_errors_end_the_turn_at_the_cap(cap: int) -> None:
    limits = LoopLimits(max_iterations=100, max_consecutive_tool_errors=cap)
    model = ScriptedModel(passes=lambda n: Say(calls=[call("fail", f"try {n}")]))
    turn = TurnInMemory(model=model, limits=limits)
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.ERROR, Reason.TOOL_ERRORS)
    assert len(turn.bench.runs) == cap
    assert turn.state.noticed(NoticeKind.TOOL_ERRORS)


async def test_a_success_resets_the_error_count() -> None:
    limits = LoopLimits(max_iterations=9, max_consecutive_tool_errors=2)
    model = ScriptedModel(passes=lambda n: Say(calls=[call("echo" if n % 2 else "fail", str(n))]))
    result = await TurnInMemory(model=model, limits=limits).run()
    assert result.reason is Reason.ITERATION_LIMIT


@pytest.mark.covers("outcome not_run")
async def test_the_rest_of_a_batch_gets_results_when_the_error_cap_ends_the_turn() -> None:
    limits = LoopLimits(max_consecutive_tool_errors=1)
    turn = TurnInMemory(model=script(Say(calls=[call("fail"), call("echo"), call("echo")])), limits=limits)
    result = await turn.run()
    assert [entry.outcome for entry in result.history] == [Outcome.ERROR, Outcome.NOT_RUN, Outcome.NOT_RUN]


@pytest.mark.covers("status timeout/iteration_limit", "embed iteration_limit", "limit BOT_MAX_FUNCTION_CALL_ITERATIONS")
@pytest.mark.parametrize("ceiling", [1, 3])
async def test_the_iteration_ceiling_ends_the_turn_with_a_timeout(ceiling: int) -> None:
    model = ScriptedModel(passes=lambda n: Say(text=[f"step {n}"], calls=[call("echo", str(n))]))
    turn = TurnInMemory(model=model, limits=LoopLimits(max_iterations=ceiling))
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.TIMEOUT, Reason.ITERATION_LIMIT)
    assert len(model.requests) == len(turn.bench.runs) == result.iterations == ceiling
    assert turn.state.noticed(NoticeKind.ITERATION_LIMIT)
    assert result.text.startswith("step 0")


@pytest.mark.covers("embed still_working", "limit BOT_SOFT_WARN_ITERATION")
@pytest.mark.parametrize(("warn_at", "expected"), [(2, 1), (50, 0)])
async def test_the_soft_warning_comes_once_at_its_iteration(warn_at: int, expected: int) -> None:
    model = ScriptedModel(passes=lambda n: Say(calls=[call("echo", str(n))]))
    turn = TurnInMemory(model=model, limits=LoopLimits(max_iterations=5, soft_warn_iteration=warn_at))
    await turn.run()
    notices = [notice.notice for notice in turn.state.notices]
    assert notices.count(NoticeKind.STILL_WORKING) == expected


@pytest.mark.covers("status error/loop_guard", "embed loop_guard", "limit BOT_MAX_IDENTICAL_TOOL_CALLS")
@pytest.mark.parametrize("count", [2, 3])
async def test_the_same_call_with_the_same_result_is_warned_of_and_then_ends_the_turn(count: int) -> None:
    turn = TurnInMemory(
        model=script(Say(calls=[call("echo", "again")])),
        limits=LoopLimits(max_iterations=50, max_identical_tool_calls=count),
    )
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.ERROR, Reason.LOOP_GUARD)
    assert len(turn.bench.runs) == 2 * count
    warned = ["same call" in text for text in turn.results()]
    assert warned.index(True) == count - 1
    assert turn.state.noticed(NoticeKind.LOOP_GUARD)


async def test_two_calls_in_turn_that_bring_nothing_new_end_the_turn() -> None:
    model = ScriptedModel(passes=lambda n: Say(calls=[call("echo", str(n % 2))]))
    result = await TurnInMemory(model=model, limits=LoopLimits(max_iterations=50)).run()
    assert result.reason is Reason.LOOP_GUARD


async def test_the_notice_of_the_loop_guard_names_every_call_of_the_cycle() -> None:
    model = ScriptedModel(passes=lambda n: Say(calls=[call("echo", "ab"[n % 2])]))
    turn = TurnInMemory(model=model)
    assert (await turn.run()).reason is Reason.LOOP_GUARD
    notice = next(record for record in turn.records if isinstance(record, Noticed))
    assert " and " in notice.detail
    assert all(f'echo {{"text": "{text}"}}' in notice.detail for text in "ab")


async def test_the_same_call_may_come_again_once_something_new_happened() -> None:
    model = ScriptedModel(passes=lambda n: Say(calls=[call("echo", str(n // 2) if n % 2 else "look")]))
    result = await TurnInMemory(model=model, limits=LoopLimits(max_iterations=30)).run()
    assert result.reason is Reason.ITERATION_LIMIT


@pytest.mark.covers("status completed/end_turn")
async def test_a_tool_can_end_the_turn_after_its_batch() -> None:
    turn = TurnInMemory(model=script(Say(calls=[call("finish"), call("echo", "x")])))
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.COMPLETED, Reason.END_TURN)
    assert result.tool_response_delivered
    assert [entry.outcome for entry in result.history] == [Outcome.OK, Outcome.OK]


@pytest.mark.covers("status empty_response", "pass empty_response", "embed empty_response")
@pytest.mark.parametrize("said", [[], ["  \n"]])
async def test_a_pass_without_visible_text_or_calls_is_an_empty_response(said: list[str]) -> None:
    turn = TurnInMemory(model=script(Say(text=said, thinking=["hm"])))
    assert (await turn.run()).status is TurnStatus.EMPTY_RESPONSE
    assert turn.state.noticed(NoticeKind.EMPTY_RESPONSE)


@pytest.mark.covers("status error/refused", "embed refused")
async def test_a_refusal_of_the_provider_is_an_error_that_says_so() -> None:
    turn = TurnInMemory(model=script(Say(finish=Finish.REFUSED)))
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.ERROR, Reason.REFUSED)
    assert turn.state.noticed(NoticeKind.REFUSED)


@pytest.mark.covers("status completed/length", "embed cut_at_length")
async def test_an_answer_cut_at_its_length_completes_and_says_so() -> None:
    turn = TurnInMemory(model=script(Say(text=["once upon"], finish=Finish.LENGTH)))
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.COMPLETED, Reason.LENGTH)
    assert turn.state.noticed(NoticeKind.CUT_AT_LENGTH)


@pytest.mark.covers("status error/provider", "pass error", "embed provider_error")
async def test_a_provider_error_ends_the_turn_and_keeps_what_people_saw() -> None:
    broken = ProviderRejected("overloaded", provider="p", advice="Try again in a minute.", transient=True, status=529)
    turn = TurnInMemory(model=script(Say(text=["Par"], calls=[call("echo")], error=broken)))
    result = await turn.run()
    assert (result.status, result.reason, result.text) == (TurnStatus.ERROR, Reason.PROVIDER, "Par")
    assert turn.bench.runs == []
    notice = turn.state.notices[-1]
    assert notice.notice is NoticeKind.PROVIDER_ERROR
    assert "Try again in a minute." in notice.detail


async def test_a_stream_that_ends_without_its_end_is_an_error() -> None:
    turn = TurnInMemory(model=script(Say(text=["Par"], without_end=True)))
    assert (await turn.run()).reason is Reason.PROVIDER


async def test_text_that_cannot_be_encoded_is_mended() -> None:
    turn = TurnInMemory(model=script(Say(text=["a\ud83d", "b"])))
    assert (await turn.run()).text == "a�b"


async def test_a_turn_is_written_in_at_most_two_commits_an_iteration() -> None:
    model = ScriptedModel(passes=lambda n: Say(calls=[call("echo", str(n))]))
    turn = TurnInMemory(model=model, limits=LoopLimits(max_iterations=10))
    await turn.run()
    assert turn.journal.commits <= 2 * 10 + 2


@pytest.mark.covers("pass function_call")
async def test_every_status_of_a_pass_is_recorded_as_what_it_was() -> None:
    turn = TurnInMemory(model=script(Say(calls=[call("echo")]), Say(text=["x"])))
    await turn.run()
    statuses = [record.status for record in turn.records if isinstance(record, PassFinished)]
    assert statuses == [StreamStatus.FUNCTION_CALL, StreamStatus.COMPLETED]
