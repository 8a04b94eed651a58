"""Text of strangers, made harmless for the place where it is shown."""

from __future__ import annotations

import re
from unicodedata import category

# Categories nobody can see, and the letters that are drawn as nothing.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")
_MARKDOWN = re.compile(r"([\\*~`|<>\[\]]|(?<![^\W_])_|_(?![^\W_]))")  # an underscore inside a word means nothing
_BACKTICKS = re.compile("```")
_SPACES = re.compile(r"\s+")
_LEADING_MARKS = re.compile(r"^[\s#>*=`~+-]+")


def units(text: str) -> int:
    """The length of `text` in UTF-16 units, which is what Discord's clients count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def clip(text: str, limit: int) -> str:
    """`text` with at most `limit` UTF-16 units; an ellipsis says that it was cut."""
    if units(text) <= limit:
        return text
    cut = text[: limit - 1]
    while units(cut) > limit - 1:
        cut = cut[:-1]
    return cut + "…"


def is_hidden(char: str) -> bool:
    """Whether a reader would not see `char`: controls, format and bidirectional marks, odd spaces, fillers.

    Variation selectors count too: they carry data that nobody sees.
    """
    if char == " ":
        return False
    if category(char) in _HIDDEN or char in _BLANK:
        return True
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def json_escape(char: str) -> str:
    """`char` as a JSON escape: two of them outside the basic plane."""
    raw = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{raw[at : at + 2].hex()}" for at in range(0, len(raw), 2))


def visible(text: str, *, keep: str = "") -> str:
    r"""`text` with every hidden character shown as `\uXXXX`; those in `keep` stay."""

    def show(match: re.Match[str]) -> str:
        char = match[0]
        return json_escape(char) if is_hidden(char) and char not in keep else char

    return _NOT_ASCII.sub(show, text)


def boxed(text: str, language: str = "") -> str:
    """`text` in a code box that no back-ticks in it can close. Hidden characters show; lines stay lines."""
    shown = _BACKTICKS.sub(r"``\\u0060", visible(text, keep="\n\t"))
    return f"```{language}\n{shown}\n```"


def inline(text: str, limit: int) -> str:
    """`text` on one line with its markdown switched off, at most `limit` UTF-16 units."""
    flat = visible(_SPACES.sub(" ", text).strip())
    return clip(_MARKDOWN.sub(r"\\\1", clip(flat, limit)), limit)


def one_line(text: str, limit: int) -> str:
    """`text` as data in a prompt: one line that cannot pose as a heading, a quote or a fence."""
    flat = "".join(" " if is_hidden(char) else char for char in text)
    return clip(_LEADING_MARKS.sub("", _SPACES.sub(" ", flat)).strip(), limit)
