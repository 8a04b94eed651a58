"""Answers of NovelAI at every split: what people see, what is called and what a cut leaves over stay the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.provider import Finish, StreamEvent
from pipeline.providers._novelai_stream import ChatReader, Rest, ScriptReader
from pipeline.providers._sse import ServerSentEvent
from pipeline.providers._text_calls import Form, TextCallParser
from pipeline.providers._wire import ErrorInStream, Garbled, Reader
from tests.pipeline.providers.helpers import READ_FILE, Seen, seen_in

ORIGIN = "novelai text.novelai.net"
FORMS = frozenset({Form.GLM, Form.HERMES, Form.FUNCTION_TAG})
GLM_CALL = "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>é.txt</arg_value>\n</tool_call>"
HERMES_CALL = '<tool_call>{"name": "read_file", "arguments": {"path": "é.txt"}}</tool_call>'
TAG_CALL = "<function=read_file><parameter=path>é.txt</parameter></function>"
CALLED = [("read_file", {"path": "é.txt"})]
CUTS = st.lists(st.integers(0, 500), max_size=12)


def pieces_of(text: str, cuts: Sequence[int]) -> list[str]:
    return [text[a:b] for a, b in pairwise([0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)])]


def event(data: object, kind: str = "") -> ServerSentEvent:
    return ServerSentEvent(event=kind, data=data if isinstance(data, str) else json.dumps(data))


def seen_by(reader: Reader, events: Sequence[ServerSentEvent]) -> Seen:
    found: list[StreamEvent] = []
    for one in events:
        found += reader.feed(one)
    assert reader.may_end
    return seen_in([*found, *reader.end(), reader.result()])


def chat(pieces: Sequence[str], *, finish: str = "stop", rest: Rest | None = None, tools: bool = True) -> Seen:
    parser = TextCallParser([READ_FILE], forms=FORMS) if tools else None
    reader = ChatReader(ORIGIN, parser, rest=rest or Rest(), fresh=True)
    chunks = [event({"choices": [{"delta": {"content": piece}}]}) for piece in pieces]
    return seen_by(reader, [*chunks, event({"choices": [{"delta": {}, "finish_reason": finish}]}), event("[DONE]")])


def script(pieces: Sequence[str], *, limit: int = 1000, rest: Rest | None = None) -> Seen:
    reader = ScriptReader(ORIGIN, ("Assistant", "jane"), max_tokens=limit, rest=rest or Rest(), fresh=True)
    events = [
        event({"token": piece, "ptr": number, "final": number == len(pieces) - 1}, "newToken")
        for number, piece in enumerate(pieces)
    ]
    return seen_by(reader, events)


def calls_in(seen: Seen) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in seen.calls]


@pytest.mark.parametrize("call", [GLM_CALL, HERMES_CALL, TAG_CALL])
@given(cuts=CUTS)
def test_thinking_text_and_calls_are_told_apart_at_every_split(call: str, cuts: list[int]) -> None:
    seen = chat(pieces_of(f"<think>Is it é?</think>\n\nI look. Now:\n{call}", cuts))
    assert (seen.thinking, seen.text.rstrip(), seen.finish) == ("Is it é?", "I look. Now:", Finish.TOOL_CALLS)
    assert calls_in(seen) == CALLED


@given(cuts=CUTS)
def test_a_script_is_the_same_at_every_split(cuts: list[int]) -> None:
    seen = script(pieces_of(" Hi é. I asked\njan\njane: yes", cuts))
    assert (seen.text, seen.finish) == ("Hi é. I asked\njan", Finish.END)


@given(text=st.text(alphabet="ab .!\n。<tool_ch>ink/", max_size=80), at=st.integers(0, 80))
def test_an_answer_in_two_passes_shows_what_it_shows_in_one(text: str, at: int) -> None:
    whole = chat([text], tools=False)
    first = chat([text[:at]], finish="length", tools=False)
    rest = Rest.of(first.replay, ORIGIN)
    assert rest is not None
    parser_free = ChatReader(ORIGIN, None, rest=rest, fresh=not first.text)
    chunks = [event({"choices": [{"delta": {"content": text[at:]}, "finish_reason": "stop"}]}), event("[DONE]")]
    second = seen_by(parser_free, chunks)
    assert (first.thinking + second.thinking, first.text + second.text) == (whole.thinking, whole.text)


@given(at=st.integers(0, len(GLM_CALL) - 1))
def test_a_call_in_two_passes_is_made_once(at: int) -> None:
    first = chat([GLM_CALL[:at]], finish="length")
    assert (first.text, first.calls, first.finish) == ("", (), Finish.LENGTH)
    second = chat([GLM_CALL[at:]], rest=Rest.of(first.replay, ORIGIN))
    assert (second.text, calls_in(second)) == ("", CALLED)


@given(text=st.text(alphabet="ab .!\njane:*", max_size=60), cuts=CUTS)
def test_a_cut_script_loses_nothing(text: str, cuts: list[int]) -> None:
    seen = script([*pieces_of(f" {text}", cuts), ""], limit=1)
    if seen.finish is Finish.LENGTH:
        rest = Rest.of(seen.replay, ORIGIN)
        assert rest is not None
        assert seen.text + rest.tail == f" {text}".lstrip()


def test_a_call_behind_a_call_counts_and_text_behind_it_does_not() -> None:
    seen = chat(["I look. ", GLM_CALL, "\nIt says 5.\n", GLM_CALL])
    assert (seen.text.strip(), calls_in(seen)) == ("I look.", CALLED * 2)


def test_a_whole_call_is_made_though_the_answer_was_cut_behind_it() -> None:
    seen = chat([GLM_CALL, "\n<tool_call>read_fi"], finish="length")
    assert (seen.text, calls_in(seen), seen.finish, seen.replay) == ("", CALLED, Finish.LENGTH, None)


def test_text_is_left_alone_where_no_tools_are_offered() -> None:
    assert chat([f"So: {GLM_CALL}"], tools=False).text == f"So: {GLM_CALL}"


def test_tokens_that_came_together_are_counted() -> None:
    reader = ScriptReader(ORIGIN, (), max_tokens=150, rest=Rest(), fresh=True)
    seen = seen_by(reader, [event({"token": "One. Tw", "ptr": 149, "final": True}, "newToken")])
    assert (seen.text, seen.finish) == ("One.", Finish.LENGTH)


@pytest.mark.parametrize("data", ['{"statusCode":429,"message":"slow"}', '{"message":"slow","error":"slow"}'])
def test_an_error_event_of_a_script_is_an_error(data: str) -> None:
    reader = ScriptReader(ORIGIN, (), max_tokens=1, rest=Rest(), fresh=True)
    with pytest.raises(ErrorInStream, match="slow") as raised:
        list(reader.feed(event(data, "error")))
    assert raised.value.status in {429, 502}


def test_words_between_the_events_mean_nothing_and_half_an_object_is_lost() -> None:
    reader = ScriptReader(ORIGIN, (), max_tokens=1, rest=Rest(), fresh=True)
    assert not list(reader.feed(event("hello")))
    assert not list(reader.feed(event({"x": 1}, "other")))
    with pytest.raises(Garbled):
        list(reader.feed(event('{"token":', "newToken")))
