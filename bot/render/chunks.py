"""Splitting a long text into messages.

Discord's own idea of a code fence counts, not CommonMark's: three back-ticks anywhere open a block, the next three
close it, whatever stands around them. A block that is cut is closed at the end of one piece and opened again at the
start of the next with the same language. What was added is kept apart from the text, so nothing is lost or doubled.

Every decision looks only at text before the point where a piece is full. While a text grows, all of its pieces but the
last therefore stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import combining

from bot.render.text import units

MESSAGE_UNITS = 2000
_CLOSING_UNITS = 4  # a newline and three back-ticks
_MAX_LANGUAGE = 24
_FENCE = re.compile("```")
_LANGUAGE = re.compile(r"([A-Za-z0-9_+\-.#]*)\n")
_LANGUAGE_SO_FAR = re.compile(r"[A-Za-z0-9_+\-.#]*\Z")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One message: `body` is a slice of the text, `opening` and `closing` are fences added round it."""

    body: str
    opening: str = ""
    closing: str = ""

    @property
    def content(self) -> str:
        return self.opening + self.body + self.closing

    @property
    def is_blank(self) -> bool:
        """Discord would show nothing for it."""
        return not self.body.replace("```", "").strip()


@dataclass(frozen=True, slots=True)
class _Block:
    """A code block in a piece: where its fence starts, where its code starts, where the closing fence ends."""

    start: int
    code: int
    end: int | None
    language: str


def split(text: str, limit: int = MESSAGE_UNITS) -> tuple[Piece, ...]:
    """`text` in pieces of at most `limit` UTF-16 units (so also code points); the bodies joined are `text`.

    Raises ValueError for a limit under 64, which leaves no room for fences.
    """
    return Splitter(limit).split(text)


class Splitter:
    """Splits a text that grows; pieces that are full are remembered."""

    def __init__(self, limit: int = MESSAGE_UNITS) -> None:
        if limit < 64:
            raise ValueError("a piece needs at least 64 units")
        self._limit = limit
        self._seen = ""
        self._full: list[Piece] = []
        self._opening = ""

    def split(self, text: str) -> tuple[Piece, ...]:
        """The pieces of `text`, as `split` gives them."""
        if not text.startswith(self._seen):
            self._seen, self._full, self._opening = "", [], ""
        while (step := self._next(text, len(self._seen))) is not None:
            piece, self._opening = step
            self._full.append(piece)
            self._seen += piece.body
        rest = text[len(self._seen) :]
        if not rest:
            return tuple(self._full)
        return (*self._full, _last(rest, self._opening))

    def _next(self, text: str, start: int) -> tuple[Piece, str] | None:
        """The next full piece and the fence that the one after it opens with; None when the rest fits."""
        window = self._window(text, start)
        if start + len(window) == len(text):
            return None
        blocks = _blocks(window, self._opening)
        at = _cut(window + text[start + len(window)], blocks)
        block = _block_at(blocks, at)
        body = window[:at]
        if block is None:
            return Piece(body=body, opening=self._opening), ""
        piece = Piece(body=body, opening=self._opening, closing=_closing(body))
        return piece, f"```{block.language}\n"

    def _window(self, text: str, start: int) -> str:
        """As much of `text` from `start` as one message holds, with room for a closing fence where it may need one."""
        room = self._limit - units(self._opening)
        window = _prefix(text, start, room)
        fence = window.find("```")
        if self._opening or fence >= 0:
            inside = _prefix(text, start, room - _CLOSING_UNITS)
            return inside if self._opening or fence + 3 <= len(inside) else text[start : start + fence + 2]
        return window


def _prefix(text: str, start: int, room: int) -> str:
    window = text[start : start + room]
    excess = units(window) - room
    while excess > 0:
        window = window[: -max(1, excess // 2)]
        excess = units(window) - room
    return window


def _last(rest: str, opening: str) -> Piece:
    """The last piece: a block that is open there is closed, unless nothing stands in it yet."""
    blocks = _blocks(rest, opening)
    if blocks and blocks[-1].end is None and rest[blocks[-1].code :].strip():
        return Piece(body=rest, opening=opening, closing=_closing(rest))
    return Piece(body=rest, opening=opening)


def _closing(body: str) -> str:
    return "```" if body.endswith("\n") else "\n```"


def _blocks(window: str, opening: str) -> list[_Block]:
    """The code blocks of a piece; the first one began before it when there is an `opening`."""
    blocks = [_Block(start=0, code=0, end=None, language=opening[3:-1])] if opening else []
    for fence in _FENCE.finditer(window):
        if blocks and blocks[-1].end is None:
            last = blocks[-1]
            blocks[-1] = _Block(start=last.start, code=last.code, end=fence.end(), language=last.language)
            continue
        found = _LANGUAGE.match(window, fence.end())
        named = found is not None and len(found[1]) <= _MAX_LANGUAGE
        language = found[1] if found is not None and named else ""
        code = found.end() if found is not None and named else fence.end()
        if found is None and (part := _LANGUAGE_SO_FAR.match(window, fence.end())) and len(part[0]) <= _MAX_LANGUAGE:
            code = len(window)  # the line of the opening fence is not whole yet
        blocks.append(_Block(start=fence.start(), code=code, end=None, language=language))
    return blocks


def _block_at(blocks: Iterable[_Block], at: int) -> _Block | None:
    """The block that a cut at `at` would fall into."""
    inside = (block for block in blocks if block.start < at and (block.end is None or at < block.end))
    return next(inside, None) if at > 0 else None


def _cut(window: str, blocks: list[_Block]) -> int:
    """Where to end a full piece: at the best boundary in its second half, else at the last place that is allowed.

    `window` ends with the first character that has no room any more.
    """
    half = len(window) // 2
    at = _first_allowed(window, blocks, _ends(window, "\n\n", half), outside=True)
    at = at or _first_allowed(window, blocks, (b.start for b in reversed(blocks) if b.start >= half), outside=True)
    at = at or _first_allowed(window, blocks, _ends(window, "\n", half), outside=True)
    at = at or _first_allowed(window, blocks, _ends(window, "\n", half))
    at = at or _first_allowed(window, blocks, _ends(window, " ", half))
    at = at or _first_allowed(window, blocks, range(len(window) - 1, 0, -1))
    return at or len(window) - 1


def _ends(window: str, boundary: str, lowest: int) -> Iterable[int]:
    """The ends of `boundary` in the window, the last first, none before `lowest`."""
    at = len(window)
    while (at := window.rfind(boundary, lowest, at)) >= 0:
        yield at + len(boundary)


def _first_allowed(window: str, blocks: list[_Block], candidates: Iterable[int], *, outside: bool = False) -> int:
    """The first of `candidates` where a piece may end, or 0; with `outside` not within a code block."""
    for at in candidates:
        if not 0 < at < len(window) or not window[:at].strip() or _splits_a_character(window, at):
            continue
        block = _block_at(blocks, at)
        if block is None or (not outside and _has_code_on_both_sides(window, block, at)):
            return at
    return 0


def _splits_a_character(window: str, at: int) -> bool:
    before, after = window[at - 1], window[at]
    if before == "`" and after == "`":
        return True
    return after in _JOINERS or before == "\u200d" or combining(after) > 0 or (before, after) == ("\r", "\n")


def _has_code_on_both_sides(window: str, block: _Block, at: int) -> bool:
    """Neither piece would show an empty block."""
    end = len(window) - 1 if block.end is None else block.end - 3
    return bool(window[block.code : at].strip()) and bool(window[at:end].strip("\n\r\t `"))
