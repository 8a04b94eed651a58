"""Usage in money. Prices come from the bundled data of `genai-prices`; an operator's own prices go first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from genai_prices import Usage as PricedUsage
from genai_prices import calc_price

from pipeline.messages import Usage
from pipeline.results import PassUsage

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """An operator's price of a model, in USD for a million tokens."""

    input: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """A sum in USD. `unpriced` names the models whose price nobody knows: then the true sum is higher."""

    usd: Decimal
    unpriced: tuple[str, ...] = ()


def price_of(usage: Usage, model: str, overrides: Mapping[str, ModelPrice]) -> Decimal | None:
    """What `usage` cost with `model`, in USD; None where no price is known.

    An override counts when it is the model's name or the longest beginning of it. A vendor's prefix
    (`vendor/model`) is left off where the whole name is unknown.
    """
    own = max((name for name in overrides if model.startswith(name)), key=len, default=None)
    if own is not None:
        price = overrides[own]
        return (usage.input_tokens * price.input + usage.output_tokens * price.output) / _MILLION
    tokens = PricedUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    for name in dict.fromkeys((model, model.rsplit("/", 1)[-1])):
        try:
            return calc_price(tokens, model_ref=name).total_price
        except (LookupError, ValueError):  # unknown, or counts that no price fits (more tokens cached than read)
            continue
    return None


def total(usages: Iterable[PassUsage], overrides: Mapping[str, ModelPrice]) -> Money:
    """The sum over all of `usages`, saying which models it could not price."""
    usd = Decimal(0)
    unpriced: dict[str, None] = {}
    for spent in usages:
        price = price_of(spent.usage, spent.model, overrides)
        if price is None:
            unpriced[spent.model] = None
        else:
            usd += price
    return Money(usd=usd, unpriced=tuple(unpriced))
