"""Finds what control names: people and channels by name or id."""

from __future__ import annotations

from typing import Any

from bot.preview.backend import Backend
from bot.preview.permissions import P, can
from bot.preview.rest.channels import direct_channel
from bot.preview.values import Channel, Guild, Json, Message, Role, User


class ControlError(Exception):
    """Control says no: an HTTP status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def field(body: Json, name: str) -> Any:
    """A field that must be there. Raises ControlError."""
    if body.get(name) is None:
        raise ControlError(400, f"{name} is missing")
    return body[name]


def user_of(backend: Backend, named: object) -> User:
    """A user by id or name. Raises ControlError when nobody is called so."""
    text = str(named)
    found = backend.world.users.get(text)
    found = found or next((user for user in backend.world.users if user.username == text), None)
    if found is None:
        raise ControlError(404, f"there is no user {text}")
    return found


def channel_of(backend: Backend, named: object) -> Channel:
    """A channel by id or name (`#` may stand before it). `@alice` is the direct message with alice, opened now."""
    text = str(named)
    if text.startswith("@"):
        return direct_channel(backend, user_of(backend, text[1:]).id)
    found = backend.world.channels.get(text)
    name = text.removeprefix("#")
    found = found or next((channel for channel in backend.world.channels if channel.name == name), None)
    if found is None:
        raise ControlError(404, f"there is no channel {text}")
    return found


def message_of(backend: Backend, message_id: object, viewer: User | None = None) -> Message:
    """A message, if `viewer` sees it. Raises ControlError."""
    message = backend.world.messages.get(str(message_id))
    if message is None or (viewer is not None and message.viewer_id not in (None, viewer.id)):
        raise ControlError(404, f"there is no message {message_id}")
    return message


def role_of(backend: Backend, guild_id: str, named: object) -> Role:
    """A role of a guild by id or name. Raises ControlError."""
    for role in backend.world.roles_of(guild_id):
        if str(named) in (role.id, role.name):
            return role
    raise ControlError(404, f"there is no role {named}")


def guild_of(backend: Backend, named: object | None) -> Guild:
    """A guild by id or name; without a name the first one. Raises ControlError."""
    for guild in backend.world.guilds:
        if named is None or str(named) in (guild.id, guild.name):
            return guild
    raise ControlError(404, f"there is no guild {named}")


def require(backend: Backend, channel: Channel, user: User, needed: int, what: str) -> None:
    """Raises ControlError 403 when a person may not do `what` in a channel."""
    if not can(backend.world, channel, user.id, P.VIEW_CHANNEL | needed):
        raise ControlError(403, f"{user.username} may not {what} in {channel.name or 'this direct message'}")
