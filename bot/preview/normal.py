"""Embeds and components the way Discord gives them back: defaults filled in, nulls gone, component ids numbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.preview.component_limits import (
    BUTTON,
    CONTAINER,
    FILE,
    GALLERY,
    SELECTS,
    SEPARATOR,
    STRING_SELECT,
    THUMBNAIL,
    walk,
)
from bot.preview.files import safe_name
from bot.preview.values import Json


def embeds(items: Sequence[Json], addresses: dict[str, str]) -> list[Json]:
    """Rich embeds. `addresses` maps the file names of this message to their addresses, for `attachment://`."""
    return [_embed(item, addresses) for item in items]


def components(items: Sequence[Json], addresses: dict[str, str]) -> list[Json]:
    """Components, each with its id: the sender's, or the lowest free number."""
    taken = {item["id"] for item in walk(items) if isinstance(item.get("id"), int) and item["id"] > 0}
    free = (number for number in range(1, 1 << 16) if number not in taken)

    def number(item: Json) -> Json:
        own = item.get("id")
        body = _without_nulls(item)
        body["id"] = own if isinstance(own, int) and own > 0 else next(free)
        body |= _defaults(body, addresses)
        for name in ("accessory", "component"):
            if name in body:
                body[name] = number(body[name])
        if "components" in body:
            body["components"] = [number(child) for child in body["components"]]
        return body

    return [number(item) for item in items]


def _defaults(item: Json, addresses: dict[str, str]) -> Json:
    kind = item["type"]
    if kind == BUTTON:
        return {"disabled": bool(item.get("disabled", False))} if "custom_id" in item else {}
    if kind in SELECTS:
        body: Json = {"min_values": item.get("min_values", 1), "max_values": item.get("max_values", 1)}
        body["disabled"] = bool(item.get("disabled", False))
        if kind == STRING_SELECT:
            body["options"] = [_without_nulls(option) for option in item["options"]]
        return body
    if kind == CONTAINER:
        return {"accent_color": item.get("accent_color"), "spoiler": bool(item.get("spoiler", False))}
    if kind == SEPARATOR:
        return {"spacing": item.get("spacing", 1), "divider": bool(item.get("divider", True))}
    if kind == THUMBNAIL:
        shown = {"description": item.get("description"), "spoiler": bool(item.get("spoiler", False))}
        return {"media": _media(item.get("media"), addresses), **shown}
    if kind == FILE:
        file = _media(item.get("file"), addresses)
        name = file["url"].rsplit("/", 1)[-1]
        return {"file": file, "name": name, "size": 0, "spoiler": bool(item.get("spoiler", False))}
    if kind == GALLERY:
        return {"items": [_gallery_item(entry, addresses) for entry in item["items"]]}
    return {}


def _without_nulls(item: Json) -> Json:
    """`item` without what is null; a unicode emoji in it comes with a null id and goes back without one."""
    body = {name: value for name, value in item.items() if value is not None}
    return {**body, "emoji": _without_nulls(body["emoji"])} if "emoji" in body else body


def _gallery_item(item: Json, addresses: dict[str, str]) -> Json:
    shown = {"description": item.get("description"), "spoiler": bool(item.get("spoiler", False))}
    return {"media": _media(item.get("media"), addresses), **shown}


def _media(item: Any, addresses: dict[str, str]) -> Json:
    url = _resolve(str((item or {}).get("url", "")), addresses)
    return {"id": "0", "url": url, "proxy_url": url, "width": None, "height": None, "content_type": None}


def _embed(item: Json, addresses: dict[str, str]) -> Json:
    body = {name: value for name, value in item.items() if value is not None and value != []} | {"type": "rich"}
    if "fields" in body:
        names = ("name", "value")
        body["fields"] = [
            {**{name: field[name] for name in names}, "inline": bool(field.get("inline", False))}
            for field in body["fields"]
        ]
    for name in ("image", "thumbnail"):
        if name in body:
            url = _resolve(str(body[name].get("url", "")), addresses)
            body[name] = {"url": url, "proxy_url": url, "width": 0, "height": 0}
    for name in ("author", "footer"):
        if name in body:
            part = {key: value for key, value in body[name].items() if value is not None}
            if "icon_url" in part:
                part["icon_url"] = part["proxy_icon_url"] = _resolve(part["icon_url"], addresses)
            body[name] = part
    return body


def _resolve(url: str, addresses: dict[str, str]) -> str:
    scheme, _, name = url.partition("://")
    return addresses.get(safe_name(name), url) if scheme == "attachment" else url
