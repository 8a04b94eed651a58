"""Application commands, global and of a guild."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.preview.backend import Backend
from bot.preview.command_limits import MAX_COMMANDS, check_command
from bot.preview.errors import Problems, error
from bot.preview.rest.access import open_guild
from bot.preview.router import NO_CONTENT, Answer, Call, Handler, Route
from bot.preview.values import Command, Json
from bot.preview.wire import command_object

_DEFAULTS: Json = {
    "type": 1,
    "description": "",
    "name_localizations": None,
    "description_localizations": None,
    "default_member_permissions": None,
    "contexts": None,
    "integration_types": [0],
    "nsfw": False,
    "options": [],
}


def listed(backend: Backend, call: Call) -> Answer:
    return Answer(body=[command_object(command) for command in _commands(backend, _guild_id(backend, call))])


def overwrite(backend: Backend, call: Call) -> Answer:
    """Replace all commands of the scope; a command that keeps its name keeps its id."""
    guild_id = _guild_id(backend, call)
    problems = Problems()
    if call.body is not None and not isinstance(call.body, list):
        problems.add((), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        problems.raise_any()
    wanted: list[Any] = call.body or []
    if len(wanted) > MAX_COMMANDS:
        raise error(30032)
    names: set[tuple[object, object]] = set()
    for place, body in enumerate(wanted):
        check_command(problems, (place,), body)
        key = (body.get("type") or 1, body.get("name"))
        if key in names:
            text = "Application command names must be unique"
            problems.add((place, "name"), "APPLICATION_COMMANDS_DUPLICATE_NAME", text)
        names.add(key)
    problems.raise_any()
    for command in _commands(backend, guild_id):
        if (command.body["type"], command.name) not in names:
            backend.world.commands.remove(command.id)
    kept = [_save(backend, guild_id, body) for body in wanted]
    backend.events.commands()
    return Answer(body=[command_object(command) for command in kept])


def create(backend: Backend, call: Call) -> Answer:
    """A command with a name that exists replaces the one that has it."""
    guild_id = _guild_id(backend, call)
    problems = Problems()
    check_command(problems, (), call.body)
    problems.raise_any()
    before = len(_commands(backend, guild_id))
    command = _save(backend, guild_id, call.body)
    backend.events.commands()
    return Answer(status=201 if len(_commands(backend, guild_id)) > before else 200, body=command_object(command))


def get(backend: Backend, call: Call) -> Answer:
    return Answer(body=command_object(_command(backend, call)))


def modify(backend: Backend, call: Call) -> Answer:
    command = _command(backend, call)
    body = {**command.body, **call.fields}
    problems = Problems()
    check_command(problems, (), body)
    problems.raise_any()
    changed = replace(command, body=_complete(body), version=backend.ids.next())
    backend.world.commands.put(changed)
    backend.events.commands()
    return Answer(body=command_object(changed))


def delete(backend: Backend, call: Call) -> Answer:
    backend.world.commands.remove(_command(backend, call).id)
    backend.events.commands()
    return NO_CONTENT


def _guild_id(backend: Backend, call: Call) -> str | None:
    if call["application_id"] != backend.world.bot_id:
        raise error(50001)
    guild_id = call.params.get("guild_id")
    return open_guild(backend, guild_id).id if guild_id is not None else None


def _commands(backend: Backend, guild_id: str | None) -> list[Command]:
    return [command for command in backend.world.commands if command.guild_id == guild_id]


def _command(backend: Backend, call: Call) -> Command:
    guild_id = _guild_id(backend, call)
    command = backend.world.commands.get(call["command_id"])
    if command is None or command.guild_id != guild_id:
        raise error(10063)
    return command


def _save(backend: Backend, guild_id: str | None, wanted: Json) -> Command:
    body = _complete(wanted)
    key = (body["type"], body["name"])
    old = next((c for c in _commands(backend, guild_id) if (c.body["type"], c.name) == key), None)
    if old is not None and old.body == body:
        return old
    command_id = old.id if old else backend.ids.next()
    command = Command(
        id=command_id, application_id=backend.world.bot_id, guild_id=guild_id, version=backend.ids.next(), body=body
    )
    return backend.world.commands.put(command)


def _complete(wanted: Json) -> Json:
    body = {name: wanted[name] if wanted.get(name) is not None else default for name, default in _DEFAULTS.items()}
    permissions = body["default_member_permissions"]
    body["default_member_permissions"] = None if permissions is None else str(permissions)
    return {**body, "name": wanted["name"], "options": _options(body["options"])}


def _options(options: Sequence[Json]) -> list[Json]:
    shown = []
    for option in options:
        body = {name: value for name, value in option.items() if value is not None}
        if "options" in body:
            body["options"] = _options(body["options"])
        shown.append(body)
    return shown


def _routes(base: str) -> list[Route]:
    one = base + "/{command_id}"
    table: list[tuple[str, str, Handler]] = [
        ("GET", base, listed),
        ("PUT", base, overwrite),
        ("POST", base, create),
        ("GET", one, get),
        ("PATCH", one, modify),
        ("DELETE", one, delete),
    ]
    return [Route(method=method, template=template, handler=handler) for method, template, handler in table]


ROUTES = (
    *_routes("/applications/{application_id}/commands"),
    *_routes("/applications/{application_id}/guilds/{guild_id}/commands"),
)
