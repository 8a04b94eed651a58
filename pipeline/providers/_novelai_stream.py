"""Reading answers of both sides of NovelAI's API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.messages import Replay
from pipeline.provider import Finish, PassEnded, StreamEvent, TextDelta, ThinkingDelta
from pipeline.providers._json import DeltaText, count_of, dump, parse_object, text_of
from pipeline.providers._novelai_text import Part, SpeakerCut, ThinkSplitter, VisibleText
from pipeline.providers._openai_stream import OpenAIReader
from pipeline.providers._sse import ServerSentEvent
from pipeline.providers._text_calls import TextCallParser
from pipeline.providers._wire import ErrorInStream, Garbled


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What of a cut answer people have not seen, and from which it goes on: the `tail` of its text, and its `thinking`
    where it was cut in the middle of that (None: it was not)."""

    tail: str = ""
    thinking: str | None = None

    def replay(self, origin: str) -> Replay:
        data = {"tail": self.tail} | ({} if self.thinking is None else {"thinking": self.thinking})
        return Replay(origin=origin, data=dump(data).decode())

    @classmethod
    def of(cls, replay: Replay | None, origin: str) -> Rest | None:
        """The rest that `replay` holds; None where it is not of `origin`."""
        data = parse_object(replay.data) if replay is not None and replay.origin == origin else None
        if data is None:
            return None
        thinking = data.get("thinking")
        return cls(tail=text_of(data.get("tail")), thinking=thinking if isinstance(thinking, str) else None)


class ChatReader:
    """One answer of the chat side, which goes on from `rest`; `fresh` says that people saw nothing of it yet."""

    def __init__(self, origin: str, parser: TextCallParser | None, *, rest: Rest, fresh: bool) -> None:
        self._origin = origin
        self._wire = OpenAIReader(origin)
        self._splitter = ThinkSplitter(thinking=rest.thinking is not None)
        self._thinking = [rest.thinking or ""]
        self._visible = VisibleText(parser, fresh=fresh and not rest.tail)
        self._tail = rest.tail
        self._ended: PassEnded | None = None

    @property
    def may_end(self) -> bool:
        return self._wire.may_end

    @property
    def is_over(self) -> bool:
        return self._wire.is_over

    def feed(self, event: ServerSentEvent) -> Iterator[StreamEvent]:
        _raise_error_in(event)
        yield from self._take_tail()
        yield from self._seen(self._wire.feed(event))

    def end(self) -> Iterator[StreamEvent]:
        yield from self._take_tail()
        yield from self._seen(self._wire.end())
        ended = self._wire.result()
        is_cut = ended.finish is Finish.LENGTH
        yield from self._parts(self._splitter.end())
        if text := self._visible.end(is_cut=is_cut):
            yield TextDelta(text=text)
        calls = (*self._visible.calls, *ended.calls)
        finish = Finish.TOOL_CALLS if calls and ended.finish is Finish.END else ended.finish
        replay = None
        if is_cut and not calls:
            thinking = "".join(self._thinking) if self._splitter.is_thinking else None
            replay = Rest(tail=self._visible.tail, thinking=thinking).replay(self._origin)
        self._ended = PassEnded(finish=finish, calls=calls, replay=replay, model=ended.model)

    def result(self) -> PassEnded:
        return self._ended or self._wire.result()

    def _take_tail(self) -> Iterator[StreamEvent]:
        tail, self._tail = self._tail, ""
        if tail and (text := self._visible.feed(tail)):
            yield TextDelta(text=text)

    def _seen(self, events: Iterator[StreamEvent]) -> Iterator[StreamEvent]:
        for item in events:
            if isinstance(item, TextDelta):
                yield from self._parts(self._splitter.feed(item.text))
            else:
                yield item

    def _parts(self, parts: Iterator[Part]) -> Iterator[StreamEvent]:
        for part in parts:
            if part.is_thinking:
                self._thinking.append(part.text)
                yield ThinkingDelta(text=part.text)
            elif text := self._visible.feed(part.text):
                yield TextDelta(text=text)


class ScriptReader:
    """One answer of the script side, of at most `max_tokens`. It ends where somebody of `names` begins to speak."""

    def __init__(self, origin: str, names: tuple[str, ...], *, max_tokens: int, rest: Rest, fresh: bool) -> None:
        self._origin = origin
        self._max_tokens = max_tokens
        self._text = DeltaText()
        self._cut = SpeakerCut(names)
        self._visible = VisibleText(None, fresh=fresh and not rest.tail)
        self._tail = rest.tail
        self._tokens = 0
        self._is_final = False

    @property
    def may_end(self) -> bool:
        return self._is_final or self._cut.is_over

    @property
    def is_over(self) -> bool:
        return self.may_end

    def feed(self, event: ServerSentEvent) -> Iterator[StreamEvent]:
        _raise_error_in(event)
        chunk = parse_object(event.data)
        if chunk is None:
            if event.data.lstrip().startswith("{"):
                raise Garbled
            return
        if event.event == "error" or chunk.get("error"):
            raise ErrorInStream(502, text_of(chunk.get("message")) or text_of(chunk.get("error")))
        if event.event not in {"", "newToken"}:
            return
        yield from self._take_tail()
        # The number of a token counts those before it, also where several came in one event.
        self._tokens = max(self._tokens, count_of(chunk.get("ptr"))) + 1
        yield from self._show(self._text.feed(text_of(chunk.get("token"))))
        self._is_final = chunk.get("final") is True

    def end(self) -> Iterator[StreamEvent]:
        yield from self._take_tail()
        yield from self._show(self._text.end())
        shown = self._visible.feed(self._cut.end()) + self._visible.end(is_cut=self._is_cut)
        if not self._is_cut:
            shown = shown.rstrip()
        if shown:
            yield TextDelta(text=shown)

    def result(self) -> PassEnded:
        if not self._is_cut:
            return PassEnded(finish=Finish.END)
        return PassEnded(finish=Finish.LENGTH, replay=Rest(tail=self._visible.tail).replay(self._origin))

    @property
    def _is_cut(self) -> bool:
        """This side gives no reason why it ended, so the tokens are counted."""
        return not self._cut.is_over and self._tokens >= self._max_tokens

    def _take_tail(self) -> Iterator[StreamEvent]:
        tail, self._tail = self._tail, ""
        yield from self._show(tail)

    def _show(self, text: str) -> Iterator[StreamEvent]:
        if shown := self._visible.feed(self._cut.feed(text)):
            yield TextDelta(text=shown)


def _raise_error_in(event: ServerSentEvent) -> None:
    """Raise the error that is written `{"statusCode", "message"}`, as this API does."""
    if '"statusCode"' in event.data and (data := parse_object(event.data)) is not None:
        status = count_of(data.get("statusCode"))
        if status >= 400:
            raise ErrorInStream(status, text_of(data.get("message")))
