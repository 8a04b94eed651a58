"""Wherever a message is split, it is read the same; what is held back has a bound; the work is linear."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.providers._text_calls import NATIVE_FORMS, Called, Form, Said, TextCallParser
from pipeline.providers._text_calls.forms import NATIVE
from pipeline.providers._text_calls.source import Source
from tests.pipeline.providers.text_calls import CUTS, EVERY_FORM, TOOLS, VERBATIM, call, read, split, text

CALLS = (
    'fetch({"url": "a)b"})',
    'fetch("x")',
    "now()",
    'read-file("é😀")',
    '<tool_call>\n{"name": "fetch", "arguments": {"url": "x"}}\n</tool_call>',
    "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
    "write-file\n<arg_key>path</arg_key><arg_value>a</arg_value>",
    "<function=write_file>\n<parameter=path>\na\n</parameter>\n</function>",
    '[TOOL_CALLS][{"name": "now", "arguments": {}}]',
    '[TOOL_CALLS]fetch[ARGS]{"url": "x"}',
    '<|python_tag|>fetch.call(url="x")',
    "<start_function_call>call:fetch{url:<escape>x<escape>}<end_function_call>",
    '```tool_code\nprint(fetch(url="x"))\n```',
)
SHARDS = (
    *CALLS, *(form.opening for form in NATIVE), *(form.closing for form in NATIVE if form.closing),
    "`", "``", "```", "````", "\n", "\r\n", " ", "json", "fetch", "now", "(", ")", "{", "}", "[", "]", '"', "\\",
    ":", ",", ".", "Hi ", "😀", "é", "</", "<arg_key>", "<arg_value>", "<parameter=", "tool_code", "_", "-",
)  # fmt: skip
MESSAGES = st.lists(st.sampled_from(SHARDS), max_size=14).map("".join)
FORMS = st.sampled_from([EVERY_FORM, NATIVE_FORMS, VERBATIM, frozenset({Form.GLM, Form.HERMES, Form.FUNCTION_TAG})])


@given(message=MESSAGES, cuts=CUTS, forms=FORMS, bound=st.sampled_from([1, 2, 5, 20, 8192]))
@example(message="```\r\nfetch({})\r\n```\r\n", cuts=[4], forms=EVERY_FORM, bound=8192)
@settings(max_examples=400, deadline=None)
def test_every_split_gives_the_same(message: str, cuts: list[int], forms: frozenset[Form], bound: int) -> None:
    whole = read(message, forms, bound=bound)
    assert read(split(message, cuts), forms, bound=bound) == whole
    assert read(list(message), forms, bound=bound) == whole


@given(message=MESSAGES, forms=FORMS, bound=st.sampled_from([5, 8192]))
@settings(max_examples=200, deadline=None)
def test_what_is_shown_is_the_message_up_to_its_first_call(message: str, forms: frozenset[Form], bound: int) -> None:
    said, calls = read(message, forms, bound=bound)
    assert message.startswith(said)
    assert calls or said == message


@pytest.mark.parametrize("written", CALLS)
@pytest.mark.parametrize("lead", ["", "One moment.\n", "😀 "])
def test_nothing_of_a_call_is_ever_shown(written: str, lead: str) -> None:
    if written.startswith("write-file") and lead == "😀 ":
        lead += "\n"
    parser = TextCallParser(TOOLS, forms=EVERY_FORM)
    shown = ""
    for character in lead + written:
        shown += "".join(one.text for one in parser.feed(character) if isinstance(one, Said))
        assert lead.startswith(shown)
    found = parser.finish()
    assert shown == lead
    assert not any(isinstance(one, Said) for one in found)


@pytest.mark.parametrize("form", NATIVE, ids=lambda form: form.opening.strip())
def test_the_beginning_of_a_mark_waits_until_it_is_known_to_be_text(form: object) -> None:
    opening = next(one.opening for one in NATIVE if one is form)
    for size in range(1, len(opening)):
        parser = TextCallParser(TOOLS, forms=EVERY_FORM)
        assert parser.feed("a " + opening[:size]) == (Said(text="a "),)
        later = (*parser.feed("?"), *parser.finish())
        assert "".join(one.text for one in later if isinstance(one, Said)) == opening[:size] + "?"


def test_text_that_can_be_no_call_is_shown_at_once() -> None:
    parser = TextCallParser(TOOLS, forms=EVERY_FORM)
    for word in ("Fine ", "fresh ", "(now)", ' {"a": 1}', " x < y", " [1]"):
        assert parser.feed(word) == (Said(text=word),)


def test_text_that_is_held_back_too_long_is_released() -> None:
    parser = TextCallParser(TOOLS, forms=VERBATIM, max_buffer_chars=100)
    assert parser.feed('fetch({"url": "' + "x" * 85) == ()
    assert parser.feed("y") == (Said(text='fetch({"url": "' + "x" * 85 + "y"),)
    message = 'fetch({"url": "' + "x" * 200 + '"})'
    assert read(message, VERBATIM, bound=100) == text(message)
    assert read(message, VERBATIM, bound=len(message)) == call("fetch", message[6:-1])


def test_after_an_overflow_the_next_call_is_a_call() -> None:
    overflow = 'fetch({"url": "' + "x" * 200 + "\n"
    assert read(overflow + "now()", VERBATIM, bound=100) == call("now", said=overflow)


def test_a_native_call_may_be_sixteen_times_longer_and_is_broken_beyond() -> None:
    def written(size: int) -> str:
        return f'<tool_call>{{"name": "fetch", "arguments": {{"url": "{"x" * size}"}}}}</tool_call>'

    room = 16 * 100 - len(written(0))
    assert read(written(room), bound=100) == call("fetch", f'{{"url": "{"x" * room}"}}')
    assert read("Hi. " + written(2000), bound=100) == call("fetch", written(2000)[:1600], said="Hi. ")


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_buffer_chars"):
        TextCallParser(TOOLS, forms=EVERY_FORM, max_buffer_chars=0)


def test_deep_nesting_and_endless_digits_are_broken_calls() -> None:
    for arguments in ("[" * 5000 + "]" * 5000, '{"n": ' + "9" * 5000 + "}"):
        wrapped = f'<tool_call>{{"name": "fetch", "arguments": {arguments}}}</tool_call>'
        assert read(wrapped) == call("fetch", wrapped)
        assert read(f'fetch({{"a": {arguments}}})') == text(f'fetch({{"a": {arguments}}})')
    deep = "<start_function_call>call:fetch" + "{a:" * 5000 + "}" * 5000 + "<end_function_call>"
    assert read(deep) == call("fetch", deep)
    python = "<tool_code>fetch(" + "[" * 5000 + "]" * 5000 + ")</tool_code>"
    assert read(python) == call("fetch", python)


def test_half_a_character_never_leaves_the_parser() -> None:
    [(name, arguments)] = read(
        '<tool_call>{"name": "\\ud83d", "arguments": "{\\"a\\": \\"\\ud83d\\"}"}</tool_call>'
    ).calls
    assert (name + arguments).encode()


@pytest.mark.parametrize(
    "pattern",
    ["{", "`", "` ", "```\n", 'fetch({"', "`fetch(", '<tool_call>{"a":"', "<tool_call>x", "<", "<t", "now (", "now() "],
)
def test_no_character_is_read_twice(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    message = (pattern * 20_000)[:20_000]
    characters = calls = 0
    take = Source.take

    def counted(source: Source, size: int | None = None) -> str:
        nonlocal characters, calls
        piece = take(source, size)
        characters, calls = characters + len(piece), calls + 1
        return piece

    monkeypatch.setattr(Source, "take", counted)
    read(split(message, range(0, len(message), 10)))
    assert characters <= len(message)
    assert calls < 4 * len(message)


def test_a_megabyte_of_braces_or_backticks_is_read_to_its_end() -> None:
    for sign in "{`":
        message = sign * 1_000_000
        assert read(split(message, range(0, len(message), 10))) == text(message)


def test_feeding_nothing_finds_nothing_and_ending_twice_is_harmless() -> None:
    parser = TextCallParser(TOOLS, forms=EVERY_FORM)
    assert parser.feed("") == ()
    assert parser.feed("now()") == (Called(name="now", arguments="{}"),)
    assert parser.finish() == ()
    assert parser.finish() == ()
