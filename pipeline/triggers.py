"""Words and patterns that call for a tool: an operator's own, and the syntax that the built-in ones share.

A literal is compared without case, Latin accents and the width of white space, and only at the bounds of a word; `*` at
its end stands for the rest of the word. In scripts that are written without spaces it is found anywhere. `^` fits every
message. `/.../` is a regular expression, matched without case; it runs on an engine whose time grows with the length
of the text only, and so has neither look-around nor back-references.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from pydantic_core import SchemaError, SchemaValidator, core_schema

ALWAYS = "^"
MAX_TEXT_CHARS = 4000  # what is looked at of a message; Discord's longest one
MAX_PATTERN_CHARS = 300
MAX_LABEL_CHARS = 60

_UNSPACED = (
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
_STARTS_UNSPACED = re.compile(_UNSPACED)
_ENDS_UNSPACED = re.compile(f"{_UNSPACED}\\Z")
_PLAIN = {
    code: unicodedata.normalize("NFD", chr(code))[0]
    for code in range(0xC0, 0x250)
    if unicodedata.normalize("NFD", chr(code))[0].isascii()
} | {ord("‘"): "'", ord("’"): "'"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What an operator wants: a message that `pattern` fits gets the tool, or the tools of the subject, `target`."""

    pattern: str
    target: str


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Whether a text (as a person wrote it) fits `pattern`. Raises ValueError, with a reason, for one that is none."""
    pattern = pattern.strip()
    if len(pattern) > MAX_PATTERN_CHARS:
        raise ValueError(f"it is longer than {MAX_PATTERN_CHARS} characters")
    if pattern == ALWAYS:
        return lambda _: True
    if len(pattern) > 2 and pattern[0] == pattern[-1] == "/":
        return _regex(pattern[1:-1])
    finder = re.compile(literal(pattern))
    return lambda text: finder.search(fold(text)) is not None


def literal(pattern: str) -> str:
    """A regular expression that finds the literal `pattern` in a text that went through `fold`.

    Raises ValueError when nothing would be left to look for.
    """
    words = fold(pattern)
    is_stem = words.endswith("*")
    words = words.rstrip("*").rstrip() if is_stem else words
    if not words:
        raise ValueError(f"there is nothing to look for; {ALWAYS} fits every message")
    before = "" if _STARTS_UNSPACED.match(words) else r"(?<!\w)"
    after = r"\w*" if is_stem else "" if _ENDS_UNSPACED.search(words) else r"(?!\w)"
    return f"{before}{re.escape(words)}{after}"


def fold(text: str) -> str:
    """`text` as literals are compared: bounded, lower case, without Latin accents, one space between words."""
    composed = unicodedata.normalize("NFC", text[:MAX_TEXT_CHARS])
    return " ".join(composed.translate(_PLAIN).casefold().split())


def label(text: str) -> str:
    """A trigger as it is shown: one line, short, and safe between back-ticks."""
    line = " ".join(text.replace("`", "'").split())
    return line if len(line) <= MAX_LABEL_CHARS else f"{line[: MAX_LABEL_CHARS - 1]}…"


def _regex(pattern: str) -> Callable[[str], bool]:
    try:
        # The engine behind pydantic's `pattern` takes linear time, so no pattern can hold up the program.
        schema = core_schema.str_schema(pattern=f"(?i){pattern}", regex_engine="rust-regex")
        validator = SchemaValidator(schema)
    except SchemaError as error:
        raise ValueError(_reason(error)) from error
    return lambda text: validator.isinstance_python(text[:MAX_TEXT_CHARS])


def _reason(error: SchemaError) -> str:
    """The last line of the engine's words, which says what is wrong."""
    return str(error).strip().rpartition("\n")[2].strip().removeprefix("error: ").removeprefix("SchemaError: ")
