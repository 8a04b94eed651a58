"""Channels: look, change, delete, open a direct one."""

from __future__ import annotations

from dataclasses import replace

from bot.preview.backend import Backend
from bot.preview.errors import Problems, error
from bot.preview.permissions import P
from bot.preview.rest.access import open_channel, open_guild
from bot.preview.router import NO_CONTENT, Answer, Call, Route
from bot.preview.values import DM, GUILD_TEXT, Channel, Json
from bot.preview.wire import channel_object

_IN_CHANNEL = ("name", "topic", "nsfw", "position", "parent_id", "rate_limit_per_user")
_IN_THREAD = ("name", "rate_limit_per_user", "archived", "locked", "auto_archive_duration")
ARCHIVE_MINUTES = (60, 1440, 4320, 10080)


def get(backend: Backend, call: Call) -> Answer:
    return Answer(body=channel_object(backend.world, open_channel(backend, call["channel_id"])))


def modify(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"])
    if channel.guild_id is None:
        raise error(50003)
    own_thread = channel.is_thread and channel.owner_id == backend.world.bot_id
    if not own_thread:
        open_channel(backend, channel.id, P.MANAGE_THREADS if channel.is_thread else P.MANAGE_CHANNELS)
    body = call.fields
    if channel.archived and body.get("archived") is not False:
        raise error(50083)
    return Answer(body=change(backend, channel, body))


def change(backend: Backend, channel: Channel, body: Json) -> Json:
    """Check and write the fields of a channel that are there; returns the channel object. Raises DiscordError 50035."""
    problems = Problems()
    problems.length(("name",), body.get("name"), 1, 100)
    problems.length(("topic",), body.get("topic"), 0, 1024)
    slow = body.get("rate_limit_per_user") or 0
    if not isinstance(slow, int) or not 0 <= slow <= 21_600:
        problems.add(("rate_limit_per_user",), "NUMBER_TYPE_MAX", "int value should be between 0 and 21600.")
    check_archive_minutes(problems, body)
    _check_overwrites(problems, body)
    problems.raise_any()
    allowed = _IN_THREAD if channel.is_thread else _IN_CHANNEL
    changes = {name: value for name, value in body.items() if name in allowed}
    if "name" in changes and not channel.is_thread:
        changes["name"] = "-".join(str(changes["name"]).lower().split())
    if "permission_overwrites" in body and not channel.is_thread:
        changes["overwrites"] = [overwrite(entry) for entry in body["permission_overwrites"] or ()]
    if "archived" in changes:
        changes["archive_timestamp"] = backend.clock.isoformat()
    changed = backend.world.channels.put(replace(channel, **changes))
    backend.events.channel("update", changed)
    return channel_object(backend.world, changed)


def overwrite(entry: Json) -> Json:
    """A permission overwrite with both fields, as strings."""
    bits = {name: str(int(entry.get(name) or 0)) for name in ("allow", "deny")}
    return {"id": str(entry["id"]), "type": int(entry.get("type", 0)), **bits}


def _check_overwrites(problems: Problems, body: Json) -> None:
    for place, entry in enumerate(body.get("permission_overwrites") or ()):
        if not isinstance(entry, dict) or not str(entry.get("id")).isdecimal():
            problems.add(("permission_overwrites", place, "id"), "BASE_TYPE_REQUIRED", "This field is required")


def check_archive_minutes(problems: Problems, body: Json) -> None:
    minutes = body.get("auto_archive_duration")
    if minutes is not None and minutes not in ARCHIVE_MINUTES:
        problems.add(("auto_archive_duration",), "BASE_TYPE_CHOICES", f"Value must be one of {ARCHIVE_MINUTES}.")


def delete(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"])
    if channel.guild_id is None:
        return Answer(body=channel_object(backend.world, channel))
    open_channel(backend, channel.id, P.MANAGE_THREADS if channel.is_thread else P.MANAGE_CHANNELS)
    return Answer(body=remove(backend, channel))


def remove(backend: Backend, channel: Channel) -> Json:
    """Delete a channel with its messages and threads; returns what it was."""
    body = channel_object(backend.world, channel)
    for thread in [other for other in backend.world.channels if other.parent_id == channel.id and other.is_thread]:
        remove(backend, thread)
    backend.events.channel("delete", channel)
    backend.world.messages.remove_channel(channel.id)
    backend.world.channels.remove(channel.id)
    return body


def create(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    body = call.fields
    problems = Problems()
    problems.required(("name",), body.get("name"), 1, 100)
    _check_overwrites(problems, body)
    problems.raise_any()
    if body.get("type", 0) != GUILD_TEXT:
        raise error(50024)
    channel = Channel(
        id=backend.ids.next(),
        guild_id=guild.id,
        name=body["name"],
        topic=body.get("topic"),
        position=len(backend.world.channels_of(guild.id)),
        overwrites=[overwrite(entry) for entry in body.get("permission_overwrites") or ()],
    )
    backend.events.channel("create", backend.world.channels.put(channel))
    return Answer(status=201, body=channel_object(backend.world, channel))


def open_direct(backend: Backend, call: Call) -> Answer:
    """`POST /users/@me/channels`. Raises DiscordError: 10013 for nobody, 50007 for the bot itself."""
    user_id = str(call.fields.get("recipient_id"))
    if user_id not in backend.world.users:
        raise error(10013)
    if user_id == backend.world.bot_id:
        raise error(50007)
    return Answer(body=channel_object(backend.world, direct_channel(backend, user_id)))


def direct_channel(backend: Backend, user_id: str) -> Channel:
    """The direct message with a person, opened now if it was not."""
    channel = backend.world.direct_channel(user_id)
    if channel is None:
        channel = backend.world.channels.put(Channel(id=backend.ids.next(), type=DM, recipient_id=user_id))
        backend.events.channel("create", channel)
    return channel


def set_overwrite(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.MANAGE_ROLES)
    entry = overwrite({**call.fields, "id": call["overwrite_id"]})
    others = [other for other in channel.overwrites if other["id"] != entry["id"]]
    backend.events.channel("update", backend.world.channels.put(replace(channel, overwrites=[*others, entry])))
    return NO_CONTENT


ROUTES = (
    Route(method="GET", template="/channels/{channel_id}", handler=get),
    Route(method="PATCH", template="/channels/{channel_id}", handler=modify),
    Route(method="DELETE", template="/channels/{channel_id}", handler=delete),
    Route(method="PUT", template="/channels/{channel_id}/permissions/{overwrite_id}", handler=set_overwrite),
    Route(method="POST", template="/guilds/{guild_id}/channels", handler=create),
    Route(method="POST", template="/users/@me/channels", handler=open_direct),
)
