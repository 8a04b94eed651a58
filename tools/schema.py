"""Between a pydantic model and the model's JSON: the schema that it is shown, the arguments that come back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from tools.errors import ToolError
from tools.output import visible

if TYPE_CHECKING:
    from tools.base import Tool

A = TypeVar("A", bound=BaseModel)

_MAX_PROBLEMS = 8
_MAX_EXACT_FLOAT = 2.0**53
_SUBJECT = re.compile(r"^\w+ should\b")
_TYPES = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}


class ArgumentsError(ToolError):
    """The arguments of a call cannot be used; the message names each field and what is wrong with it."""


def parse_arguments(tool: Tool[A], text: str) -> A:
    """The validated arguments of a call, from the JSON text as the model wrote it.

    Empty text and `null` mean no arguments; `null` for an optional field means its default. Whole numbers stay exact.
    Raises ArgumentsError.
    """
    try:
        values = _json_object(text)
    except ArgumentsError as error:
        raise ArgumentsError(f"invalid arguments for {tool.name}: {error}") from None
    fields = tool.arguments.model_fields
    given = {
        key: value
        for key, value in values.items()
        if value is not None or key not in fields or fields[key].is_required()
    }
    try:
        return tool.arguments.model_validate(given)
    except ValidationError as error:
        raise ArgumentsError(_sentence(tool, error)) from None


def canonical_arguments(arguments: BaseModel) -> str:
    """The one spelling of validated arguments: keys sorted, defaults filled in, no spaces."""
    dumped = arguments.model_dump(mode="json")
    return json.dumps(dumped, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _json_object(text: str) -> dict[str, JsonValue]:
    if text.strip() in ("", "null"):
        return {}
    try:
        value: JsonValue = _DECODER.decode(text)
        if "\\u" in text or not text.isascii():  # where half a character can hide
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ArgumentsError(f"not complete, valid JSON ({error.msg} at character {error.pos})") from None
    except UnicodeEncodeError:
        raise ArgumentsError("half of a surrogate pair; write the character itself") from None
    except RecursionError:
        raise ArgumentsError("nested too deeply") from None
    except ValueError:  # the interpreter's bound on digits
        raise ArgumentsError("a number has too many digits") from None
    if not isinstance(value, dict):
        raise ArgumentsError(f"must be a JSON object, not {_type_name(value)}")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ArgumentsError(f"{name} is not JSON")


def _exact_float(digits: str) -> float:
    """Beyond 2**53 a float has lost digits (an id written as 1.2e17), and nothing after us could tell."""
    value = float(digits)
    if not isfinite(value) or abs(value) > _MAX_EXACT_FLOAT:
        raise ArgumentsError(f"the number {visible(digits, 40)} has lost digits; write all digits, without exponent")
    return value


def _no_duplicates(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ArgumentsError(f"the key {visible(twice, 60)} is given twice")
    return result


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_exact_float, object_pairs_hook=_no_duplicates)


def _sentence(tool: Tool[A], error: ValidationError) -> str:
    details = error.errors(include_url=False, include_context=False)
    names = list(tool.arguments.model_fields)
    problems = [_problem(detail, names) for detail in details[:_MAX_PROBLEMS]]
    if len(details) > _MAX_PROBLEMS:
        problems.append(f"and {len(details) - _MAX_PROBLEMS} more problems")
    takes = f"It takes: {', '.join(names)}." if names else "It takes no arguments."
    return f"invalid arguments for {tool.name}: {'; '.join(problems)}. {takes}"


def _problem(detail: ErrorDetails, names: list[str]) -> str:
    where = ""
    for step in detail["loc"]:
        where += f"[{step}]" if isinstance(step, int) else f".{visible(step, 60)}"
    where = where.removeprefix(".")
    match detail["type"]:
        case "missing":
            return f"{where} is missing"
        case "extra_forbidden":
            near = get_close_matches(where, names, 1)
            return f"{where} is not an argument" + (f" (did you mean {near[0]}?)" if near else "")
        case kind:
            message = _SUBJECT.sub("should", detail["msg"].removeprefix("Value error, "))
            got = f", not {_type_name(detail['input'])}" if kind.endswith("_type") else ""
            return f"{where} {message}{got}" if where else f"{message}{got}"


def _type_name(value: object) -> str:
    return _TYPES.get(type(value), "a number")


def schema_of(model: type[BaseModel]) -> dict[str, JsonValue]:
    """The JSON schema that the model is shown: field order, definitions inlined, no titles, no null alternatives.

    Raises ValueError for a property without a description: the model knows a field by nothing else.
    """
    raw: dict[str, JsonValue] = model.model_json_schema()
    definitions = cast("dict[str, dict[str, JsonValue]]", raw.pop("$defs", {}))
    cleaner = _Cleaner(definitions)
    schema = cleaner.clean_object(raw)
    schema.pop("description", None)  # the model's docstring; the tool has its own description
    schema.setdefault("properties", {})
    schema.update(cleaner.kept_definitions())
    for name, described in _properties(schema):
        if not described:
            raise ValueError(f"{model.__name__}: the property {name} needs a description")
    return schema


class _Cleaner:
    """Walks a schema; a definition that contains itself cannot be inlined and is kept under `$defs`."""

    def __init__(self, definitions: Mapping[str, dict[str, JsonValue]]) -> None:
        self._definitions = definitions
        self._recursive: list[str] = []

    def clean(self, node: JsonValue, inside: tuple[str, ...] = ()) -> JsonValue:
        if isinstance(node, list):
            return [self.clean(item, inside) for item in node]
        return self.clean_object(node, inside) if isinstance(node, dict) else node

    def clean_object(self, node: dict[str, JsonValue], inside: tuple[str, ...] = ()) -> dict[str, JsonValue]:
        reference = node.get("$ref")
        if isinstance(reference, str):
            return self._resolve(reference.rpartition("/")[2], node, inside)
        cleaned: dict[str, JsonValue] = {}
        for key, value in node.items():
            if key == "title" or (key == "default" and value is None):
                continue
            if key == "properties" and isinstance(value, dict):
                cleaned[key] = {name: self.clean(item, inside) for name, item in value.items()}
            elif key in ("default", "enum", "const", "examples"):
                cleaned[key] = value
            else:
                cleaned[key] = self.clean(value, inside)
        return _without_null(cleaned)

    def _resolve(self, name: str, node: dict[str, JsonValue], inside: tuple[str, ...]) -> dict[str, JsonValue]:
        siblings = {key: value for key, value in node.items() if key not in ("$ref", "title")}
        if name in inside:
            if name not in self._recursive:
                self._recursive.append(name)
            return {"$ref": f"#/$defs/{name}", **siblings}
        return {**self.clean_object(self._definitions[name], (*inside, name)), **siblings}

    def kept_definitions(self) -> dict[str, JsonValue]:
        kept: dict[str, JsonValue] = {}
        for name in self._recursive:  # cleaning one can find another
            kept[name] = self.clean(self._definitions[name], (name,))
        return {"$defs": kept} if kept else {}


def _without_null(node: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """`T | None` as plain T: leaving the field out says the same."""
    options = node.get("anyOf")
    if not isinstance(options, list):
        return node
    rest = [option for option in options if option != {"type": "null"}]
    if len(rest) == 1 and isinstance(rest[0], dict):
        return {**rest[0], **{key: value for key, value in node.items() if key != "anyOf"}}
    return {**node, "anyOf": rest}


def _properties(node: JsonValue) -> Iterator[tuple[str, bool]]:
    """Every property of every object below `node`, and whether it is described."""
    if isinstance(node, list):
        for item in node:
            yield from _properties(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "properties" and isinstance(value, dict):
                for name, item in value.items():
                    yield name, isinstance(item, dict) and bool(item.get("description"))
                    yield from _properties(item)
            elif key not in ("default", "enum", "const", "examples"):
                yield from _properties(value)
