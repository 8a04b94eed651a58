"""Calls that a model was asked to write as `name(arguments)`."""

from __future__ import annotations

import pytest

from tests.pipeline.providers.text_calls import VERBATIM, Read, call, read, text

URL = '{"url": "x"}'


def verbatim(message: str) -> Read:
    return read(message, VERBATIM)


def test_a_shorthand_call_in_pieces_is_a_call() -> None:
    assert read(["fet", 'ch("http', "://x", '")'], VERBATIM) == call("fetch", '{"url": "http://x"}')


@pytest.mark.parametrize(
    "message",
    [
        f"```json\nfetch({URL})\n```",
        f"```\nfetch({URL})\n```\n",
        f"```json\r\nfetch({URL})\r\n```\r\n",
        f"```fetch({URL})```",
        f"````\n  fetch ( {URL} )  \n````",
        f"```\nfetch({URL})",
        f"```\nfetch({URL})\n``",
    ],
)
def test_a_code_block_that_is_nothing_but_a_call_is_that_call(message: str) -> None:
    assert verbatim(message) == call("fetch", URL)


def test_nested_arguments_arrive_as_they_were_written() -> None:
    arguments = '{"a": {"b": [1, {"c": ")"}]},  "n": 1.20e17, "n": 2}'
    assert verbatim(f"fetch({arguments})") == call("fetch", arguments)


def test_a_line_break_inside_of_a_string_is_written_as_json_has_it() -> None:
    assert verbatim('fetch({"url": "a\nb"})') == call("fetch", '{"url": "a\\nb"}')
    assert verbatim('fetch("a\nb")') == call("fetch", '{"url": "a\\nb"}')


def test_empty_brackets_call_a_tool_that_requires_nothing() -> None:
    assert verbatim("now()") == call("now")
    assert verbatim("now( )") == call("now")
    assert verbatim("fetch()") == text("fetch()")


def test_an_unknown_tool_stays_text() -> None:
    assert verbatim(f"delete({URL}) prefetch({URL}) fetch2({URL})").calls == ()


@pytest.mark.parametrize("message", ['write_file("a")', 'roll("6")', 'now("x")'])
def test_shorthand_is_for_tools_with_one_required_text(message: str) -> None:
    assert verbatim(message) == text(message)


def test_a_wrapped_call_after_prose_is_a_call() -> None:
    assert verbatim(f"One moment. `fetch({URL})`") == call("fetch", URL, said="One moment. ")
    assert verbatim(f"I look it up with `fetch({URL})`.\n") == call("fetch", URL, said="I look it up with ")


def test_a_bare_call_after_narration_is_a_call() -> None:
    assert verbatim(f"Let me look that up fetch({URL})") == call("fetch", URL, said="Let me look that up ")
    assert verbatim(f"Looking.\n\nfetch({URL})") == call("fetch", URL, said="Looking.\n\n")


def test_character_by_character_with_prose_on_both_sides_it_is_a_call() -> None:
    message = f"Before it.\nfetch({URL})\nAnd behind it."
    assert read(list(message), VERBATIM) == call("fetch", URL, said="Before it.\n")
    message = f"Before it. fetch({URL}) And behind it."
    assert read(list(message), VERBATIM) == call("fetch", URL, said="Before it. ")


def test_brackets_inside_of_strings_do_not_count() -> None:
    assert verbatim('fetch({"url": "a)}\\")"})') == call("fetch", '{"url": "a)}\\")"}')


@pytest.mark.parametrize(
    "message",
    [
        "You can fetch (or write) it.",
        "fetch(the page)",
        'fetch({url: "x"})',
        f"fetch({URL}, 2)",
        f"fetch({URL} now)",
        'fetch({"url": "x",})',
        'fetch("x" or so)',
        "fetch(1)",
    ],
)
def test_a_name_with_other_arguments_stays_text(message: str) -> None:
    assert verbatim(message) == text(message)


def test_single_quotes_are_no_call() -> None:
    assert verbatim("fetch({'url': 'x'})") == text("fetch({'url': 'x'})")
    assert verbatim("fetch('x')") == text("fetch('x')")


def test_a_list_of_arguments_is_no_call() -> None:
    assert verbatim('fetch(["x"])') == text('fetch(["x"])')


def test_missing_keys_are_left_to_the_loop() -> None:
    assert verbatim('write_file({"path": "a"})') == call("write_file", '{"path": "a"}')


def test_a_name_with_a_dash_can_be_called() -> None:
    assert verbatim('read-file("a")') == call("read-file", '{"path": "a"}')
    assert verbatim('read_file("a")') == text('read_file("a")')


def test_plain_prose_is_unchanged() -> None:
    message = "Now, `code` and ```blocks``` (with brackets), 1 < 2, [TOOL], it`s fine.\n```py\nx = 1\n```\nBye 😀"
    assert verbatim(message) == text(message)


@pytest.mark.parametrize("message", ['fetch({"url": "x"', 'fetch("x', f"`fetch({URL}", "fetch(", "fetch", "Hi `fetch "])
def test_a_call_that_was_cut_is_text(message: str) -> None:
    assert verbatim(message) == text(message)


@pytest.mark.parametrize("opener", ["`", "``", "```", "```json", "```json\n", "a ```\r\n"])
def test_an_opener_at_the_end_is_text(opener: str) -> None:
    assert verbatim(opener) == text(opener)


def test_two_calls_in_a_message_both_count_in_order() -> None:
    found = verbatim(f"Both.\n`fetch({URL})`\n```\nnow()\n```\nfetch({URL}) now()")
    assert found == Read("Both.\n", (("fetch", URL), ("now", "{}"), ("fetch", URL), ("now", "{}")))


def test_prose_behind_a_call_is_not_shown() -> None:
    assert verbatim(f"fetch({URL}) The page says hello.") == call("fetch", URL)
    assert verbatim(f"`fetch({URL})`\nThe page says hello.") == call("fetch", URL)


@pytest.mark.parametrize(
    "message",
    [
        f"```python\n# get the page\nfetch({URL})\n```",
        f"```\nfetch({URL})\nnow()\n```",
        f"```\nresult = fetch({URL})\n```",
        f"```\nfetch({URL})  # the page\n```",
        f"```\nCall it:\nfetch({URL})\n```\n",
        f"````\n```\nfetch({URL})\n```\n````",
        f"```\nnot ``` the end\nfetch({URL})\n```",
    ],
)
def test_a_code_block_that_documents_a_tool_is_text(message: str) -> None:
    assert verbatim(message) == text(message)


@pytest.mark.parametrize(
    "message",
    [
        f"Use `fetch({URL})` to get a page.",
        f"`fetch({URL})` gets a page.",
        f"- `fetch({URL})`: a page",
        f"Use ```fetch({URL})``` to get a page.",
        "There are `now()`, `now()` and `now()`.",
        "Either `now()` or `now()`.",
        f"Use fetch({URL}) to get a page.",
        f"- fetch({URL}) gets a page",
        "`x = now()`",
        "`client.now()` and client.now()",
    ],
)
def test_a_call_that_a_sentence_speaks_about_is_text(message: str) -> None:
    assert verbatim(message) == text(message)


def test_after_documentation_a_call_is_a_call() -> None:
    documented = f"Use `fetch({URL})` for it:\n```\nx = fetch({URL})\n```\n"
    assert verbatim(documented + "now()") == call("now", said=documented)


def test_a_block_that_ended_inside_of_what_was_held_back_has_ended() -> None:
    documented = '```\nfetch({"a\n```\nb": c})\n'
    assert verbatim(documented + "now()") == call("now", said=documented)
    documented = '`fetch("a` b", 1)\n'
    assert verbatim(documented + "now()") == call("now", said=documented)
    documented = "A lone ` \n"
    assert verbatim(documented + "now()") == call("now", said=documented)


def test_a_name_with_text_in_place_of_arguments_does_not_hide_the_next_call() -> None:
    assert verbatim(f"I fetch (now) fetch({URL})") == call("fetch", URL, said="I fetch (now) ")


def test_without_its_form_a_call_is_text() -> None:
    assert read(f"fetch({URL})", frozenset()) == text(f"fetch({URL})")
    assert read(f"fetch({URL})", tools=()) == text(f"fetch({URL})")
