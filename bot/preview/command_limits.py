"""Discord's limits on application commands.

Source: https://discord.com/developers/docs/interactions/application-commands#application-command-object
"""

from __future__ import annotations

import re
from typing import Any

from bot.preview.errors import Problems
from bot.preview.shape import check_shape
from bot.preview.values import Json

MAX_COMMANDS, MAX_OPTIONS, MAX_TEXT = 100, 25, 8000
SUBCOMMAND, GROUP = 1, 2
STRING, INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, ATTACHMENT = range(3, 12)
_NAME = re.compile(r"[-_'\w]{1,32}")

Path = tuple[str | int, ...]


def check_command(problems: Problems, at: Path, body: Any) -> None:
    """Check one command as the bot sends it. Raises DiscordError at once when its shape is wrong."""
    check_shape(problems, at, body)
    problems.raise_any()
    if body.get("type") not in (None, 1):
        problems.required((*at, "name"), body.get("name"), 1, 32)
        return
    _check_name(problems, at, body)
    problems.required((*at, "description"), body.get("description"), 1, 100)
    _check_options(problems, (*at, "options"), body.get("options") or [], allowed=(SUBCOMMAND, GROUP))
    if _text_length(body) > MAX_TEXT:
        text = f"Command exceeds maximum size ({MAX_TEXT})"
        problems.add(at, "APPLICATION_COMMAND_TOO_LARGE", text)


def _check_name(problems: Problems, at: Path, body: Json) -> None:
    name = body.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.lower():
        text = "Command name is invalid"
        problems.add((*at, "name"), "APPLICATION_COMMAND_INVALID_NAME", text)


def _check_options(problems: Problems, at: Path, options: list[Any], *, allowed: tuple[int, ...]) -> None:
    """`allowed` are the nesting types that may stand here: a group holds subcommands, a subcommand neither."""
    problems.count(at, options, 0, MAX_OPTIONS)
    seen: set[object] = set()
    optional = False
    for place, option in enumerate(options):
        here = (*at, place)
        kind = option.get("type")
        _check_name(problems, here, option)
        problems.required((*here, "description"), option.get("description"), 1, 100)
        if option.get("name") in seen:
            text = "Application command option names must be unique"
            problems.add((*here, "name"), "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", text)
        seen.add(option.get("name"))
        if kind in (SUBCOMMAND, GROUP):
            if kind not in allowed:
                problems.add((*here, "type"), "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Nested too deep")
            inner = (SUBCOMMAND,) if kind == GROUP else ()
            _check_options(problems, (*here, "options"), option.get("options") or [], allowed=inner)
            continue
        if kind not in range(STRING, ATTACHMENT + 1):
            problems.add((*here, "type"), "BASE_TYPE_CHOICES", "Value must be one of the option types.")
        if option.get("required") and optional:
            text = "Required options must be placed before non-required options"
            problems.add(here, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", text)
        optional = optional or not option.get("required")
        _check_choices(problems, (*here, "choices"), option.get("choices") or [])


def _check_choices(problems: Problems, at: Path, choices: list[Any]) -> None:
    problems.count(at, choices, 0, MAX_OPTIONS)
    for place, choice in enumerate(choices):
        problems.required((*at, place, "name"), choice.get("name"), 1, 100)
        value = choice.get("value")
        problems.length((*at, place, "value"), value if isinstance(value, str) else None, 1, 100)


def _text_length(body: Json) -> int:
    """Name, description and values, of the command and of everything in it."""
    total = len(str(body.get("name", ""))) + len(str(body.get("description", "")))
    for option in body.get("options") or ():
        total += _text_length(option)
    for choice in body.get("choices") or ():
        total += len(str(choice.get("name", ""))) + len(str(choice.get("value", "")))
    return total
