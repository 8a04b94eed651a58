"""Messages of a channel: history, create, edit, delete, typing."""

from __future__ import annotations

from dataclasses import replace

from bot.preview import posting
from bot.preview.backend import Backend
from bot.preview.errors import DiscordError, error
from bot.preview.permissions import P, can
from bot.preview.rest.access import open_channel, open_message, require_unarchived
from bot.preview.router import NO_CONTENT, Answer, Call, Route
from bot.preview.snowflake import created_at
from bot.preview.values import EDITABLE_TYPES, SUPPRESS_EMBEDS, Message

HOUR_S, TWO_WEEKS_S = 3600, 14 * 24 * 3600
MAX_SNOWFLAKE = (1 << 64) - 1


def history(backend: Backend, call: Call) -> Answer:
    """Newest first, as Discord gives it, with `before`, `after`, `around` and `limit` (1 to 100)."""
    channel = open_channel(backend, call["channel_id"])
    if not can(backend.world, channel, backend.world.bot_id, P.READ_MESSAGE_HISTORY):
        return Answer(body=[])
    limit = max(call.number("limit", 50, 100), 1)
    shown = [m for m in reversed(backend.world.messages.of(channel.id).values()) if m.viewer_id is None]
    query = {name: call.number(name, 0, MAX_SNOWFLAKE) for name in ("before", "after", "around") if name in call.query}
    if "before" in query:
        found = [m for m in shown if int(m.id) < query["before"]][:limit]
    elif "after" in query:
        found = [m for m in shown if int(m.id) > query["after"]][-limit:]
    elif "around" in query:
        newer = [m for m in shown if int(m.id) > query["around"]]
        older = shown[len(newer) :]
        found = [*newer[-(limit // 2) :], *older[: limit - limit // 2]]
    else:
        found = shown[:limit]
    return Answer(body=[backend.show(message) for message in found])


def get(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.READ_MESSAGE_HISTORY)
    return Answer(body=backend.show(open_message(backend, channel, call["message_id"])))


def create(backend: Backend, call: Call) -> Answer:
    body = call.fields
    needed = P.SEND_MESSAGES
    if body.get("embeds"):
        needed |= P.EMBED_LINKS
    if call.files:
        needed |= P.ATTACH_FILES
    channel = open_channel(backend, call["channel_id"], needed)
    if channel.archived and channel.locked:
        raise error(50083)
    if body.get("message_reference") and not can(backend.world, channel, backend.world.bot_id, P.READ_MESSAGE_HISTORY):
        raise error(160002)
    nonce = body.get("nonce")
    if nonce is not None and body.get("enforce_nonce"):
        known = backend.world.messages.get(backend.nonces.find(channel.id, nonce) or "")
        if known is not None:
            return Answer(body={**backend.show(known), "nonce": nonce})
    message = posting.create(backend, channel, posting.Sender(author_id=backend.world.bot_id), call.body, call.files)
    if nonce is not None:
        backend.nonces.remember(channel.id, nonce, message.id)
    if channel.archived:  # writing into a thread that is not locked opens it again
        backend.events.channel("update", backend.world.channels.put(replace(channel, archived=False)))
    return Answer(body=backend.events.message_created(message))


def edit(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"])
    message = open_message(backend, channel, call["message_id"])
    body = call.fields
    if message.author_id != backend.world.bot_id:
        return _moderate(backend, call, message)
    if message.type not in EDITABLE_TYPES:
        raise error(50021)
    require_unarchived(channel)
    refuse_old_edits(backend, message)
    if body.get("embeds") and not can(backend.world, channel, backend.world.bot_id, P.EMBED_LINKS):
        raise error(50013)
    changed = posting.edit(backend, message, call.body, call.files)
    return Answer(body=backend.events.message_updated(changed))


def refuse_old_edits(backend: Backend, message: Message) -> None:
    """Raises DiscordError 30046 when a message older than an hour was edited too often."""
    if backend.clock.time() - created_at(message.id) <= HOUR_S:
        return
    left_s = backend.rates.old_edit(message.id)
    if left_s is not None:
        text = "Maximum number of edits to messages older than 1 hour reached. Try again later."
        raise DiscordError(429, 30046, text, extra={"retry_after": round(left_s, 3), "global": False})


def delete(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"])
    message = open_message(backend, channel, call["message_id"])
    own = message.author_id == backend.world.bot_id
    if not own and (
        channel.guild_id is None or not can(backend.world, channel, backend.world.bot_id, P.MANAGE_MESSAGES)
    ):
        raise error(50013 if channel.guild_id else 50003)
    posting.delete(backend, message)
    return NO_CONTENT


def bulk_delete(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.MANAGE_MESSAGES)
    wanted = [str(message_id) for message_id in call.fields.get("messages") or () if str(message_id).isdecimal()]
    if not 2 <= len(wanted) <= 100:
        raise error(50016)
    if any(backend.clock.time() - created_at(message_id) > TWO_WEEKS_S for message_id in wanted):
        raise error(50034)
    known = backend.world.messages.of(channel.id)
    gone = [message_id for message_id in wanted if message_id in known]
    for message_id in gone:
        backend.world.messages.remove(message_id)
    backend.events.messages_deleted(channel, gone)
    return NO_CONTENT


def typing(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.SEND_MESSAGES)
    backend.events.typing(channel, backend.world.bot_id, int(backend.clock.time()))
    return NO_CONTENT


def _moderate(backend: Backend, call: Call, message: Message) -> Answer:
    """Somebody else's message: only its embeds can be suppressed."""
    body = call.fields
    channel = open_channel(backend, message.channel_id)
    only_flags = body.get("flags") is not None and not {"content", "embeds", "components", "attachments"} & set(body)
    if not only_flags:
        raise error(50005)
    if not can(backend.world, channel, backend.world.bot_id, P.MANAGE_MESSAGES):
        raise error(50013)
    flags = message.flags & ~SUPPRESS_EMBEDS | posting.flags_of(body) & SUPPRESS_EMBEDS
    changed = backend.world.messages.put(replace(message, flags=flags))
    return Answer(body=backend.events.message_updated(changed))


_MESSAGES = "/channels/{channel_id}/messages"
ROUTES = (
    Route(method="GET", template=_MESSAGES, handler=history),
    Route(method="POST", template=_MESSAGES, handler=create),
    Route(method="POST", template=_MESSAGES + "/bulk-delete", handler=bulk_delete),
    Route(method="GET", template=_MESSAGES + "/{message_id}", handler=get),
    Route(method="PATCH", template=_MESSAGES + "/{message_id}", handler=edit),
    Route(method="DELETE", template=_MESSAGES + "/{message_id}", handler=delete),
    Route(method="POST", template="/channels/{channel_id}/typing", handler=typing),
)
