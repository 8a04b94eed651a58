"""INTERACTION_CREATE, and the messages that answer it.

Source: https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-object
"""

from __future__ import annotations

from bot.preview.backend import Backend
from bot.preview.events import interaction_member
from bot.preview.interactions import COMMAND, COMPONENT, MODAL_SUBMIT
from bot.preview.permissions import in_channel
from bot.preview.posting import Sender
from bot.preview.values import CHAT_INPUT_COMMAND, DEFAULT, EPHEMERAL, REPLY, Channel, Interaction, Json, Message
from bot.preview.wire import interaction_channel, user_object


def payload(backend: Backend, channel: Channel, interaction: Interaction, data: Json, message: Message | None) -> Json:
    """The gateway event of an interaction."""
    world = backend.world
    body: Json = {
        "id": interaction.id,
        "application_id": world.bot_id,
        "type": interaction.type,
        "data": data,
        "token": interaction.token,
        "version": 1,
        "channel_id": channel.id,
        "channel": interaction_channel(world, channel, interaction.user_id),
        "app_permissions": str(in_channel(world, channel, world.bot_id)),
        "locale": "en-US",
        "entitlements": [],
        "authorizing_integration_owners": _owners(channel),
        "context": 0 if channel.guild_id else 1,
        "attachment_size_limit": 10 * 1024 * 1024,
        **interaction_member(world, channel, interaction.user_id),
    }
    if channel.guild_id:
        guild = {"id": channel.guild_id, "locale": "en-US", "features": []}
        body |= {"guild_id": channel.guild_id, "guild_locale": "en-US", "guild": guild}
    if message is not None:
        body["message"] = backend.show(message)
    return body


def sender(backend: Backend, interaction: Interaction, flags: int, *, follow_up: bool = False) -> Sender:
    """How the bot's answer to an interaction is signed. `flags` may have EPHEMERAL."""
    world = backend.world
    source = world.messages.get(interaction.message_id or "")
    reference: Json | None = None
    if interaction.type == COMMAND and not follow_up:
        kind = CHAT_INPUT_COMMAND
    elif follow_up and interaction.original_id is not None and interaction.original_id in world.messages:
        kind, reference = (
            REPLY,
            {"type": 0, "channel_id": interaction.channel_id, "message_id": interaction.original_id},
        )
    elif source is not None:
        kind, reference = REPLY, {"type": 0, "channel_id": interaction.channel_id, "message_id": source.id}
    else:
        kind = DEFAULT
    target = world.messages.get((reference or {}).get("message_id", ""))
    if target is not None and target.viewer_id is not None and not flags & EPHEMERAL:
        kind, reference = DEFAULT, None  # what one person sees is not quoted to all
    return Sender(
        author_id=world.bot_id,
        type=kind,
        flags=flags,
        webhook_id=world.bot_id,
        application_id=world.bot_id,
        interaction=metadata(backend, interaction),
        reference=reference,
        viewer_id=interaction.user_id if flags & EPHEMERAL else None,
    )


def metadata(backend: Backend, interaction: Interaction) -> Json:
    """`interaction_metadata` of a message."""
    world = backend.world
    user, channel = world.users.get(interaction.user_id), world.channels.get(interaction.channel_id)
    body: Json = {
        "id": interaction.id,
        "type": interaction.type,
        "user": user_object(user) if user else {},
        "authorizing_integration_owners": _owners(channel) if channel else {},
    }
    if interaction.type == COMMAND:
        return {**body, "name": interaction.name}
    if interaction.type == COMPONENT:
        return {**body, "interacted_message_id": interaction.message_id}
    opener = world.interactions.get(interaction.opener_id or "") if interaction.type == MODAL_SUBMIT else None
    return {**body, "triggering_interaction_metadata": metadata(backend, opener)} if opener else body


def _owners(channel: Channel) -> dict[str, str]:
    return {"0": channel.guild_id or "0"}
