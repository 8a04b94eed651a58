"""Arguments as a person can read them, and exactly: every character that runs is on the card, in JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from bot.render.text import visible

_BOX = re.compile(r"```json\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Number:
    """A number, or one of JSON's words, as it was written: a large id must not lose digits."""

    text: str


@dataclass(frozen=True, slots=True)
class _Object:
    """Keys and values in order, a repeated key included."""

    pairs: tuple[tuple[str, object], ...]


def exact_json(arguments: str, *, compact: bool = False) -> str:
    """`arguments` (JSON as received) laid out for people: the same values, in the same order.

    Hidden characters and runs of three back-ticks are JSON escapes. Text that is no JSON, or nested too deeply to be
    laid out, is shown as one string.
    """
    line = None if compact else "\n"
    try:
        value = json.loads(
            arguments.strip() or "{}",
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_Number,
            object_pairs_hook=lambda pairs: _Object(tuple(pairs)),
        )
        return _written(value, line)
    except (ValueError, RecursionError):
        return _written(arguments, line)


def boxed_json(text: str) -> str:
    """`exact_json` in its box."""
    return f"```json\n{text}\n```"


def parse_box(description: str) -> str:
    """The JSON in the box of a card. Raises ValueError when there is none."""
    found = _BOX.search(description)
    if found is None:
        raise ValueError("no box of arguments")
    return found[1]


def _written(value: object, line: str | None) -> str:
    """`value` as JSON. `line` is what begins a line at this depth; None writes all on one."""
    match value:
        case _Number(text=text):
            return text
        case str():
            return _string(value)
        case _Object(pairs=pairs):
            return _listed("{}", [f"{_string(key)}: {_written(item, _deeper(line))}" for key, item in pairs], line)
        case list():
            return _listed("[]", [_written(item, _deeper(line)) for item in value], line)
        case _:
            return json.dumps(value)


def _deeper(line: str | None) -> str | None:
    return None if line is None else line + "  "


def _listed(brackets: str, items: list[str], line: str | None) -> str:
    if not items:
        return brackets
    if line is None:
        return f"{brackets[0]}{', '.join(items)}{brackets[1]}"
    return f"{brackets[0]}{line}  {f',{line}  '.join(items)}{line}{brackets[1]}"


def _string(text: str) -> str:
    return visible(json.dumps(text, ensure_ascii=False)).replace("```", "``\\u0060")
