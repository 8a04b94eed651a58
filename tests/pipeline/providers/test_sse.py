from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers._sse import EventDecoder, EventTooLarge, ServerSentEvent

TORTURE = (
    "\ufeff: hello\r\n"
    ":\r\n"
    "\r\n"
    "event: one\r\ndata: first\r\ndata:second\r\ndata:  third\r\n\r\n"
    "data:\n\n"
    "data: 日本語 😀 \u2028 end\n\n"
    "id: 7\nretry: 10\nnonsense\n\n"
    "event: two\rdata: lone carriage returns\r\r"
    "data: last"
).encode()
EXPECTED = [
    ServerSentEvent(event="one", data="first\nsecond\n third"),
    ServerSentEvent(event="", data=""),
    ServerSentEvent(event="", data="日本語 😀 \u2028 end"),
    ServerSentEvent(event="two", data="lone carriage returns"),
    ServerSentEvent(event="", data="last"),
]


def decode(parts: list[bytes]) -> list[ServerSentEvent]:
    decoder = EventDecoder()
    return [event for part in parts for event in decoder.feed(part)] + decoder.end()


def test_every_split_in_two_gives_the_events_of_the_whole() -> None:
    for cut in range(len(TORTURE) + 1):
        assert decode([TORTURE[:cut], TORTURE[cut:]]) == EXPECTED


def test_one_byte_at_a_time_gives_the_events_of_the_whole() -> None:
    assert decode([bytes([byte]) for byte in TORTURE]) == EXPECTED


@given(st.lists(st.integers(0, len(TORTURE)), max_size=12))
def test_any_split_gives_the_events_of_the_whole(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(TORTURE)]
    assert decode([TORTURE[a:b] for a, b in pairwise(edges)]) == EXPECTED


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1), min_size=1))
def test_what_is_sent_as_data_is_what_arrives(texts: list[str]) -> None:
    sent = "".join(f"data: {text}\n\n" for text in texts).encode()
    assert [event.data for event in decode([bytes([byte]) for byte in sent])] == texts


@given(st.binary(max_size=200), st.integers(0, 200))
def test_no_bytes_make_it_fail_and_a_split_changes_nothing(data: bytes, cut: int) -> None:
    assert decode([data[:cut], data[cut:]]) == decode([data])


def test_broken_utf8_is_replaced_and_what_follows_is_intact() -> None:
    assert decode([b"data: a\xff\xe2\x82b\n\ndata: c\n\n"]) == [
        ServerSentEvent(event="", data="a��b"),
        ServerSentEvent(event="", data="c"),
    ]


def test_an_event_ends_with_its_carriage_return_and_waits_for_nothing_more() -> None:
    assert EventDecoder().feed(b"data: a\r\r") == [ServerSentEvent(event="", data="a")]


@pytest.mark.parametrize("flood", [b"data: " + b"x" * 200, b"data: xxxxxxxx\n" * 20, b"x" * 200])
def test_an_event_beyond_the_bound_is_refused_however_it_arrives(flood: bytes) -> None:
    whole, piecemeal = EventDecoder(max_event_bytes=100), EventDecoder(max_event_bytes=100)
    with pytest.raises(EventTooLarge):
        whole.feed(flood)
    with pytest.raises(EventTooLarge):
        list(map(piecemeal.feed, (bytes([byte]) for byte in flood)))


def test_many_small_events_are_not_one_large_one() -> None:
    decoder = EventDecoder(max_event_bytes=100)
    assert len(decoder.feed(b"data: 0123456789\n\n" * 1000)) == 1000
