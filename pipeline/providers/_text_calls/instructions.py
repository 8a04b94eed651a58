"""What a model is told that has to write its calls into its text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pydantic import JsonValue

from pipeline.provider import ToolDefinition
from pipeline.providers._json import dump, list_of, object_of, text_of
from pipeline.providers._text_calls.known import KnownTools, speakable

_SAMPLES: dict[str, JsonValue] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


def verbatim_instructions(tools: Sequence[ToolDefinition]) -> str:
    """How to call `tools` in text, with examples and their schemas; empty where none can be called so.

    The parser for `Form.VERBATIM` knows the same tools and takes every call that is shown here.
    """
    callable_tools = speakable(tools)
    if not callable_tools:
        return ""
    schemas = b",\n".join(
        dump({"name": tool.name, "description": tool.description, "parameters": tool.schema}) for tool in callable_tools
    ).decode()
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", schemas)), default=0))
    return "\n".join(("# Tools", "", *_rules(callable_tools), "", f"{fence}json", f"[{schemas}]", fence))


def _rules(tools: Sequence[ToolDefinition]) -> list[str]:
    known = KnownTools(tools).signatures
    plain = next((tool for tool in tools if not known[tool.name].required), None)
    short = next((tool for tool in tools if known[tool.name].single_text), None)
    longest = max(tools, key=lambda tool: len(known[tool.name].parameters))
    rules = [
        "You can use the tools listed below. To use one, write its name with its arguments in brackets, as inline code",
        "or alone in a code block, as the very last thing in your message. Then stop: its result comes next.",
        "A short sentence before it is fine. Write nothing after it, and never make up a result.",
        "- The arguments are one JSON object with double quotes, nested where the schema is nested: "
        f"`{longest.name}({_sample_object(longest)})`",
    ]
    if short:
        rules.append(f"- Where one text is all that a tool requires, that alone will do: `{short.name}({_text()})`")
    if plain:
        rules.append(f"- Where nothing is required, the brackets may be empty: `{plain.name}()`")
    rules.append("To speak about a tool without using it, write its name without brackets.")
    return rules


def _text() -> str:
    return json.dumps(_SAMPLES["string"])


def _sample_object(tool: ToolDefinition) -> str:
    return json.dumps(_sample(tool.schema, depth=0), ensure_ascii=False)


def _sample(schema: object, *, depth: int) -> JsonValue:
    """A value of the shape that `schema` describes."""
    node = object_of(schema if isinstance(schema, dict) else None)
    for key in ("const", "default"):
        if key in node:
            return node[key]
    for key in ("enum", "examples"):
        if options := list_of(node.get(key)):
            return options[0]
    kind = text_of(node.get("type"))
    if kind == "array" and node.get("items") and depth < 3:
        return [_sample(node["items"], depth=depth + 1)]
    if "properties" in node and depth < 3:
        return {name: _sample(value, depth=depth + 1) for name, value in object_of(node["properties"]).items()}
    return _SAMPLES.get(kind, "text")
