"""What people are shown of an answer while it streams: pure parts, which give the same at every split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.provider import CallRequest
from pipeline.providers._text_calls import Called, Said, TextCallParser
from pipeline.providers._wire import NAMELESS

THINK, END_OF_THINKING = "<think>", "</think>"
MAX_HELD_CHARS = 1000
"""A sentence that does not end within this is shown as it comes."""

_SIGNS, _EAST_ASIAN = ".!?…。！？", "。！？"
_CLOSERS = r"\"'”’»)\]*_`~」』）"
_SENTENCE_END = re.compile(
    # Where a sentence ends that something follows: signs and a space, East Asian signs, or the end of a line.
    rf"(?<![{_SIGNS}])[{_SIGNS}]++[{_CLOSERS}]*+(?=\s)"
    rf"|(?<![{_EAST_ASIAN}])[{_EAST_ASIAN}]++[{_CLOSERS}]*+(?=\S)"
    r"|(?=\n)"
)
_ENDS_WHOLE = re.compile(rf"[{_SIGNS}][{_CLOSERS}]*+\s*+\Z")


def partial_at_end(text: str, markers: Sequence[str]) -> int:
    """How many characters at the end of `text` are the beginning, and not all, of one of `markers`."""
    longest = max(map(len, markers), default=1) - 1
    for size in range(min(longest, len(text)), 0, -1):
        tail = text[-size:]
        if any(len(marker) > size and marker.startswith(tail) for marker in markers):
            return size
    return 0


class Part(NamedTuple):
    text: str
    is_thinking: bool


class ThinkSplitter:
    """Parts text at its think tags. A closing tag that closes nothing is dropped like the others."""

    def __init__(self, *, thinking: bool = False) -> None:
        self.is_thinking = thinking
        """Is the text at this point part of the thinking?"""
        self._held = ""

    def feed(self, text: str) -> Iterator[Part]:
        text = self._held + text
        while found := _TAG.search(text):
            yield from self._part(text[: found.start()])
            self.is_thinking = found.group() == THINK
            text = text[found.end() :]
        shown = len(text) - partial_at_end(text, (THINK, END_OF_THINKING))
        self._held = text[shown:]
        yield from self._part(text[:shown])

    def end(self) -> Iterator[Part]:
        held, self._held = self._held, ""
        yield from self._part(held)

    def _part(self, text: str) -> Iterator[Part]:
        if text:
            yield Part(text, self.is_thinking)


_TAG = re.compile(f"{THINK}|{END_OF_THINKING}")


class SpeakerCut:
    """Ends a script where somebody of `names` begins to speak, or where the scene ends."""

    def __init__(self, names: Sequence[str]) -> None:
        self._stops = (*(f"\n{name}:" for name in dict.fromkeys(names)), "\n***")
        self._held = ""
        self.is_over = False

    def feed(self, text: str) -> str:
        """What belongs to the answer for certain."""
        if self.is_over:
            return ""
        text = self._held + text
        found = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        self.is_over = bool(found)
        shown = min(found) if found else len(text) - partial_at_end(text, self._stops)
        self._held = "" if found else text[shown:]
        return text[:shown]

    def end(self) -> str:
        """What was held back: no name came of it."""
        held, self._held = self._held, ""
        return held


class SentenceHold:
    """Keeps the sentence that is being written, so that one that is never finished need not be shown."""

    def __init__(self) -> None:
        self.held = ""

    def feed(self, text: str) -> str:
        """Everything up to the end of the last sentence; the space behind it stays with the next one."""
        self.held += text
        if len(self.held) > MAX_HELD_CHARS:
            return self.release()
        shown = max((found.end() for found in _SENTENCE_END.finditer(self.held)), default=0)
        text, self.held = self.held[:shown], self.held[shown:]
        return text

    def release(self) -> str:
        held, self.held = self.held, ""
        return held

    def cut(self) -> str:
        """The answer was cut here: what is still whole. The rest stays in `held`."""
        return self.release() if _ENDS_WHOLE.search(self.held) else ""


class VisibleText:
    """An answer without its calls. `fresh` says that nothing of it was shown yet, so that the space it begins with is
    not its own. What follows a call can only guess at its result and is left out."""

    def __init__(self, parser: TextCallParser | None, *, fresh: bool) -> None:
        self.calls: list[CallRequest] = []
        self.tail = ""
        """After a cut: what was not shown, from which the answer goes on."""
        self._parser = parser
        self._hold = SentenceHold()
        self._strips = fresh
        self._raw: list[str] = []
        self._said: list[str] = []

    def feed(self, text: str) -> str:
        """What may be shown now."""
        if self._strips:
            text = text.lstrip()
            self._strips = not text
        if self._parser is None:
            return self._hold.feed(text)
        self._raw.append(text)
        return self._take(self._parser.feed(text))

    def end(self, *, is_cut: bool) -> str:
        """What is shown at the end; where the answer was cut, a sentence or call that is not whole is not."""
        if is_cut and self.calls:
            return ""
        raw, said = "".join(self._raw), "".join(self._said)
        if self._parser is not None and not (is_cut and raw.startswith(said)):
            shown = self._take(self._parser.finish())
            said = raw
        else:
            shown = ""
        if not is_cut or self.calls:
            return shown + self._hold.release()
        shown += self._hold.cut()
        self.tail = self._hold.held + raw[len(said) :]
        return shown

    def _take(self, found: Sequence[Said | Called]) -> str:
        shown = ""
        for one in found:
            match one:
                case Called(name=name, arguments=arguments):
                    self.calls.append(CallRequest(name=name or NAMELESS, arguments=arguments or "{}"))
                    shown += self._hold.release()
                case Said(text=text) if not self.calls:
                    self._said.append(text)
                    shown += self._hold.feed(text)
        return shown
