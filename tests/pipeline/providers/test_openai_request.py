"""What is asked of an OpenAI-compatible server."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pipeline.errors import ProviderRejected
from pipeline.messages import (
    AssistantMessage,
    Image,
    NoteMessage,
    Replay,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pipeline.providers.openai_compat import completions_url
from tests.pipeline.providers.helpers import (
    DONE,
    KEY,
    READ_FILE,
    SHORT,
    Recorder,
    adapter,
    ask,
    delta,
    events_of,
    fragment,
    play,
    request_of,
)

USER = UserMessage(text="jane: hello")


async def messages_of(*messages: Any, **options: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = (await ask("openai_compat", messages, **options))["messages"]
    return sent


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("", "https://api.openai.com/v1/chat/completions"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1/chat/completions"),
        ("https://h.example/v1", "https://h.example/v1/chat/completions"),
        ("https://h.example/v1/", "https://h.example/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://h.example/v1beta/openai", "https://h.example/v1beta/openai/chat/completions"),
        ("https://h.example/v1/chat/completions", "https://h.example/v1/chat/completions"),
        ("https://h.example/d/x?api-version=1", "https://h.example/d/x/chat/completions?api-version=1"),
    ],
)
def test_the_base_url_is_taken_as_given(base: str, url: str) -> None:
    assert completions_url(base) == url


async def test_a_request_names_key_model_stream_usage_and_tools() -> None:
    recorder = Recorder([SHORT["openai_compat"]])
    await events_of(adapter("openai_compat", recorder), request_of(tools=[READ_FILE]))
    assert recorder.urls == ["https://api.openai.com/v1/chat/completions"]
    assert recorder.headers[0]["authorization"] == f"Bearer {KEY}"
    assert recorder.requests[0] == {
        "model": "model-1",
        "messages": [{"role": "user", "content": "jane: hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Read a file.",
                    "parameters": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}},
                        "required": ["path"],
                    },
                },
            }
        ],
    }


async def test_a_server_without_a_key_gets_no_authorization() -> None:
    recorder = Recorder([SHORT["openai_compat"]])
    await events_of(adapter("openai_compat", recorder, api_key=None, base_url="http://127.0.0.1:9"))
    assert "authorization" not in recorder.headers[0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"max_output_tokens": 100}, {"max_completion_tokens": 100}),
        ({"max_output_tokens": 100, "base_url": "http://127.0.0.1:9"}, {"max_tokens": 100}),
        ({"max_output_tokens": 100, "output_limit_field": "max_tokens"}, {"max_tokens": 100}),
        ({"effort": "low"}, {"reasoning_effort": "low"}),
        ({}, {}),
    ],
)
async def test_options_go_under_the_name_the_server_knows(options: dict[str, Any], expected: dict[str, Any]) -> None:
    request = await ask("openai_compat", [USER], **options)
    assert {key: request[key] for key in request.keys() - {"model", "messages", "stream", "stream_options"}} == expected


async def test_a_server_that_refuses_stream_options_is_asked_without_from_then_on() -> None:
    refusal = httpx.Response(400, json={"error": {"message": "Unrecognized request argument: stream_options"}})
    recorder = Recorder(refusal, [SHORT["openai_compat"]], [SHORT["openai_compat"]])
    provider = adapter("openai_compat", recorder)
    await events_of(provider)
    await events_of(provider)
    assert ["stream_options" in request for request in recorder.requests] == [True, False, False]


async def test_another_bad_request_is_not_tried_again() -> None:
    recorder = Recorder(httpx.Response(400, json={"error": {"message": "unknown parameter: foo"}}))
    with pytest.raises(ProviderRejected, match="foo"):
        await events_of(adapter("openai_compat", recorder))
    assert len(recorder.requests) == 1


async def test_no_request_is_made_without_a_model() -> None:
    recorder = Recorder()
    with pytest.raises(ProviderRejected) as raised:
        await events_of(adapter("openai_compat", recorder, model="", base_url="http://127.0.0.1:9"))
    assert "PROVIDERS__MAIN__MODEL" in raised.value.advice
    assert recorder.requests == []


async def test_the_system_text_is_one_message_at_the_head_and_notes_are_not_sent() -> None:
    sent = await messages_of(
        SystemMessage(text="A"),
        NoteMessage(text="n"),
        SystemMessage(text="B"),
        USER,
        NoteMessage(text="n"),
        SystemMessage(text="C"),
    )
    assert sent == [
        {"role": "system", "content": "A\n\nB"},
        {"role": "user", "content": "jane: hello"},
        {"role": "user", "content": "C"},
    ]


async def test_calls_and_results_go_back_under_our_ids() -> None:
    calls = ToolCall(id="aaaaaaaaa", name="f", arguments='{"x": 1}'), ToolCall(id="bbbbbbbbb", name="g", arguments="")
    sent = await messages_of(
        USER,
        AssistantMessage(text="", calls=calls),
        ToolMessage(call_id="aaaaaaaaa", name="f", content="1"),
        ToolMessage(call_id="bbbbbbbbb", name="g", content="2", is_error=True),
    )
    assert sent[1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "aaaaaaaaa", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
                {"id": "bbbbbbbbb", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "aaaaaaaaa", "content": "1"},
        {"role": "tool", "tool_call_id": "bbbbbbbbb", "content": "2"},
    ]


@pytest.mark.parametrize("arguments", ["[]", '"x"', '{"q"', "{NaN}", "[" * 9999])
async def test_arguments_no_server_would_parse_are_not_sent_back(arguments: str) -> None:
    call = ToolCall(id="aaaaaaaaa", name="no such/tool", arguments=arguments)
    sent = await messages_of(
        USER, AssistantMessage(text="", calls=(call,)), ToolMessage(call_id=call.id, name="f", content="bad")
    )
    assert sent[1]["tool_calls"][0]["function"] == {"name": "no_such_tool", "arguments": "{}"}


async def test_images_go_as_data_urls_or_are_named() -> None:
    message = UserMessage(text="jane: see", images=(Image(media_type="image/png", data="AAAA"),))
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert (await messages_of(message))[0]["content"] == [{"type": "text", "text": "jane: see"}, url]
    blind = (await messages_of(message, sees_images=False))[0]["content"]
    assert blind.startswith("jane: see\n(An image was attached")


async def test_a_conversation_never_ends_with_an_answer() -> None:
    sent = await messages_of(USER, AssistantMessage(text="Half an ans"))
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]


async def test_an_answer_of_nothing_is_left_out() -> None:
    assert len(await messages_of(USER, AssistantMessage(text="  "), UserMessage(text="jane: again"))) == 2


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_goes_back_under_its_name_to_the_server_it_came_from(field: str) -> None:
    here = {"base_url": "https://api.deepseek.com"}
    chunks = delta(**{field: "I should "}), delta(**{field: "read."}), fragment(index=0, id="x", name="f", args="{}")
    seen = await play("openai_compat", *chunks, DONE, **here)
    call = ToolCall(id="aaaaaaaaa", name="f", arguments="{}")
    answer = AssistantMessage(text="", calls=(call,), replay=seen.replay)
    messages = USER, answer, ToolMessage(call_id="aaaaaaaaa", name="f", content="1")
    assert (await messages_of(*messages, **here))[1][field] == "I should read."
    elsewhere = await messages_of(*messages, base_url="https://api.openai.com/v1")
    assert elsewhere[1].keys() == {"role", "content", "tool_calls"}


async def test_thinking_of_another_kind_of_provider_is_not_sent() -> None:
    replay = Replay(origin="anthropic api.anthropic.com", data='[{"type":"thinking","thinking":"x","signature":"y"}]')
    sent = await messages_of(USER, AssistantMessage(text="Hi", replay=replay), USER)
    assert sent[1] == {"role": "assistant", "content": "Hi"}


async def test_opaque_data_of_calls_and_reasoning_goes_back_unchanged() -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    function = {"name": "f", "arguments": "{}"}
    seen = await play(
        "openai_compat",
        delta(reasoning_details=[{"type": "reasoning.text", "text": "a", "index": 0, "signature": None}]),
        delta(reasoning_details=[{"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}]),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "data": "zz", "index": 1}]),
        delta(tool_calls=[{"index": 0, "id": "x", "function": function, "extra_content": extra}]),
        DONE,
    )
    answer = AssistantMessage(text="", calls=(ToolCall(id="aaaaaaaaa", name="f", arguments="{}"),), replay=seen.replay)
    sent = (await messages_of(USER, answer, ToolMessage(call_id="aaaaaaaaa", name="f", content="1")))[1]
    assert sent["tool_calls"][0]["extra_content"] == extra
    assert sent["reasoning_details"] == [
        {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
        {"type": "reasoning.encrypted", "data": "zz", "index": 1},
    ]
