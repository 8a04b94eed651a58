"""Gemma's calls: `call:name{key:<escape>text<escape>,number:3}`. Text stands between marks, so it has no escapes."""

from __future__ import annotations

import json
import re

from pipeline.providers._text_calls.found import Called
from pipeline.providers._text_calls.known import KnownTools, is_json
from pipeline.providers._text_calls.source import Source, Steps, Unreadable

_END = ("<end_function_call>", "<tool_call|>")
_HEAD = re.compile(r"call:\s*([\w.-]+)\s*(?=\{)")
_TEXT = re.compile(r'(<escape>|<\|"\|>)(.*?)\1', re.DOTALL)
_BARE = re.compile(r"[^,:{}\[\]<]+")
_WHITE = re.compile(r"\s*")
_MAX_DEPTH = 50


def read_gemma_call(source: Source, tools: KnownTools) -> Steps[list[Called]]:
    """One call, up to the closing mark or the end of the text. Raises Unreadable."""
    body, _ = yield from source.until(*_END)
    head = _HEAD.match(body)
    if head is None:
        raise Unreadable
    arguments, _ = _Reader(body).value(head.end(), 0)
    return [Called(name=tools.resolve(head[1]), arguments=arguments)]


class _Reader:
    """Turns the notation into JSON text, from a place in it to the place behind. Raises Unreadable."""

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, at: int, depth: int) -> tuple[str, int]:
        at = self._white(at)
        if depth > _MAX_DEPTH:
            raise Unreadable
        match self._text[at : at + 1]:
            case "{":
                return self._members(at, depth, "}")
            case "[":
                return self._members(at, depth, "]")
            case _:
                text, end, is_bare = self._scalar(at)
                return (text if is_bare and is_json(text) else json.dumps(text, ensure_ascii=False)), end

    def _members(self, at: int, depth: int, closing: str) -> tuple[str, int]:
        opening = self._text[at]
        members: list[str] = []
        at = self._white(at + 1)
        while not self._text.startswith(closing, at):
            at = self._sign(",", at) if members else at
            key = ""
            if closing == "}":
                name, at, _ = self._scalar(self._white(at))
                key = json.dumps(name.strip("\"'"), ensure_ascii=False) + ": "
                at = self._sign(":", at)
            value, at = self.value(at, depth + 1)
            members.append(key + value)
            at = self._white(at)
        return opening + ", ".join(members) + closing, at + 1

    def _scalar(self, at: int) -> tuple[str, int, bool]:
        """A text without its marks, or what stands there bare; where it ends; whether it was bare."""
        if found := _TEXT.match(self._text, at):
            return found[2], found.end(), False
        found = _BARE.match(self._text, at)
        if found is None:
            raise Unreadable
        return found[0].strip(), found.end(), True

    def _sign(self, sign: str, at: int) -> int:
        at = self._white(at)
        if not self._text.startswith(sign, at):
            raise Unreadable
        return at + len(sign)

    def _white(self, at: int) -> int:
        found = _WHITE.match(self._text, at)
        return found.end() if found else at
