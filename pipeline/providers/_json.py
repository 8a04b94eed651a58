"""JSON from strangers: parsed leniently, read without trust, written once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

import orjson
from pydantic import JsonValue

from tools.output import scrub

JsonObject = Mapping[str, JsonValue]
_EMPTY: JsonObject = {}


def parse_object(text: str) -> JsonObject | None:
    """`text` as a JSON object, or None. Lone surrogates and NaN, which strict parsers refuse, are let through."""
    try:
        value = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
    return cast("JsonObject", value) if isinstance(value, dict) else None


def dump(value: object) -> bytes:
    """`value` as JSON bytes; a string with a lone surrogate is kept, as an escape."""
    try:
        return orjson.dumps(value, default=dict)
    except TypeError:
        return json.dumps(value, separators=(",", ":"), default=dict).encode()


def object_of(value: JsonValue | None) -> JsonObject:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else _EMPTY


def list_of(value: JsonValue | None) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def text_of(value: JsonValue | None) -> str:
    return value if isinstance(value, str) else ""


def count_of(value: JsonValue | None) -> int:
    """`value` where it is a number above zero, else 0."""
    return int(value) if isinstance(value, (int, float)) and 0 < value < 1e15 else 0


def arguments_on_wire(arguments: str) -> str:
    """The arguments of a call as they may be sent back: exactly as they came where they are a JSON object, else `{}`.

    Servers parse the arguments of earlier calls; what was wrong with bad ones is in the call's result.
    """
    try:
        valid = isinstance(orjson.loads(arguments), dict)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        valid = False
    return arguments if valid else "{}"


class DeltaText:
    """Makes streamed text encodable. A character that a server cut in two halves (surrogates) is put together."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """What can be shown after `text`; perhaps less than came in."""
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return scrub(text)

    def end(self) -> str:
        half, self._half = self._half, ""
        return scrub(half)
