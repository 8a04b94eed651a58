"""What is known of NovelAI's text models, and how they are asked to choose their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import JsonValue


class Side(StrEnum):
    """Which of the two APIs answers for a model. The other one refuses it."""

    CHAT = "chat"
    SCRIPT = "script"
    """Models that only continue a text: they are given the conversation as a script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How words are chosen; None leaves it to the server. A `top_k` or `min_p` of zero means "off" and is left out,
    because the server takes a zero by its word."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int = 0
    min_p: float = 0.0
    frequency_penalty: float | None = None
    presence_penalty: float | None = None

    def fields(self) -> Iterator[tuple[str, JsonValue]]:
        """The fields of a request, those that say something."""
        yield from _given(temperature=self.temperature, top_p=self.top_p)
        yield from _given(top_k=self.top_k or None, min_p=self.min_p or None)
        yield from _given(frequency_penalty=self.frequency_penalty, presence_penalty=self.presence_penalty)


def _given(**values: float | None) -> Iterator[tuple[str, JsonValue]]:
    yield from ((name, value) for name, value in values.items() if value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """`context_tokens` holds the request and the answer, `max_output_tokens` is the most that one answer may have,
    `chars_per_token` turns either into characters. `preamble` begins every input of a model that wants one."""

    side: Side
    context_tokens: int
    chars_per_token: float
    max_output_tokens: int = 150
    preamble: str = ""
    sampling: Sampling = field(default_factory=Sampling)

    def input_chars(self, output_tokens: int) -> int:
        """How many characters a request may have that leaves room for `output_tokens`."""
        return int(max(0, self.context_tokens - output_tokens) * self.chars_per_token)


_GLM = ModelFacts(side=Side.CHAT, context_tokens=12288, chars_per_token=2.5)
_KAYRA = ModelFacts(side=Side.SCRIPT, context_tokens=8192, chars_per_token=3.5)
_ERATO = ModelFacts(
    side=Side.SCRIPT,
    context_tokens=8192,
    chars_per_token=3.5,
    preamble="<|startoftext|><|reserved_special_token81|>",
)
MODELS: Mapping[str, ModelFacts] = {
    "glm-4-6": _GLM,
    "xialong-v1": _GLM,
    "kayra-v1": _KAYRA,
    "clio-v1": _KAYRA,
    "llama-3-erato-v1": _ERATO,
}
UNKNOWN = _GLM
"""What is assumed of a model that is not in the table: new ones are added to the chat side only."""


def facts_of(model: str, table: Mapping[str, ModelFacts] = MODELS) -> ModelFacts:
    return table.get(model.strip().casefold(), UNKNOWN)
