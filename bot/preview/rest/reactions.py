"""Reactions. An emoji is a unicode one, or `name:id`."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from bot.preview.backend import Backend
from bot.preview.errors import error
from bot.preview.permissions import P, can
from bot.preview.rest.access import open_channel, open_message, require_unarchived
from bot.preview.router import NO_CONTENT, Answer, Call, Route
from bot.preview.values import Channel, Message
from bot.preview.wire import user_object

_SIGNS = ("So", "Me", "Cn")  # symbols, the keycap, and what is newer than this Python's Unicode
MAX_REACTIONS = 20


def add(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.READ_MESSAGE_HISTORY)
    message = open_message(backend, channel, call["message_id"])
    require_unarchived(channel)
    emoji = known_emoji(backend, call["emoji_name"])
    if emoji not in message.reactions and not can(backend.world, channel, backend.world.bot_id, P.ADD_REACTIONS):
        raise error(50013)
    react(backend, message, backend.world.bot_id, emoji)
    return NO_CONTENT


def remove_own(backend: Backend, call: Call) -> Answer:
    return _remove(backend, call, backend.world.bot_id, needed=0)


def remove_users(backend: Backend, call: Call) -> Answer:
    return _remove(backend, call, call["user_id"], needed=P.MANAGE_MESSAGES)


def clear(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.MANAGE_MESSAGES)
    _clear(backend, open_message(backend, channel, call["message_id"]), channel, None)
    return NO_CONTENT


def clear_emoji(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.MANAGE_MESSAGES)
    _clear(
        backend, open_message(backend, channel, call["message_id"]), channel, known_emoji(backend, call["emoji_name"])
    )
    return NO_CONTENT


def who(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"])
    message = open_message(backend, channel, call["message_id"])
    people = message.reactions.get(known_emoji(backend, call["emoji_name"]), ())
    return Answer(body=[user_object(user) for user in map(backend.world.users.get, people) if user])


def react(backend: Backend, message: Message, user_id: str, emoji: str) -> None:
    """Add a reaction; the same twice is one. Raises DiscordError 30010 at the twenty-first emoji."""
    people = message.reactions.get(emoji, ())
    if user_id in people:
        return
    if not people and len(message.reactions) >= MAX_REACTIONS:
        raise error(30010)
    changed = replace(message, reactions={**message.reactions, emoji: [*people, user_id]})
    backend.world.messages.put(changed)
    backend.events.reaction(added=True, message=changed, user_id=user_id, emoji=emoji)


def unreact(backend: Backend, message: Message, user_id: str, emoji: str) -> None:
    """Take a reaction away. Raises DiscordError 10014 when it is not there."""
    people = message.reactions.get(emoji, ())
    if user_id not in people:
        raise error(10014)
    left = [person for person in people if person != user_id]
    reactions = {name: list(users) for name, users in message.reactions.items() if name != emoji}
    changed = replace(message, reactions={**reactions, emoji: left} if left else reactions)
    backend.world.messages.put(changed)
    backend.events.reaction(added=False, message=changed, user_id=user_id, emoji=emoji)


def known_emoji(backend: Backend, text: str) -> str:
    """The emoji's key. Raises DiscordError 10014 for words, and for a custom emoji that no guild has."""
    if any(emoji.key == text for emoji in backend.world.emojis):
        return text
    if len(text) > 20 or not any(unicodedata.category(sign) in _SIGNS for sign in text):
        raise error(10014)
    return text


def _remove(backend: Backend, call: Call, user_id: str, needed: int) -> Answer:
    channel = open_channel(backend, call["channel_id"], 0 if user_id == backend.world.bot_id else needed)
    message = open_message(backend, channel, call["message_id"])
    unreact(backend, message, user_id, known_emoji(backend, call["emoji_name"]))
    return NO_CONTENT


def _clear(backend: Backend, message: Message, channel: Channel, emoji: str | None) -> None:
    kept = {name: users for name, users in message.reactions.items() if emoji is not None and name != emoji}
    changed = backend.world.messages.put(replace(message, reactions=kept))
    backend.events.reactions_cleared(channel, changed, emoji)


_REACTIONS = "/channels/{channel_id}/messages/{message_id}/reactions"
ROUTES = (
    Route(method="DELETE", template=_REACTIONS, handler=clear),
    Route(method="GET", template=_REACTIONS + "/{emoji_name}", handler=who),
    Route(method="DELETE", template=_REACTIONS + "/{emoji_name}", handler=clear_emoji),
    Route(method="PUT", template=_REACTIONS + "/{emoji_name}/@me", handler=add),
    Route(method="DELETE", template=_REACTIONS + "/{emoji_name}/@me", handler=remove_own),
    Route(method="DELETE", template=_REACTIONS + "/{emoji_name}/{user_id}", handler=remove_users),
)
