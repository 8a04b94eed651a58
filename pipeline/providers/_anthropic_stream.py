"""Reading the events of the messages API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from pipeline.messages import Replay, Usage
from pipeline.provider import CallRequest, Finish, PassEnded, StreamEvent, TextDelta, ThinkingDelta, UsageReported
from pipeline.providers._json import DeltaText, JsonObject, count_of, dump, object_of, parse_object, text_of
from pipeline.providers._sse import ServerSentEvent
from pipeline.providers._wire import NAMELESS, ErrorInStream, Garbled
from tools.output import scrub

_FINISHES = {
    "end_turn": Finish.END,
    "stop_sequence": Finish.END,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "tool_use": Finish.TOOL_CALLS,
    "refusal": Finish.REFUSED,
    # Only the provider's own tools pause a turn, and none is ever offered.
    "pause_turn": Finish.OTHER,
}
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@dataclass(slots=True, kw_only=True)
class _Block:
    """A content block as it grows; `text` holds whatever its kind streams."""

    kind: str
    start: JsonObject
    text: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)

    def thinking(self) -> JsonObject:
        """The block as it has to be sent back."""
        if self.kind == "redacted_thinking":
            return self.start
        return {**self.start, "thinking": "".join(self.text), "signature": "".join(self.signature)}

    def call(self) -> CallRequest:
        arguments = "".join(self.text)
        if not arguments.strip():
            # Some servers send the whole input at once instead of pieces.
            arguments = dump(object_of(self.start.get("input"))).decode()
        return CallRequest(name=scrub(text_of(self.start.get("name"))) or NAMELESS, arguments=scrub(arguments))


class AnthropicReader:
    """One pass. `origin` marks what only this server may get back."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._blocks: dict[int, _Block] = {}
        self._text, self._thinking = DeltaText(), DeltaText()
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._reported = Usage()
        self._stop_reason = ""
        self._model = ""
        self._is_over = False

    @property
    def may_end(self) -> bool:
        return self._is_over or bool(self._stop_reason)

    @property
    def is_over(self) -> bool:
        return self._is_over

    def feed(self, event: ServerSentEvent) -> Iterator[StreamEvent]:
        data = parse_object(event.data)
        if data is None:
            if event.data.lstrip().startswith("{") and not self._stop_reason:
                raise Garbled
            return
        match text_of(data.get("type")) or event.event:
            case "message_start":
                message = object_of(data.get("message"))
                self._model = text_of(message.get("model"))
                yield from self._count(message)
            case "content_block_start":
                yield from self._open(data)
            case "content_block_delta":
                yield from self._delta(data)
            case "message_delta":
                self._stop_reason = text_of(object_of(data.get("delta")).get("stop_reason")) or self._stop_reason
                yield from self._count(data)
            case "message_stop":
                self._is_over = True
            case "error" if not self._stop_reason:
                error = object_of(data.get("error"))
                kind = text_of(error.get("type"))
                raise ErrorInStream(_STATUSES.get(kind, 500), text_of(error.get("message")) or kind)

    def end(self) -> Iterator[StreamEvent]:
        if text := self._thinking.end():
            yield ThinkingDelta(text=text)
        if text := self._text.end():
            yield TextDelta(text=text)

    def result(self) -> PassEnded:
        calls = tuple(block.call() for block in self._blocks.values() if block.kind == "tool_use")
        finish = _FINISHES.get(self._stop_reason, Finish.OTHER)
        if not self._stop_reason:
            finish = Finish.TOOL_CALLS if calls else Finish.END
        return PassEnded(finish=finish, calls=calls, replay=self._replay(), model=self._model)

    def _open(self, data: JsonObject) -> Iterator[StreamEvent]:
        start = object_of(data.get("content_block"))
        block = _Block(kind=text_of(start.get("type")), start=start)
        index = data.get("index")
        self._blocks[index if isinstance(index, int) else len(self._blocks)] = block
        if signature := text_of(start.get("signature")):
            block.signature.append(signature)
        if block.kind in {"text", "thinking"}:
            yield from self._grow(block, text_of(start.get(block.kind)))

    def _delta(self, data: JsonObject) -> Iterator[StreamEvent]:
        index = data.get("index")
        last = next(reversed(self._blocks), 0)
        block = self._blocks.get(index if isinstance(index, int) else last)
        if block is None:
            raise Garbled
        delta = object_of(data.get("delta"))
        match text_of(delta.get("type")):
            case "text_delta":
                yield from self._grow(block, text_of(delta.get("text")))
            case "thinking_delta":
                yield from self._grow(block, text_of(delta.get("thinking")))
            case "input_json_delta":
                block.text.append(text_of(delta.get("partial_json")))
            case "signature_delta":
                block.signature.append(text_of(delta.get("signature")))

    def _grow(self, block: _Block, piece: str) -> Iterator[StreamEvent]:
        block.text.append(piece)
        if block.kind == "thinking":
            if text := self._thinking.feed(piece):
                yield ThinkingDelta(text=text)
        elif text := self._text.feed(piece):
            yield TextDelta(text=text)

    def _count(self, data: JsonObject) -> Iterator[StreamEvent]:
        """Usage is cumulative and comes in parts: the input first, the output last."""
        usage = object_of(data.get("usage"))
        for name in _COUNTS:
            self._counts[name] = max(self._counts[name], count_of(usage.get(name)))
        fresh, received, read, written = self._counts.values()
        total = Usage(
            input_tokens=fresh + read + written,
            output_tokens=received,
            cache_read_tokens=read,
            cache_write_tokens=written,
        )
        if total != self._reported:
            self._reported = total
            yield UsageReported(usage=total)

    def _replay(self) -> Replay | None:
        """The order of the blocks, with the thinking whole; None where the message alone says as much.

        Text stands for its length and a call for nothing: both are in the message.
        """
        layout: list[JsonValue] = []
        for block in self._blocks.values():
            match block.kind:
                case "thinking" | "redacted_thinking":
                    layout.append(dict(block.thinking()))
                case "text":
                    layout.append({"type": "text", "length": len(scrub("".join(block.text)))})
                case "tool_use":
                    layout.append({"type": "tool_use"})
        kinds = [block.kind for block in self._blocks.values() if block.kind in {"text", "tool_use"}]
        is_plain = len(kinds) == len(layout) and kinds == sorted(kinds) and kinds.count("text") <= 1
        return None if is_plain else Replay(origin=self._origin, data=dump(layout).decode())
