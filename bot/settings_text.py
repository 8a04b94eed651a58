"""Settings in words: bounds, units, values. Used by error sentences, `doctor`, `/limits` and the documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import SecretStr
from pydantic.fields import FieldInfo

_UNITS = {"ms": "ms", "s": "s", "bytes": "bytes", "chars": "characters", "usd": "USD", "tokens": "tokens"}
LONG = 10**24
"""Whole numbers from here on are shown rounded."""
_FORMS: dict[object, str] = {
    int: "a whole number",
    float: "a number",
    Decimal: "a number",
    bool: "true or false",
    Path: "a path",
    str: "text",
    SecretStr: "text",
}


def unit_of(name: str) -> str:
    """The unit of a setting, which its name ends in; empty for a plain count."""
    return _UNITS.get(name.lower().rsplit("_", 1)[-1], "")


def reserved(field: FieldInfo) -> bool:
    """Whether the setting has no effect in this version."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("reserved"))


def limits_of(field: FieldInfo) -> str:
    """The numeric bounds, such as `>= 1` or `1..10`; empty where there are none."""
    low = next((m for m in field.metadata if isinstance(m, Ge | Gt)), None)
    high = next((m.le for m in field.metadata if isinstance(m, Le)), None)
    if isinstance(low, Ge):
        return f"{low.ge:g}..{high:g}" if high is not None else f">= {low.ge:g}"
    return f"> {low.gt:g}" if low is not None else ""


def form_of(field: FieldInfo) -> str:
    """What a value has to be, so that "it must be ..." reads well."""
    extra = field.json_schema_extra
    if isinstance(extra, dict) and extra.get("form"):
        return str(extra["form"])
    kinds = [_bare(kind) for kind in get_args(field.annotation) or (field.annotation,) if kind is not NoneType]
    if get_origin(field.annotation) is Literal or get_origin(kinds[0]) is Literal:
        choices = [choice for kind in kinds for choice in (get_args(kind) or (kind,))]
        return "one of " + ", ".join(map(str, choices))
    return _FORMS.get(kinds[0], "a table of settings")


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def bounds_of(field: FieldInfo) -> str:
    """Form and bounds together."""
    return f"{form_of(field)} {limits_of(field)}".rstrip()


def value_text(value: object) -> str:
    """A value for people, on one line; secrets as `set`, nothing as `not set`, passwords in addresses left out."""
    match value:
        case None:
            return "not set"
        case SecretStr():
            return "set"
        case bool():
            return str(value).lower()
        case int() | Decimal():
            exact = Decimal(value)
            return str(exact) if exact.copy_abs() < LONG else f"{exact:.3E}"
        case float():
            return str(value).removesuffix(".0")
        case StrEnum():
            return value.value
        case Mapping():
            return ", ".join(f"{name}={value_text(part)}" for name, part in value.items()) or "none"
        case set() | frozenset():
            return ", ".join(sorted(map(str, value))) or "none"
        case tuple() | list():
            return ", ".join(map(str, value)) or "none"
        case _:
            text = re.sub(r"//[^/@\s]*@", "//...@", str(value))
            text = re.sub(r"(https?://[^\s?#]*)[?#]\S+", r"\1?...", text)
            return (text if len(text) <= 80 else text[:77] + "...").replace("\n", "\\n")


def words_of(value: object, unit: str) -> str:
    """A value as people say it: `5 minutes` for 300000 ms, `12 KB` (of 1024 bytes) for 12288 bytes."""
    match unit, value:
        case ("s", int() | float()):
            return _duration(float(value))
        case ("ms", int() | float()):
            return _duration(value / 1000)
        case ("bytes", int()) if value >= 1024:
            return f"{value / 1024:.1f}".removesuffix(".0") + " KB"
        case _:
            return f"{value_text(value)} {unit}".rstrip()


def _duration(seconds: float) -> str:
    """The largest units first, those that are zero left out."""
    minutes, milliseconds = divmod(round(seconds * 1000), 60_000)
    counted = {"hour": str(minutes // 60), "minute": str(minutes % 60), "second": f"{milliseconds / 1000:g}"}
    parts = [f"{count} {unit}{'' if count == '1' else 's'}" for unit, count in counted.items() if count != "0"]
    return " ".join(parts) or "0 seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One setting as it stands: `variable` is its name; `value` and `default` are as they would be written in a
    file, `words` is the value as people say it, unit and all."""

    variable: str
    value: str
    words: str
    default: str
    unit: str
    bounds: str
    meaning: str
    reserved: bool


def describe(name: str, field: FieldInfo, value: Any) -> Described:
    """The setting `name` with its value."""
    return Described(
        variable=name.upper(),
        value=value_text(value),
        words=words_of(value, unit_of(name)),
        default=value_text(field.default),
        unit=unit_of(name),
        bounds=limits_of(field),
        meaning=field.description or "",
        reserved=reserved(field),
    )
