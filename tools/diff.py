"""What a call would change, for the approval card: a unified diff that is bounded and says where it was cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice

from tools.output import visible

MAX_LINES = 400
MAX_BYTES = 24 * 1024

_MAX_COMPARED_LINES = 500
_MAX_LINE_CHARS = 500
_CONTEXT = 3
_HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")
_NO_NEWLINE = "\\ No newline at end of file"


def diff(name: str, old: str | None, new: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> str:
    """The unified diff of the file `name` from `old` (None: there is no file) to `new`; empty when they are equal.

    At most `max_lines` lines and about `max_bytes` bytes of UTF-8, and at most 500 characters a line. Whatever is
    left out is counted, in the line and at the end.
    """
    if old == new:
        return ""
    shown: list[str] = []
    size = hidden = 0
    for line in _lines(name, old, new):
        clipped = _clip(line)
        size += len(clipped.encode()) + 1
        if hidden or len(shown) >= max_lines or size > max_bytes:
            hidden += 1
        else:
            shown.append(clipped)
    if hidden:
        shown.append(f"[diff cut: {hidden} more lines]")
    return "\n".join(shown)


def _lines(name: str, old: str | None, new: str) -> Iterator[str]:
    shown = visible(name)
    yield "--- /dev/null" if old is None else f"--- a/{shown}"
    yield f"+++ b/{shown}"
    before, after = _split(old or ""), _split(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    gone, came = len(before) - start - end, len(after) - start - end
    if max(gone, came) <= _MAX_COMPARED_LINES:
        lead, tail = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
        hunks = unified_diff(before[lead : len(before) - tail], after[lead : len(after) - tail], n=_CONTEXT)
        for line in islice(hunks, 2, None):  # without the two lines of names
            yield from _printed(_HUNK.sub(lambda found: _moved(found, lead), line))
    else:  # comparing takes time that grows with the square: one block out, one block in
        yield f"@@ -{start + bool(gone)},{gone} +{start + bool(came)},{came} @@"
        for sign, lines, count in (("-", before, gone), ("+", after, came)):
            for line in lines[start : start + count]:
                yield from _printed(sign + line)


def _moved(hunk: re.Match[str], lead: int) -> str:
    """The head of a hunk that was made from a part of the file that begins after `lead` lines."""
    old, old_count, new, new_count = hunk.groups(default="")
    return f"@@ -{int(old) + lead}{old_count} +{int(new) + lead}{new_count} @@"


def _printed(line: str) -> tuple[str, ...]:
    return (line[:-1],) if line.endswith("\n") else (line, _NO_NEWLINE)


def _split(text: str) -> list[str]:
    """Lines with their newline; only a newline ends one."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _clip(line: str) -> str:
    more = len(line) - _MAX_LINE_CHARS
    return line if more <= 0 else f"{line[:_MAX_LINE_CHARS]}… [+{more} characters]"
