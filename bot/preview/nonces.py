"""Remembers nonces, so that a create that is sent twice makes one message."""

from __future__ import annotations

from bot.preview.clock import Clock

KEPT_S = 300.0  # "the past few minutes", https://discord.com/developers/docs/resources/message#create-message


class Nonces:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], tuple[float, str]] = {}

    def find(self, channel_id: str, nonce: str | int) -> str | None:
        """The id of the message that was made with this nonce a little while ago."""
        when, message_id = self._known.get((channel_id, str(nonce)), (0.0, ""))
        return message_id if message_id and self._clock.monotonic() - when <= KEPT_S else None

    def remember(self, channel_id: str, nonce: str | int, message_id: str) -> None:
        now = self._clock.monotonic()
        for key, (when, _) in list(self._known.items()):
            if now - when <= KEPT_S:
                break
            del self._known[key]
        self._known[(channel_id, str(nonce))] = (now, message_id)
