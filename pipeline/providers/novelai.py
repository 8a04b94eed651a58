"""NovelAI's text models: chat for the newer ones, scripts for those that only continue a text.

Source: what the public clients of https://text.novelai.net send and receive.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from urllib.parse import urlsplit, urlunsplit

import httpx
from pydantic import JsonValue

from pipeline.errors import ProviderRejected
from pipeline.provider import Provider, ProviderRequest, ProviderTraits, StreamEvent
from pipeline.providers import _errors
from pipeline.providers._config import ProviderConfig
from pipeline.providers._http import Endpoint, Sleep
from pipeline.providers._json import dump
from pipeline.providers._novelai_history import read_history
from pipeline.providers._novelai_models import MODELS, ModelFacts, Side, facts_of
from pipeline.providers._novelai_request import ChatWriter, ScriptWriter
from pipeline.providers._novelai_stream import ChatReader, ScriptReader
from pipeline.providers._text_calls import Form, TextCallParser
from pipeline.providers._wire import Reader, read_pass

DEFAULT_BASE_URL = "https://text.novelai.net"
DEFAULT_MODELS = {"text.novelai.net": "glm-4-6"}
"""The model of a host where the operator names none."""

_CHAT_PATH, _SCRIPT_PATH = "/oa/v1/chat/completions", "/ai/generate-stream"
_FORMS = frozenset({Form.GLM, Form.HERMES, Form.FUNCTION_TAG})
_ADVICE = {
    402: "The account needs an active subscription at NovelAI; or use another model.",
    403: "The account's tier does not include this model or length: use another model, or a higher tier at NovelAI.",
}


def create(config: ProviderConfig, client: httpx.AsyncClient) -> Provider:
    """The provider that `config` describes."""
    return NovelAI(config, client)


def api_url(base_url: str, path: str) -> str:
    """Where `path` of the API is; a base that names one of its paths already does not get a second one."""
    parts = urlsplit(base_url or DEFAULT_BASE_URL)
    base = parts.path.rstrip("/")
    for known in (_CHAT_PATH, "/oa/v1", _SCRIPT_PATH):
        base = base.removesuffix(known)
    return urlunsplit(parts._replace(path=base + path))


class NovelAI:
    """One account. Which side of the API answers is told by the model's name; `models` may replace what is known of
    them."""

    def __init__(
        self,
        config: ProviderConfig,
        client: httpx.AsyncClient,
        *,
        sleep: Sleep = asyncio.sleep,
        models: Mapping[str, ModelFacts] = MODELS,
    ) -> None:
        host = urlsplit(config.base_url or DEFAULT_BASE_URL).hostname or ""
        self.name = config.name
        self.model = config.model or DEFAULT_MODELS.get(host, "")
        self.traits = ProviderTraits(
            sees_images=False,
            keys=len(config.keys),
            has_tools=config.has_tools and facts_of(self.model, models).side is Side.CHAT,
            ends_after_text=True,
            hides_retries=True,
            has_details=True,
        )
        self._config = config
        self._models = models
        self._origin = f"novelai {host}"
        self._chat, self._script = ChatWriter(), ScriptWriter()
        self._endpoints = {
            side: Endpoint(
                config,
                client,
                url=api_url(config.base_url, path),
                headers={},
                key_header=("authorization", "Bearer "),
                sleep=sleep,
            )
            for side, path in ((Side.CHAT, _CHAT_PATH), (Side.SCRIPT, _SCRIPT_PATH))
        }

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent]:
        """See `Provider.stream`. An answer that ends with `Finish.LENGTH` leaves its unfinished sentence or call in
        the replay; where the conversation ends with that answer, it goes on from there."""
        model = request.model or self.model
        if not model:
            raise _errors.no_model(self._config)
        facts = facts_of(model, self._models)
        match facts.side:
            case Side.CHAT:
                fields, reader = self._as_chat(request, facts)
            case Side.SCRIPT:
                fields, reader = self._as_script(request, facts)
        body = dump({"model": model, **fields})
        try:
            async with aclosing(read_pass(self._endpoints[facts.side], body, reader, request.key)) as events:
                async for event in events:
                    yield event
        except ProviderRejected as error:
            raise _advised(error) from error

    def _as_chat(self, request: ProviderRequest, facts: ModelFacts) -> tuple[dict[str, JsonValue], Reader]:
        config = self._config
        limit = config.max_output_tokens or facts.max_output_tokens
        # The limit covers thinking too; where that has a budget, it is put on top.
        limit += config.thinking_budget_tokens or 0
        tools = request.tools if config.has_tools else ()
        history = read_history(request.messages, self._origin)
        fields: dict[str, JsonValue] = {
            "messages": self._chat.write(history, tools, facts.input_chars(limit)),
            "stream": True,
            "max_tokens": limit,
            **dict(facts.sampling.fields()),
        }
        if not config.thinking_budget_tokens and not config.effort:
            # With the short answers of this API thinking would leave no room for one: it is asked for, or off.
            fields["enable_thinking"] = False
        parser = TextCallParser(tools, forms=_FORMS) if tools else None
        return fields, ChatReader(self._origin, parser, rest=history.rest, fresh=not history.shown)

    def _as_script(self, request: ProviderRequest, facts: ModelFacts) -> tuple[dict[str, JsonValue], Reader]:
        limit = self._config.max_output_tokens or facts.max_output_tokens
        history = read_history(request.messages, self._origin)
        script = self._script.write(history, facts.preamble, facts.input_chars(limit))
        parameters: dict[str, JsonValue] = {
            "use_string": True,
            "max_length": limit,
            "prefix": "vanilla",
            **dict(facts.sampling.fields()),
        }
        reader = ScriptReader(self._origin, script.names, max_tokens=limit, rest=history.rest, fresh=not history.shown)
        return {"input": script.text, "parameters": parameters}, reader


def _advised(error: ProviderRejected) -> ProviderRejected:
    """`error` with what this vendor means by its status."""
    return ProviderRejected(
        str(error),
        provider=error.provider,
        advice=_ADVICE.get(error.status or 0, error.advice),
        transient=error.transient,
        status=error.status,
    )
