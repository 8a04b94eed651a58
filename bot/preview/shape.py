"""Whether a body has the shape that the other checks rely on: lists of objects, objects and texts where they belong."""

from __future__ import annotations

from typing import Any

from bot.preview.errors import Problems

Path = tuple[str | int, ...]

_LISTS_OF_OBJECTS = {"embeds", "fields", "components", "options", "choices", "attachments", "items"}
_LISTS = {"sticker_ids", "parse", "users", "roles"}
_OBJECTS = {"footer", "author", "image", "thumbnail", "media", "file", "accessory", "component", "emoji"}
_OBJECTS |= {"message_reference"}
_NUMBERS = {"style", "flags", "min_values", "max_values", "min_length", "max_length"}
_KEYS = {"id", "name", "type"}
_TEXTS = {"title", "description", "label", "custom_id", "placeholder", "value", "filename"}


def check_shape(problems: Problems, at: Path, body: Any) -> None:
    """Note every known field, at any depth, that has the wrong type. An absent or null one passes."""
    if not isinstance(body, dict):
        problems.add(at, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        return
    for name, value in body.items():
        here = (*at, name)
        if value is None:
            continue
        if name in _LISTS_OF_OBJECTS | _LISTS and not isinstance(value, list):
            problems.add(here, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        elif name in _LISTS_OF_OBJECTS:
            for place, item in enumerate(value):
                check_shape(problems, (*here, place), item)
        elif name in _OBJECTS:
            check_shape(problems, here, value)
        elif name in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int)):
            problems.add(here, "NUMBER_TYPE_COERCE", "Value is not int.")
        elif (name in _TEXTS and not isinstance(value, str)) or (name in _KEYS and isinstance(value, list | dict)):
            problems.add(here, "STRING_TYPE_CONVERT", "Could not interpret value as string.")
