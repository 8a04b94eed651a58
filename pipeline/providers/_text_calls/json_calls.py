"""Calls that are JSON: an object with a name and arguments, or a list of those."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import JsonValue

from pipeline.providers._json import object_of, text_of
from pipeline.providers._text_calls.found import Called
from pipeline.providers._text_calls.known import KnownTools, is_json
from pipeline.providers._text_calls.source import SPACE, NotACall, Source, Steps, Unreadable

_LENIENT = json.JSONDecoder(strict=False)
"""Takes line breaks inside strings, which models that write by hand leave as they are."""
_WHITE = re.compile(r"[ \t\r\n]*")
_BETWEEN = re.compile(r"[\s;,]*")
_NAME = re.compile(r"[\w.-]*")
_ARGUMENTS = ("arguments", "parameters")
_ABOUT_THE_CALL = ("name", "id", "type")


class Part(NamedTuple):
    """A member of an object or a list: its value, and the JSON text of that as it was written."""

    value: JsonValue
    text: str


def read_calls(source: Source, tools: KnownTools) -> Steps[list[Called]]:
    """One or more objects or lists of objects behind one another. Raises Unreadable."""
    calls: list[Called] = []
    while (yield from source.peek()) in ("{", "["):
        text = yield from source.bracketed()
        read = parts(text)
        if read is None:
            raise Unreadable
        objects = [text] if isinstance(read, dict) else [part.text for part in read]
        calls += [_call(one, tools) for one in objects]
        yield from source.run(_BETWEEN)
    return calls


def read_named(source: Source, tools: KnownTools) -> Steps[list[Called]]:
    """A name and the object of its arguments, perhaps with an id or a mark between. Raises NotACall, Unreadable."""
    name = yield from source.run(_NAME)
    yield from source.run(SPACE)
    if (yield from source.skip("[CALL_ID]")):
        yield from source.run(_NAME)
    is_marked = yield from source.skip("[ARGS]")
    yield from source.run(SPACE)
    name = tools.resolve(name)
    if (yield from source.peek()) != "{":
        raise Unreadable if is_marked or name in tools.signatures else NotACall
    return [Called(name=name, arguments=(yield from read_object(source)))]


def read_object(source: Source) -> Steps[str]:
    """The text of the JSON object that comes next. Raises Unreadable."""
    text = yield from source.bracketed()
    if not isinstance(parts(text), dict):
        raise Unreadable
    return as_received(text)


def as_received(text: str) -> str:
    """`text`, which parses leniently, unchanged where it is JSON in the strict sense too, else written as that."""
    return text if is_json(text) else json.dumps(_LENIENT.decode(text), ensure_ascii=False)


def parts(text: str) -> dict[str, Part] | list[Part] | None:
    """The members of the JSON object or list that `text` is; None if it is neither."""
    try:
        return _object(text) if text.startswith("{") else _list(text)
    except (ValueError, RecursionError):
        return None


def _object(text: str) -> dict[str, Part]:
    members: dict[str, Part] = {}
    at = _after("{", text, 0)
    while not text.startswith("}", at):
        at = _after(",", text, at) if members else at
        key, end = _LENIENT.raw_decode(text, at)
        if not isinstance(key, str):
            raise ValueError
        members[key], at = _part(text, _after(":", text, _white(text, end)))
    _ended(text, at)
    return members


def _list(text: str) -> list[Part]:
    items: list[Part] = []
    at = _after("[", text, 0)
    while not text.startswith("]", at):
        at = _after(",", text, at) if items else at
        item, at = _part(text, at)
        items.append(item)
    _ended(text, at)
    return items


def _part(text: str, at: int) -> tuple[Part, int]:
    value, end = _LENIENT.raw_decode(text, at)
    return Part(value, text[at:end]), _white(text, end)


def _after(sign: str, text: str, at: int) -> int:
    if not text.startswith(sign, at):
        raise ValueError
    return _white(text, at + len(sign))


def _white(text: str, at: int) -> int:
    found = _WHITE.match(text, at)
    return found.end() if found else at


def _ended(text: str, at: int) -> None:
    if text[at + 1 :].strip():
        raise ValueError


def _call(text: str, tools: KnownTools) -> Called:
    members = parts(text)
    if isinstance(members, dict) and isinstance(members.get("function"), Part):
        nested = members["function"]
        if object_of(nested.value):
            members = parts(nested.text)
    if not isinstance(members, dict) or not (name := text_of(_value(members, "name"))):
        return Called(name="", arguments=text)
    return Called(name=tools.resolve(name), arguments=_arguments(members))


def _value(members: Mapping[str, Part], key: str) -> JsonValue:
    return members[key].value if key in members else None


def _arguments(members: Mapping[str, Part]) -> str:
    given = next((members[key] for key in _ARGUMENTS if key in members), None)
    if given is None:  # written beside the name
        rest = {key: part for key, part in members.items() if key not in _ABOUT_THE_CALL}
        return "{" + ", ".join(f"{json.dumps(key)}: {as_received(part.text)}" for key, part in rest.items()) + "}"
    if isinstance(given.value, str):
        return given.value
    return "{}" if given.value is None else as_received(given.text)
