"""A provider's refusals in words that people can act on."""

from __future__ import annotations

import re

from pipeline.errors import ProviderRejected, ProviderUnreachable, StreamCut
from pipeline.providers._config import ProviderConfig
from pipeline.providers._json import object_of, parse_object, text_of
from tools.output import scrub

_MESSAGE_CHARS = 200
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|xai|gsk|key|AIza)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|\bBearer\s+\S+", re.ASCII)
_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f]+")

_TRY_LATER = "Try again in a minute; if it goes on, look at the provider's status page."
_ADVICE = {
    400: "The provider did not understand the request: check the model's name and the options of this provider.",
    402: "The account has no credit left: add some at the provider, or use another model.",
    403: "The key may not use this model: check what the account is allowed, or use another model.",
    404: "Check the model's name and the base URL of this provider.",
    408: _TRY_LATER,
    413: "The conversation is too long for this provider: start afresh with /clear.",
    422: "The provider did not understand the request: check the model's name and the options of this provider.",
    429: "Too many requests or the quota is used up: wait a little, or raise the plan at the provider.",
}


def is_transient(status: int) -> bool:
    """May the same request succeed a moment later?"""
    return status in {408, 429} or status >= 500


def rejected(config: ProviderConfig, status: int, message: str) -> ProviderRejected:
    """The error for `status` (HTTP's, or its likeness inside a stream) and the provider's own words."""
    words = _clean(config, message)
    return ProviderRejected(
        f"{config.name} answered with error {status}" + (f": {words}" if words else "."),
        provider=config.name,
        advice=_advice(config, status),
        transient=is_transient(status),
        status=status,
    )


def no_model(config: ProviderConfig) -> ProviderRejected:
    return ProviderRejected(
        f"No model is set for {config.name}.",
        provider=config.name,
        advice=f"Set PROVIDERS__{config.name.upper()}__MODEL, or name one with /model.",
        transient=False,
    )


def not_a_stream(config: ProviderConfig, content_type: str) -> ProviderRejected:
    return ProviderRejected(
        f"{config.name} answered with {_clean(config, content_type) or 'something'} instead of a stream of events.",
        provider=config.name,
        advice="Check the base URL of this provider: it seems to lead to something other than its API.",
        transient=False,
    )


def unreachable(config: ProviderConfig, reason: str, *, transient: bool = True) -> ProviderUnreachable:
    return ProviderUnreachable(
        f"{config.name} cannot be reached: {_clean(config, reason)}",
        provider=config.name,
        advice="Check the network and the base URL of this provider, then try again.",
        transient=transient,
    )


def cut(config: ProviderConfig, reason: str = "the stream ended too early", *, transient: bool = True) -> StreamCut:
    return StreamCut(
        f"The answer of {config.name} broke off: {reason}.",
        provider=config.name,
        advice="Ask again: what was begun was not carried out.",
        transient=transient,
    )


def message_in(body: str) -> str:
    """The provider's own words in the body of an error answer, whichever of the usual shapes it has."""
    data = parse_object(body)
    if data is None:
        return "" if body.lstrip().startswith("<") else body
    error = data.get("error")
    for found in (object_of(error).get("message"), error, data.get("message"), data.get("detail")):
        if text := text_of(found):
            return text
    return ""


def _advice(config: ProviderConfig, status: int) -> str:
    if status == 401:
        variable = f" in {config.key_variable}" if config.key_variable else ""
        return f"Check the API key of {config.name}{variable}."
    if 300 <= status < 400:
        return "The address has moved: check the base URL of this provider."
    if status >= 500:
        return _TRY_LATER
    return _ADVICE.get(status, _ADVICE[400])


def _clean(config: ProviderConfig, text: str) -> str:
    """`text` on one line, without the key or anything like one, at most 200 characters."""
    for key in filter(None, config.keys):
        text = text.replace(key, "[key]")
    text = _KEY_LIKE.sub("[key]", _INVISIBLE.sub(" ", scrub(text))).strip()
    return text if len(text) <= _MESSAGE_CHARS else text[: _MESSAGE_CHARS - 1] + "…"
