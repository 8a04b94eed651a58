"""The pictures that tools add to a turn: stored once, shown to the provider in the same message at every pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.journal import Blobs
from pipeline.messages import CONTEXT_HEAD, ContextMessage, Image, Message, TurnMessage, UserMessage


class Pictures:
    """Keeps pictures for one attempt at a turn."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._known: dict[ContextMessage, UserMessage] = {}

    async def keep(self, images: Mapping[str, Image]) -> None:
        """Store pictures under their ids, before a record names these."""
        if images:
            await self._blobs.keep(images)

    async def resolve(self, messages: Sequence[TurnMessage]) -> Sequence[Message]:
        """`messages` as a provider is sent them: context becomes a user's message, the same object every time."""
        return [await self._shown(m) if isinstance(m, ContextMessage) else m for m in messages]

    async def _shown(self, message: ContextMessage) -> UserMessage:
        if message not in self._known:
            images = tuple(await self._blobs.images(message.images))
            self._known[message] = UserMessage(text=f"{CONTEXT_HEAD}\n{message.text}".strip(), images=images)
        return self._known[message]
