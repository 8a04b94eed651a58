"""A soft stop: a value that stages look at and can be woken by, never an exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class StopSignal:
    """Says that somebody wants this turn to end. The reason is in the journal (`StopRequested`), not here."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self.requested = False

    def request(self) -> None:
        """Ask the running stage to end soon. Asking twice is the same as once."""
        if not self.requested:
            self.requested = True
            for listener in tuple(self._listeners):
                listener()

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call `listener` (cheap, synchronous) when a stop comes, at once if it has come already."""
        self._listeners.append(listener)
        try:
            if self.requested:
                listener()
            yield
        finally:
            self._listeners.remove(listener)
