"""OpenAI-compatible chat completions: OpenAI itself, and every server that speaks like it.

Source: https://platform.openai.com/docs/api-reference/chat/create and the differences that servers show.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from urllib.parse import urlsplit, urlunsplit

import httpx

from pipeline.errors import ProviderRejected
from pipeline.provider import Provider, ProviderRequest, ProviderTraits, StreamEvent
from pipeline.providers import _errors
from pipeline.providers._config import ProviderConfig
from pipeline.providers._http import Endpoint, Sleep
from pipeline.providers._json import dump
from pipeline.providers._openai_request import MessageWriter, tools_on_wire
from pipeline.providers._openai_stream import OpenAIReader
from pipeline.providers._wire import read_pass

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_MODELS = {
    "api.openai.com": "gpt-6.1-terra",
    "api.deepseek.com": "deepseek-v4-flash",
    "api.mistral.ai": "mistral-medium-latest",
    "api.x.ai": "grok-4.7",
}
"""The model of a host where the operator names none."""

_NEW_LIMIT_HOSTS = (".openai.com", ".openai.azure.com")


def create(config: ProviderConfig, client: httpx.AsyncClient) -> Provider:
    """The provider that `config` describes."""
    return OpenAICompat(config, client)


def completions_url(base_url: str) -> str:
    """Where completions are posted. A base with a path is taken as it is; a bare origin gets `/v1`."""
    parts = urlsplit(base_url or DEFAULT_BASE_URL)
    path = parts.path.rstrip("/") or "/v1"
    if not path.endswith("/chat/completions"):
        path += "/chat/completions"
    return urlunsplit(parts._replace(path=path))


class OpenAICompat:
    """One server. What it turns out not to understand is left out of later requests."""

    def __init__(self, config: ProviderConfig, client: httpx.AsyncClient, *, sleep: Sleep = asyncio.sleep) -> None:
        url = completions_url(config.base_url)
        host = urlsplit(url).hostname or ""
        self.name = config.name
        self.model = config.model or DEFAULT_MODELS.get(host, "")
        self.traits = ProviderTraits(sees_images=config.sees_images, has_tools=config.has_tools)
        self._config = config
        self._origin = f"openai_compat {host}"
        self._messages = MessageWriter(origin=self._origin, sees_images=config.sees_images)
        headers = {"authorization": f"Bearer {config.key}"} if config.key else {}
        self._endpoint = Endpoint(config, client, url=url, headers=headers, sleep=sleep)
        self._sends_stream_options = True
        is_new = f".{host}".endswith(_NEW_LIMIT_HOSTS)
        self._limit_field = config.output_limit_field or ("max_completion_tokens" if is_new else "max_tokens")

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent]:
        """See `Provider.stream`."""
        while True:
            reader = OpenAIReader(self._origin)
            try:
                async with aclosing(read_pass(self._endpoint, self._body(request), reader)) as events:
                    async for event in events:
                        yield event
                return
            except ProviderRejected as error:
                # Older servers refuse what they do not know, before they have said anything.
                if error.status not in {400, 422} or not self._sends_stream_options:
                    raise
                if "stream_options" not in str(error):
                    raise
                self._sends_stream_options = False

    def _body(self, request: ProviderRequest) -> bytes:
        return b"{" + b",".join(b'"%s":%s' % field for field in self._fields(request)) + b"}"

    def _fields(self, request: ProviderRequest) -> Iterator[tuple[bytes, bytes]]:
        model = request.model or self.model
        if not model:
            raise _errors.no_model(self._config)
        yield b"model", dump(model)
        yield b"messages", self._messages.write(request.messages)
        yield b"stream", b"true"
        if self._sends_stream_options:
            yield b"stream_options", b'{"include_usage":true}'
        if request.tools and self.traits.has_tools:
            yield b"tools", tools_on_wire(request.tools)
        if self._config.max_output_tokens is not None:
            yield self._limit_field.encode(), dump(self._config.max_output_tokens)
        if self._config.effort:
            yield b"reasoning_effort", dump(self._config.effort)
