"""Webhooks: an interaction's follow-ups and original answer, and those of a channel."""

from __future__ import annotations

import secrets

from bot.preview import posting
from bot.preview.backend import Backend
from bot.preview.errors import Problems, error
from bot.preview.interaction_payload import sender
from bot.preview.interactions import TOKEN_S
from bot.preview.permissions import P
from bot.preview.posting import Sender
from bot.preview.rest.access import open_channel, open_guild
from bot.preview.rest.messages import refuse_old_edits
from bot.preview.router import NO_CONTENT, Answer, Call, Route
from bot.preview.values import EPHEMERAL, LOADING, Channel, Interaction, Message, Webhook
from bot.preview.wire import webhook_object


def execute(backend: Backend, call: Call) -> Answer:
    """A follow-up of an interaction, or a message of a channel's webhook."""
    if call["webhook_id"] != backend.world.bot_id:
        return _execute_channel_webhook(backend, call)
    interaction, channel = _interaction(backend, call)
    original = backend.world.messages.get(interaction.original_id or "")
    if original is not None and original.flags & LOADING:  # the first follow-up fills the deferred answer in
        filled = posting.edit(backend, original, call.body, call.files, quiet=True)
        return Answer(body=backend.events.message_updated(filled))
    flags = posting.flags_of(call.body) & EPHEMERAL
    signed = sender(backend, interaction, flags, follow_up=True)
    message = posting.create(backend, channel, signed, call.body, call.files)
    return Answer(body=backend.events.message_created(message))


def get_message(backend: Backend, call: Call) -> Answer:
    return Answer(body=backend.show(_message(backend, call)))


def edit_message(backend: Backend, call: Call) -> Answer:
    message = _message(backend, call)
    refuse_old_edits(backend, message)
    changed = posting.edit(backend, message, call.body, call.files, quiet=bool(message.flags & LOADING))
    return Answer(body=backend.events.message_updated(changed))


def delete_message(backend: Backend, call: Call) -> Answer:
    posting.delete(backend, _message(backend, call))
    return NO_CONTENT


def create_webhook(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.MANAGE_WEBHOOKS)
    if channel.guild_id is None:
        raise error(50003)
    problems = Problems()
    problems.required(("name",), call.fields.get("name"), 1, 80)
    problems.raise_any()
    webhook = Webhook(
        id=backend.ids.next(),
        channel_id=channel.id,
        guild_id=channel.guild_id,
        name=str(call.fields["name"]),
        token=secrets.token_urlsafe(48),
    )
    return Answer(body=webhook_object(backend.world, backend.world.webhooks.put(webhook)))


def channel_webhooks(backend: Backend, call: Call) -> Answer:
    channel = open_channel(backend, call["channel_id"], P.MANAGE_WEBHOOKS)
    hooks = [hook for hook in backend.world.webhooks if hook.channel_id == channel.id]
    return Answer(body=[webhook_object(backend.world, hook) for hook in hooks])


def guild_webhooks(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    hooks = [hook for hook in backend.world.webhooks if hook.guild_id == guild.id]
    return Answer(body=[webhook_object(backend.world, hook) for hook in hooks])


def delete_webhook(backend: Backend, call: Call) -> Answer:
    webhook = backend.world.webhooks.get(call["webhook_id"])
    if webhook is None:
        raise error(10015)
    backend.world.webhooks.remove(webhook.id)
    return NO_CONTENT


def _execute_channel_webhook(backend: Backend, call: Call) -> Answer:
    webhook = _webhook(backend, call)
    channel = backend.world.channels.get(call.query.get("thread_id", webhook.channel_id))
    if channel is None or webhook.channel_id not in (channel.id, channel.parent_id):
        raise error(10003)
    name = str(call.fields.get("username") or webhook.name)
    signed = Sender(author_id=webhook.id, webhook_id=webhook.id, webhook_name=name)
    message = posting.create(backend, channel, signed, call.body, call.files)
    shown = backend.events.message_created(message)
    return Answer(body=shown) if call.query.get("wait") in ("1", "true") else NO_CONTENT


def _interaction(backend: Backend, call: Call) -> tuple[Interaction, Channel]:
    """Raises DiscordError: 10015 for a token nobody has or that was never acknowledged, 50027 after its 15 minutes."""
    world = backend.world
    interaction = world.interactions.get(world.by_token.get(call["webhook_token"], ""))
    if interaction is None or interaction.ack is None:
        raise error(10015)
    if backend.interactions.age_s(interaction) > TOKEN_S:
        raise error(50027)
    channel = world.channels.get(interaction.channel_id)
    if channel is None:
        raise error(10003)
    return interaction, channel


def _webhook(backend: Backend, call: Call) -> Webhook:
    webhook = backend.world.webhooks.get(call["webhook_id"])
    if webhook is None or webhook.token != call["webhook_token"]:
        raise error(10015 if webhook is None else 50027)
    return webhook


def _message(backend: Backend, call: Call) -> Message:
    """The message a webhook may touch: its own, and for an interaction the one that was pressed."""
    world = backend.world
    if call["webhook_id"] != world.bot_id:
        webhook = _webhook(backend, call)
        message = world.messages.get(call.params.get("message_id", ""))
        if message is None or message.webhook_id != webhook.id:
            raise error(10008)
        return message
    interaction, channel = _interaction(backend, call)
    message = world.messages.get(call.params.get("message_id", interaction.original_id or ""))
    if message is None or message.channel_id != channel.id:
        raise error(10008)
    own = message.interaction is not None and message.interaction["id"] == interaction.id
    if not own and message.id not in (interaction.message_id, interaction.original_id):
        raise error(10008)
    return message


_HOOK = "/webhooks/{webhook_id}/{webhook_token}"
_ORIGINAL, _MESSAGE = _HOOK + "/messages/@original", _HOOK + "/messages/{message_id}"
ROUTES = (
    Route(method="POST", template=_HOOK, handler=execute, auth="none"),
    *(
        Route(method=method, template=template, handler=handler, auth="none")
        for template in (_ORIGINAL, _MESSAGE)
        for method, handler in (("GET", get_message), ("PATCH", edit_message), ("DELETE", delete_message))
    ),
    Route(method="POST", template="/channels/{channel_id}/webhooks", handler=create_webhook),
    Route(method="GET", template="/channels/{channel_id}/webhooks", handler=channel_webhooks),
    Route(method="GET", template="/guilds/{guild_id}/webhooks", handler=guild_webhooks),
    Route(method="DELETE", template="/webhooks/{webhook_id}", handler=delete_webhook),
)
