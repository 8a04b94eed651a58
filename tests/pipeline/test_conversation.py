"""The transcript: its window, what a turn leaves in it, commands typed as text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.conversation import CommandName, parse_command, size_bytes, transcript_of, window
from pipeline.errors import StreamCut
from pipeline.messages import AssistantMessage, Message, NoteMessage, ToolCall, ToolMessage, UserMessage
from tests.support.scripts import Say, script
from tests.support.turns import TurnInMemory


def chat_turn(n: int, results: list[int]) -> tuple[Message, ...]:
    """A turn: a question, an answer with two calls each of `results` bytes, their results, an answer."""
    calls = tuple(ToolCall(id=f"{n}{i}", name="t", arguments="{}") for i in range(len(results)))
    shown = tuple(
        ToolMessage(call_id=call.id, name="t", content="x" * size) for call, size in zip(calls, results, strict=True)
    )
    said = AssistantMessage(text="let me", calls=calls)
    return (UserMessage(text=f"question {n}"), said, *shown, AssistantMessage(text=f"answer {n}"))


def orphans(messages: tuple[Message, ...]) -> list[str]:
    """Calls without a result and results without a call."""
    asked = [call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls]
    given_ = [message.call_id for message in messages if isinstance(message, ToolMessage)]
    return [*sorted(set(asked) ^ set(given_)), *([] if len(given_) == len(set(given_)) else ["doubled"])]


@given(
    sizes=st.lists(st.lists(st.integers(0, 3000), max_size=2), min_size=1, max_size=6),
    limit=st.integers(200, 20_000),
)
def test_the_window_holds_whole_turns_never_an_orphan_and_always_the_newest(sizes: list[list[int]], limit: int) -> None:
    turns = [chat_turn(n, results) for n, results in enumerate(sizes)]
    shown = window(turns, limit)
    assert orphans(shown) == []
    newest = turns[-1]
    assert [type(message) for message in shown[-len(newest) :]] == [type(message) for message in newest]
    if len(shown) > len(newest):
        assert sum(map(size_bytes, shown)) <= limit
    assert isinstance(shown[0], UserMessage)


def test_a_history_under_the_limit_is_shown_whole() -> None:
    turns = [chat_turn(n, [10]) for n in range(3)]
    assert window(turns, 100_000) == tuple(message for turn in turns for message in turn)


@pytest.mark.covers("limit CONVERSATION_MAX_BYTES")
@pytest.mark.parametrize("limit", [4096, 20_000])
def test_the_byte_limit_of_the_window_has_its_effect(limit: int) -> None:
    turns = [chat_turn(n, [500]) for n in range(60)]
    size = sum(map(size_bytes, window(turns, limit)))
    assert limit - 2000 < size <= limit


def test_a_single_turn_that_is_too_large_has_its_results_clipped_not_dropped() -> None:
    shown = window([chat_turn(0, [2_000_000, 100])], 10_000)
    assert orphans(shown) == []
    assert sum(map(size_bytes, shown)) <= 10_000
    clipped = [message.content for message in shown if isinstance(message, ToolMessage)]
    assert "[truncated" in clipped[0]
    assert clipped[1] == "x" * 100


def test_notes_are_for_people_and_never_shown_to_a_model() -> None:
    assert window([(NoteMessage(text="cost: 1"), UserMessage(text="hi"))], 10_000) == (UserMessage(text="hi"),)


async def test_a_finished_turn_leaves_the_question_every_call_with_its_result_and_the_answer() -> None:
    turn = TurnInMemory(model=script(Say(calls=[("echo", json.dumps({"text": "a"}))]), Say(text=["done"])))
    await turn.run()
    asked = UserMessage(text="alice: hi")
    left = transcript_of(turn.state, asked)
    assert left[0] == asked
    assert orphans(left) == []
    assert left[-1] == AssistantMessage(text="done")


async def test_an_answer_that_broke_off_says_so_in_the_transcript() -> None:
    cut = StreamCut("cut", provider="p", advice="", transient=True)
    turn = TurnInMemory(model=script(Say(text=["Par"], error=cut)))
    await turn.run()
    left = transcript_of(turn.state, UserMessage(text="alice: hi"))
    assert [message.text for message in left if isinstance(message, AssistantMessage)] == [
        "Par",
        "(This answer broke off with an error.)",
    ]


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/clear", CommandName.CLEAR, ""),
        ("  /Clear now ", CommandName.CLEAR, "now"),
        ("/MODEL gpt-4o", CommandName.MODEL, "gpt-4o"),
        ("/system  be brief ", CommandName.SYSTEM, "be brief"),
        ("/model", CommandName.MODEL, ""),
        ("/cost", CommandName.COST, ""),
    ],
)
def test_a_command_typed_as_text_is_found_in_any_case(text: str, name: CommandName, argument: str) -> None:
    command = parse_command(text)
    assert command is not None
    assert (command.name, command.argument) == (name, argument)


@pytest.mark.parametrize("text", ["hello", "say /clear", "/nope", "/", "", "/clear\nnow", "clear"])
def test_anything_else_is_no_command(text: str) -> None:
    assert parse_command(text) is None
