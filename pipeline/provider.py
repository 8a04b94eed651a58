"""The port to language models. Adapters are the modules of `pipeline.providers`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import JsonValue

from pipeline.messages import Message, Replay, Usage


class Finish(StrEnum):
    """Why a provider ended a pass. Calls are taken whatever it says."""

    END = "end"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    REFUSED = "refused"
    OTHER = "other"
    ENDLESS = "endless"  # the model did not end, so we did


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer, never ending in the middle of a character."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Something arrived that shows nothing (a keep-alive, a piece of a call): it only keeps the pass alive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReported:
    """The usage of this pass so far; a later one replaces an earlier one."""

    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A complete call. `arguments` is JSON text as received, `{}` where the model sent none."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassEnded:
    """The last event of every stream that ended well. `model` is what the provider says answered."""

    finish: Finish
    calls: tuple[CallRequest, ...] = ()
    replay: Replay | None = None
    model: str = ""


StreamEvent = TextDelta | ThinkingDelta | Progress | UsageReported | PassEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool as a model sees it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """One pass: the whole conversation so far, oldest first, and the tools that may be called.

    `key` is the number of the API key to use, of `ProviderTraits.keys`. The messages are append-only between the passes
    of a turn and passed by reference, so an adapter may keep what it rendered for each.
    """

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    key: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTraits:
    """A provider's habits, as data: nothing outside its adapter asks for its name."""

    sees_images: bool = True
    has_tools: bool = True
    keys: int = 1
    """How many keys it has: an attempt names one by its number."""
    ends_after_text: bool = False
    """Text before a tool call is the answer: the turn ends after the tool, unless that brings something to tell."""
    hides_retries: bool = False
    """After a tool failed behind visible text, what it says until one succeeds is not shown."""
    has_details: bool = False
    """Its answers carry `<details>` blocks that are kept and not shown."""


class Provider(Protocol):
    """A language model behind some API.

    `name` is the operator's (`PROVIDERS__<NAME>__`), `model` the default where a request names none.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def traits(self) -> ProviderTraits: ...

    def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent]:
        """The events of one pass, ending with exactly one `PassEnded`.

        Close the generator (`aclosing`) to abort; that closes the connection. Only the opening is retried.
        Raises `ProviderUnreachable`, `ProviderRejected` or `StreamCut`; then no call of this pass may run.
        """
        ...


class ProviderCatalog(Protocol):
    """Finds the provider and model for a turn."""

    @property
    def default(self) -> Provider: ...

    def find(self, name: str) -> tuple[Provider, str] | None:
        """`provider/model` (split at the first slash), or a provider's or model's bare name; None if unknown."""
        ...

    @property
    def chain(self) -> Sequence[tuple[Provider, str]]:
        """The operator's fallback chain of providers and models, never empty; the first answers as a rule."""
        ...

    def choices(self) -> Sequence[str]:
        """Every `provider/model` that is configured, the default first."""
        ...
