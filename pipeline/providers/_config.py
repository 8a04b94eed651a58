"""What an operator says about one provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """One configured provider.

    `name` is the operator's, `kind` the adapter's module. An empty `base_url` or `model` stands for the adapter's
    default. `max_output_tokens` of None leaves the limit to the server where its API allows that.
    `thinking_budget_tokens` asks for thinking with a fixed budget, `effort` (`low`, `medium`, `high`, ...) for
    thinking that the model measures itself; each is sent only by adapters whose API knows it. `output_limit_field`
    overrides what an OpenAI-compatible server calls the output limit. `key_variable` is where people set the key: it
    is named in advice. `verbatim_tools`: the model can only write its calls as text, of which `text_call_max_chars` are
    held back until it is sure what they are. `more_keys` are used where `api_key` fails. Raises
    ValueError, with a sentence for people, where a value can never work.
    """

    name: str
    kind: str
    base_url: str = ""
    api_key: SecretStr | None = None
    more_keys: tuple[SecretStr, ...] = ()
    model: str = ""
    max_output_tokens: int | None = None
    retry_attempts: int = 3
    thinking_budget_tokens: int | None = None
    effort: str | None = None
    prompt_cache: bool = True
    sees_images: bool = True
    has_tools: bool = True
    output_limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    verbatim_tools: bool = False
    text_call_max_chars: int = 8192
    key_variable: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if self.base_url and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError(f"the base URL of provider {self.name} has to start with http:// or https:// and a host")
        if any(not _may_be_a_key(key) for key in self.keys):
            raise ValueError(f"the API key of provider {self.name} holds characters that no key has")

    @property
    def keys(self) -> tuple[str, ...]:
        """All API keys in the clear, at least one, perhaps empty: only for the headers they go into."""
        first = self.api_key.get_secret_value().strip() if self.api_key is not None else ""
        return first, *(key.get_secret_value().strip() for key in self.more_keys)

    @property
    def key(self) -> str:
        """The first of `keys`."""
        return self.keys[0]


def _may_be_a_key(key: str) -> bool:
    return key.isascii() and (key.isprintable() or not key) and " " not in key
