"""Threads: from a message, or on their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.preview.backend import Backend
from bot.preview.errors import Problems, error
from bot.preview.permissions import P, can
from bot.preview.rest.access import open_channel, open_guild, open_message
from bot.preview.rest.channels import check_archive_minutes
from bot.preview.router import NO_CONTENT, Answer, Call, Route
from bot.preview.values import (
    GUILD_TEXT,
    HAS_THREAD,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    THREAD_CREATED,
    Channel,
    Json,
    Message,
)
from bot.preview.wire import channel_object


def from_message(backend: Backend, call: Call) -> Answer:
    """The thread gets the message's id. Raises DiscordError 160004 for the second one."""
    parent = _parent(backend, call, P.CREATE_PUBLIC_THREADS)
    message = open_message(backend, parent, call["message_id"])
    if message.id in backend.world.channels:
        raise error(160004)
    thread = _open(backend, parent, message.id, PUBLIC_THREAD, call.body)
    changed = backend.world.messages.put(replace(message, flags=message.flags | HAS_THREAD))
    backend.events.message_updated(changed)
    return Answer(status=201, body=_shown(backend, thread))


def alone(backend: Backend, call: Call) -> Answer:
    kind = call.fields.get("type", PRIVATE_THREAD)
    if kind not in (PUBLIC_THREAD, PRIVATE_THREAD):
        raise error(50024)
    parent = _parent(backend, call, P.CREATE_PUBLIC_THREADS if kind == PUBLIC_THREAD else P.CREATE_PRIVATE_THREADS)
    thread = _open(backend, parent, backend.ids.next(), kind, call.body)
    if kind == PUBLIC_THREAD:
        note = Message(
            id=backend.ids.next(),
            channel_id=parent.id,
            author_id=backend.world.bot_id,
            timestamp=backend.clock.isoformat(),
            type=THREAD_CREATED,
            content=thread.name,
            reference={"type": 0, "channel_id": thread.id, "guild_id": thread.guild_id},
        )
        backend.events.message_created(backend.world.messages.put(note))
    return Answer(status=201, body=_shown(backend, thread))


def active(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    threads = [channel for channel in backend.world.channels_of(guild.id) if channel.is_thread and not channel.archived]
    shown = [_shown(backend, thread) for thread in threads]
    return Answer(body={"threads": shown, "members": [thread["member"] for thread in shown], "has_more": False})


def join(backend: Backend, call: Call) -> Answer:
    """Joining and leaving change nothing that the twin shows: whoever sees the parent sees its threads."""
    if not open_channel(backend, call["channel_id"]).is_thread:
        raise error(50024)
    return NO_CONTENT


def member(backend: Backend, call: Call) -> Answer:
    """Somebody in a thread. Raises DiscordError 10007 for somebody who does not see it."""
    thread = open_channel(backend, call["channel_id"])
    if not thread.is_thread:
        raise error(50024)
    if not can(backend.world, thread, call["user_id"], P.VIEW_CHANNEL):
        raise error(10007)
    return Answer(body=_membership(thread, call["user_id"]))


def _parent(backend: Backend, call: Call, needed: int) -> Channel:
    parent = open_channel(backend, call["channel_id"], needed)
    if parent.type != GUILD_TEXT:
        raise error(50024)
    return parent


def _open(backend: Backend, parent: Channel, thread_id: str, kind: int, body: Any) -> Channel:
    body = body if isinstance(body, dict) else {}
    problems = Problems()
    problems.required(("name",), body.get("name"), 1, 100)
    check_archive_minutes(problems, body)
    problems.raise_any()
    thread = Channel(
        id=thread_id,
        type=kind,
        guild_id=parent.guild_id,
        name=str(body["name"]),
        parent_id=parent.id,
        owner_id=backend.world.bot_id,
        auto_archive_duration=body.get("auto_archive_duration") or 1440,
        archive_timestamp=backend.clock.isoformat(),
        rate_limit_per_user=body.get("rate_limit_per_user") or 0,
    )
    backend.world.channels.put(thread)
    backend.events.channel("create", thread)
    return thread


def _shown(backend: Backend, thread: Channel) -> Json:
    return {**channel_object(backend.world, thread), "member": _membership(thread, backend.world.bot_id)}


def _membership(thread: Channel, user_id: str) -> Json:
    return {"id": thread.id, "user_id": user_id, "join_timestamp": thread.archive_timestamp, "flags": 1}


ROUTES = (
    Route(method="POST", template="/channels/{channel_id}/messages/{message_id}/threads", handler=from_message),
    Route(method="POST", template="/channels/{channel_id}/threads", handler=alone),
    Route(method="GET", template="/guilds/{guild_id}/threads/active", handler=active),
    Route(method="PUT", template="/channels/{channel_id}/thread-members/@me", handler=join),
    Route(method="DELETE", template="/channels/{channel_id}/thread-members/@me", handler=join),
    Route(method="PUT", template="/channels/{channel_id}/thread-members/{user_id}", handler=join),
    Route(method="GET", template="/channels/{channel_id}/thread-members/{user_id}", handler=member),
)
