"""Text before a tool call, with NovelAI's habits: they are traits, so any adapter can have them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from pipeline.results import NoticeKind, Reason, TurnStatus
from tests.support.provider_server import Pass, refusal
from tests.support.wire_turn import LIMITS, WireTurn, wire_turn
from tools.base import ContextItem, ContextRestart


@asynccontextmanager
async def habits(limit: int = 3, *kinds: str) -> AsyncIterator[WireTurn]:
    async with wire_turn(*kinds, limits=replace(LIMITS, max_failures_after_text=limit)) as turn:
        turn.with_traits(ends_after_text=True, hides_retries=True)
        yield turn


def said(text: str, name: str, argument: str = "x") -> Pass:
    return Pass(text=[text] if text else [], calls=[(name, json.dumps({"text": argument}))])


async def test_a_tool_that_brings_something_to_tell_goes_on_behind_text() -> None:
    async with habits() as turn:
        turn.server.script([said("Let me look.", "echo"), Pass(text=["It says x."])])
        assert (await turn.run()).text == "Let me look.\n\nIt says x."


async def test_any_other_tool_ends_the_turn_behind_text() -> None:
    async with habits() as turn:
        turn.server.script([said("Here you are.", "post")])
        result = await turn.run()
        assert (result.status, result.reason) == (TurnStatus.COMPLETED, Reason.PRETOOL_TEXT)
        assert result.text == "Here you are."


async def test_a_silent_tool_ends_the_turn_behind_text() -> None:
    async with habits() as turn:
        turn.server.script([said("Noted.", "remember")])
        assert (await turn.run()).reason is Reason.PRETOOL_TEXT


async def test_without_text_a_success_goes_on() -> None:
    async with habits() as turn:
        turn.server.script([said("", "post"), Pass(text=["Done."])])
        assert (await turn.run()).text == "Done."


async def test_a_restart_behind_text_goes_on_whatever_the_tool() -> None:
    async with habits() as turn:
        turn.bench.restart = ContextRestart(kind="image", item=ContextItem(text="more"))
        turn.server.script([said("Let me see.", "look"), Pass(text=["A cat."])])
        assert (await turn.run()).text == "Let me see.\n\nA cat."


async def test_after_a_failure_behind_text_the_retry_is_not_shown_and_no_notice_comes() -> None:
    async with habits() as turn:
        turn.server.script([said("On it.", "fail"), said("Sorry, again!", "post")])
        result = await turn.run()
        assert turn.streamed == result.text == "On it."
        assert (result.status, result.reason) == (TurnStatus.COMPLETED, Reason.PRETOOL_TEXT)
        assert turn.notices == []


async def test_the_model_is_shown_what_it_said_while_people_were_not() -> None:
    async with habits() as turn:
        turn.server.script([said("On it.", "fail"), said("Sorry!", "echo"), Pass(text=["It says x."])])
        result = await turn.run()
        assert [m["content"] for m in turn.wire(2) if m["role"] == "assistant"] == ["On it.", "Sorry!"]
        assert turn.streamed == "On it.It says x."
        assert result.text == "On it.\n\nIt says x."


async def test_a_success_while_text_is_hidden_counts_as_one_behind_text_and_shows_text_again() -> None:
    async with habits() as turn:
        turn.server.script([said("On it.", "fail"), said("", "echo"), Pass(text=["It says x."])])
        assert (await turn.run()).text == "On it.\n\nIt says x."


@pytest.mark.covers("embed retry_exhausted", "limit NAI_TOOL_FAILURE_RETRY_THRESHOLD")
@pytest.mark.parametrize("limit", [1, 3])
async def test_failures_behind_text_end_the_turn_at_the_threshold_with_one_notice(limit: int) -> None:
    async with habits(limit) as turn:
        turn.server.script([said("On it." if n == 0 else "hm", "fail", str(n)) for n in range(limit + 1)])
        result = await turn.run()
        assert (result.status, result.reason) == (TurnStatus.COMPLETED, Reason.PRETOOL_TEXT)
        assert result.text == turn.streamed == "On it."
        assert turn.notices == [NoticeKind.RETRY_EXHAUSTED]
        assert len(turn.server.requests) == limit


async def test_failures_without_text_are_ordinary_ones() -> None:
    async with habits(1) as turn:
        turn.server.script([said("", "fail"), Pass(text=["I could not."])])
        assert (await turn.run()).text == "I could not."
        assert turn.notices == []


async def test_a_success_resets_the_count_of_failures_behind_text() -> None:
    async with habits(2) as turn:
        turn.server.script(
            [
                said("A.", "fail", "1"),
                said("", "echo"),
                said("B.", "fail", "2"),
                said("", "echo", "y"),
                Pass(text=["C."]),
            ]
        )
        assert (await turn.run()).text == "A.\n\nB.\n\nC."


async def test_an_answer_that_nobody_was_shown_leaves_the_text_that_people_saw() -> None:
    async with habits() as turn:
        turn.server.script([said("On it.", "fail"), Pass(text=["I give up."])])
        result = await turn.run()
        assert (result.status, result.reason, result.text) == (TurnStatus.COMPLETED, Reason.PRETOOL_TEXT, "On it.")


async def test_a_fallback_model_is_not_muted_by_what_happened_before_it() -> None:
    async with habits(3, "openai_compat", "anthropic") as turn:
        turn.server.script([said("On it.", "fail"), refusal(500)])
        turn.servers[1].script([Pass(text=["It did not work."])])
        assert (await turn.run()).text == "On it.\n\nIt did not work."


async def test_providers_without_these_habits_go_on_after_text_and_show_everything() -> None:
    async with wire_turn() as turn:
        turn.server.script([said("On it.", "fail"), said("Again.", "post"), Pass(text=["Done."])])
        assert (await turn.run()).text == "On it.\n\nAgain.\n\nDone."
