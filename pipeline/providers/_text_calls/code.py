"""Code in a message that is text: where it ends.

A block (three backticks or more) ends in its first line at as many, later only at the start of a line. A span ends at
as many backticks, or with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pipeline.providers._text_calls.source import Source, Steps

BACKTICKS = re.compile("`*")
_STOPS = re.compile("[`\n]")


def is_block(ticks: int) -> bool:
    return ticks >= 3


def closes_in(text: str, ticks: int) -> bool:
    """Does code that opens with so many backticks, at the beginning of `text`, end in `text`?"""
    inside = text[ticks:]
    if not is_block(ticks):
        return "\n" in inside or re.search(rf"(?<!`)`{{{ticks}}}(?!`)", inside) is not None
    first, _, others = inside.partition("\n")
    return "`" * ticks in first or re.search(rf"^[ \t]*`{{{ticks}}}", others, re.MULTILINE) is not None


def read_text_code(source: Source, ticks: int, read: str, say: Callable[[str], None]) -> Steps[None]:
    """Say the rest of the code that `read` begins and does not end, with the backticks that close it."""
    is_first_line = "\n" not in read
    is_line_start = not read.rpartition("\n")[2].strip()
    while True:
        before = source.find(_STOPS)
        text = source.take(before)
        is_line_start = is_line_start and not text.strip()
        say(text)
        match (yield from source.peek()):
            case "":
                return
            case "\n":
                say(source.take(1))
                if not is_block(ticks):
                    return
                is_first_line, is_line_start = False, True
            case "`":
                run = yield from source.run(BACKTICKS)
                say(run)
                if (is_first_line or is_line_start) and len(run) >= ticks if is_block(ticks) else len(run) == ticks:
                    return
                is_line_start = False
            case _:
                pass
