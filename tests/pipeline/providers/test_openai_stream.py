"""What chat-completion chunks mean: usage, ends, errors, cuts."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pipeline.errors import ProviderRejected, StreamCut
from pipeline.messages import Usage
from pipeline.provider import Finish, StreamEvent, TextDelta
from tests.pipeline.providers.helpers import (
    DONE,
    Parts,
    Recorder,
    adapter,
    delta,
    events_of,
    fragment,
    play,
    request_of,
    seen_in,
)
from tests.support.provider_wire import sse

USAGE: dict[str, Any] = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}
COUNTED = Usage(input_tokens=9, output_tokens=4, cache_read_tokens=3)
HI = delta(content="Hi")


async def text_before_error(*chunks: bytes) -> tuple[str, Exception]:
    """What was shown before the stream failed, and how it failed."""
    shown: list[StreamEvent] = []
    provider = adapter("openai_compat", Recorder(chunks))
    try:
        async for event in provider.stream(request_of()):
            shown.append(event)  # noqa: PERF401
    except (ProviderRejected, StreamCut) as error:
        return "".join(event.text for event in shown if isinstance(event, TextDelta)), error
    pytest.fail("the stream did not fail")


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([HI, delta("stop"), sse({"choices": [], "usage": USAGE}), DONE], id="in a chunk of its own"),
        pytest.param(
            [sse({"choices": [], "prompt_filter_results": []}), HI, sse({"usage": USAGE}), DONE], id="empty first"
        ),
        pytest.param(
            [sse({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}], "usage": USAGE}), DONE],
            id="with the last content",
        ),
        pytest.param(
            [
                sse({"choices": [{"delta": {"content": "Hi"}}], "usage": None}),
                sse({"usage": USAGE, "choices": None}),
                DONE,
            ],
            id="null before",
        ),
        pytest.param([HI, sse({"choices": [], "x_groq": {"usage": USAGE}}), DONE], id="in a vendor's field"),
    ],
)
async def test_usage_is_found_in_any_chunk_and_nothing_is_lost(chunks: list[bytes]) -> None:
    seen = await play("openai_compat", *chunks)
    assert (seen.text, seen.usage, seen.finish) == ("Hi", COUNTED, Finish.END)


async def test_cached_tokens_under_another_name_are_counted() -> None:
    counts = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 3}
    seen = await play("openai_compat", HI, sse({"choices": [], "usage": counts}), DONE)
    assert seen.usage == COUNTED


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", Finish.END),
        ("length", Finish.LENGTH),
        ("tool_calls", Finish.TOOL_CALLS),
        ("function_call", Finish.TOOL_CALLS),
        ("content_filter", Finish.REFUSED),
        ("something_new", Finish.OTHER),
    ],
)
async def test_finish_reasons_are_mapped(reason: str, finish: Finish) -> None:
    assert (await play("openai_compat", HI, delta(reason), DONE)).finish is finish


@pytest.mark.parametrize("reason", ["", None])
async def test_an_empty_finish_reason_ends_nothing(reason: str | None) -> None:
    seen = await play(
        "openai_compat", delta(reason, content="Hi "), delta(reason, content="there"), delta("stop"), DONE
    )
    assert (seen.text, seen.finish) == ("Hi there", Finish.END)


async def test_text_and_done_without_a_finish_reason_is_a_whole_answer() -> None:
    assert (await play("openai_compat", HI, DONE)).text == "Hi"


async def test_a_finish_reason_without_done_is_a_whole_answer() -> None:
    assert (await play("openai_compat", HI, delta("stop"))).text == "Hi"


async def test_a_connection_that_breaks_after_the_finish_reason_is_a_whole_answer() -> None:
    body = Parts([HI, delta("stop")], httpx.ReadError("reset"))
    provider = adapter("openai_compat", Recorder(httpx.Response(200, stream=body)))
    assert seen_in(await events_of(provider)).text == "Hi"


@pytest.mark.parametrize("end", [b"", b'data: {"choices":[{"del'])
async def test_text_that_just_stops_was_cut(end: bytes) -> None:
    text, error = await text_before_error(HI, end)
    assert text == "Hi"
    assert isinstance(error, StreamCut)
    assert error.transient


async def test_a_call_that_just_stops_was_cut() -> None:
    _, error = await text_before_error(fragment(index=0, id="a", name="write_file", args='{"path":"a'))
    assert isinstance(error, StreamCut)


async def test_a_garbled_event_is_not_skipped() -> None:
    garbled = b'data: {"choices":[{"delta":{"tool_ca\n\n'
    _, error = await text_before_error(HI, garbled, delta("stop"), DONE)
    assert isinstance(error, StreamCut)


@pytest.mark.parametrize(
    ("error", "status", "transient"),
    [
        ({"code": 502, "message": "overloaded"}, 502, True),
        ({"code": 400, "message": "bad"}, 400, False),
        ({"code": "429", "message": "slow down"}, 429, True),
        ({"type": "invalid_request_error", "code": None, "message": "bad"}, 400, False),
        ({"type": "server_error", "message": "oops"}, 502, True),
        ("it broke", 502, True),
    ],
)
async def test_an_error_inside_the_stream_is_a_rejection(error: object, status: int, transient: bool) -> None:
    chunk = sse({"error": error, "choices": []})
    text, raised = await text_before_error(delta(content="Par"), chunk)
    assert text == "Par"
    assert isinstance(raised, ProviderRejected)
    assert (raised.status, raised.transient) == (status, transient)


async def test_an_answer_that_ends_in_an_error_is_a_rejection_that_may_pass() -> None:
    text, raised = await text_before_error(delta(content="Par"), delta("error"), DONE)
    assert text == "Par"
    assert isinstance(raised, ProviderRejected)
    assert raised.transient


async def test_an_error_as_the_whole_answer_is_a_rejection() -> None:
    response = httpx.Response(200, json={"error": {"code": 500, "message": "no GPU"}})
    with pytest.raises(ProviderRejected, match="no GPU"):
        await events_of(adapter("openai_compat", Recorder(response)))


async def test_an_error_field_of_null_is_none() -> None:
    assert (
        await play("openai_compat", sse({"error": None, "choices": [{"delta": {"content": "Hi"}}]}), DONE)
    ).text == "Hi"


async def test_a_server_that_does_not_stream_is_understood() -> None:
    answer = {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": USAGE}
    seen = seen_in(await events_of(adapter("openai_compat", Recorder(httpx.Response(200, json=answer)))))
    assert (seen.text, seen.usage) == ("Hi", COUNTED)


async def test_a_character_sent_in_two_halves_is_whole() -> None:
    first, second = delta(content="a\ud83d"), delta(content="\ude00b")
    assert (await play("openai_compat", first, second, DONE)).text == "a😀b"


async def test_a_character_cut_between_two_deltas_arrives_whole() -> None:
    halves = [delta(content="a\ud83d"), delta(content="\ude00b")]
    assert (await play("openai_compat", *halves, DONE)).text == "a😀b"


async def test_half_a_character_at_the_end_can_be_encoded() -> None:
    half = delta(content="a\ud83d")
    assert (await play("openai_compat", half, DONE)).text == "a�"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_is_thinking(field: str) -> None:
    seen = await play("openai_compat", delta(**{field: "hm "}), delta(**{field: "yes"}), HI, DONE)
    assert (seen.thinking, seen.text) == ("hm yes", "Hi")


async def test_content_in_parts_is_text_and_thinking() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Hi"}]
    seen = await play("openai_compat", delta(content=parts), DONE)
    assert (seen.thinking, seen.text) == ("hm", "Hi")


async def test_a_refusal_is_shown() -> None:
    assert (await play("openai_compat", delta(refusal="I cannot."), delta("stop"), DONE)).text == "I cannot."


async def test_only_the_first_choice_is_read() -> None:
    chunk = sse({"choices": [{"index": 1, "delta": {"content": "B"}}, {"index": 0, "delta": {"content": "A"}}]})
    assert (await play("openai_compat", chunk, DONE)).text == "A"


async def test_words_between_the_events_are_only_heartbeats() -> None:
    assert (await play("openai_compat", HI, b"data: keep-alive\n\n", delta("stop"), DONE)).text == "Hi"
