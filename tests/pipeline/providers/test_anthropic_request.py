"""What is asked of the messages API."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.messages import (
    AssistantMessage,
    Image,
    Message,
    NoteMessage,
    Replay,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pipeline.providers.anthropic import messages_url
from tests.pipeline.providers.helpers import KEY, READ_FILE, SHORT, Recorder, adapter, ask, events_of, play, request_of
from tests.pipeline.providers.test_anthropic_stream import START, block, call, end, text

USER = UserMessage(text="jane: hello")
CALLS = (
    ToolCall(id="aaaaaaaaa", name="f", arguments='{"id": 123456789012345678901234567890}'),
    ToolCall(id="bbbbbbbbb", name="g", arguments=""),
)
RESULTS = (
    ToolMessage(call_id="aaaaaaaaa", name="f", content="1"),
    ToolMessage(call_id="bbbbbbbbb", name="g", content="no", is_error=True),
)
THINKING = {"type": "thinking", "thinking": "I should\u2028 \ud83d look 😀", "signature": "c2ln/+=="}
REDACTED = {"type": "redacted_thinking", "data": "b3BhcXVl"}
SIGNATURE_ONLY = {"type": "thinking", "thinking": "", "signature": "bmFrZWQ="}


async def messages_of(*messages: Message, **options: Any) -> list[dict[str, Any]]:
    options.setdefault("prompt_cache", False)
    sent: list[dict[str, Any]] = (await ask("anthropic", messages, **options))["messages"]
    return sent


async def answer_after(*parts: bytes, said: str = "", calls: tuple[ToolCall, ...] = CALLS) -> AssistantMessage:
    """The message that a pass of these blocks leaves."""
    seen = await play("anthropic", START, *parts, end("tool_use"))
    return AssistantMessage(text=said, calls=calls, replay=seen.replay)


def thought(index: int, thinking: str, signature: str) -> bytes:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in thinking]
    return block(
        index, "thinking", *deltas, {"type": "signature_delta", "signature": signature}, thinking="", signature=""
    )


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        ("https://h.example/v1", "https://h.example/v1/messages"),
        ("https://h.example/anthropic", "https://h.example/anthropic/v1/messages"),
        ("https://h.example/v1/messages", "https://h.example/v1/messages"),
    ],
)
def test_a_version_in_the_base_is_not_doubled(base: str, url: str) -> None:
    assert messages_url(base) == url


async def test_a_request_names_key_version_model_limit_and_tools() -> None:
    recorder = Recorder([SHORT["anthropic"]])
    await events_of(adapter("anthropic", recorder, prompt_cache=False), request_of(tools=[READ_FILE]))
    assert (recorder.headers[0]["x-api-key"], recorder.headers[0]["anthropic-version"]) == (KEY, "2023-06-01")
    assert recorder.requests[0] == {
        "model": "model-1",
        "max_tokens": 8192,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "jane: hello"}]}],
        "stream": True,
        "tools": [{"name": "read_file", "description": "Read a file.", "input_schema": READ_FILE.schema}],
    }


async def test_a_turn_with_thinking_goes_back_byte_for_byte() -> None:
    redacted = block(1, "redacted_thinking", data=REDACTED["data"])
    signed = thought(0, "I should\u2028 look 😀", THINKING["signature"])
    naked = thought(2, "", SIGNATURE_ONLY["signature"])
    answer = await answer_after(signed, redacted, naked, text(3, ""), call(4, "f", "{}"), call(5, "g"))
    sent = await messages_of(USER, answer, *RESULTS, UserMessage(text="jane: and now?"))
    assert sent[1]["content"] == [
        {**THINKING, "thinking": "I should\u2028 look 😀"},
        REDACTED,
        SIGNATURE_ONLY,
        {"type": "tool_use", "id": "aaaaaaaaa", "name": "f", "input": {"id": 123456789012345678901234567890}},
        {"type": "tool_use", "id": "bbbbbbbbb", "name": "g", "input": {}},
    ]
    assert sent[2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "aaaaaaaaa", "content": "1"},
            {"type": "tool_result", "tool_use_id": "bbbbbbbbb", "content": "no", "is_error": True},
            {"type": "text", "text": "jane: and now?"},
        ],
    }


async def test_signed_thinking_with_half_a_character_goes_back_as_it_came() -> None:
    answer = await answer_after(thought(0, THINKING["thinking"], THINKING["signature"]), call(1, "f"), call(2, "g"))
    assert (await messages_of(USER, answer, *RESULTS))[1]["content"][0] == THINKING


async def test_numbers_in_arguments_keep_every_digit() -> None:
    recorder = Recorder([SHORT["anthropic"]])
    messages = USER, AssistantMessage(text="", calls=CALLS), *RESULTS
    await events_of(adapter("anthropic", recorder), request_of(messages))
    assert b'"input":{"id": 123456789012345678901234567890}' in recorder.raw[0]


async def test_interleaved_blocks_keep_their_order() -> None:
    parts = thought(0, "a", "s1"), text(1, "One, "), call(2, "f"), thought(3, "b", "s2"), text(4, "two."), call(5, "g")
    answer = await answer_after(*parts, said="One, two.")
    content = (await messages_of(USER, answer, *RESULTS))[1]["content"]
    assert [one.get("text") or one.get("signature") or one["name"] for one in content] == [
        "s1",
        "One, ",
        "f",
        "s2",
        "two.",
        "g",
    ]


async def test_thinking_stays_in_front_of_a_message_that_was_changed() -> None:
    answer = await answer_after(thought(0, "a", "s1"), text(1, "One, "), call(2, "f"), call(3, "g"), said="Other")
    content = (await messages_of(USER, answer, *RESULTS))[1]["content"]
    assert [one["type"] for one in content] == ["thinking", "text", "tool_use", "tool_use"]


@pytest.mark.parametrize("origin", ["openai_compat api.deepseek.com", "anthropic other.example"])
async def test_signatures_of_another_server_are_not_sent(origin: str) -> None:
    replay = Replay(origin=origin, data='[{"type":"thinking","thinking":"x","signature":"y"}]')
    sent = await messages_of(USER, AssistantMessage(text="Hi", replay=replay), USER)
    assert sent[1]["content"] == [{"type": "text", "text": "Hi"}]


async def test_results_come_first_in_their_turn_and_turns_alternate() -> None:
    first, second = RESULTS
    sent = await messages_of(
        USER,
        UserMessage(text="joe: me too"),
        AssistantMessage(text="", calls=CALLS),
        first,
        UserMessage(text="jane: x"),
        second,
    )
    assert [(turn["role"], [one["type"] for one in turn["content"]]) for turn in sent] == [
        ("user", ["text", "text"]),
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "text"]),
    ]


async def test_the_system_text_is_lifted_out_and_later_ones_stay_in_place() -> None:
    messages = SystemMessage(text="A"), NoteMessage(text="n"), SystemMessage(text="B"), USER, SystemMessage(text="C")
    request = await ask("anthropic", messages, prompt_cache=False)
    assert request["system"] == [{"type": "text", "text": "A\n\nB"}]
    assert [one["text"] for one in request["messages"][0]["content"]] == ["jane: hello", "C"]


async def test_empty_texts_are_never_sent() -> None:
    sent = await messages_of(
        USER, AssistantMessage(text=" \n"), UserMessage(text=""), ToolMessage(call_id="a", name="f", content="")
    )
    assert sent == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "(no output)"},
                {"type": "text", "text": "jane: hello"},
            ],
        }
    ]


async def test_a_conversation_begins_and_ends_with_the_person() -> None:
    sent = await messages_of(AssistantMessage(text="Hi"), USER, AssistantMessage(text="Half an ans"))
    assert [turn["role"] for turn in sent] == ["user", "assistant", "user", "assistant", "user"]


async def test_images_are_blocks_or_are_named() -> None:
    message = UserMessage(text="jane: see", images=(Image(media_type="image/png", data="AAAA"),))
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert (await messages_of(message))[0]["content"][0] == {"type": "image", "source": source}
    assert "image was attached" in (await messages_of(message, sees_images=False))[0]["content"][0]["text"]


async def test_cache_marks_are_on_system_tools_and_the_two_newest_requests() -> None:
    conversation: list[Message] = [SystemMessage(text="S")]
    for number in range(5):
        conversation += [UserMessage(text=f"jane: {number}"), AssistantMessage(text="", calls=CALLS), *RESULTS]
        conversation += [AssistantMessage(text="done")]
    request = await ask("anthropic", conversation[:-1], tools=[READ_FILE, READ_FILE])
    marked = {"type": "ephemeral"}
    assert request["system"][-1]["cache_control"] == marked
    assert [one.get("cache_control") for one in request["tools"]] == [None, marked]
    blocks = [one for turn in request["messages"] for one in turn["content"]]
    asked = [turn["content"] for turn in request["messages"] if turn["role"] == "user"]
    assert [one for one in blocks if "cache_control" in one] == [asked[-2][-1], asked[-1][-1]]


async def test_the_next_request_repeats_this_one_up_to_the_marks() -> None:
    recorder = Recorder([SHORT["anthropic"]], [SHORT["anthropic"]])
    provider = adapter("anthropic", recorder)
    first: tuple[Message, ...] = (SystemMessage(text="S"), USER)
    await events_of(provider, request_of(first))
    await events_of(provider, request_of((*first, AssistantMessage(text="", calls=CALLS), *RESULTS)))
    before, after = (request["messages"] for request in recorder.requests)
    assert after[: len(before)] == before


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"max_tokens": 8192}),
        ({"max_output_tokens": 100}, {"max_tokens": 100}),
        (
            {"thinking_budget_tokens": 2000},
            {"max_tokens": 8192, "thinking": {"type": "enabled", "budget_tokens": 2000}},
        ),
        (
            {"thinking_budget_tokens": 2000, "max_output_tokens": 1000},
            {"max_tokens": 3000, "thinking": {"type": "enabled", "budget_tokens": 2000}},
        ),
        (
            {"effort": "high"},
            {"max_tokens": 8192, "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        ),
    ],
)
async def test_limits_and_thinking_are_as_configured(options: dict[str, Any], expected: dict[str, Any]) -> None:
    request = await ask("anthropic", [USER], **options)
    assert {key: request[key] for key in request.keys() - {"model", "messages", "stream"}} == expected


async def test_thinking_does_not_begin_while_calls_of_another_model_are_answered() -> None:
    messages = USER, AssistantMessage(text="", calls=CALLS), *RESULTS
    assert "thinking" not in await ask("anthropic", messages, thinking_budget_tokens=2000)
    signed = await answer_after(thought(0, "a", "s1"), call(1, "f"), call(2, "g"))
    assert "thinking" in await ask("anthropic", (USER, signed, *RESULTS), thinking_budget_tokens=2000)
