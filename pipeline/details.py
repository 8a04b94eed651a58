"""`<details>` blocks: notes of a model for itself (a scene's state), kept with the answer and not shown."""

from __future__ import annotations

import re

_OPEN, _CLOSE = "<details>", "</details>"
_SUMMARY = re.compile(r"<summary>.*?</summary>", re.IGNORECASE | re.DOTALL)
MAX_CHARS = 16_000  # of one block: more than that is an answer that was never closed, and people shall see it


class DetailsFilter:
    """Takes the blocks out of text that arrives in pieces. Deltas may cut a tag anywhere."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self._held = ""
        self._inside = False

    def feed(self, text: str) -> str:
        """What may be shown now."""
        self._held += text
        shown = ""
        while True:
            tag = _CLOSE if self._inside else _OPEN
            at = self._held.lower().find(tag)
            if at < 0:
                break
            if self._inside:
                self._keep(self._held[:at])
            else:
                shown += self._held[:at]
            self._held = self._held[at + len(tag) :]
            self._inside = not self._inside
        if not self._inside:
            keep = _tail(self._held, _OPEN)
            shown += self._held[: len(self._held) - keep]
            self._held = self._held[len(self._held) - keep :]
        elif len(self._held) > MAX_CHARS:
            shown, self._held, self._inside = shown + _OPEN + self._held, "", False
        return shown

    def finish(self) -> str:
        """The end of the stream: what was held back and is text after all. An open block counts as closed."""
        held, self._held = self._held, ""
        if self._inside:
            self._keep(held)
            return ""
        return held

    def _keep(self, body: str) -> None:
        if body := _SUMMARY.sub("", body).strip():
            self.bodies.append(body)


def _tail(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the beginning of `tag`."""
    low = text.lower()
    return next((n for n in range(min(len(tag) - 1, len(low)), 0, -1) if low.endswith(tag[:n])), 0)


def merged(existing: str, incoming: str) -> str:
    """The details of several passes, a blank line between them; blank ones change nothing."""
    return "\n\n".join(part for part in (existing.strip(), incoming.strip()) if part)
