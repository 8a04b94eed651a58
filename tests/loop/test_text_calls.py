"""Calls written as text, over the wire: they run like any other, and what a model is told fits what is read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from pipeline.results import Outcome, TurnStatus
from tests.support.provider_server import Pass
from tests.support.wire_turn import WireTurn, wire_turn

TOLD = "# Tools"


@asynccontextmanager
async def verbatim(*kinds: str, at: int = 0, **more: Any) -> AsyncIterator[WireTurn]:
    """A turn in which the model `at` can only write its calls as text."""
    async with wire_turn(*kinds) as turn:
        old: Any = turn.providers[at]
        config = replace(old._config, verbatim_tools=True, **more)
        changed = type(old)(config, old._endpoint._client)
        turn.providers = [changed if n == at else provider for n, provider in enumerate(turn.providers)]
        yield turn


async def test_a_call_written_as_text_runs_and_its_words_are_not_shown() -> None:
    async with verbatim() as turn:
        turn.server.script([Pass(text=["Let me see.\n", "`ec", 'ho({"text": "a"})`']), Pass(text=["It is a."])])
        result = await turn.run()
        assert turn.bench.runs == [("echo", "a")]
        assert result.text == "Let me see.\n\nIt is a."
        assert turn.streamed == "Let me see.\nIt is a."


async def test_such_a_model_is_told_how_and_gets_no_tools_of_the_api_and_its_history_as_text() -> None:
    async with verbatim() as turn:
        turn.server.script([Pass(text=['echo({"text": "a"})']), Pass(text=["It is a."])])
        await turn.run()
        first, second = turn.server.requests
        assert "tools" not in first
        assert TOLD in first["messages"][0]["content"] and '"name":"echo"' in first["messages"][0]["content"]
        said, result = second["messages"][-2:]
        assert said == {"role": "assistant", "content": '`echo({"text": "a"})`'}
        assert result["role"] == "user" and result["content"].startswith("[result of echo]\necho: a")


@pytest.mark.parametrize(("kinds", "at"), [(("openai_compat", "anthropic"), 0), (("anthropic", "openai_compat"), 1)])
async def test_a_fallback_chain_tells_each_model_what_its_adapter_can_read(kinds: tuple[str, ...], at: int) -> None:
    async with verbatim(*kinds, at=at) as turn:
        turn.server.script([Pass(text=["half"], cut=True, hang_up=True)])
        turn.servers[1].script([Pass(text=["whole"])])
        assert (await turn.run()).text == "whole"
        told = [TOLD in str(server.requests[0]) for server in turn.servers]
        assert told == [at == 0, at == 1]
        assert ["tools" in server.requests[0] for server in turn.servers] == [at == 1, at == 0]


async def test_an_answer_about_a_call_is_text() -> None:
    text = 'Use it like this:\n```python\n# reads a file\necho({"text": "a"})\n```\nThat is all.'
    async with verbatim() as turn:
        turn.server.script([Pass(text=list(text))])
        result = await turn.run()
        assert (result.status, result.text) == (TurnStatus.COMPLETED, text)
        assert turn.bench.runs == []


async def test_a_call_that_was_cut_is_shown_and_never_runs() -> None:
    async with verbatim() as turn:
        turn.server.script([Pass(text=['echo({"text": "a'])])
        assert (await turn.run()).text == 'echo({"text": "a'
        assert turn.bench.runs == []


async def test_missing_arguments_are_an_ordinary_error_result() -> None:
    async with verbatim() as turn:
        turn.server.script([Pass(text=['echo({"txt": "a"})']), Pass(text=["sorry"])])
        await turn.run()
        assert turn.state.history[0].outcome is Outcome.ERROR
        assert "did you mean text" in turn.results()[0]


@pytest.mark.covers("limit VERBATIM_TOOL_CALL_MAX_BUFFER_CHARS")
@pytest.mark.parametrize(("limit", "runs"), [(20, 0), (200, 1)])
async def test_no_more_than_the_limit_is_held_back_for_a_call(limit: int, runs: int) -> None:
    async with verbatim(text_call_max_chars=limit) as turn:
        turn.server.script([Pass(text=['echo({"text": "', "a" * 50, '"})']), Pass(text=["ok"])])
        await turn.run()
        assert len(turn.bench.runs) == runs


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "echo", "arguments": {"text": "a"}}\n</tool_call>',
        '<tool_call>{"name": "echo", "arguments": {"text": "a"}}',
        '[TOOL_CALLS][{"name": "echo", "arguments": {"text": "a"}}]',
        '[TOOL_CALLS]echo[ARGS]{"text": "a"}',
        '<|python_tag|>{"name": "echo", "parameters": {"text": "a"}}',
        '<|python_tag|>echo.call(text="a")',
        '<function=echo>{"text": "a"}</function>',
        "<tool_call>\n<function=echo>\n<parameter=text>\na\n</parameter>\n</function>\n</tool_call>",
        "<start_function_call>call:echo{text:<escape>a<escape>}<end_function_call>",
        '```tool_code\nprint(echo(text="a"))\n```',
    ],
)
async def test_a_native_form_that_a_local_model_leaks_runs_and_is_not_shown(text: str) -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=["Let me see. ", *text]), Pass(text=["It is a."])])
        result = await turn.run()
        assert turn.bench.runs == [("echo", "a")]
        assert turn.streamed == "Let me see. It is a."
        assert result.status is TurnStatus.COMPLETED


async def test_a_leaked_call_that_the_output_limit_cut_is_answered_with_what_to_do() -> None:
    async with wire_turn() as turn:
        cut = '<tool_call>{"name": "echo", "arguments": {"text": "a'
        turn.server.script([Pass(text=[cut], finish="length"), Pass(text=["again"])])
        await turn.run()
        assert turn.bench.runs == []
        assert "Nothing ran and nothing changed" in turn.results()[0]


async def test_calls_of_the_api_win_over_those_in_the_text() -> None:
    async with wire_turn() as turn:
        leaked = '<tool_call>{"name": "echo", "arguments": {"text": "leaked"}}</tool_call>'
        turn.server.script([Pass(text=[leaked], calls=[("echo", '{"text": "own"}')]), Pass(text=["ok"])])
        await turn.run()
        assert turn.bench.runs == [("echo", "own")]


async def test_a_leaked_call_that_cannot_be_read_is_answered_and_not_shown() -> None:
    async with wire_turn() as turn:
        turn.server.script([Pass(text=['<tool_call>{"name": "echo", "arguments": {"text"']), Pass(text=["again"])])
        result = await turn.run()
        assert turn.bench.runs == []
        assert turn.state.history[0].outcome is Outcome.ERROR
        assert result.text == "again"
