"""Pins, by their old and their new addresses."""

from __future__ import annotations

from dataclasses import replace

from bot.preview.backend import Backend
from bot.preview.errors import error
from bot.preview.permissions import P
from bot.preview.rest.access import open_channel, open_message
from bot.preview.router import NO_CONTENT, Answer, Call, Route
from bot.preview.values import Channel, Message

MAX_PINS = 50


def pinned(backend: Backend, call: Call) -> Answer:
    found = _pinned(backend, open_channel(backend, call["channel_id"]))
    return Answer(body=[backend.show(message) for message in found])


def pinned_pages(backend: Backend, call: Call) -> Answer:
    found = _pinned(backend, open_channel(backend, call["channel_id"]))
    items = [{"pinned_at": message.timestamp, "message": backend.show(message)} for message in found]
    return Answer(body={"items": items, "has_more": False})


def pin(backend: Backend, call: Call) -> Answer:
    return _set(backend, call, pinned=True)


def unpin(backend: Backend, call: Call) -> Answer:
    return _set(backend, call, pinned=False)


def _pinned(backend: Backend, channel: Channel) -> list[Message]:
    return [message for message in reversed(backend.world.messages.of(channel.id).values()) if message.pinned]


def _set(backend: Backend, call: Call, *, pinned: bool) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.MANAGE_MESSAGES)
    message = open_message(backend, channel, call["message_id"])
    if pinned and len(_pinned(backend, channel)) >= MAX_PINS:
        raise error(30003)
    changed = backend.world.messages.put(replace(message, pinned=pinned))
    backend.events.message_updated(changed)
    return NO_CONTENT


_NEW, _OLD = "/channels/{channel_id}/messages/pins", "/channels/{channel_id}/pins"
ROUTES = (
    Route(method="GET", template=_OLD, handler=pinned),
    Route(method="GET", template=_NEW, handler=pinned_pages),
    *(Route(method="PUT", template=base + "/{message_id}", handler=pin) for base in (_OLD, _NEW)),
    *(Route(method="DELETE", template=base + "/{message_id}", handler=unpin) for base in (_OLD, _NEW)),
)
