"""The tools of a request, as far as reading a call depends on them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from pipeline.provider import ToolDefinition
from pipeline.providers._json import list_of, object_of

_SPEAKABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PYTHON_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parameters of a tool: their names in order, those that hold text and nothing else, those required."""

    parameters: tuple[str, ...]
    texts: frozenset[str]
    required: tuple[str, ...]

    @property
    def single_text(self) -> str | None:
        """The one required parameter, where there is one and it is text: a call may give that alone."""
        return self.required[0] if len(self.required) == 1 and self.required[0] in self.texts else None


class KnownTools:
    """The tools by name."""

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self.signatures = {tool.name: _signature(tool) for tool in tools if tool.name}
        self._loose: dict[str, str] = {}
        for name in self.signatures:
            # Two that differ in nothing else are left to be told apart by their exact names.
            self._loose[_loosened(name)] = "" if _loosened(name) in self._loose else name

    def resolve(self, name: str) -> str:
        """The known tool that `name` means, where `-` and `_` are one; else `name` itself."""
        return name if name in self.signatures else self._loose.get(_loosened(name)) or name

    def json_of(self, name: str, parameter: str, text: str) -> str:
        """`text`, the bare value of a parameter of the tool `name`, as JSON."""
        signature = self.signatures.get(name)
        if signature is None or parameter not in signature.texts:
            text = _PYTHON_CONSTANTS.get(text.strip(), text)
            if is_json(text):
                return text
        return json.dumps(text, ensure_ascii=False)


def speakable(tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Those of `tools` that can be called by writing `name(...)`: the parser and the instructions both go by this."""
    return tuple(tool for tool in tools if _SPEAKABLE.fullmatch(tool.name))


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _signature(tool: ToolDefinition) -> Signature:
    properties = object_of(tool.schema.get("properties"))
    return Signature(
        parameters=tuple(properties),
        texts=frozenset(name for name, value in properties.items() if _is_text(object_of(value).get("type"))),
        required=tuple(name for name in list_of(tool.schema.get("required")) if isinstance(name, str)),
    )


def _is_text(kind: JsonValue | None) -> bool:
    return kind == "string" or (isinstance(kind, list) and sorted(map(str, kind)) in (["null", "string"], ["string"]))


def _loosened(name: str) -> str:
    return name.replace("-", "_")
