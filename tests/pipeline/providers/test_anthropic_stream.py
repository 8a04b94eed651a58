"""What the events of the messages API mean."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.errors import ProviderRejected, ProviderUnreachable, StreamCut
from pipeline.messages import Usage
from pipeline.provider import Finish, Progress, TextDelta
from tests.pipeline.providers.helpers import (
    SHORT,
    Recorder,
    Seen,
    adapter,
    anthropic_event,
    events_of,
    play,
    request_of,
)

START = anthropic_event("message_start", message={"model": "m", "usage": {"input_tokens": 5, "output_tokens": 1}})
STOP = anthropic_event("message_stop")


def block(index: int, kind: str, *deltas: dict[str, Any], **start: Any) -> bytes:
    pieces = [anthropic_event("content_block_delta", index=index, delta=piece) for piece in deltas]
    opened = anthropic_event("content_block_start", index=index, content_block={"type": kind, **start})
    return opened + b"".join(pieces) + anthropic_event("content_block_stop", index=index)


def text(index: int, *pieces: str) -> bytes:
    return block(index, "text", *({"type": "text_delta", "text": piece} for piece in pieces), text="")


def call(index: int, name: str, *pieces: str | None, **start: Any) -> bytes:
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return block(index, "tool_use", *deltas, **{"id": "toolu_0", "name": name, "input": {}, **start})


def end(reason: str | None = "end_turn", **usage: Any) -> bytes:
    return anthropic_event("message_delta", delta={"stop_reason": reason}, usage=usage) + STOP


async def seen_of(*parts: bytes) -> Seen:
    return await play("anthropic", START, *parts)


async def test_text_and_usage_add_up() -> None:
    seen = await seen_of(text(0, "He", "llo"), end(output_tokens=7))
    assert (seen.text, seen.usage, seen.finish, seen.model) == (
        "Hello",
        Usage(input_tokens=5, output_tokens=7),
        Finish.END,
        "m",
    )


async def test_cached_tokens_are_part_of_the_input() -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 1,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
    }
    seen = await play("anthropic", anthropic_event("message_start", message={"usage": usage}), end(output_tokens=4))
    assert seen.usage == Usage(input_tokens=130, output_tokens=4, cache_read_tokens=100, cache_write_tokens=20)


async def test_usage_that_comes_only_at_the_end_is_counted() -> None:
    start = anthropic_event("message_start", message={"usage": {"input_tokens": 0, "output_tokens": 0}})
    seen = await play("anthropic", start, text(0, "x"), end(input_tokens=9, output_tokens=3))
    assert seen.usage == Usage(input_tokens=9, output_tokens=3)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", Finish.END),
        ("stop_sequence", Finish.END),
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("tool_use", Finish.TOOL_CALLS),
        ("refusal", Finish.REFUSED),
        ("pause_turn", Finish.OTHER),
        ("something_new", Finish.OTHER),
    ],
)
async def test_stop_reasons_are_mapped(reason: str, finish: Finish) -> None:
    assert (await seen_of(text(0, "x"), end(reason))).finish is finish


async def test_calls_keep_their_order_and_arguments() -> None:
    seen = await seen_of(text(0, "Let me."), call(1, "f", '{"x"', ": 1}"), call(2, "g"), end("tool_use"))
    assert [(one.name, one.arguments) for one in seen.calls] == [("f", '{"x": 1}'), ("g", "{}")]


async def test_deltas_of_two_open_blocks_find_theirs() -> None:
    def open_call(index: int, name: str) -> bytes:
        start = {"type": "tool_use", "id": "t", "name": name, "input": {}}
        return anthropic_event("content_block_start", index=index, content_block=start)

    def piece(index: int, arguments: str) -> bytes:
        delta = {"type": "input_json_delta", "partial_json": arguments}
        return anthropic_event("content_block_delta", index=index, delta=delta)

    parts = open_call(0, "f"), open_call(1, "g"), piece(0, '{"x":'), piece(1, '{"y":2}'), piece(0, "1}")
    seen = await seen_of(*parts, end("tool_use"))
    assert [(one.name, one.arguments) for one in seen.calls] == [("f", '{"x":1}'), ("g", '{"y":2}')]


async def test_an_input_that_comes_at_once_is_taken() -> None:
    seen = await seen_of(call(0, "f", input={"x": 1}), end("tool_use"))
    assert seen.calls[0].arguments == '{"x":1}'


async def test_arguments_of_null_are_an_empty_object() -> None:
    assert (await seen_of(call(0, "f", None), end("tool_use"))).calls[0].arguments == "{}"


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens"])
async def test_calls_are_taken_whatever_the_stop_reason(reason: str) -> None:
    assert len((await seen_of(call(0, "f", "{}"), end(reason))).calls) == 1


async def test_a_stop_reason_without_message_stop_is_a_whole_answer() -> None:
    assert (await seen_of(text(0, "x"), end().removesuffix(STOP))).text == "x"


async def test_message_stop_without_a_stop_reason_is_a_whole_answer() -> None:
    assert (await seen_of(text(0, "x"), STOP)).finish is Finish.END


@pytest.mark.parametrize("cut", [text(0, "Par"), call(0, "write_file", '{"path": "a')])
async def test_an_answer_that_just_stops_was_cut(cut: bytes) -> None:
    with pytest.raises(StreamCut):
        await seen_of(cut)


async def test_a_stream_of_nothing_never_began() -> None:
    with pytest.raises(ProviderUnreachable):
        await play("anthropic", b"")


@pytest.mark.parametrize(
    ("kind", "status", "transient"),
    [("overloaded_error", 529, True), ("rate_limit_error", 429, True), ("invalid_request_error", 400, False)],
)
async def test_an_error_inside_the_stream_is_a_rejection(kind: str, status: int, transient: bool) -> None:
    error = anthropic_event("error", error={"type": kind, "message": "Overloaded"})
    shown = []
    with pytest.raises(ProviderRejected, match="Overloaded") as raised:  # noqa: PT012
        async for event in adapter("anthropic", Recorder([START, text(0, "Par"), error])).stream(request_of()):
            shown.append(event)  # noqa: PERF401
    assert TextDelta(text="Par") in shown
    assert (raised.value.status, raised.value.transient) == (status, transient)


async def test_a_ping_keeps_the_pass_alive_and_shows_nothing() -> None:
    ping = anthropic_event("ping")
    events = await events_of(adapter("anthropic", Recorder([ping, ping, b": comment\n\n", SHORT["anthropic"]])))
    assert events[:3] == [Progress()] * 3


async def test_a_garbled_event_is_not_skipped() -> None:
    with pytest.raises(StreamCut):
        await seen_of(b'event: content_block_delta\ndata: {"type":"content_bl\n\n', end())


async def test_blocks_of_unknown_kinds_are_passed_over() -> None:
    other = block(0, "novel_block", {"type": "novel_delta", "data": "?"})
    assert (await seen_of(other, text(1, "x"), anthropic_event("novel_event"), end())).text == "x"


async def test_a_plain_answer_needs_no_replay() -> None:
    assert (await seen_of(text(0, "x"), call(1, "f", "{}"), end("tool_use"))).replay is None
