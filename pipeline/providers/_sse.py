"""Server-sent events out of bytes, however those are split.

Our own, because a provider's stream asks for what httpx-sse does not give: a heartbeat for every comment, a bound on
memory, and the last event of a server that forgets the blank line.
Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_EVENT_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    event: str
    data: str


class EventTooLarge(Exception):
    """One event is larger than the bound."""


class EventDecoder:
    """Feed it bytes, get the events that they complete. Lines end in LF, CR or CRLF; broken UTF-8 is replaced."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._line = bytearray()
        self._at_start = True
        self._after_cr = False
        self._event = ""
        self._data: list[str] = []
        self._event_bytes = 0

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that end in `data`. Raises EventTooLarge."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if not data:
            return []
        self._after_cr = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        self._line += rest
        events = list(self._take(lines))
        self._check_size(len(self._line))
        return events

    def end(self) -> list[ServerSentEvent]:
        """What is left at the end of the stream: an event without its blank line, even a line without its end."""
        last = bytes(self._line)
        self._line.clear()
        return list(self._take([last, b""]))

    def _take(self, lines: Iterable[bytes]) -> Iterator[ServerSentEvent]:
        for raw in lines:
            line = raw.removeprefix(_BOM) if self._at_start else raw
            self._at_start = False
            if not line:
                if self._data:
                    yield ServerSentEvent(event=self._event, data="\n".join(self._data))
                self._event, self._event_bytes = "", 0
                self._data.clear()
                continue
            self._event_bytes += len(line)
            self._check_size()
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
            elif name == b"event":
                self._event = value.removeprefix(b" ").decode("utf-8", "replace")

    def _check_size(self, more_bytes: int = 0) -> None:
        if self._event_bytes + more_bytes > self._max_event_bytes:
            raise EventTooLarge(f"an event of more than {self._max_event_bytes} bytes")
