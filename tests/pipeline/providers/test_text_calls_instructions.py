"""What a model is told, and what the parser knows, are the same."""

from __future__ import annotations

import json
import re

import pytest
from pydantic import JsonValue

from pipeline.provider import ToolDefinition
from pipeline.providers._text_calls import verbatim_instructions
from tests.pipeline.providers.text_calls import TEXT, TOOLS, VERBATIM, call, read, text, tool

NESTED: JsonValue = {
    "type": "array",
    "items": {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}, "label": TEXT}},
}
TOOL_SETS = (TOOLS, TOOLS[:1], (tool("now"),), (tool("ask", "options", options=NESTED, text=TEXT),))


def listed(instructions: str) -> list[dict[str, JsonValue]]:
    found = re.search(r"^(`{3,})json\n(.*)\n\1$", instructions, re.DOTALL | re.MULTILINE)
    assert found
    tools: list[dict[str, JsonValue]] = json.loads(found[2])
    return tools


@pytest.mark.parametrize("tools", TOOL_SETS)
def test_every_example_in_the_instructions_is_a_call(tools: tuple[ToolDefinition, ...]) -> None:
    examples = re.findall(r"^- .*(`[^`]+\)`)$", verbatim_instructions(tools), re.MULTILINE)
    assert examples
    for example in examples:
        [(name, arguments)] = read(example, VERBATIM, tools=tools).calls
        assert name in {one.name for one in tools}
        assert isinstance(json.loads(arguments), dict)


def test_the_instructions_themselves_call_only_what_their_examples_call() -> None:
    prose, _, dump = verbatim_instructions(TOOLS).partition("```json")
    assert read("```json" + dump, VERBATIM) == text("```json" + dump)
    assert len(read(prose, VERBATIM).calls) == 3


@pytest.mark.parametrize("name", ["now", "read-file", "A1_", "2fa", "a.b", "x y", "", "é"])
def test_a_tool_is_listed_if_and_only_if_it_can_be_called(name: str) -> None:
    tools = (tool("other"), tool(name))
    is_listed = name in {one["name"] for one in listed(verbatim_instructions(tools))}
    assert (read(f"{name}()", VERBATIM, tools=tools) == call(name)) == is_listed


def test_the_schemas_are_those_of_the_tools() -> None:
    assert listed(verbatim_instructions(TOOLS)) == [
        {"name": one.name, "description": one.description, "parameters": one.schema} for one in TOOLS
    ]


def test_without_tools_that_can_be_called_there_are_no_instructions() -> None:
    assert verbatim_instructions(()) == ""
    assert verbatim_instructions((tool("2fa"),)) == ""


def test_backticks_in_a_description_do_not_end_the_list() -> None:
    odd = ToolDefinition(name="odd", description="Like ```\nthis```", schema={})
    assert [one["name"] for one in listed(verbatim_instructions((odd,)))] == ["odd"]


def test_an_example_has_the_shape_of_the_nested_schema() -> None:
    tools = TOOL_SETS[3]
    assert '`ask({"options": [{"kind": "a", "label": "text"}], "text": "text"})`' in verbatim_instructions(tools)
