"""Calls whose arguments stand between tags of their own.

A value is taken as it stands, so it needs no escapes and can hold anything but its own closing tag. A value that is
still open where the text ends was cut, and a call with half a value is not to be run.
"""

from __future__ import annotations

import json
import re

from pipeline.providers._text_calls.found import Called
from pipeline.providers._text_calls.json_calls import read_object
from pipeline.providers._text_calls.known import KnownTools
from pipeline.providers._text_calls.source import SPACE, NotACall, Source, Steps, Unreadable

ARGUMENT_KEY = "<arg_key>"
_FUNCTION, _PARAMETER, _END_OF_FUNCTION = "<function=", "<parameter=", "</function>"
_END_OF_CALL = "</tool_call>"
_NAME = re.compile(r"""[\w."'-]*""")
_ONE_LINE_BREAK = re.compile(r"\A\r?\n|\r?\n\Z")


def read_wrapped_function(source: Source, tools: KnownTools) -> Steps[list[Called]]:
    """`<function=…` inside of another wrapper. Raises NotACall, Unreadable."""
    if not (yield from source.skip(_FUNCTION)):
        raise NotACall
    return (yield from read_function(source, tools))


def read_function(source: Source, tools: KnownTools) -> Steps[list[Called]]:
    """`name>{json}</function>` or `name><parameter=key>value</parameter>…</function>`. Raises NotACall, Unreadable."""
    name = tools.resolve((yield from source.run(_NAME)).strip("\"'"))
    if not name or not (yield from source.skip(">")):
        raise NotACall
    yield from source.run(SPACE)
    if (yield from source.peek()) == "{":
        arguments = yield from read_object(source)
    elif (yield from source.next_is((_PARAMETER, _END_OF_FUNCTION))):
        arguments = yield from _parameters(source, name, tools)
    else:
        raise NotACall
    yield from source.run(SPACE)
    yield from source.skip(_END_OF_FUNCTION)
    return [Called(name=name, arguments=arguments)]


def _parameters(source: Source, name: str, tools: KnownTools) -> Steps[str]:
    members: list[str] = []
    while (yield from source.skip(_PARAMETER)):
        key = (yield from source.run(_NAME)).strip("\"'")
        if not (yield from source.skip(">")):
            raise Unreadable
        # Some leave the closing tag out.
        value, ended_by = yield from source.until("</parameter>", _PARAMETER, _END_OF_FUNCTION)
        if not ended_by:
            raise Unreadable
        yield from source.skip("</parameter>")
        members.append(_member(name, key, _ONE_LINE_BREAK.sub("", value), tools))
        yield from source.run(SPACE)
    if (yield from source.peek()) and not (yield from source.next_is((_END_OF_FUNCTION, _END_OF_CALL))):
        raise Unreadable
    return _object(members)


def read_glm(source: Source, tools: KnownTools) -> Steps[list[Called]]:
    """A name, and its arguments as read by `read_pairs` or as JSON. Raises NotACall, Unreadable."""
    written = yield from source.run(_NAME)
    name = tools.resolve(written)
    yield from source.run(SPACE)
    if (yield from source.peek()) == "{":
        return [Called(name=name, arguments=(yield from read_object(source)))]
    if (yield from source.next_is((ARGUMENT_KEY, _END_OF_CALL))):
        return [Called(name=name, arguments=(yield from read_pairs(source, name, tools)))]
    raise Unreadable if name in tools.signatures else NotACall


def read_pairs(source: Source, name: str, tools: KnownTools) -> Steps[str]:
    """`<arg_key>key</arg_key><arg_value>value</arg_value>…` as the text of a JSON object. Raises Unreadable."""
    members: list[str] = []
    while (yield from source.skip(ARGUMENT_KEY)):
        key, _ = yield from source.until("</arg_key>")
        if not (yield from source.skip("</arg_key>")):
            raise Unreadable
        yield from source.run(SPACE)
        if not (yield from source.skip("<arg_value>")):
            raise Unreadable
        value, _ = yield from source.until("</arg_value>")
        if not (yield from source.skip("</arg_value>")):
            raise Unreadable
        members.append(_member(name, key.strip(), value, tools))
        yield from source.run(SPACE)
    return _object(members)


def _member(name: str, key: str, value: str, tools: KnownTools) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: {tools.json_of(name, key, value)}"


def _object(members: list[str]) -> str:
    return "{" + ", ".join(members) + "}"
