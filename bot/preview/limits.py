"""Discord's limits on a message: what breaks one is told with the field's path (50035).

Source: https://discord.com/developers/docs/resources/message#embed-object-embed-limits
"""

from __future__ import annotations

import re
from typing import Any

from bot.preview.component_limits import check_components
from bot.preview.errors import Problems, error
from bot.preview.shape import check_shape
from bot.preview.values import COMPONENTS_V2, Json

CONTENT, EMBEDS, EMBED_TOTAL, FIELDS, ATTACHMENTS, STICKERS = 2000, 10, 6000, 25, 10, 3
_MENTION_KINDS = ("users", "roles", "everyone")
_URL = re.compile(r"(https?|attachment)://\S+")


def check_message(body: Any, *, flags: int, max_content: int = CONTENT) -> None:
    """Check the fields that are there. `flags` are those the message will have.

    Raises DiscordError 50035 with every problem.
    """
    problems = Problems()
    check_shape(problems, (), body)
    problems.raise_any()
    problems.length(("content",), body.get("content"), 0, max_content)
    nonce = body.get("nonce")
    problems.length(("nonce",), nonce if isinstance(nonce, str) else None, 0, 25)
    problems.count(("sticker_ids",), body.get("sticker_ids") or [], 0, STICKERS)
    problems.count(("attachments",), body.get("attachments") or [], 0, ATTACHMENTS)
    _check_embeds(problems, body.get("embeds") or [])
    _check_mentions(problems, body.get("allowed_mentions") or {})
    v2 = bool(flags & COMPONENTS_V2)
    if v2:
        for name in ("content", "embeds", "poll", "sticker_ids"):
            if body.get(name):
                code = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"
                problems.add(
                    (name,), code, f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
                )
    check_components(problems, body.get("components") or [], v2=v2)
    problems.raise_any()


def require_something(body: Json, *, has_files: bool) -> None:
    """Raises DiscordError 50006 for a message that shows nothing."""
    content = str(body.get("content") or "").strip()
    if not (content or has_files or any(body.get(name) for name in ("embeds", "components", "sticker_ids", "poll"))):
        raise error(50006)


def _check_embeds(problems: Problems, embeds: list[Any]) -> None:
    problems.count(("embeds",), embeds, 0, EMBEDS)
    total = 0
    for place, embed in enumerate(embeds):
        at: tuple[str | int, ...] = ("embeds", place)
        footer, author = embed.get("footer") or {}, embed.get("author") or {}
        problems.length((*at, "title"), embed.get("title"), 0, 256)
        problems.length((*at, "description"), embed.get("description"), 0, 4096)
        problems.length((*at, "footer", "text"), footer.get("text"), 0, 2048)
        problems.length((*at, "author", "name"), author.get("name"), 0, 256)
        for path in (("url",), ("image", "url"), ("thumbnail", "url"), ("author", "icon_url"), ("footer", "icon_url")):
            _check_url(problems, at, embed, path)
        fields = embed.get("fields") or []
        problems.count((*at, "fields"), fields, 0, FIELDS)
        for number, field in enumerate(fields):
            problems.required((*at, "fields", number, "name"), field.get("name"), 1, 256)
            problems.required((*at, "fields", number, "value"), field.get("value"), 1, 1024)
        texts = [embed.get("title"), embed.get("description"), footer.get("text"), author.get("name")]
        texts += [field.get(name) for field in fields for name in ("name", "value")]
        total += sum(len(text) for text in texts if isinstance(text, str))
        shown = ("title", "description", "image", "thumbnail", "author", "footer", "fields", "video", "url")
        if not any(embed.get(name) for name in shown):
            problems.add(at, "EMPTY_EMBED", "An embed must show something")
    if total > EMBED_TOTAL:
        problems.add(("embeds",), "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBED_TOTAL}")


def _check_url(problems: Problems, at: tuple[str | int, ...], embed: Json, path: tuple[str, ...]) -> None:
    value: Any = embed
    for name in path:
        value = (value or {}).get(name)
    if value is not None and not _URL.fullmatch(str(value)):
        text = f"Not a well formed URL: scheme must be one of ('http', 'https'): {str(value)[:50]}"
        problems.add((*at, *path), "URL_TYPE_INVALID_URL", text)
    problems.length((*at, *path), value, 0, 2048)


def _check_mentions(problems: Problems, allowed: Any) -> None:
    at = "allowed_mentions"
    if not isinstance(allowed, dict):
        problems.add((at,), "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        return
    parse = allowed.get("parse") or []
    for place, kind in enumerate(parse):
        if kind not in _MENTION_KINDS:
            text = f"Value must be one of {_MENTION_KINDS}."
            problems.add((at, "parse", place), "BASE_TYPE_CHOICES", text)
    for kind in ("users", "roles"):
        listed = allowed.get(kind) or []
        problems.count((at, kind), listed, 0, 100)
        if kind in parse and listed:
            code = "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"
            problems.add((at,), code, f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.')
