"""What a model, a provider or an operator can do that nobody expects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from pipeline.cost import price_of
from pipeline.messages import ToolCall, Usage
from pipeline.provider import ProviderRequest, StreamEvent, TextDelta, ThinkingDelta
from pipeline.records import Verdict
from pipeline.results import Outcome, TurnStatus
from pipeline.stages.execute_tool_call import fingerprint_of
from pipeline.stages.stream_once import MAX_PASS_CHARS
from tests.pipeline.test_approvals_in_the_loop import asking, call, crash_in_the_run
from tests.support.scripts import Say, ScriptedModel, Text, script
from tests.support.turns import TurnInMemory
from tools.base import ToolContext, ToolResult, define_tool
from tools.registry import ToolRegistry


async def test_run_again_is_refused_when_the_turn_would_run_somewhere_else_by_now() -> None:
    turn = await crash_in_the_run("echo")
    await turn.run()
    await turn.decide(Verdict.APPROVE)
    original = turn.params

    def moved() -> object:
        params = original()
        object.__setattr__(params.context, "channel_id", "99")
        return params

    turn.params = moved  # type: ignore[method-assign,assignment]
    result = await turn.run()
    assert len(turn.bench.runs) == 1
    assert result.history[0].outcome is Outcome.UNKNOWN
    assert "no longer what was approved" in result.history[0].content


async def test_a_stop_ends_a_turn_whose_preview_does_not_come() -> None:
    begun = asyncio.Event()

    async def preview(arguments: Text, context: ToolContext) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    async def run(arguments: Text, context: ToolContext) -> ToolResult:
        raise AssertionError("nobody approved this")

    slow = define_tool(name="slow", description="Slow.", arguments=Text, run=run, needs_approval=True, preview=preview)
    turn = TurnInMemory(model=script(Say(calls=[("slow", "{}"), ("slow", '{"text": "b"}')])))
    turn.bench.registry = lambda: ToolRegistry([slow])  # type: ignore[method-assign]
    running = asyncio.create_task(turn.run())
    await begun.wait()
    await turn.request_stop()
    result = await running
    assert result.status is TurnStatus.STOPPED_BY_USER
    assert [entry.outcome for entry in result.history] == [Outcome.NOT_RUN, Outcome.NOT_RUN]


@pytest.mark.parametrize("depth", [10, 300, 900, 5000, 100_000])
async def test_arguments_of_any_depth_get_a_result_and_a_name_for_the_guard(depth: int) -> None:
    deep = '{"text": ' + "[" * depth + "]" * depth + "}"
    turn = TurnInMemory(model=script(Say(calls=[("echo", deep)]), Say(text=["Done."])))
    assert (await turn.run()).history[0].outcome is Outcome.ERROR
    assert fingerprint_of(ToolCall(id="a", name="echo", arguments=deep), "")


@pytest.mark.parametrize("name", ["", " ", "a\nb", "echo\0", "\ud800", "é" * 100_000, "`x` @everyone", "__class__"])
async def test_a_name_of_any_kind_gets_a_result(name: str) -> None:
    turn = TurnInMemory(model=script(Say(calls=[(name, "{}")]), Say(text=["Done."])))
    result = await turn.run()
    assert result.status is TurnStatus.COMPLETED
    (entry,) = result.history
    assert entry.outcome is Outcome.ERROR
    assert len(entry.content) < 500


async def test_two_hundred_calls_in_one_pass_each_get_their_result() -> None:
    calls = [call("echo", str(n)) for n in range(200)]
    turn = TurnInMemory(model=script(Say(calls=calls), Say(text=["Done."])))
    result = await turn.run()
    assert [entry.content for entry in result.history] == [f"echo: {n}" for n in range(200)]


async def test_a_denial_of_one_of_many_calls_answers_all() -> None:
    turn = asking(*(call("write", str(n)) for n in range(100)))
    await turn.run()
    await turn.decide(Verdict.DENY, index=99)
    result = await turn.run()
    assert len(result.history) == 100
    assert turn.bench.runs == []


@pytest.mark.parametrize(
    "usage", [Usage(cache_read_tokens=3), Usage(input_tokens=5, cache_read_tokens=10), Usage(cache_write_tokens=1)]
)
def test_counts_that_cannot_be_have_no_price_and_break_nothing(usage: Usage) -> None:
    assert price_of(usage, "claude-sonnet-4-5", {}) is None


@pytest.mark.parametrize("delta", [TextDelta(text="la " * 1000), ThinkingDelta(text="hm " * 1000)])
async def test_a_model_that_talks_for_ever_is_cut_and_its_stream_closed(delta: StreamEvent) -> None:
    class Endless(ScriptedModel):
        async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent]:
            try:
                while True:
                    yield delta
            finally:
                self.closed += 1

    turn = TurnInMemory(model=Endless(passes=lambda _: Say()))
    result = await turn.run()
    assert turn.model.closed == 1
    assert len(turn.state.passes[0].text + turn.state.passes[0].thinking) < MAX_PASS_CHARS * 1.1
    assert result.status in (TurnStatus.COMPLETED, TurnStatus.EMPTY_RESPONSE)
