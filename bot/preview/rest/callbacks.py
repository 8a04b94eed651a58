"""Interaction callbacks: the one acknowledgement of an interaction.

Source: https://discord.com/developers/docs/interactions/receiving-and-responding#create-interaction-response
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.preview import posting
from bot.preview.backend import Backend
from bot.preview.component_limits import check_modal
from bot.preview.errors import Problems, error
from bot.preview.interaction_payload import sender
from bot.preview.interactions import ACK_S, MODAL_SUBMIT, Acknowledgement, Callback
from bot.preview.router import NO_CONTENT, Answer, Call, Route
from bot.preview.values import EPHEMERAL, LOADING, Channel, Interaction, Json, Message


def acknowledge(backend: Backend, call: Call) -> Answer:
    """Raises DiscordError: 10062 for an unknown or late one, 40060 for the second one, 50035 for what does not fit."""
    world = backend.world
    interaction = world.interactions.get(call["interaction_id"])
    channel = world.channels.get(interaction.channel_id) if interaction else None
    if interaction is None or channel is None or interaction.token != call["interaction_token"]:
        raise error(10062)
    if interaction.ack is not None:
        raise error(40060)
    if backend.interactions.age_s(interaction) > ACK_S:
        raise error(10062)
    body = call.fields
    kind = _kind(interaction, body.get("type"))
    data = body.get("data") or {}
    message: Message | None = None
    modal: Json | None = None
    match kind:
        case Callback.MESSAGE | Callback.DEFERRED:
            message = _respond(backend, channel, interaction, kind, call)
        case Callback.UPDATE:
            message = _update(backend, interaction, data, call)
        case Callback.DEFERRED_UPDATE:
            message = world.messages.get(interaction.message_id or "")
        case Callback.MODAL:
            check_modal(data)
            modal = data
    original = message.id if message else None
    done = world.interactions.put(replace(interaction, ack=int(kind), original_id=original, modal=modal))
    shown = _announce(backend, kind, message)
    _settle(backend, done, kind, shown, modal)
    if call.query.get("with_response") not in ("1", "true"):
        return NO_CONTENT
    return Answer(body=_response(done, kind, message, shown))


def _kind(interaction: Interaction, number: Any) -> Callback:
    """Which callback it is, if this interaction can be answered so."""
    problems = Problems()
    known = isinstance(number, int) and number in {int(kind) for kind in Callback}
    updates = known and number in (Callback.UPDATE, Callback.DEFERRED_UPDATE)
    if not known or (number == Callback.MODAL and interaction.type == MODAL_SUBMIT):
        problems.add(("type",), "BASE_TYPE_CHOICES", "This interaction cannot be answered with this type.")
    elif updates and interaction.message_id is None:
        problems.add(("type",), "INTERACTION_TYPE_INVALID", "There is no message to update.")
    problems.raise_any()
    return Callback(number)


def _respond(backend: Backend, channel: Channel, interaction: Interaction, kind: Callback, call: Call) -> Message:
    data = call.fields.get("data") or {}
    flags = posting.flags_of(data) & EPHEMERAL
    if kind is Callback.DEFERRED:
        return posting.create(backend, channel, sender(backend, interaction, flags | LOADING), {})
    return posting.create(backend, channel, sender(backend, interaction, flags), data, call.files)


def _update(backend: Backend, interaction: Interaction, data: Json, call: Call) -> Message:
    message = backend.world.messages.get(interaction.message_id or "")
    if message is None:
        raise error(10008)
    return posting.edit(backend, message, data, call.files)


def _announce(backend: Backend, kind: Callback, message: Message | None) -> Json | None:
    if message is None:
        return None
    if kind is Callback.UPDATE:
        return backend.events.message_updated(message)
    if kind in (Callback.MESSAGE, Callback.DEFERRED):
        return backend.events.message_created(message)
    return backend.show(message)


def _settle(backend: Backend, interaction: Interaction, kind: Callback, shown: Json | None, modal: Json | None) -> None:
    backend.events.interaction(interaction, kind.kind)
    if modal is not None:
        backend.events.modal(interaction, modal)
    if shown is not None and shown["flags"] & EPHEMERAL:
        shown = {**shown, "viewer_only": interaction.user_id}
    backend.interactions.settle(interaction.id, Acknowledgement(kind=kind.kind, message=shown, modal=modal))


def _response(interaction: Interaction, kind: Callback, message: Message | None, shown: Json | None) -> Json:
    about: Json = {"id": interaction.id, "type": interaction.type, "channel_id": interaction.channel_id}
    if message is not None:
        about |= {
            "response_message_id": message.id,
            "response_message_loading": bool(message.flags & LOADING),
            "response_message_ephemeral": bool(message.flags & EPHEMERAL),
        }
    resource: Json = {"type": int(kind)}
    if kind in (Callback.MESSAGE, Callback.UPDATE) and shown is not None:
        resource["message"] = shown
    told = kind in (Callback.MESSAGE, Callback.UPDATE)
    return {"interaction": about, "resource": resource} if told else {"interaction": about}


ROUTES = (
    Route(
        method="POST",
        template="/interactions/{interaction_id}/{interaction_token}/callback",
        handler=acknowledge,
        auth="none",
    ),
)
