"""The options of a slash command as Discord sends them: typed, checked, and with what they name resolved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.preview.backend import Backend
from bot.preview.command_limits import (
    ATTACHMENT,
    BOOLEAN,
    CHANNEL,
    GROUP,
    INTEGER,
    MENTIONABLE,
    NUMBER,
    ROLE,
    STRING,
    SUBCOMMAND,
    USER,
)
from bot.preview.files import safe_name
from bot.preview.lookup import ControlError, channel_of, role_of, user_of
from bot.preview.people import upload_of
from bot.preview.values import Channel, Json
from bot.preview.wire import interaction_channel, member_object, role_object, user_object

_NAMING = {USER: "user", CHANNEL: "channel", ROLE: "role", MENTIONABLE: "mentionable", ATTACHMENT: "attachment"}


class Resolved:
    """Gathers the objects behind ids, the way `data.resolved` carries them."""

    def __init__(self, backend: Backend, channel: Channel) -> None:
        self._backend = backend
        self._channel = channel
        self.tables: dict[str, Json] = {}

    def add(self, kind: str, value: Any) -> str:
        """Resolve a name or an id of a kind; returns the id. Raises ControlError when there is no such thing."""
        world = self._backend.world
        match kind:
            case "channel":
                channel = channel_of(self._backend, value)
                shown = interaction_channel(world, channel, world.bot_id)
                return self._put("channels", channel.id, shown)
            case "role":
                role = role_of(self._backend, self._channel.guild_id or "", value)
                return self._put("roles", role.id, role_object(role))
            case "attachment":
                return self._attachment(value)
            case "mentionable" if str(value) in world.roles:
                return self.add("role", value)
            case _:
                user = user_of(self._backend, value)
                member = world.member(self._channel.guild_id, user.id)
                if member is not None:
                    self._put("members", user.id, {**member_object(member), "permissions": "0"})
                return self._put("users", user.id, user_object(user))

    def _attachment(self, value: Any) -> str:
        upload = upload_of(value if isinstance(value, dict) else {}, 0)
        attachment_id, name = self._backend.ids.next(), safe_name(upload.filename)
        self._backend.files.save(attachment_id, upload.data)
        url = f"{self._backend.base_url}/attachments/{self._channel.id}/{attachment_id}/{name}"
        told = {"filename": name, "size": len(upload.data), "content_type": upload.content_type}
        return self._put("attachments", attachment_id, {"id": attachment_id, "url": url, "proxy_url": url, **told})

    def _put(self, table: str, key: str, value: Json) -> str:
        self.tables.setdefault(table, {})[key] = value
        return key


def fill(resolved: Resolved, wanted: Sequence[Json], path: Sequence[str], given: dict[str, Any]) -> list[Json]:
    """Options for a command (or the subcommand that `path` names). Raises ControlError for what does not fit."""
    groups = [option for option in wanted if option["type"] in (SUBCOMMAND, GROUP)]
    if groups:
        found = next((option for option in groups if path and option["name"] == path[0]), None)
        if found is None:
            raise ControlError(400, f"name one of {', '.join(option['name'] for option in groups)}")
        inner = fill(resolved, found.get("options") or (), path[1:], given)
        return [{"name": found["name"], "type": found["type"], "options": inner}]
    if path:
        raise ControlError(404, f"there is no subcommand {' '.join(path)}")
    unknown = set(given) - {option["name"] for option in wanted}
    if unknown:
        raise ControlError(400, f"there is no option {', '.join(sorted(unknown))}")
    filled = []
    for option in wanted:
        if option["name"] in given:
            value = _value(resolved, option, given[option["name"]])
            filled.append({"name": option["name"], "type": option["type"], "value": value})
        elif option.get("required"):
            raise ControlError(400, f"option {option['name']} is required")
    return filled


def _value(resolved: Resolved, option: Json, value: Any) -> Any:
    kind, name = option["type"], option["name"]
    if kind in _NAMING:
        return resolved.add(_NAMING[kind], value)
    if kind == BOOLEAN:
        return value if isinstance(value, bool) else str(value).lower() == "true"
    try:
        typed = {STRING: str, INTEGER: int, NUMBER: float}[kind](value)
    except (TypeError, ValueError):
        raise ControlError(400, f"option {name} must be a number") from None
    choices = option.get("choices") or ()
    if choices:
        found = next((choice for choice in choices if typed in (choice["value"], choice["name"])), None)
        if found is None:
            raise ControlError(400, f"option {name} must be one of {', '.join(c['name'] for c in choices)}")
        return found["value"]
    low, high = ("min_length", "max_length") if kind == STRING else ("min_value", "max_value")
    size = len(typed) if isinstance(typed, str) else typed
    if (option.get(low) is not None and size < option[low]) or (option.get(high) is not None and size > option[high]):
        raise ControlError(400, f"option {name} must be between {option.get(low)} and {option.get(high)}")
    return typed
