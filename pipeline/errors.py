"""The errors of the core.

CountersignError
├── ProviderError               a provider could not answer; `transient` says whether another try may help
│   ├── ProviderUnreachable     no connection, or it broke before the first event
│   ├── ProviderRejected        the provider answered with an error status (or one inside the stream)
│   └── StreamCut               the stream ended in the middle of an answer
├── Conflict                    somebody else appended to this turn first
└── StoreError                  the database cannot be opened or is from a newer version
"""

from __future__ import annotations


class CountersignError(Exception):
    """Base of all errors raised on purpose. The message is fit to be shown to a person."""


class ProviderError(CountersignError):
    """A provider could not answer.

    `advice` is one sentence for people that says what they can do. `status` is the HTTP status where there was one.
    """

    def __init__(self, message: str, *, provider: str, advice: str, transient: bool, status: int | None = None) -> None:
        super().__init__(message)
        self.provider = provider
        self.advice = advice
        self.transient = transient
        self.status = status


class ProviderUnreachable(ProviderError):
    """No connection could be made, or it broke before the first event."""


class ProviderRejected(ProviderError):
    """The provider answered with an error, as a status or inside the stream."""


class StreamCut(ProviderError):
    """The stream ended in the middle of an answer."""


class Conflict(CountersignError):
    """Another writer has appended to this turn since it was read."""


class StoreError(CountersignError):
    """The database cannot be opened, is in use by another bot, or was written by a newer version."""
