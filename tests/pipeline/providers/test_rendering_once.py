"""A message is rendered once, however many passes show it."""

from __future__ import annotations

import gc

from pipeline.messages import Message, ToolMessage, UserMessage
from pipeline.providers._wire import RenderCache


class Counting:
    def __init__(self) -> None:
        self.rendered: list[str] = []

    def __call__(self, message: Message) -> bytes:
        text = message.content if isinstance(message, ToolMessage) else message.text
        self.rendered.append(text)
        return text.encode()


def test_every_message_is_rendered_once_over_many_passes() -> None:
    render = Counting()
    cache = RenderCache(render)
    messages: list[Message] = []
    for number in range(50):
        messages.append(UserMessage(text=str(number)))
        assert [cache(message) for message in messages] == [str(n).encode() for n in range(number + 1)]
    assert render.rendered == [str(number) for number in range(50)]


def test_equal_messages_are_told_apart_by_identity() -> None:
    render = Counting()
    cache = RenderCache(render)
    one, other = UserMessage(text="same"), UserMessage(text="same")
    cache(one), cache(other), cache(one)
    assert render.rendered == ["same", "same"]


def test_what_nobody_holds_is_forgotten() -> None:
    cache = RenderCache(Counting())
    kept = UserMessage(text="kept")
    cache(kept)
    for number in range(100):
        cache(UserMessage(text=str(number)))
    gc.collect()
    assert len(cache) == 1
    assert cache(kept) == b"kept"
