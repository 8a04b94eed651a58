"""The port to reminders: what is to be said later, to whom, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

MAX_OPEN_REMINDERS = 20
"""How many reminders of one person may wait at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """What a person asked to be told. `message` is the id of the message in which they did, `due` and `tried_at` epoch
    seconds; `tried_at` is None until its delivery is first begun."""

    reminder: str
    user: str
    channel: str
    guild: str
    message: str
    text: str
    due: float
    tried_at: float | None = None


def reminder_id(message: str, text: str, when: str) -> str:
    """The same for a call that is repeated after a crash, so that it is one reminder. `when` is as it was asked for."""
    return blake2b(f"{message}\0{when}\0{text}".encode(), digest_size=6).hexdigest()


class Reminders(Protocol):
    """Every method is one commit."""

    async def add(self, reminder: Reminder) -> bool:
        """Write a reminder; one that is known already stays as it is. False when the person has
        `MAX_OPEN_REMINDERS` waiting."""
        ...

    async def open(self, user: str) -> Sequence[Reminder]:
        """What waits for a person, the earliest first."""
        ...

    async def due(self, now: float) -> Sequence[Reminder]:
        """What waits and is due at epoch second `now`, the earliest first."""
        ...

    async def next_due(self, now: float) -> float | None:
        """The epoch second at which the next one after `now` is due; None when there is none."""
        ...

    async def tried(self, reminder: str, at: float) -> None:
        """The delivery begins, at epoch second `at`; only the first time counts."""
        ...

    async def close(self, reminder: str) -> bool:
        """It was delivered, given up or cancelled. False when it did not wait."""
        ...
