"""Reading messages with calls in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from hypothesis import strategies as st
from pydantic import JsonValue

from pipeline.provider import ToolDefinition
from pipeline.providers._text_calls import NATIVE_FORMS, Called, Form, Said, TextCallParser

EVERY_FORM = frozenset(Form)
VERBATIM = frozenset({Form.VERBATIM})
TEXT: JsonValue = {"type": "string", "description": "text"}
NUMBER: JsonValue = {"type": "integer", "description": "a number"}


def tool(name: str, *required: str, **properties: JsonValue) -> ToolDefinition:
    schema: dict[str, JsonValue] = {"type": "object", "properties": properties, "required": list(required)}
    return ToolDefinition(name=name, description=f"{name} it", schema=schema)


TOOLS = (
    tool("fetch", "url", url=TEXT, depth=NUMBER),
    tool("write_file", "path", "content", path=TEXT, content=TEXT, mode=NUMBER),
    tool("read-file", "path", path=TEXT),
    tool("now"),
    tool("roll", "sides", sides=NUMBER),
)


class Read(NamedTuple):
    said: str
    calls: tuple[tuple[str, str], ...]


def text(said: str) -> Read:
    return Read(said, ())


def call(name: str, arguments: str = "{}", *, said: str = "") -> Read:
    return Read(said, ((name, arguments),))


def read(
    message: str | Iterable[str],
    forms: frozenset[Form] = EVERY_FORM,
    *,
    tools: Sequence[ToolDefinition] = TOOLS,
    bound: int = 8192,
) -> Read:
    """What `message`, whole or in pieces, is read as."""
    parser = TextCallParser(tools, forms=forms, max_buffer_chars=bound)
    pieces = [message] if isinstance(message, str) else message
    found = [one for piece in pieces for one in parser.feed(piece)] + list(parser.finish())
    return Read(
        "".join(one.text for one in found if isinstance(one, Said)),
        tuple((one.name, one.arguments) for one in found if isinstance(one, Called)),
    )


def read_native(message: str) -> Read:
    return read(message, NATIVE_FORMS)


def split(message: str, cuts: Sequence[int]) -> list[str]:
    points = [0, *sorted(cut % (len(message) + 1) for cut in cuts), len(message)]
    return [message[start:end] for start, end in pairwise(points)]


CUTS = st.lists(st.integers(0, 2000), max_size=12)
