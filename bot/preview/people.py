"""What people do in channels, for control: write, edit, delete, react, type; and what an administrator changes."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import Any

from bot.preview import posting
from bot.preview.backend import Backend
from bot.preview.lookup import ControlError, channel_of, field, guild_of, message_of, require, role_of, user_of
from bot.preview.normal import embeds
from bot.preview.permissions import P, can
from bot.preview.posting import Sender
from bot.preview.rest import channels, reactions
from bot.preview.router import Upload
from bot.preview.values import PUBLIC_THREAD, Channel, Json, Message, User
from bot.preview.wire import channel_object, member_object, message_object

PEOPLE_CONTENT = 4000  # what a subscriber may write; a bot has to take it


def say(backend: Backend, body: Json) -> Json:
    """A person writes. With `webhook: name` a webhook of the channel does, and no author is needed."""
    channel = channel_of(backend, field(body, "channel"))
    sender = _sender(backend, channel, body)
    said: Json = {"content": body.get("content") or "", "embeds": body.get("embeds") or []}
    said["sticker_ids"] = body.get("stickers") or []
    if body.get("reply_to") is not None:
        said["message_reference"] = {"message_id": str(body["reply_to"])}
        if body.get("mention") is False:
            said["allowed_mentions"] = {"parse": ["users", "roles", "everyone"], "replied_user": False}
    files = [upload_of(entry, place) for place, entry in enumerate(body.get("attachments") or ())]
    if channel.archived:
        channel = backend.world.channels.put(replace(channel, archived=False))
        backend.events.channel("update", channel)
    message = posting.create(backend, channel, sender, said, files)
    return backend.events.message_created(message)


def edit(backend: Backend, message_id: str, body: Json) -> Json:
    """A person edits. `embeds` alone is what Discord does after a while: it unfurls a link, without an edited mark."""
    message = message_of(backend, message_id)
    if "content" in body:
        _require_own(backend, message, body.get("author"))
        changed = posting.edit(backend, message, {"content": body["content"]})
    elif "embeds" in body:
        changed = backend.world.messages.put(replace(message, embeds=embeds(body["embeds"], {})))
    else:
        raise ControlError(400, "content or embeds is missing")
    return backend.events.message_updated(changed)


def delete(backend: Backend, message_id: str, author: object | None) -> None:
    """The author deletes, or with `author` somebody who may manage messages; without it a moderator does."""
    message = message_of(backend, message_id)
    channel = backend.world.channels.get(message.channel_id)
    if author is not None and channel is not None:
        user = user_of(backend, author)
        if user.id != message.author_id and not can(backend.world, channel, user.id, P.MANAGE_MESSAGES):
            raise ControlError(403, f"{user.username} may not delete this message")
    posting.delete(backend, message)


def react(backend: Backend, body: Json) -> None:
    """Add a reaction, or take it away with `remove: true`."""
    user = user_of(backend, field(body, "user"))
    message = message_of(backend, field(body, "message"), user)
    emoji = reactions.known_emoji(backend, str(field(body, "emoji")))
    if body.get("remove"):
        reactions.unreact(backend, message, user.id, emoji)
        return
    require(backend, channel_of(backend, message.channel_id), user, P.ADD_REACTIONS, "react")
    reactions.react(backend, message, user.id, emoji)


def typing(backend: Backend, body: Json) -> None:
    channel, user = channel_of(backend, field(body, "channel")), user_of(backend, field(body, "user"))
    backend.events.typing(channel, user.id, int(backend.clock.time()))


def messages(backend: Backend, channel_name: str, viewer_name: str | None) -> list[Json]:
    """The channel as the viewer sees it now, newest last; without a viewer what everybody sees."""
    viewer = user_of(backend, viewer_name) if viewer_name else None
    if channel_name.startswith("@") and backend.world.direct_channel(user_of(backend, channel_name[1:]).id) is None:
        return []
    channel = channel_of(backend, channel_name)
    if viewer is not None:
        require(backend, channel, viewer, P.READ_MESSAGE_HISTORY, "read")
    return [
        _shown(backend, message, viewer)
        for message in backend.world.messages.of(channel.id).values()
        if message.viewer_id is None or (viewer is not None and message.viewer_id == viewer.id)
    ]


def change_member(backend: Backend, named: str, body: Json) -> Json:
    """`{roles?, nick?, guild?}`; roles by name or id."""
    user, guild = user_of(backend, named), guild_of(backend, body.get("guild"))
    member = backend.world.member(guild.id, user.id)
    if member is None:
        raise ControlError(404, f"{user.username} is not a member of {guild.name}")
    changes: Json = {}
    if "roles" in body:
        changes["roles"] = [role_of(backend, guild.id, role).id for role in body["roles"]]
    if "nick" in body:
        changes["nick"] = body["nick"]
    changed = backend.world.members.put(replace(member, **changes))
    backend.events.member_updated(changed)
    return member_object(changed, user)


def create_channel(backend: Backend, body: Json) -> Json:
    """`{name, guild?, topic?, parent?}`; with a parent it is a public thread, by `user` if one is given."""
    name, parent = str(field(body, "name")), body.get("parent")
    guild_id = guild_of(backend, body.get("guild")).id
    channel = Channel(id=backend.ids.next(), guild_id=guild_id, name=name, topic=body.get("topic"))
    if parent is not None:
        above = channel_of(backend, parent)
        owner = user_of(backend, body["user"]).id if body.get("user") else backend.world.bot_id
        opened = backend.clock.isoformat()
        changes: dict[str, Any] = {"type": PUBLIC_THREAD, "parent_id": above.id, "guild_id": above.guild_id}
        channel = replace(channel, **changes, owner_id=owner, archive_timestamp=opened)
    else:
        channel = replace(channel, position=len(backend.world.channels_of(guild_id)))
    backend.events.channel("create", backend.world.channels.put(channel))
    return channel_object(backend.world, channel)


def change_channel(backend: Backend, named: str, body: Json) -> Json:
    """Discord's fields; `overwrites` also by name: `[{role | member, allow, deny}]` with the bits as numbers."""
    channel = channel_of(backend, named)
    if channel.guild_id is None:
        raise ControlError(400, "a direct message cannot be changed")
    if "overwrites" in body:
        given = [_overwrite(backend, channel.guild_id, entry) for entry in body["overwrites"]]
        body = {**body, "permission_overwrites": given}
    return channels.change(backend, channel, body)


def upload_of(entry: Json, place: int) -> Upload:
    """An attachment as control takes it: `{filename, content_type?, base64}`. Raises ControlError."""
    try:
        data = base64.b64decode(str(entry.get("base64", "")), validate=True)
    except binascii.Error:
        raise ControlError(400, "base64 of an attachment cannot be read") from None
    kind = str(entry.get("content_type") or "application/octet-stream")
    return Upload(index=place, filename=str(entry.get("filename") or "file"), content_type=kind, data=data)


def _sender(backend: Backend, channel: Channel, body: Json) -> Sender:
    if body.get("webhook") is not None:
        hook_id = backend.ids.next()
        return Sender(author_id=hook_id, webhook_id=hook_id, webhook_name=str(body["webhook"]))
    user = user_of(backend, field(body, "author"))
    if user.id == backend.world.bot_id:
        raise ControlError(403, "the bot writes for itself")
    require(backend, channel, user, P.SEND_MESSAGES, "write")
    return Sender(author_id=user.id, type=int(body.get("type") or 0), max_content=PEOPLE_CONTENT)


def _require_own(backend: Backend, message: Message, author: object | None) -> None:
    user: User = user_of(backend, author if author is not None else message.author_id)
    if user.id != message.author_id or user.id == backend.world.bot_id:
        raise ControlError(403, "only its author may edit a message")


def _overwrite(backend: Backend, guild_id: str, entry: Json) -> Json:
    bits = {"allow": entry.get("allow") or 0, "deny": entry.get("deny") or 0}
    if "member" in entry:
        return {"id": user_of(backend, entry["member"]).id, "type": 1, **bits}
    if "role" in entry:
        return {"id": role_of(backend, guild_id, entry["role"]).id, "type": 0, **bits}
    return entry


def _shown(backend: Backend, message: Message, viewer: User | None) -> Json:
    body = message_object(backend.world, message, backend.base_url, reader=viewer.id if viewer else None)
    return {**body, "viewer_only": message.viewer_id} if message.viewer_id else body
