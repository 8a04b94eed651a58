"""The life of an interaction: three seconds for the first acknowledgement, fifteen minutes for the token.

Source: https://discord.com/developers/docs/interactions/receiving-and-responding#responding-to-an-interaction
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from bot.preview.clock import Clock, Timer
from bot.preview.snowflake import created_at
from bot.preview.values import Interaction, Json

ACK_S = 3.0
TOKEN_S = 15 * 60.0

COMMAND, COMPONENT, MODAL_SUBMIT = 2, 3, 5


class Callback(IntEnum):
    """The callback types that the twin answers."""

    MESSAGE = 4
    DEFERRED = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    MODAL = 9

    @property
    def kind(self) -> str:
        """The word control uses."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """What a person gets to see first: `kind` is a callback's word, or `failed` when none came in time."""

    kind: str
    message: Json | None = None
    modal: Json | None = None


class Interactions:
    """Those who wait for a first acknowledgement."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[str, tuple[asyncio.Future[Acknowledgement], Timer]] = {}

    def wait(self, interaction_id: str, failed: Callable[[], None]) -> asyncio.Future[Acknowledgement]:
        """The first acknowledgement; after three seconds without one `failed` is called and the kind is `failed`."""
        future: asyncio.Future[Acknowledgement] = asyncio.get_running_loop().create_future()

        def too_late() -> None:
            self.settle(interaction_id, Acknowledgement(kind="failed"))
            failed()

        self._waiting[interaction_id] = (future, self._clock.call_later(ACK_S, too_late))
        return future

    def settle(self, interaction_id: str, acknowledgement: Acknowledgement) -> None:
        """Hand over the acknowledgement, if somebody still waits."""
        future, timer = self._waiting.pop(interaction_id, (None, None))
        if timer is not None:
            timer.cancel()
        if future is not None and not future.done():
            future.set_result(acknowledgement)

    def age_s(self, interaction: Interaction) -> float:
        """Seconds since it was made."""
        return self._clock.time() - created_at(interaction.id)

    def close(self) -> None:
        for future, timer in self._waiting.values():
            timer.cancel()
            future.cancel()
        self._waiting.clear()
