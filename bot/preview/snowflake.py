"""Snowflakes: Discord's ids, which carry their time."""

from __future__ import annotations

from bot.preview.clock import Clock

EPOCH_MS = 1_420_070_400_000  # 2015-01-01, https://discord.com/developers/docs/reference#snowflakes


class Snowflakes:
    """Makes ids that only grow, also over a restart: `seen` tells it what exists already."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def next(self) -> str:
        """A new id, the way it stands in JSON."""
        now = (int(self._clock.time() * 1000) - EPOCH_MS) << 22
        self._last = max(now, self._last + 1)
        return str(self._last)

    def seen(self, snowflake: str) -> None:
        """Never make an id at or below this one."""
        self._last = max(self._last, int(snowflake))


def created_at(snowflake: str) -> float:
    """The Unix time in seconds at which an id was made."""
    return ((int(snowflake) >> 22) + EPOCH_MS) / 1000
