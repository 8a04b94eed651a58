"""Writes messages: what REST, interactions, webhooks and people have in common."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.preview import normal
from bot.preview.backend import Backend
from bot.preview.errors import Problems, error
from bot.preview.files import safe_name
from bot.preview.limits import CONTENT, check_message, require_something
from bot.preview.mentions import Mentions, resolve
from bot.preview.router import Upload
from bot.preview.values import (
    COMPONENTS_V2,
    DEFAULT,
    LOADING,
    REPLY,
    SILENT,
    SUPPRESS_EMBEDS,
    Channel,
    Json,
    Message,
)

SENDABLE = SUPPRESS_EMBEDS | SILENT | COMPONENTS_V2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who writes, and what comes with it when it is not a plain message."""

    author_id: str
    type: int = DEFAULT
    flags: int = 0
    webhook_id: str | None = None
    webhook_name: str | None = None
    application_id: str | None = None
    interaction: Json | None = None
    reference: Json | None = None
    viewer_id: str | None = None
    max_content: int = CONTENT


def create(backend: Backend, channel: Channel, sender: Sender, body: Any, files: Sequence[Upload] = ()) -> Message:
    """Check, write and announce a message. Raises DiscordError: 50035, 50006 or 160002."""
    flags = flags_of(body) & SENDABLE | sender.flags
    check_message(body, flags=flags, max_content=sender.max_content)
    if not flags & LOADING:
        require_something(body, has_files=bool(files))
    reference, replied_to = _reference(backend, channel, body)
    reference = reference or sender.reference
    content = str(body.get("content") or "").strip()
    message_id = backend.ids.next()
    attachments = _attachments(backend, body, files)
    addresses = _addresses(backend, channel.id, attachments)
    allowed = body.get("allowed_mentions")
    pinged = resolve(backend.world, channel, sender.author_id, content, allowed=allowed, replied_to=replied_to)
    message = Message(
        id=message_id,
        channel_id=channel.id,
        author_id=sender.author_id,
        timestamp=backend.clock.isoformat(),
        type=REPLY if reference and sender.type == DEFAULT else sender.type,
        content=content,
        flags=flags,
        tts=bool(body.get("tts")),
        embeds=normal.embeds(body.get("embeds") or (), addresses),
        components=normal.components(body.get("components") or (), addresses),
        attachments=attachments,
        stickers=_stickers(backend, body),
        mentions=pinged.users,
        mention_roles=pinged.roles,
        mention_everyone=pinged.everyone,
        nonce=body.get("nonce"),
        webhook_id=sender.webhook_id,
        webhook_name=sender.webhook_name,
        application_id=sender.application_id,
        reference=reference,
        interaction=sender.interaction,
        viewer_id=sender.viewer_id,
    )
    return backend.world.messages.put(message)


def edit(
    backend: Backend, message: Message, body: Any, files: Sequence[Upload] = (), *, quiet: bool = False
) -> Message:
    """Check and write the fields that are there; `quiet` leaves the edited mark as it is.

    Raises DiscordError: 50035, or 50006 when nothing would be left.
    """
    wanted = flags_of(body) if isinstance(body, dict) and body.get("flags") is not None else message.flags
    kept = message.flags & ~(SUPPRESS_EMBEDS | LOADING)
    flags = kept | wanted & (SUPPRESS_EMBEDS | COMPONENTS_V2)
    check_message(body, flags=flags)
    content = str(body.get("content") or "").strip() if "content" in body else message.content
    attachments = [*_kept(message, body), *_attachments(backend, body, files)]
    addresses = _addresses(backend, message.channel_id, attachments)
    embeds = normal.embeds(body["embeds"] or (), addresses) if "embeds" in body else message.embeds
    components = _components(message, body, addresses)
    shown = {"content": content, "embeds": embeds, "components": components, "sticker_ids": message.stickers}
    require_something(shown, has_files=bool(attachments))
    pinged = _pinged_again(backend, message, body, content)
    changed = replace(
        message,
        content=content,
        flags=flags,
        attachments=attachments,
        embeds=embeds,
        components=components,
        mentions=pinged.users,
        mention_roles=pinged.roles,
        mention_everyone=pinged.everyone,
        edited_timestamp=message.edited_timestamp if quiet else backend.clock.isoformat(),
        nonce=None,
    )
    return backend.world.messages.put(changed)


def delete(backend: Backend, message: Message) -> None:
    """Remove a message and announce it."""
    backend.world.messages.remove(message.id)
    backend.events.message_deleted(message)


def flags_of(body: Any) -> int:
    """The `flags` of a body; 0 when there are none that can be read."""
    flags = body.get("flags") if isinstance(body, dict) else 0
    return flags if isinstance(flags, int) else 0


def _components(message: Message, body: Json, addresses: dict[str, str]) -> Sequence[Json]:
    if "components" not in body:
        return message.components
    return normal.components(body["components"] or (), addresses)


def _reference(backend: Backend, channel: Channel, body: Json) -> tuple[Json | None, str | None]:
    """The reference to keep, and the author who is answered."""
    wanted = body.get("message_reference")
    if not wanted:
        return None, None
    problems = Problems()
    target = backend.world.messages.get(str(wanted.get("message_id")))
    if wanted.get("type", 0) != 0:
        problems.add(("message_reference", "type"), "BASE_TYPE_CHOICES", "Only replies (0) are known here.")
    elif target is None or target.channel_id != channel.id or target.viewer_id is not None:
        if wanted.get("fail_if_not_exists", True) is False:
            return None, None
        problems.add(("message_reference",), "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    problems.raise_any()
    if target is None:
        raise error(10008)
    where = {"type": 0, "channel_id": channel.id, "message_id": target.id}
    return where | ({"guild_id": channel.guild_id} if channel.guild_id else {}), target.author_id


def _pinged_again(backend: Backend, message: Message, body: Json, content: str) -> Mentions:
    """The mentions after an edit: the same when neither text nor rules change; a reply never pings somebody else."""
    channel = backend.world.channels.get(message.channel_id)
    if channel is None or not {"content", "allowed_mentions"} & set(body):
        users, roles = list(message.mentions), list(message.mention_roles)
        return Mentions(users=users, roles=roles, everyone=message.mention_everyone)
    target = backend.world.messages.get((message.reference or {}).get("message_id", ""))
    answered = target.author_id if target is not None and target.author_id in message.mentions else None
    allowed = body.get("allowed_mentions")
    return resolve(backend.world, channel, message.author_id, content, allowed=allowed, replied_to=answered)


def _stickers(backend: Backend, body: Json) -> list[str]:
    """Raises DiscordError 50081 for a sticker that no guild has."""
    wanted = [str(sticker) for sticker in body.get("sticker_ids") or ()]
    if any(sticker not in backend.world.stickers for sticker in wanted):
        raise error(50081)
    return wanted


def _attachments(backend: Backend, body: Json, files: Iterable[Upload]) -> list[Json]:
    told = {str(entry.get("id")): entry for entry in body.get("attachments") or ()}
    stored = []
    for upload in files:
        said = told.get(str(upload.index), {})
        attachment_id = backend.ids.next()
        backend.files.save(attachment_id, upload.data)
        filename = safe_name(str(said.get("filename") or upload.filename))
        guessed = mimetypes.guess_type(filename)[0] or upload.content_type
        entry: Json = {
            "id": attachment_id,
            "filename": filename,
            "size": len(upload.data),
            "content_type": f"{guessed}; charset=utf-8" if guessed.startswith("text/") else guessed,
        }
        stored.append(entry | ({"description": said["description"]} if said.get("description") else {}))
    return stored


def _kept(message: Message, body: Json) -> Sequence[Json]:
    if body.get("attachments") is None:
        return message.attachments
    wanted = {str(entry.get("id")) for entry in body["attachments"]}
    return [entry for entry in message.attachments if entry["id"] in wanted]


def _addresses(backend: Backend, channel_id: str, attachments: Iterable[Json]) -> dict[str, str]:
    base = f"{backend.base_url}/attachments/{channel_id}"
    return {entry["filename"]: f"{base}/{entry['id']}/{entry['filename']}" for entry in attachments}
