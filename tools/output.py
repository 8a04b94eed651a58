"""The last thing that happens to a tool's text before the model sees it."""

from __future__ import annotations


def truncation_marker(dropped_bytes: int) -> str:
    """The words that end every text that was cut."""
    return f"[truncated {dropped_bytes} bytes]"


def cut(text: str, max_bytes: int) -> str:
    """The longest head of `text` that has at most `max_bytes` bytes of UTF-8 and ends between two characters."""
    return text.encode()[: max(0, max_bytes)].decode("utf-8", "ignore")


def cap(text: str, max_bytes: int) -> str:
    """`text` in at most `max_bytes` bytes of UTF-8; if it has more, its head, a newline and `[truncated N bytes]`.

    N counts the dropped bytes. The marker is inside the limit, so capping twice changes nothing; only where the
    limit is smaller than the marker (about 30 bytes) the marker alone is more. Lone surrogates must be gone (`scrub`).
    """
    size = len(text.encode())
    if size <= max_bytes:
        return text
    head = cut(text, max_bytes - len("\n" + truncation_marker(size)))
    marker = truncation_marker(size - len(head.encode()))
    return f"{head}\n{marker}" if head else marker


def scrub(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD, so that it can be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def visible(text: str, max_chars: int = 200) -> str:
    """`text` on one line: what cannot be printed is shown as an escape, and no more than `max_chars` is kept.

    For names that others chose (files, tools, arguments) in our own sentences and lists.
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
    return shown if len(shown) <= max_chars else f"{shown[:max_chars]}…"
