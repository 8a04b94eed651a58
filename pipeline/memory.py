"""The port to what the bot notes for itself about a channel, from one turn to the next."""

from __future__ import annotations

from typing import Protocol

MEMORY_TTL_S = 7 * 24 * 3600.0
"""How long a note is kept without a newer one."""


class ShortTermMemory(Protocol):
    """One short note a channel. `Conversations.clear` forgets it too."""

    async def recall(self, channel: str) -> str:
        """The note about a channel; empty when there is none or it is older than `MEMORY_TTL_S` seconds."""
        ...

    async def note(self, channel: str, text: str) -> None:
        """Keep `text` instead of what was noted before; an empty text forgets it."""
        ...
