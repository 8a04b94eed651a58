"""Calls written as Python: `name(key="value")`, `print(name(key="value"))`. Nothing of it is ever run."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator

from pipeline.providers._text_calls.found import Called
from pipeline.providers._text_calls.known import KnownTools
from pipeline.providers._text_calls.source import NotACall, Source, Steps, Unreadable

_NAME = re.compile(r"[\w.-]*")
_HEAD = re.compile(r"\A\s*+(?:print\()?\s*+([\w.-]+)(?=\()")
_JSON_CONSTANTS = {"true": True, "false": False, "null": None}


def read_code(source: Source, tools: KnownTools) -> Steps[list[Called]]:
    """Statements up to the closing mark, each of them a call. Raises Unreadable."""
    code, _ = yield from source.until("</tool_code>", "```")
    return parse_code(code, tools)


def read_python_call(source: Source, tools: KnownTools) -> Steps[list[Called]]:
    """One `name(…)` or `name.call(…)`. Raises NotACall, Unreadable."""
    name = yield from source.run(_NAME)
    if (yield from source.peek()) != "(":
        raise Unreadable if _name(name, tools) in tools.signatures else NotACall
    return parse_code(name + (yield from source.bracketed(quotes="\"'")), tools)


def parse_code(code: str, tools: KnownTools) -> list[Called]:
    """The calls that `code` consists of. Raises Unreadable if it holds anything else."""
    # A dash in a name would be a minus; resolving the name brings it back.
    code = _HEAD.sub(lambda head: head[0].replace("-", "_"), code)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the escapes in somebody else's strings
            statements = ast.parse(code.strip()).body
        calls = [_called(call, tools) for statement in statements for call in _calls(statement)]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise Unreadable from None
    if not calls:
        raise Unreadable
    return calls


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[*inner])) if inner:
            for one in inner:
                if not isinstance(one, ast.Call):
                    raise Unreadable
                yield one
        case ast.Expr(value=ast.Call() as call):
            yield call
        case _:
            raise Unreadable


def _called(call: ast.Call, tools: KnownTools) -> Called:
    name = _name(ast.unparse(call.func), tools)
    signature = tools.signatures.get(name)
    parameters = signature.parameters if signature else ()
    if len(call.args) > len(parameters):
        raise Unreadable
    arguments = {key: _literal(node) for key, node in zip(parameters, call.args, strict=False)}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise Unreadable
        arguments[keyword.arg] = _literal(keyword.value)
    return Called(name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _name(written: str, tools: KnownTools) -> str:
    """The tool that a dotted name means: `name.call`, or `name` of some object that was never there."""
    name = tools.resolve(written.removesuffix(".call"))
    last = tools.resolve(name.rpartition(".")[2])
    return name if name in tools.signatures or last not in tools.signatures else last


def _literal(node: ast.expr) -> object:
    match node:
        case ast.Name(id=name) if name in _JSON_CONSTANTS:
            return _JSON_CONSTANTS[name]
        case _:
            return ast.literal_eval(node)
