"""Reading chat-completion chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from pipeline.messages import Replay, Usage
from pipeline.provider import Finish, PassEnded, StreamEvent, TextDelta, ThinkingDelta, UsageReported
from pipeline.providers._json import (
    DeltaText,
    JsonObject,
    count_of,
    dump,
    list_of,
    object_of,
    parse_object,
    text_of,
)
from pipeline.providers._openai_calls import CallAssembler
from pipeline.providers._sse import ServerSentEvent
from pipeline.providers._wire import ErrorInStream, Garbled

_DONE = "[DONE]"
_FINISHES = {
    "stop": Finish.END,
    "eos": Finish.END,
    "end_turn": Finish.END,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "tool_calls": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
    "tool_use": Finish.TOOL_CALLS,
    "content_filter": Finish.REFUSED,
    "refusal": Finish.REFUSED,
    "safety": Finish.REFUSED,
}
_REASONING_FIELDS = ("reasoning_content", "reasoning")
_PERMANENT = ("invalid", "not_found", "not found", "authentication", "permission", "unsupported", "context_length")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """What a server wants back with the answer it belongs to: its reasoning under the name it used, opaque details
    of it, and opaque extras of each call."""

    field: str = ""
    text: str = ""
    details: tuple[JsonValue, ...] = ()
    extras: tuple[JsonValue, ...] = ()

    def to_json(self) -> str:
        data = {"field": self.field, "text": self.text, "details": self.details, "extras": self.extras}
        return dump({key: value for key, value in data.items() if value}).decode()

    @classmethod
    def from_json(cls, text: str) -> Reasoning:
        data = parse_object(text) or {}
        return cls(
            field=text_of(data.get("field")),
            text=text_of(data.get("text")),
            details=tuple(list_of(data.get("details"))),
            extras=tuple(list_of(data.get("extras"))),
        )


class OpenAIReader:
    """One pass. `origin` marks what only this server may get back."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._calls = CallAssembler()
        self._text, self._thinking = DeltaText(), DeltaText()
        self._reasoning: list[str] = []
        self._reasoning_field = ""
        self._details: list[JsonValue] = []
        self._finish = ""
        self._model = ""
        self._usage = Usage()
        self._is_done = False

    @property
    def may_end(self) -> bool:
        return self._is_done or bool(self._finish)

    @property
    def is_over(self) -> bool:
        return self._is_done

    def feed(self, event: ServerSentEvent) -> Iterator[StreamEvent]:
        if event.data.strip() == _DONE:
            self._is_done = True
            return
        chunk = parse_object(event.data)
        if chunk is None:
            # Some servers write words as keep-alives; half an object is another matter.
            if event.data.lstrip().startswith("{") and not self._finish:
                raise Garbled
            return
        if not self._finish:
            _raise_error_in(chunk, event)
        self._model = text_of(chunk.get("model")) or self._model
        choices = list_of(chunk.get("choices"))
        choice = next((one for one in map(object_of, choices) if not one.get("index")), None)
        if choice is not None:
            yield from self._delta(object_of(choice.get("delta") or choice.get("message")))
            self._finish = text_of(choice.get("finish_reason")) or self._finish
            if self._finish == "error":
                raise ErrorInStream(502, "the answer ended in an error")
        usage = _usage_in(chunk)
        if usage is not None and usage != self._usage:
            self._usage = usage
            yield UsageReported(usage=usage)

    def end(self) -> Iterator[StreamEvent]:
        if text := self._thinking.end():
            yield ThinkingDelta(text=text)
        if text := self._text.end():
            yield TextDelta(text=text)

    def result(self) -> PassEnded:
        calls = self._calls.calls()
        finish = _FINISHES.get(self._finish.lower(), Finish.OTHER)
        if not self._finish:
            finish = Finish.TOOL_CALLS if calls else Finish.END
        return PassEnded(finish=finish, calls=calls, replay=self._replay(), model=self._model)

    def _delta(self, delta: JsonObject) -> Iterator[StreamEvent]:
        name = next((one for one in _REASONING_FIELDS if text_of(delta.get(one))), "")
        if name:
            self._reasoning_field = name
            yield from self._think(text_of(delta.get(name)))
        for detail in list_of(delta.get("reasoning_details")):
            self._add_detail(detail)
        content = delta.get("content")
        parts: list[JsonValue] = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for part in [object_of(one) for one in parts]:
            for piece in list_of(part.get("thinking")):
                yield from self._think(text_of(object_of(piece).get("text")))
            if text := self._text.feed(text_of(part.get("text"))):
                yield TextDelta(text=text)
        if text := self._text.feed(text_of(delta.get("refusal"))):
            yield TextDelta(text=text)
        for fragment in list_of(delta.get("tool_calls")):
            self._calls.feed(object_of(fragment))
        if legacy := delta.get("function_call"):
            self._calls.feed({"index": 0, "function": legacy})

    def _think(self, piece: str) -> Iterator[StreamEvent]:
        self._reasoning.append(piece)
        if text := self._thinking.feed(piece):
            yield ThinkingDelta(text=text)

    def _add_detail(self, detail: JsonValue) -> None:
        """Keep `detail`; the pieces of one text become one."""
        last = self._details[-1] if self._details else None
        if (
            isinstance(detail, dict)
            and isinstance(last, dict)
            and detail.get("type") == last.get("type") == "reasoning.text"
            and detail.get("index") == last.get("index")
        ):
            given = {key: value for key, value in detail.items() if value is not None}
            text = text_of(last.get("text")) + text_of(detail.get("text"))
            self._details[-1] = {**last, **given, "text": text}
        else:
            self._details.append(detail)

    def _replay(self) -> Replay | None:
        extras = self._calls.extras()
        reasoning = Reasoning(
            field=self._reasoning_field,
            text="".join(self._reasoning) if self._reasoning_field else "",
            details=tuple(self._details),
            extras=tuple(extras) if any(extra is not None for extra in extras) else (),
        )
        return Replay(origin=self._origin, data=reasoning.to_json()) if reasoning != Reasoning() else None


def _raise_error_in(chunk: JsonObject, event: ServerSentEvent) -> None:
    error = chunk.get("error")
    if not error and (event.event == "error" or chunk.get("object") == "error"):
        error = dict(chunk)
    if not error:
        return
    details = object_of(error)
    message = text_of(details.get("message")) or text_of(error) or text_of(chunk.get("message"))
    raise ErrorInStream(_status_of(details, message), message)


def _status_of(error: JsonObject, message: str) -> int:
    """The HTTP status that an error inside a stream stands for; one that says nothing counts as the server's fault."""
    for value in (error.get("code"), error.get("status")):
        number = int(value) if isinstance(value, str) and value.isdecimal() else count_of(value)
        if 400 <= number < 600:
            return number
    words = f"{text_of(error.get('type'))} {text_of(error.get('code'))} {message}".lower()
    if "rate_limit" in words or "quota" in words:
        return 429
    return 400 if any(word in words for word in _PERMANENT) else 502


def _usage_in(chunk: JsonObject) -> Usage | None:
    counts = object_of(chunk.get("usage")) or object_of(object_of(chunk.get("x_groq")).get("usage"))
    if not counts:
        return None
    details = object_of(counts.get("prompt_tokens_details"))
    cached = count_of(details.get("cached_tokens")) or count_of(counts.get("prompt_cache_hit_tokens"))
    return Usage(
        input_tokens=count_of(counts.get("prompt_tokens")),
        output_tokens=count_of(counts.get("completion_tokens")),
        cache_read_tokens=cached,
        cache_write_tokens=count_of(details.get("cache_write_tokens")),
    )
