"""What the adapters over HTTP have in common: reading a pass, and rendering each message once."""

from __future__ import annotations

import re
import weakref
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Generic, Protocol, TypeVar

from pipeline.messages import Message
from pipeline.provider import PassEnded, Progress, StreamEvent
from pipeline.providers import _errors
from pipeline.providers._http import Endpoint, drain
from pipeline.providers._sse import ServerSentEvent

T = TypeVar("T")

NO_IMAGES = "(An image was attached; this model cannot see images.)"
GO_ON = "Go on."
"""What the person is made to say where a conversation would end with an answer: many APIs refuse that."""
NAMELESS = "unnamed_tool"
"""What a call without a name asks for: no such tool exists, so the model hears that it does not."""
_BAD_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9_-]")


def name_on_wire(name: str) -> str:
    """The name of a called tool as APIs accept it back, whatever the model had invented."""
    return _BAD_NAME_CHARACTERS.sub("_", name)[:64] or "_"


class ErrorInStream(Exception):
    """The provider reported an error inside the stream; `status` is what HTTP would have said."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Garbled(Exception):
    """An event that cannot be read: what it held is lost."""


class Reader(Protocol):
    """Understands the events of one pass. No I/O."""

    @property
    def may_end(self) -> bool:
        """Has the provider said why the answer ended? Without that, a stream that ends was cut."""
        ...

    @property
    def is_over(self) -> bool:
        """Is nothing more to come?"""
        ...

    def feed(self, event: ServerSentEvent) -> Iterable[StreamEvent]:
        """What `event` means. Raises ErrorInStream or Garbled."""
        ...

    def end(self) -> Iterable[StreamEvent]:
        """What was held back."""
        ...

    def result(self) -> PassEnded: ...


async def read_pass(endpoint: Endpoint, body: bytes, reader: Reader, key: int = 0) -> AsyncGenerator[StreamEvent]:
    """Post `body` with the API key number `key` and yield what `reader` makes of the answer.

    Raises what `Provider.stream` says.
    """
    config = endpoint.config
    try:
        async with aclosing(endpoint.events(body, key)) as events:
            async for event in events:
                is_silent = True
                for item in reader.feed(event) if event is not None else ():
                    is_silent = False
                    yield item
                if is_silent:
                    yield Progress()
                if reader.is_over:
                    await drain(events)
                    break
    except ErrorInStream as error:
        raise _errors.rejected(config, error.status, error.message) from error
    except Garbled as error:
        raise _errors.cut(config, "a piece of it could not be read") from error
    if not reader.may_end:
        raise _errors.cut(config)
    for item in reader.end():
        yield item
    yield reader.result()


class RenderCache(Generic[T]):
    """Renders each message once, for as long as somebody holds that message.

    Keyed by identity: messages are equal by value, and comparing long texts would cost what this saves.
    """

    def __init__(self, render: Callable[[Message], T]) -> None:
        self._render = render
        self._kept: dict[int, tuple[weakref.ref[Message], T]] = {}

    def __call__(self, message: Message) -> T:
        key = id(message)
        kept = self._kept.get(key)
        if kept is not None and kept[0]() is message:
            return kept[1]
        rendered = self._render(message)
        self._kept[key] = (weakref.ref(message, lambda gone: self._forget(key, gone)), rendered)
        return rendered

    def __len__(self) -> int:
        return len(self._kept)

    def _forget(self, key: int, gone: weakref.ref[Message]) -> None:
        # The id may belong to a younger message by now.
        kept = self._kept.get(key)
        if kept is not None and kept[0] is gone:
            del self._kept[key]
