"""Playing bytes through an adapter, and seeing what came out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import SecretStr

from pipeline.messages import Message, Replay, Usage, UserMessage
from pipeline.provider import (
    CallRequest,
    Finish,
    PassEnded,
    Provider,
    ProviderRequest,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolDefinition,
    UsageReported,
)
from pipeline.providers._config import ProviderConfig
from pipeline.providers.anthropic import Anthropic
from pipeline.providers.openai_compat import OpenAICompat
from tests.support.provider_wire import sse

ASKED = (UserMessage(text="jane: hello"),)
READ_FILE = ToolDefinition(
    name="read_file",
    description="Read a file.",
    schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
KEY = "sk-test-0123456789abcdef"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A pass as its consumer sees it, however it was cut into deltas."""

    text: str = ""
    thinking: str = ""
    calls: tuple[CallRequest, ...] = ()
    finish: Finish = Finish.END
    usage: Usage = field(default_factory=Usage)
    replay: Replay | None = None
    model: str = ""


class Parts(httpx.AsyncByteStream):
    """A body that arrives in exactly these parts, and then breaks with `error` if there is one."""

    def __init__(self, parts: Iterable[bytes], error: Exception | None = None) -> None:
        self._parts = parts
        self._error = error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part
        if self._error is not None:
            raise self._error


class Recorder:
    """A transport that answers each request with the next of `bodies` and keeps what was asked."""

    def __init__(self, *bodies: Sequence[bytes] | httpx.Response | Exception) -> None:
        self.bodies = list(bodies)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[httpx.Headers] = []
        self.urls: list[str] = []
        self.raw: list[bytes] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.raw.append(request.content)
        self.requests.append(json.loads(request.content))
        self.headers.append(request.headers)
        self.urls.append(str(request.url))
        body = self.bodies.pop(0)
        if isinstance(body, Exception):
            raise body
        if isinstance(body, httpx.Response):
            return body
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Parts(body))


class Naps:
    """A sleep that does not, and remembers."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def config_of(kind: str, **options: Any) -> ProviderConfig:
    base = {"openai_compat": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}.get(kind, "")
    given = {"name": "main", "kind": kind, "base_url": base, "api_key": SecretStr(KEY), "model": "model-1", **options}
    return ProviderConfig(**given)


def adapter(kind: str, recorder: Recorder, *, naps: Naps | None = None, **options: Any) -> Provider:
    client = httpx.AsyncClient(transport=httpx.MockTransport(recorder))
    config = config_of(kind, **options)
    if kind == "anthropic":
        return Anthropic(config, client, sleep=naps or Naps())
    return OpenAICompat(config, client, sleep=naps or Naps())


def request_of(messages: Sequence[Message] = ASKED, tools: Sequence[ToolDefinition] = ()) -> ProviderRequest:
    return ProviderRequest(model="", messages=messages, tools=tools)


async def events_of(provider: Provider, request: ProviderRequest | None = None) -> list[StreamEvent]:
    async with aclosing(provider.stream(request or request_of())) as stream:
        return [event async for event in stream]


def seen_in(events: Sequence[StreamEvent]) -> Seen:
    """Sum up `events`; the last of them has to be the only end."""
    ends = [event for event in events if isinstance(event, PassEnded)]
    assert ends == [events[-1]]
    usages = [event.usage for event in events if isinstance(event, UsageReported)]
    return Seen(
        text="".join(event.text for event in events if isinstance(event, TextDelta)),
        thinking="".join(event.text for event in events if isinstance(event, ThinkingDelta)),
        calls=ends[0].calls,
        finish=ends[0].finish,
        usage=usages[-1] if usages else Usage(),
        replay=ends[0].replay,
        model=ends[0].model,
    )


async def play(kind: str, *parts: bytes, **options: Any) -> Seen:
    """What the adapter of `kind` makes of a stream that arrives in `parts`."""
    return seen_in(await events_of(adapter(kind, Recorder(parts), **options)))


async def ask(kind: str, messages: Sequence[Message], **options: Any) -> dict[str, Any]:
    """The request that the adapter of `kind` makes of `messages`."""
    recorder = Recorder([SHORT[kind]])
    tools = options.pop("tools", ())
    await events_of(adapter(kind, recorder, **options), request_of(messages, tools))
    return recorder.requests[0]


def delta(finish: str | None = None, **fields: Any) -> bytes:
    """A chat-completion chunk."""
    return sse({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def fragment(**fields: Any) -> bytes:
    """A chunk with one fragment of a call: `name` and `args` go into its function."""
    function = {ours: fields.pop(key) for key, ours in (("name", "name"), ("args", "arguments")) if key in fields}
    return delta(tool_calls=[{**fields, "function": function}])


def anthropic_event(kind: str, **fields: Any) -> bytes:
    """An event of the messages API."""
    return sse({"type": kind, **fields}, kind)


DONE = sse("[DONE]")
SHORT = {
    "openai_compat": delta(content="ok") + delta("stop") + DONE,
    "novelai": delta(content="ok") + delta("stop") + DONE,
    "anthropic": (
        anthropic_event("message_start", message={"usage": {"input_tokens": 1, "output_tokens": 1}})
        + anthropic_event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        + anthropic_event("content_block_delta", index=0, delta={"type": "text_delta", "text": "ok"})
        + anthropic_event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2})
        + anthropic_event("message_stop")
    ),
}
"""A whole answer, "ok", on each wire."""
