"""A pass whose calls may stand in its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.provider import CallRequest, Finish, PassEnded, Progress, StreamEvent, TextDelta
from pipeline.providers._sse import ServerSentEvent
from pipeline.providers._text_calls import Called, Said, TextCallParser
from pipeline.providers._wire import NAMELESS, Reader


class TextCallReader:
    """The `Reader` of a pass, with `parser` behind it. Calls of the API's own win: a model that has them needs no
    others."""

    def __init__(self, reader: Reader, parser: TextCallParser) -> None:
        self._reader = reader
        self._parser = parser
        self._calls: list[CallRequest] = []

    @property
    def may_end(self) -> bool:
        return self._reader.may_end

    @property
    def is_over(self) -> bool:
        return self._reader.is_over

    def feed(self, event: ServerSentEvent) -> Iterator[StreamEvent]:
        yield from self._read(self._reader.feed(event))

    def end(self) -> Iterator[StreamEvent]:
        yield from self._read(self._reader.end())
        yield from self._found(self._parser.finish())

    def result(self) -> PassEnded:
        ended = self._reader.result()
        if ended.calls or not self._calls:
            return ended
        finish = Finish.LENGTH if ended.finish is Finish.LENGTH else Finish.TOOL_CALLS  # the model hears of a cut
        return replace(ended, finish=finish, calls=tuple(self._calls))

    def _read(self, events: Iterable[StreamEvent]) -> Iterator[StreamEvent]:
        for event in events:
            if isinstance(event, TextDelta):
                yield from self._found(self._parser.feed(event.text))
            else:
                yield event

    def _found(self, parts: Iterable[Said | Called]) -> Iterator[StreamEvent]:
        for part in parts:
            if isinstance(part, Said):
                yield TextDelta(text=part.text)
            else:
                self._calls.append(CallRequest(name=part.name or NAMELESS, arguments=part.arguments))
                yield Progress()
