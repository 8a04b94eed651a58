"""What people press, pick, submit and command, for control: each becomes an interaction and waits for its answer."""

from __future__ import annotations

import secrets
from typing import Any

from bot.preview import option_values
from bot.preview.backend import Backend
from bot.preview.component_limits import BUTTON, LABEL, LINK, SELECTS, STRING_SELECT, TEXT_INPUT, walk
from bot.preview.interaction_payload import payload
from bot.preview.interactions import COMMAND, COMPONENT, MODAL_SUBMIT
from bot.preview.lookup import ControlError, channel_of, field, message_of, require, user_of
from bot.preview.permissions import P, in_channel
from bot.preview.values import EPHEMERAL, Channel, Command, Interaction, Json, Message, User


async def click(backend: Backend, body: Json) -> Json:
    """Press a button or pick from a select. Raises ControlError for what a person could not do."""
    user = user_of(backend, field(body, "user"))
    message = message_of(backend, field(body, "message"), user)
    channel = channel_of(backend, message.channel_id)
    require(backend, channel, user, 0, "press anything")
    component = _component(message, body)
    if component.get("disabled"):
        raise ControlError(409, f"{component.get('label') or component['custom_id']} is disabled")
    data: Json = {"custom_id": component["custom_id"], "component_type": component["type"], "id": component["id"]}
    if component["type"] in SELECTS:
        data |= _picked(backend, channel, component, body.get("values") or [])
    interaction = _new(backend, COMPONENT, user, channel, message_id=message.id)
    return await _send(backend, channel, interaction, data, message)


async def submit(backend: Backend, body: Json) -> Json:
    """Submit the modal that answered an interaction; fields by label or custom id. Raises ControlError."""
    user = user_of(backend, field(body, "user"))
    opener = backend.world.interactions.get(str(field(body, "interaction")))
    if opener is None or opener.modal is None or opener.user_id != user.id:
        raise ControlError(404, "there is no open modal of this interaction for this person")
    channel = channel_of(backend, opener.channel_id)
    given = {str(name): value for name, value in (body.get("fields") or {}).items()}
    components = [_filled(item, given) for item in opener.modal["components"] if item["type"] in (1, LABEL)]
    if given:
        raise ControlError(400, f"the modal has no field {', '.join(given)}")
    message = backend.world.messages.get(opener.message_id or "")
    message_id = message.id if message else None
    interaction = _new(backend, MODAL_SUBMIT, user, channel, message_id=message_id, opener_id=opener.id)
    data = {"custom_id": opener.modal["custom_id"], "components": components}
    return await _send(backend, channel, interaction, data, message)


async def command(backend: Backend, body: Json) -> Json:
    """Use a slash command; a subcommand's name has spaces. Raises ControlError."""
    user, channel = user_of(backend, field(body, "user")), channel_of(backend, field(body, "channel"))
    require(backend, channel, user, P.USE_APPLICATION_COMMANDS, "use commands")
    name, *path = str(field(body, "name")).removeprefix("/").split()
    found = _registered(backend, channel, name)
    _require_allowed(backend, found, channel, user)
    given, resolved = dict(body.get("options") or {}), option_values.Resolved(backend, channel)
    options = option_values.fill(resolved, found.body["options"], path, given)
    data: Json = {"id": found.id, "name": found.name, "type": 1, "options": options}
    if found.guild_id:
        data["guild_id"] = found.guild_id
    if resolved.tables:
        data["resolved"] = resolved.tables
    interaction = _new(backend, COMMAND, user, channel, name=" ".join([name, *path]))
    return await _send(backend, channel, interaction, data, None)


def _new(backend: Backend, kind: int, user: User, channel: Channel, **fields: Any) -> Interaction:
    token = secrets.token_urlsafe(96)
    interaction = Interaction(
        id=backend.ids.next(), token=token, type=kind, user_id=user.id, channel_id=channel.id, **fields
    )
    backend.world.by_token[token] = interaction.id
    return backend.world.interactions.put(interaction)


async def _send(
    backend: Backend, channel: Channel, interaction: Interaction, data: Json, message: Message | None
) -> Json:
    answered = backend.interactions.wait(interaction.id, lambda: backend.events.interaction(interaction, "failed"))
    event = payload(backend, channel, interaction, data, message)
    backend.hub.dispatch("INTERACTION_CREATE", event, guild_id=channel.guild_id)
    first = await answered
    answer: Json = {"kind": first.kind, "interaction": interaction.id}
    if first.message is not None:
        answer["message"] = first.message
    if first.modal is not None:
        answer["modal"] = first.modal
    return answer


def _component(message: Message, body: Json) -> Json:
    """The button or select by custom id, or by label (a select by its placeholder)."""
    wanted = body.get("custom_id") or field(body, "label")
    names = ("custom_id",) if body.get("custom_id") else ("label", "placeholder")
    for item in walk(message.components):
        if item["type"] in (BUTTON, *SELECTS) and any(item.get(name) == wanted for name in names):
            if item.get("style") == LINK:
                raise ControlError(409, f"{wanted} is a link, not a button of the bot")
            return item
    where = "this ephemeral message" if message.flags & EPHEMERAL else "this message"
    raise ControlError(404, f"there is nothing called {wanted} on {where}")


def _picked(backend: Backend, channel: Channel, component: Json, values: list[Any]) -> Json:
    low, high = component["min_values"], component["max_values"]
    if not low <= len(values) <= high:
        raise ControlError(400, f"pick {low} to {high} values")
    if component["type"] != STRING_SELECT:
        resolved = option_values.Resolved(backend, channel)
        kind = {5: "user", 6: "role", 7: "mentionable", 8: "channel"}[component["type"]]
        return {"values": [resolved.add(kind, value) for value in values], "resolved": resolved.tables}
    picked = []
    for value in values:
        options = component["options"]
        found = next((option for option in options if value in (option["value"], option["label"])), None)
        if found is None:
            raise ControlError(400, f"there is no option {value}")
        picked.append(found["value"])
    return {"values": picked}


def _filled(item: Json, given: dict[str, Any]) -> Json:
    """A row or a label of a modal with what was typed; what is taken is removed from `given`."""
    children = [item["component"]] if item["type"] == LABEL else item["components"]
    filled = []
    for child in children:
        names = (str(child.get("custom_id")), str(item.get("label")), str(child.get("label")))
        name = next((name for name in names if name in given), None)
        value = given.pop(name) if name is not None else child.get("value")
        filled.append(_answer(child, value, names[1] if item["type"] == LABEL else names[2]))
    shown: Json = {"type": item["type"], "id": item.get("id", 0)}
    return {**shown, "component": filled[0]} if item["type"] == LABEL else {**shown, "components": filled}


def _answer(child: Json, value: Any, label: str) -> Json:
    shown: Json = {"type": child["type"], "id": child.get("id", 0), "custom_id": child["custom_id"]}
    required = child.get("required", True)
    if child["type"] != TEXT_INPUT:
        values = value if isinstance(value, list) else [value] if value is not None else []
        if required and len(values) < child.get("min_values", 1):
            raise ControlError(400, f"{label} is required")
        return {**shown, "values": [str(item) for item in values]}
    text = str(value or "")
    low, high = child.get("min_length") or (1 if required else 0), child.get("max_length") or 4000
    if text or required:
        if len(text) < low:
            raise ControlError(400, f"{label} needs {low} characters or more")
        if len(text) > high:
            raise ControlError(400, f"{label} takes at most {high} characters")
    return {**shown, "value": text}


def _registered(backend: Backend, channel: Channel, name: str) -> Command:
    """The command of this name that shows in a channel; a guild's own wins over the global one."""
    shown = [c for c in backend.world.commands if c.name == name and c.guild_id in (None, channel.guild_id)]
    if not shown:
        raise ControlError(404, f"there is no command /{name} here")
    return max(shown, key=lambda command: command.guild_id is not None)


def _require_allowed(backend: Backend, found: Command, channel: Channel, user: User) -> None:
    contexts = found.body["contexts"]
    if contexts is not None and (0 if channel.guild_id else 1) not in contexts:
        raise ControlError(403, f"/{found.name} is not offered here")
    needed = found.body["default_member_permissions"]
    if channel.guild_id and needed is not None:
        rights = in_channel(backend.world, channel, user.id)
        if rights & int(needed) != int(needed) or (int(needed) == 0 and not rights & P.ADMINISTRATOR):
            raise ControlError(403, f"{user.username} may not use /{found.name}")
