"""The streaming parser of text-form calls.

What counts as a call:

* A native form is a call wherever its opening mark is followed by what such a call begins with; an unknown name is the
  loop's to answer. One that is broken, cut, or longer than `NATIVE_FACTOR` times the bound is returned as a call that
  cannot be read, so that nobody sees its pieces and the model hears about it.
* `name(...)` is a call where a known name is written with arguments that parse. If a sentence runs on around it (text
  before it on its line that does not end a sentence, and more behind it), it is spoken about, and is text.
* In code (backticks), either kind is a call only if it is the whole content of a block or span, after a language word
  that has its line to itself. The end of the answer closes what is open. If a line goes on behind such a span, it
  is spoken about; so is whatever comes later in a line that spoke about a call.
* Of code that is text, nothing is a call, up to its closing backticks (for a span, at most to the end of its line).
* Text behind a call is not returned: it can only guess at the result. Further calls count.

What turns out to be text is released whole and not looked at again. Every decision depends on the text alone, never on
how it was split. `verbatim` and `forms` say what each form looks like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from pipeline.provider import ToolDefinition
from pipeline.providers._text_calls.code import BACKTICKS, closes_in, is_block, read_text_code
from pipeline.providers._text_calls.forms import NATIVE, NATIVE_FORMS, name_in
from pipeline.providers._text_calls.found import Called, Form, Found, Said
from pipeline.providers._text_calls.known import KnownTools, speakable
from pipeline.providers._text_calls.source import SPACE, NotACall, Source, Steps, TooLong, Unreadable
from pipeline.providers._text_calls.tagged_calls import ARGUMENT_KEY, read_pairs
from pipeline.providers._text_calls.verbatim import read_arguments
from tools.output import scrub

__all__ = ["NATIVE_FACTOR", "NATIVE_FORMS", "TextCallParser"]

DEFAULT_MAX_BUFFER_CHARS = 8192
NATIVE_FACTOR = 16
"""A call in a native form may be so many times longer than text that is only held back."""
_LANGUAGE, _BLANKS = re.compile(r"[\w+#.-]*"), re.compile(r"[ \t\r]*")
_WORD = re.compile(r"[\w-]*")
_AFTER_CALL = re.compile(r"[ \t.,;:!?…。)\]\"'”’»*_~]*")
_SENTENCE_ENDS = ".!?:…。！？："
_INVISIBLE_ENDS = " \t\r\"'”’»)"
"""What may stand behind the end of a sentence."""


class TextCallParser:
    """Parts one streamed answer.

    `max_buffer_chars`, at least 1, bounds what is held back of text that may turn out to be a call.
    """

    def __init__(
        self,
        tools: Sequence[ToolDefinition],
        *,
        forms: frozenset[Form],
        max_buffer_chars: int = DEFAULT_MAX_BUFFER_CHARS,
    ) -> None:
        if max_buffer_chars < 1:
            raise ValueError(f"max_buffer_chars must be at least 1, not {max_buffer_chars}")
        self._tools = KnownTools(tools)
        self._forms = [native for native in NATIVE if native.form in forms]
        self._openings = {native.opening for native in self._forms}
        self._spoken = {tool.name for tool in speakable(tools)} if Form.VERBATIM in forms else set[str]()
        self._bare = _spellings(tools) if Form.GLM in forms else set[str]()
        self._words = self._spoken | self._bare
        self._limit = max_buffer_chars
        self._trigger = _trigger(self._openings, {word[0] for word in self._words})
        self._source = Source()
        self._found: list[Found] = []
        self._has_called = False
        self._lead = ""  # the last visible character of the current line that says whether a sentence ended there
        self._is_spoken_about = False
        self._run = self._read() if tools and forms else self._pass_on()
        next(self._run)

    def feed(self, text: str) -> tuple[Found, ...]:
        """What is certain after `text`, in order."""
        self._source.push(text)
        next(self._run)
        return self._take_found()

    def finish(self) -> tuple[Found, ...]:
        """What was held back. Nothing may be fed after it."""
        self._source.end()
        next(self._run, None)
        return self._take_found()

    def _take_found(self) -> tuple[Found, ...]:
        found, self._found = self._found, []
        said = "".join(one.text for one in found if isinstance(one, Said))  # all of it is before the first call
        calls = [one for one in found if isinstance(one, Called)]
        return (Said(text=said), *calls) if said else tuple(calls)

    def _pass_on(self) -> Steps[None]:
        while (yield from self._source.peek()):
            self._say(self._source.take())

    def _read(self) -> Steps[None]:
        while True:
            before = self._source.find(self._trigger)
            self._say(self._source.take(before))
            if before is None:
                if not (yield from self._source.more()):
                    return
            elif opening := (yield from self._source.next_is(self._openings)):
                yield from self._read_native(opening)
            elif (sign := (yield from self._source.peek())) == "`":
                yield from self._read_code()
            elif sign.isalnum() or sign == "_":
                yield from self._read_word()
            else:
                self._say(self._source.take(1))

    def _read_native(self, opening: str) -> Steps[None]:
        try:
            calls = yield from self._native(opening)
        except (NotACall, Unreadable) as error:
            # An opening mark that begins the last line, with no more than a word behind it, was cut there.
            if isinstance(error, NotACall) and (self._lead or (yield from self._source.peek())):
                self._say(self._source.release())
                return
            # What is inside of a broken call must not be taken for calls.
            ends = {form.closing or opening for form in self._forms if form.opening == opening}
            with suppress(TooLong):
                yield from self._source.until(*ends)
                yield from self._source.skip(*ends - {opening})
            self._call([self._broken()])
        else:
            self._call(calls)

    def _native(self, opening: str) -> Steps[list[Called]]:
        self._source.hold(self._limit * NATIVE_FACTOR)
        self._source.take(len(opening))
        yield from self._source.run(SPACE)
        first = yield from self._source.peek()
        for form in self._forms:
            if form.opening == opening and re.match(form.begins, first):
                calls = yield from form.read(self._source, self._tools)
                yield from self._source.run(SPACE)
                yield from self._source.skip(*filter(None, [form.closing]))
                return calls
        raise NotACall

    def _read_word(self) -> Steps[None]:
        """A name that may have arguments behind it."""
        self._source.hold(self._limit)
        try:
            name = yield from self._name()
            if name not in self._words:
                raise NotACall
            space = yield from self._source.run(SPACE)
            if name in self._bare and not self._lead and "\n" in space and (yield from self._has_pairs()):
                yield from self._read_bare(name)
                return
            calls = yield from self._spoken_call(name)
            if self._is_spoken_about or (self._is_in_sentence and (yield from self._line_goes_on())):
                self._is_spoken_about = True
                raise NotACall
        except (NotACall, Unreadable):
            self._say(self._source.release())
        else:
            self._call(calls)

    def _name(self) -> Steps[str]:
        name = ""
        while True:
            name += self._source.take_run(_WORD)
            if self._source.has_text:
                return name
            if not any(word.startswith(name) for word in self._words):
                raise NotACall
            if not (yield from self._source.more()):
                return name

    def _has_pairs(self) -> Steps[bool]:
        return bool((yield from self._source.next_is((ARGUMENT_KEY,))))

    def _read_bare(self, name: str) -> Steps[None]:
        """A call that lost its opening mark."""
        self._source.hold(self._limit * NATIVE_FACTOR)
        try:
            resolved = self._tools.resolve(name)
            calls = [Called(name=resolved, arguments=(yield from read_pairs(self._source, resolved, self._tools)))]
            yield from self._source.skip("</tool_call>")
        except Unreadable:
            with suppress(TooLong):
                yield from self._source.until("</tool_call>")
            calls = [Called(name=self._tools.resolve(name), arguments=self._source.held)]
        self._call(calls)

    def _spoken_call(self, name: str) -> Steps[list[Called]]:
        if name not in self._spoken:
            raise NotACall
        arguments = yield from read_arguments(self._source, self._tools.signatures[name])
        return [Called(name=name, arguments=arguments)]

    def _read_code(self) -> Steps[None]:
        self._source.hold(self._limit)
        ticks = 0
        is_closed = False
        try:
            ticks = len((yield from self._source.run(BACKTICKS)))
            calls = yield from self._only_call(ticks)
            is_closed = True
            is_one_line = "\n" not in self._source.held
            if is_one_line and (self._is_spoken_about or (yield from self._line_goes_on())):
                self._is_spoken_about = True
                raise NotACall
        except (NotACall, Unreadable):
            held = self._source.release()
            self._say(held)
            if ticks and not is_closed and not closes_in(held, ticks):
                yield from read_text_code(self._source, ticks, held, self._say)
        else:
            self._call(calls)

    def _only_call(self, ticks: int) -> Steps[list[Called]]:
        """The call that is the content of code opened by so many backticks, up to and with the closing ones."""
        name = ""
        if is_block(ticks):
            name = yield from self._source.run(_LANGUAGE)
            yield from self._source.run(_BLANKS)
            if (yield from self._source.skip("\n")):
                name = ""
        if not name:
            yield from self._source.run(SPACE if is_block(ticks) else _BLANKS)
            if opening := (yield from self._source.next_is(self._openings)):
                calls = yield from self._native(opening)
                return (yield from self._closed(calls, ticks))
            name = yield from self._source.run(_WORD)
        yield from self._source.run(SPACE)
        calls = yield from self._spoken_call(name)
        return (yield from self._closed(calls, ticks))

    def _closed(self, calls: list[Called], ticks: int) -> Steps[list[Called]]:
        yield from self._source.run(SPACE)
        closing = yield from self._source.run(BACKTICKS)
        if len(closing) < ticks and (yield from self._source.peek()):
            raise NotACall
        return calls

    def _line_goes_on(self) -> Steps[bool]:
        between = yield from self._source.run(_AFTER_CALL)
        follows = yield from self._source.peek()
        return follows not in ("", "\n", "\r") and (follows != "`" or "," in between)

    @property
    def _is_in_sentence(self) -> bool:
        return self._lead != "" and self._lead not in _SENTENCE_ENDS

    def _say(self, text: str) -> None:
        if not text:
            return
        _, line_break, line = text.rpartition("\n")
        if line_break:
            self._lead = ""
            self._is_spoken_about = False
        self._lead = line.rstrip(_INVISIBLE_ENDS)[-1:] or self._lead
        if not self._has_called:
            self._found.append(Said(text=text))

    def _broken(self) -> Called:
        return Called(name=name_in(self._source.held, self._tools), arguments=self._source.held)

    def _call(self, calls: Sequence[Called]) -> None:
        self._source.release()
        self._lead = ""
        self._has_called = self._has_called or bool(calls)
        self._found += [Called(name=scrub(call.name), arguments=scrub(call.arguments)) for call in calls]


def _spellings(tools: Sequence[ToolDefinition]) -> set[str]:
    names = {tool.name for tool in tools if tool.name}
    return names | {name.replace("_", "-") for name in names} | {name.replace("-", "_") for name in names}


def _trigger(openings: set[str], letters: set[str]) -> re.Pattern[str]:
    """Where something may begin: code, a mark (its first two characters, as far as they have arrived), or the first
    letter of a word that is no attribute of something."""
    alternatives = ["`", *(f"{re.escape(head[0])}(?={re.escape(head[1])}|\\Z)" for head in sorted(openings))]
    if letters:
        alternatives.append(rf"(?<![\w-])(?<!\w\.)[{re.escape(''.join(sorted(letters)))}]")
    return re.compile("|".join(dict.fromkeys(alternatives)))
