"""Scripted answers of a language model, independent of any wire, and their bytes on each wire."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

Piece = str | asyncio.Event | float
"""A delta; an event to wait for; a pause in seconds."""

_SURROGATE = re.compile("[\ud800-\udfff]")
Frame = bytes | asyncio.Event | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One answer: thinking, then text, then calls as `(name, arguments)`, then the end.

    `usage` is (input, output) tokens or None for a server that reports none. `finish` is the wire's own word; None
    derives it from the calls. `cut` ends the answer before its end was said; `hang_up` breaks the connection too.
    """

    text: Sequence[Piece] = ()
    thinking: Sequence[Piece] = ()
    calls: Sequence[tuple[str, str]] = ()
    usage: tuple[int, int] | None = (12, 7)
    finish: str | None = None
    signature: str = "c2lnbmVk"
    cut: bool = False
    hang_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """An answer given as it is: any status, any bytes, with pauses among them."""

    frames: Sequence[Frame] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    hang_up: bool = False


Answer = Pass | Raw


def refusal(status: int, message: str = "no", *, retry_after: str | None = None, kind: str = "error") -> Raw:
    """An error status with a JSON body that both wires understand."""
    headers = {"content-type": "application/json"}
    if retry_after is not None:
        headers["retry-after"] = retry_after
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Raw(frames=[json.dumps(body).encode()], status=status, headers=headers)


def render(kind: str, answer: Pass) -> list[Frame]:
    """The server-sent events of `answer` on the wire of `kind`, one a frame."""
    return list(_WIRES[kind](answer))


def sse(data: object, event: str | None = None) -> bytes:
    """One server-sent event; half a character goes as an escape."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if _SURROGATE.search(text):
        text = json.dumps(data)
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()


def _openai(answer: Pass) -> Iterator[Frame]:
    def chunk(delta: dict[str, JsonValue], finish: str | None = None) -> bytes:
        choice: dict[str, JsonValue] = {"index": 0, "delta": delta, "finish_reason": finish}
        return sse({"id": "c-1", "object": "chat.completion.chunk", "model": "scripted-1", "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for name, pieces in (("reasoning_content", answer.thinking), ("content", answer.text)):
        for piece in pieces:
            yield chunk({name: piece}) if isinstance(piece, str) else piece
    for index, (name, arguments) in enumerate(answer.calls):
        half = len(arguments) // 2
        opened: JsonValue = {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        yield chunk({"tool_calls": [opened]})
        for part in filter(None, (arguments[:half], arguments[half:])):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    if answer.cut:
        return
    yield chunk({}, answer.finish or ("tool_calls" if answer.calls else "stop"))
    if answer.usage is not None:
        sent, received = answer.usage
        counts: JsonValue = {
            "prompt_tokens": sent,
            "completion_tokens": received,
            "total_tokens": sent + received,
        }
        yield sse({"id": "c-1", "model": "scripted-1", "choices": [], "usage": counts})
    yield sse("[DONE]")


def _anthropic(answer: Pass) -> Iterator[Frame]:
    def event(kind: str, **fields: JsonValue) -> bytes:
        return sse({"type": kind, **fields}, kind)

    sent, received = answer.usage or (0, 0)
    usage: JsonValue = {"input_tokens": sent, "output_tokens": 1 if received else 0}
    yield event(
        "message_start",
        message={
            "id": "m-1",
            "type": "message",
            "role": "assistant",
            "model": "scripted-1",
            "content": [],
            "usage": usage,
        },
    )
    yield event("ping")
    index = 0
    blocks: list[tuple[dict[str, JsonValue], str, str, Sequence[Piece]]] = []
    if answer.thinking:
        start: dict[str, JsonValue] = {"type": "thinking", "thinking": "", "signature": ""}
        blocks.append((start, "thinking_delta", "thinking", answer.thinking))
    if answer.text:
        blocks.append(({"type": "text", "text": ""}, "text_delta", "text", answer.text))
    for number, (name, arguments) in enumerate(answer.calls):
        half = len(arguments) // 2
        start = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        blocks.append((start, "input_json_delta", "partial_json", ["", arguments[:half], arguments[half:]]))
    for index, (start, delta, key, pieces) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=start)
        for piece in pieces:
            if isinstance(piece, str):
                yield event("content_block_delta", index=index, delta={"type": delta, key: piece})
            else:
                yield piece
        if start["type"] == "thinking":
            signed: JsonValue = {"type": "signature_delta", "signature": answer.signature}
            yield event("content_block_delta", index=index, delta=signed)
        if not (answer.cut and index == len(blocks) - 1):
            yield event("content_block_stop", index=index)
    if answer.cut:
        return
    reason = answer.finish or ("tool_use" if answer.calls else "end_turn")
    yield event(
        "message_delta",
        delta={"stop_reason": reason, "stop_sequence": None},
        usage={"output_tokens": received},
    )
    yield event("message_stop")


_WIRES: Mapping[str, Callable[[Pass], Iterator[Frame]]] = {"openai_compat": _openai, "anthropic": _anthropic}
