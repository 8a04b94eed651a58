"""Discord's limits on components: rows, buttons, selects, the layout of v2, and modals.

Source: https://discord.com/developers/docs/components/reference
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.preview.errors import Problems
from bot.preview.shape import check_shape
from bot.preview.values import Json

Path = tuple[str | int, ...]

ROW, BUTTON, STRING_SELECT, TEXT_INPUT = 1, 2, 3, 4
SELECTS = (3, 5, 6, 7, 8)
SECTION, TEXT, THUMBNAIL, GALLERY, FILE, SEPARATOR, CONTAINER, LABEL, UPLOAD = 9, 10, 11, 12, 13, 14, 17, 18, 19
TOP_V2 = (ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR, CONTAINER)
IN_CONTAINER = (ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR)
LINK, PREMIUM = 5, 6
ROWS, V2_TOTAL, V2_TEXT = 5, 40, 4000


def walk(components: Any) -> Iterator[Json]:
    """Every component in a tree, parents first."""
    for component in components or ():
        if isinstance(component, dict):
            yield component
            yield from walk(component.get("components"))
            for name in ("accessory", "component"):
                yield from walk([component.get(name)])


def check_components(problems: Problems, components: list[Any], *, v2: bool) -> None:
    """Check a message's components; `v2` says that the message uses the new layout."""
    tree = list(walk(components))
    if v2:
        if len(tree) > V2_TOTAL:
            problems.add(("components",), "BASE_TYPE_MAX_LENGTH", f"Must be {V2_TOTAL} or fewer in length.")
        text = sum(len(str(component.get("content", ""))) for component in tree if component.get("type") == TEXT)
        if text > V2_TEXT:
            code = "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"
            problems.add(("components",), code, f"The total displayable text size exceeds {V2_TEXT}")
    else:
        problems.count(("components",), components, 0, ROWS)
    _check_all(problems, ("components",), components, TOP_V2 if v2 else (ROW,))
    _check_unique(problems, components)


def check_modal(modal: Any) -> None:
    """Raises DiscordError 50035 for a modal that Discord would not open."""
    problems, at = Problems(), ("data",)
    check_shape(problems, at, modal)
    problems.raise_any()
    problems.required((*at, "title"), modal.get("title"), 1, 45)
    problems.required((*at, "custom_id"), modal.get("custom_id"), 1, 100)
    components = modal.get("components") or []
    problems.count((*at, "components"), components, 1, ROWS)
    _check_all(problems, (*at, "components"), components, (ROW, LABEL, TEXT), modal=True)
    _check_unique(problems, components)
    problems.raise_any()


def _check_all(problems: Problems, at: Path, items: Any, allowed: tuple[int, ...], *, modal: bool = False) -> None:
    for place, item in enumerate(items):
        here = (*at, place)
        if not isinstance(item, dict) or item.get("type") not in allowed:
            text = f'Value of field "type" must be one of {allowed}.'
            problems.add((*here, "type"), "UNION_TYPE_CHOICES", text)
        else:
            _check_one(problems, here, item, modal=modal)


def _check_one(problems: Problems, at: Path, item: Json, *, modal: bool) -> None:
    children = item.get("components") or []
    match item["type"]:
        case 1:
            _check_row(problems, at, children, modal=modal)
        case 2:
            _check_button(problems, at, item)
        case 3 | 5 | 6 | 7 | 8:
            _check_select(problems, at, item)
        case 4:
            _check_input(problems, at, item)
        case 9:
            problems.count((*at, "components"), children, 1, 3)
            _check_all(problems, (*at, "components"), children, (TEXT,))
            accessory = item.get("accessory")
            _check_all(problems, (*at, "accessory"), [accessory], (BUTTON, THUMBNAIL))
        case 10:
            problems.required((*at, "content"), item.get("content"), 1, V2_TEXT)
        case 12:
            problems.count((*at, "items"), item.get("items") or [], 1, 10)
        case 17:
            problems.count((*at, "components"), children, 1, V2_TOTAL)
            _check_all(problems, (*at, "components"), children, IN_CONTAINER)
        case 18:
            problems.required((*at, "label"), item.get("label"), 1, 45)
            problems.length((*at, "description"), item.get("description"), 0, 100)
            allowed = (TEXT_INPUT, *SELECTS, UPLOAD, 21, 22, 23)
            _check_all(problems, (*at, "component"), [item.get("component")], allowed, modal=True)


def _check_row(problems: Problems, at: Path, children: list[Any], *, modal: bool) -> None:
    problems.count((*at, "components"), children, 1, 5)
    _check_all(problems, (*at, "components"), children, (TEXT_INPUT,) if modal else (BUTTON, *SELECTS))
    kinds = {child.get("type") for child in children if isinstance(child, dict)}
    if len(children) > 1 and kinds != {BUTTON}:
        problems.add(
            (*at, "components"), "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width"
        )


def _check_button(problems: Problems, at: Path, item: Json) -> None:
    style = item.get("style")
    if style not in range(1, 7):
        problems.add((*at, "style"), "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6).")
    problems.length((*at, "label"), item.get("label"), 0, 80)
    if style == LINK:
        problems.required((*at, "url"), item.get("url"), 1, 512)
        if item.get("custom_id"):
            problems.add(
                (*at, "custom_id"), "COMPONENT_CUSTOM_ID_AND_URL", "A custom id and url cannot both be specified"
            )
    elif style != PREMIUM:
        problems.required((*at, "custom_id"), item.get("custom_id"), 1, 100)
    if style != PREMIUM and not item.get("label") and not item.get("emoji"):
        problems.add(at, "BUTTON_COMPONENT_INVALID_STYLE", "A button needs a label or an emoji")


def _check_select(problems: Problems, at: Path, item: Json) -> None:
    problems.required((*at, "custom_id"), item.get("custom_id"), 1, 100)
    problems.length((*at, "placeholder"), item.get("placeholder"), 0, 150)
    for name, low in (("min_values", 0), ("max_values", 1)):
        value = item.get(name)
        if value is not None and not (isinstance(value, int) and low <= value <= 25):
            problems.add((*at, name), "NUMBER_TYPE_MAX", f"int value should be between {low} and 25.")
    if item["type"] != STRING_SELECT:
        return
    options = item.get("options") or []
    problems.count((*at, "options"), options, 1, 25)
    values = [option.get("value") for option in options]
    for place, option in enumerate(options):
        here = (*at, "options", place)
        problems.required((*here, "label"), option.get("label"), 1, 100)
        problems.required((*here, "value"), option.get("value"), 1, 100)
        problems.length((*here, "description"), option.get("description"), 0, 100)
        if values.index(option.get("value")) != place:
            problems.add(
                (*here, "value"),
                "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
                "The specified option value is already used",
            )


def _check_input(problems: Problems, at: Path, item: Json) -> None:
    problems.required((*at, "custom_id"), item.get("custom_id"), 1, 100)
    problems.length((*at, "label"), item.get("label"), 0, 45)
    problems.length((*at, "placeholder"), item.get("placeholder"), 0, 100)
    problems.length((*at, "value"), item.get("value"), 0, 4000)
    if item.get("style") not in (1, 2):
        problems.add((*at, "style"), "BASE_TYPE_CHOICES", "Value must be one of (1, 2).")


def _check_unique(problems: Problems, components: list[Any]) -> None:
    seen: set[str] = set()
    for top, component in enumerate(components):
        for item in walk([component]):
            custom_id = item.get("custom_id")
            if custom_id in seen:
                text = "Component custom id cannot be duplicated"
                problems.add(("components", top), "COMPONENT_CUSTOM_ID_DUPLICATED", text)
            if isinstance(custom_id, str):
                seen.add(custom_id)
