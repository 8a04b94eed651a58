"""Anthropic's messages API.

Source: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from urllib.parse import urlsplit, urlunsplit

import httpx
from pydantic import JsonValue

from pipeline.provider import Provider, ProviderRequest, ProviderTraits, StreamEvent
from pipeline.providers import _errors
from pipeline.providers._anthropic_request import ConversationWriter, tools_on_wire
from pipeline.providers._anthropic_stream import AnthropicReader
from pipeline.providers._config import ProviderConfig
from pipeline.providers._http import Endpoint, Sleep
from pipeline.providers._json import dump
from pipeline.providers._wire import read_pass

DEFAULT_BASE_URL = "https://api.anthropic.com"
DEFAULT_MODELS = {"api.anthropic.com": "claude-sonnet-5-5"}
"""The model of a host where the operator names none."""

DEFAULT_MAX_OUTPUT_TOKENS = 8192
"""The API insists on a limit; this one every current model accepts."""
_API_VERSION = "2023-06-01"


def create(config: ProviderConfig, client: httpx.AsyncClient) -> Provider:
    """The provider that `config` describes."""
    return Anthropic(config, client)


def messages_url(base_url: str) -> str:
    """Where messages are posted; a base that ends in `/v1` does not get a second one."""
    parts = urlsplit(base_url or DEFAULT_BASE_URL)
    path = parts.path.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return urlunsplit(parts._replace(path=f"{path}/v1/messages"))


class Anthropic:
    """One server that speaks the messages API."""

    def __init__(self, config: ProviderConfig, client: httpx.AsyncClient, *, sleep: Sleep = asyncio.sleep) -> None:
        url = messages_url(config.base_url)
        host = urlsplit(url).hostname or ""
        self.name = config.name
        self.model = config.model or DEFAULT_MODELS.get(host, "")
        self.traits = ProviderTraits(sees_images=config.sees_images, has_tools=config.has_tools, keys=len(config.keys))
        self._config = config
        self._origin = f"anthropic {host}"
        self._conversation = ConversationWriter(
            origin=self._origin, sees_images=config.sees_images, prompt_cache=config.prompt_cache
        )
        headers = {"anthropic-version": _API_VERSION}
        self._endpoint = Endpoint(config, client, url=url, headers=headers, key_header=("x-api-key", ""), sleep=sleep)

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent]:
        """See `Provider.stream`."""
        reader = AnthropicReader(self._origin)
        async with aclosing(read_pass(self._endpoint, self._body(request), reader, request.key)) as events:
            async for event in events:
                yield event

    def _body(self, request: ProviderRequest) -> bytes:
        return b"{" + b",".join(b'"%s":%s' % field for field in self._fields(request)) + b"}"

    def _fields(self, request: ProviderRequest) -> Iterator[tuple[bytes, bytes]]:
        model = request.model or self.model
        if not model:
            raise _errors.no_model(self._config)
        conversation = self._conversation.write(request.messages)
        yield b"model", dump(model)
        yield b"max_tokens", dump(self._max_tokens)
        if conversation.system:
            yield b"system", conversation.system
        yield b"messages", conversation.messages
        yield b"stream", b"true"
        if request.tools and self.traits.has_tools:
            yield b"tools", tools_on_wire(request.tools, prompt_cache=self._config.prompt_cache)
        yield from self._thinking(allowed=conversation.allows_thinking)

    @property
    def _max_tokens(self) -> int:
        """The limit covers thinking too, so a budget that would leave nothing is put on top."""
        limit = self._config.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS
        budget = self._config.thinking_budget_tokens or 0
        return limit if limit > budget else limit + budget

    def _thinking(self, *, allowed: bool) -> Iterator[tuple[bytes, bytes]]:
        thinking: JsonValue = None
        if self._config.effort:
            thinking = {"type": "adaptive"}
            yield b"output_config", dump({"effort": self._config.effort})
        elif self._config.thinking_budget_tokens and allowed:
            thinking = {"type": "enabled", "budget_tokens": self._config.thinking_budget_tokens}
        if thinking is not None:
            yield b"thinking", dump(thinking)
