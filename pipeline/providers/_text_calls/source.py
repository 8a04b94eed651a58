"""Text that is still arriving, read as if it were all there.

Every method that may have to wait for text is a generator that yields where it waits, so that a parser on top of it is
written straight down and cannot tell where the text was split. What is read is consumed: nothing is looked at twice,
so a parser takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from typing import TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]

SPACE = re.compile(r"\s*")
_KEPT = 2
"""So many consumed characters stay in sight of a pattern that looks behind."""
_OUTSIDE_STRINGS = re.compile(r"[\s\w,:=.+-]*")
_INSIDE_STRING = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_OPENING, _CLOSING = "{[(", "}])"


class NotACall(Exception):
    """What looked like the beginning of a call is text."""


class Unreadable(Exception):
    """It is a call, but cannot be read."""


class TooLong(Unreadable):
    """It did not end within the limit."""


class Source:
    """The text and a place in it. While something is held, what is taken is kept and may not exceed a limit."""

    def __init__(self) -> None:
        self._text = ""
        self._at = 0
        self._has_ended = False
        self._held: list[str] | None = None
        self._room = 0

    def push(self, text: str) -> None:
        start = max(self._at - _KEPT, 0)
        self._text = self._text[start:] + text
        self._at -= start

    def end(self) -> None:
        self._has_ended = True

    def hold(self, limit: int) -> None:
        """Keep what is taken from here on, at most `limit` characters; what is held already counts."""
        self._held = [] if self._held is None else self._held
        self._room = limit - sum(map(len, self._held))

    @property
    def held(self) -> str:
        return "".join(self._held or ())

    def release(self) -> str:
        """What is held; nothing is any more."""
        held, self._held = self.held, None
        return held

    def find(self, pattern: re.Pattern[str]) -> int | None:
        """How many characters lie before the next match in what has arrived. The pattern may look behind itself."""
        found = pattern.search(self._text, self._at)
        return found.start() - self._at if found else None

    def take(self, size: int | None = None) -> str:
        """The next `size` characters of what has arrived (all by default). Raises TooLong with the limit taken."""
        end = len(self._text) if size is None else min(self._at + size, len(self._text))
        wanted = end - self._at
        if self._held is not None:
            end = min(end, self._at + self._room)
        piece = self._text[self._at : end]
        self._at = end
        if self._held is not None:
            self._held.append(piece)
            self._room -= len(piece)
            if len(piece) < wanted:
                raise TooLong
        return piece

    def take_run(self, characters: re.Pattern[str]) -> str:
        """As much of what has arrived as `characters`, the pattern of a possibly empty run, matches next."""
        found = characters.match(self._text, self._at)
        return self.take(found.end() - self._at) if found else ""

    @property
    def has_text(self) -> bool:
        """Is there anything that was not taken yet?"""
        return self._at < len(self._text)

    def more(self) -> Steps[bool]:
        """Wait for text; False where there is no more."""
        if not self._has_ended:
            yield
        return not self._has_ended

    def peek(self) -> Steps[str]:
        """The next character, not taken; empty at the end."""
        while not self.has_text:
            if not (yield from self.more()):
                return ""
        return self._text[self._at]

    def next_is(self, tokens: Iterable[str]) -> Steps[str]:
        """The longest of `tokens` that comes next, not taken; empty if none does."""
        left = sorted(tokens, key=len, reverse=True)
        while True:
            size = len(self._text) - self._at
            left = [one for one in left if self._text.startswith(one[:size], self._at)]
            if not left or len(left[0]) <= size:
                return left[0] if left else ""
            if not (yield from self.more()):
                return next((one for one in left if len(one) <= size), "")

    def skip(self, *tokens: str) -> Steps[str]:
        """Take the one of `tokens` that comes next; empty if none does."""
        token = yield from self.next_is(tokens)
        return self.take(len(token)) if token else ""

    def run(self, characters: re.Pattern[str]) -> Steps[str]:
        """Take a whole run, see `take_run`."""
        pieces = []
        while True:
            pieces.append(self.take_run(characters))
            if self.has_text or not (yield from self.more()):
                return "".join(pieces)

    def until(self, *tokens: str) -> Steps[tuple[str, str]]:
        """Take everything up to the first of `tokens`; with that token, not taken, or an empty one at the end."""
        heads = re.compile("[" + re.escape("".join({token[0] for token in tokens})) + "]")
        pieces = []
        while True:
            before = self.find(heads)
            pieces.append(self.take(before))
            if before is None:
                if not (yield from self.more()):
                    return "".join(pieces), ""
            elif token := (yield from self.next_is(tokens)):
                return "".join(pieces), token
            else:
                pieces.append(self.take(1))

    def string(self) -> Steps[str]:
        """Take a quoted string with backslash escapes, quotes included. Raises Unreadable if it does not end."""
        quote = self.take(1)
        pieces = [quote]
        while True:
            pieces.append((yield from self.run(_INSIDE_STRING[quote])))
            match (yield from self.peek()):
                case "":
                    raise Unreadable
                case "\\":
                    pieces.append(self.take(1))
                    yield from self.peek()
                    pieces.append(self.take(1))
                case _:
                    return "".join((*pieces, self.take(1)))

    def bracketed(self, *, quotes: str = '"') -> Steps[str]:
        """Take from an opening bracket to where brackets outside of strings are level again.

        Raises Unreadable if they never are, or at a character that belongs into strings only.
        """
        pieces: list[str] = []
        depth = 0
        while True:
            pieces.append((yield from self.run(_OUTSIDE_STRINGS)))
            character = yield from self.peek()
            if character and character in quotes:
                pieces.append((yield from self.string()))
                continue
            if not character or character not in _OPENING + _CLOSING:
                raise Unreadable
            depth += 1 if character in _OPENING else -1
            pieces.append(self.take(1))
            if depth <= 0:
                return "".join(pieces)
