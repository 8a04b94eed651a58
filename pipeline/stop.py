"""A soft stop: a value that stages look at and can be woken by, never an exception."""

from __future__ import annotations

from collections.abc import Callable


class StopSignal:
    """Says that somebody wants this turn to end. The reason is in the journal (`StopRequested`), not here."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self.requested = False
        self.is_follow_up = False

    def request(self, *, follow_up: bool = False) -> None:
        """Ask the running stage to end soon, since the person wrote on (`follow_up`) or wants an end. Asking twice is
        the same as once; an end outdoes a follow-up."""
        self.is_follow_up = follow_up and (self.is_follow_up or not self.requested)
        if not self.requested:
            self.requested = True
            for listener in tuple(self._listeners):
                listener()

    def listening(self, listener: Callable[[], None]) -> _Listening:
        """In this block, call `listener` (cheap, synchronous) when a stop comes; at once if it has come already."""
        return _Listening(self, self._listeners, listener)


class _Listening:
    def __init__(self, signal: StopSignal, listeners: list[Callable[[], None]], listener: Callable[[], None]) -> None:
        self._signal = signal
        self._listeners = listeners
        self._listener = listener

    def __enter__(self) -> None:
        self._listeners.append(self._listener)
        if self._signal.requested:
            self._listener()

    def __exit__(self, *_: object) -> None:
        self._listeners.remove(self._listener)
