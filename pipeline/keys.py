"""Which API keys are worth a try: a key that failed rests for a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline.results import Failure

RATE_LIMIT_REST_S = 60.0
FAILURE_REST_S = 300.0


@dataclass(slots=True, kw_only=True)
class KeyRest:
    """Remembers until when each key rests, by its provider and number, for the life of the process. `now` is in
    seconds."""

    now: Callable[[], float]
    _until: dict[tuple[str, int], float] = field(default_factory=dict)

    def failed(self, provider: str, key: int, failure: Failure) -> None:
        """Let a key rest after an error; one that no key could have avoided does not count."""
        if failure in (Failure.RATE_LIMITED, Failure.KEY, Failure.TRANSIENT):
            rest = RATE_LIMIT_REST_S if failure is Failure.RATE_LIMITED else FAILURE_REST_S
            self._until[provider, key] = self.now() + rest

    def succeeded(self, provider: str, key: int) -> None:
        self._until.pop((provider, key), None)

    def order(self, provider: str, count: int) -> tuple[int, ...]:
        """The numbers of a provider's keys, rested ones first, then by how soon their rest ends. None is left out: a
        tired key is better than no answer."""
        now = self.now()
        return tuple(sorted(range(max(count, 1)), key=lambda key: max(self._until.get((provider, key), 0.0) - now, 0)))

    def is_resting(self, provider: str, key: int) -> bool:
        return self._until.get((provider, key), 0.0) > self.now()
