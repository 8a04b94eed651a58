"""What the model is shown about arguments, and what happens to those it sends."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tools.base import Tool, ToolArguments, ToolContext, ToolResult, define_tool
from tools.schema import ArgumentsError, canonical_arguments, parse_arguments, schema_of


class Item(ToolArguments):
    """One thing."""

    title: str = Field(description="Its title.")


class Order(ToolArguments):
    """Not for the model."""

    path: str = Field(description="A path.")
    count: int = Field(default=1, ge=1, description="How many.")
    ids: list[int] = Field(default=[], description="Ids.")
    item: Item | None = Field(default=None, description="A thing.")
    kind: Literal["a", "b"] = Field(default="a", description="Which.")


class Loose(ToolArguments):
    word: str = Field(default="none", description="A word.")


async def nothing(args: BaseModel, ctx: ToolContext) -> ToolResult:
    return ToolResult(content="")


ORDER: Tool[Order] = define_tool(name="order", description="", arguments=Order, run=nothing)
LOOSE: Tool[Loose] = define_tool(name="loose", description="", arguments=Loose, run=nothing)


@pytest.mark.parametrize("text", ["", "  \n", "null", "{}", '{"word": null}'])
def test_no_arguments_are_an_empty_object(text: str) -> None:
    assert parse_arguments(LOOSE, text).word == "none"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "must be a JSON object, not a list"),
        ('"x"', "must be a JSON object, not a string"),
        ("7", "must be a JSON object, not a number"),
        ("true", "must be a JSON object, not true or false"),
        ('{"q"', "not complete, valid JSON"),
        ('{"path":"a', "not complete, valid JSON"),
        ("{} {}", "not complete, valid JSON"),
        ('{"path":"a","count":NaN}', "NaN is not JSON"),
        ('{"path":"a","count":-Infinity}', "-Infinity is not JSON"),
        ('{"path":"a","count":1e999}', "has lost digits"),
        ('{"path":"a","ids":[1.2345678901234568e17]}', "has lost digits"),
        ('{"path":"\\ud800"}', "half of a surrogate pair"),
        ('{"path":"\ud800"}', "half of a surrogate pair"),
        ('{"path":"a","path":"b"}', "the key path is given twice"),
        ('{"path":"a","item":{"title":"x","title":"y"}}', "the key title is given twice"),
        ('{"path":"a","count":' + "9" * 5000 + "}", "too many digits"),
        ("[" * 100_000, "nested too deeply"),
        ('{"count":1}', "path is missing"),
        ('{"path":null}', "path should be a valid string, not null"),
        ('{"path":7}', "path should be a valid string, not a number"),
        ('{"path":"a","count":"many"}', "count should be a valid integer"),
        ('{"path":"a","count":0}', "count should be greater than or equal to 1"),
        ('{"path":"a","ids":[1,"x"]}', "ids[1] should be a valid integer"),
        ('{"path":"a","item":{}}', "item.title is missing"),
        ('{"path":"a","item":{"title":"t","more":1}}', "item.more is not an argument"),
        ('{"path":"a","kind":"c"}', "kind should be 'a' or 'b'"),
        ('{"path":"a","coumt":2}', "coumt is not an argument (did you mean count?)"),
    ],
)
def test_arguments_that_cannot_be_used_are_named_in_words(text: str, words: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        parse_arguments(ORDER, text)
    assert words in str(caught.value)
    assert str(caught.value).startswith("invalid arguments for order: ")


def test_many_problems_are_told_in_a_bounded_sentence() -> None:
    text = json.dumps({"path": "a"} | {f"{n}" + "x" * 500: n for n in range(200)})
    with pytest.raises(ArgumentsError) as caught:
        parse_arguments(ORDER, text)
    assert "more problems" in str(caught.value)
    assert len(str(caught.value)) < 1500


def test_big_whole_numbers_stay_exact() -> None:
    order = parse_arguments(ORDER, '{"path":"a","ids":[123456789012345678, 12345678901234567890123]}')
    assert order.ids == [123456789012345678, 12345678901234567890123]
    assert "123456789012345678,12345678901234567890123" in canonical_arguments(order)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(json_values | st.dictionaries(st.sampled_from(["path", "count", "ids", "item", "kind"]), json_values))
def test_any_json_is_parsed_or_refused_in_words(value: object) -> None:
    try:
        order = parse_arguments(ORDER, json.dumps(value))
    except ArgumentsError as error:
        str(error).encode()
    else:
        assert parse_arguments(ORDER, canonical_arguments(order)) == order


@given(st.text(st.characters()))
def test_any_text_is_parsed_or_refused_in_words(text: str) -> None:
    try:
        parse_arguments(LOOSE, text)
    except ArgumentsError as error:
        str(error).encode()


def test_the_order_of_keys_and_left_out_defaults_do_not_change_the_canonical_form() -> None:
    one = parse_arguments(ORDER, '{"count":1,"path":"a"}')
    other = parse_arguments(ORDER, '{ "path" : "a" }')
    assert canonical_arguments(one) == canonical_arguments(other)
    assert canonical_arguments(one) == '{"count":1,"ids":[],"item":null,"kind":"a","path":"a"}'


def test_the_schema_is_short_and_whole() -> None:
    assert ORDER.schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["path"],
        "properties": {
            "path": {"type": "string", "description": "A path."},
            "count": {"type": "integer", "minimum": 1, "default": 1, "description": "How many."},
            "ids": {"type": "array", "items": {"type": "integer"}, "default": [], "description": "Ids."},
            "item": {
                "type": "object",
                "additionalProperties": False,
                "required": ["title"],
                "properties": {"title": {"type": "string", "description": "Its title."}},
                "description": "A thing.",
            },
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "Which."},
        },
    }
    assert list(ORDER.schema["properties"]) == ["path", "count", "ids", "item", "kind"]  # type: ignore[arg-type]


class Tree(ToolArguments):
    name: str = Field(description="Its name.")
    children: list[Tree] = Field(default=[], description="Below it.")


def test_a_definition_that_holds_itself_is_kept_beside_the_schema() -> None:
    schema = schema_of(Tree)
    assert set(schema["$defs"]) == {"Tree"}  # type: ignore[arg-type]
    tree = parse_arguments(
        define_tool(name="t", description="", arguments=Tree, run=nothing), '{"name":"a","children":[{"name":"b"}]}'
    )
    assert tree.children[0].name == "b"


def test_a_tool_without_arguments_still_has_an_object_schema() -> None:
    assert schema_of(ToolArguments) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_property_without_a_description_is_refused() -> None:
    class Silent(ToolArguments):
        path: str

    with pytest.raises(ValueError, match="the property path needs a description"):
        schema_of(Silent)


def test_an_arguments_model_that_lets_unknown_fields_pass_is_refused() -> None:
    class Open(BaseModel):
        path: str = Field(description="A path.")

    with pytest.raises(ValueError, match="must forbid extra fields"):
        define_tool(name="open", description="", arguments=Open, run=nothing)
