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
from pipeline.providers._text_calls import NATIVE_FORMS, Form, TextCallParser, verbatim_instructions
from pipeline.providers._text_reader import TextCallReader
from pipeline.providers._wire import Reader, read_pass

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
        self.traits = ProviderTraits(sees_images=config.sees_images, has_tools=config.has_tools, keys=len(config.keys))
        self._config = config
        self._origin = f"openai_compat {host}"
        self._messages = MessageWriter(
            origin=self._origin, sees_images=config.sees_images, calls_as_text=config.verbatim_tools
        )
        self._forms = _forms(config, is_vendor=host in DEFAULT_MODELS)
        bearer = ("authorization", "Bearer ")
        self._endpoint = Endpoint(config, client, url=url, headers={}, key_header=bearer, sleep=sleep)
        self._sends_stream_options = True
        is_new = f".{host}".endswith(_NEW_LIMIT_HOSTS)
        self._limit_field = config.output_limit_field or ("max_completion_tokens" if is_new else "max_tokens")

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent]:
        """See `Provider.stream`."""
        while True:
            reader = self._reader(request)
            try:
                async with aclosing(read_pass(self._endpoint, self._body(request), reader, request.key)) as events:
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

    def _reader(self, request: ProviderRequest) -> Reader:
        reader = OpenAIReader(self._origin)
        if not (self._forms and request.tools and self.traits.has_tools):
            return reader
        limit = self._config.text_call_max_chars
        return TextCallReader(reader, TextCallParser(request.tools, forms=self._forms, max_buffer_chars=limit))

    def _body(self, request: ProviderRequest) -> bytes:
        return b"{" + b",".join(b'"%s":%s' % field for field in self._fields(request)) + b"}"

    def _fields(self, request: ProviderRequest) -> Iterator[tuple[bytes, bytes]]:
        model = request.model or self.model
        if not model:
            raise _errors.no_model(self._config)
        yield b"model", dump(model)
        tools = request.tools if self.traits.has_tools else ()
        told = verbatim_instructions(tools) if self._config.verbatim_tools else ""
        yield b"messages", self._messages.write(request.messages, told)
        yield b"stream", b"true"
        if self._sends_stream_options:
            yield b"stream_options", b'{"include_usage":true}'
        if tools and not self._config.verbatim_tools:
            yield b"tools", tools_on_wire(tools)
        if self._config.max_output_tokens is not None:
            yield self._limit_field.encode(), dump(self._config.max_output_tokens)
        if self._config.effort:
            yield b"reasoning_effort", dump(self._config.effort)


def _forms(config: ProviderConfig, *, is_vendor: bool) -> frozenset[Form]:
    """The forms in which this server's models may write a call as text: ours where we ask for it, and, but for the big
    vendors, whose API has calls for certain, those that local models leak."""
    asked = frozenset({Form.VERBATIM}) if config.verbatim_tools else frozenset()
    return asked if is_vendor else asked | NATIVE_FORMS
