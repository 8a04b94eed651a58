"""The fallback chain: which model and which key answer a turn, one attempt after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.keys import KeyRest
from pipeline.provider import Provider, ProviderCatalog
from pipeline.records import AttemptStarted
from pipeline.results import Failure, Reason, is_retryable
from pipeline.state import LoopState


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One model of a chain."""

    provider: Provider
    model: str

    @property
    def name(self) -> tuple[str, str]:
        return self.provider.name, self.model


def chain_of(catalog: ProviderCatalog, wanted: str) -> tuple[Entry, ...]:
    """The models of a turn in order: the one that the channel chose, then the operator's chain, a model as often as it
    is named there."""
    chain = [Entry(provider=provider, model=model) for provider, model in catalog.chain]
    chosen = catalog.find(wanted) if wanted else None
    if chosen is None:
        return tuple(chain)
    first = Entry(provider=chosen[0], model=chosen[1])
    rest = [entry for at, entry in enumerate(chain) if entry.name != first.name or at > 0]
    return (first, *rest)


def next_attempt(chain: Sequence[Entry], state: LoopState, keys: KeyRest) -> AttemptStarted | None:
    """The attempt to begin now: the first, or the next after one that failed; None when there is nothing left to try.

    After an error of the provider the other keys of the same entry come first, those that rest excepted; after
    silence, or a request that this model will never take, the next entry. A stop begins an attempt too, which it ends
    before anybody is asked.
    """
    last, ending = state.attempt, state.ending
    if last is None:
        return _begin(chain, 0, 1, keys) if ending is None else None
    if ending is None or not is_retryable(ending.status, ending.reason):
        return None
    failure = state.passes[-1].failure if state.passes else Failure.TRANSIENT
    if ending.reason is Reason.PROVIDER and failure is not Failure.REQUEST:
        tried = {attempt.key for attempt in state.attempts if attempt.entry == last.entry} | {last.key}
        for key in keys.order(last.provider, _keys_of(chain, last)):
            if key not in tried and not keys.is_resting(last.provider, key):
                return AttemptStarted(n=last.n + 1, provider=last.provider, model=last.model, entry=last.entry, key=key)
    following = last.entry + 1
    while (
        failure is Failure.REQUEST and following < len(chain) and chain[following].name == (last.provider, last.model)
    ):
        following += 1
    return _begin(chain, following, last.n + 1, keys)


def _begin(chain: Sequence[Entry], entry: int, n: int, keys: KeyRest) -> AttemptStarted | None:
    if entry >= len(chain):
        return None
    provider, model = chain[entry].provider, chain[entry].model
    key = keys.order(provider.name, provider.traits.keys)[0]
    return AttemptStarted(n=n, provider=provider.name, model=model, entry=entry, key=key)


def _keys_of(chain: Sequence[Entry], attempt: AttemptStarted) -> int:
    named = (entry.provider.traits.keys for entry in chain if entry.provider.name == attempt.provider)
    return next(named, 1)
