"""The network may cut a stream anywhere: what arrives is always the same."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.messages import Usage
from pipeline.provider import CallRequest
from tests.pipeline.providers.helpers import Recorder, Seen, adapter, events_of, play, seen_in
from tests.support.provider_wire import Pass, render

ANSWER = Pass(
    thinking=["hm 日"],
    text=["Hi 😀", ' wö\u2028"q"\n'],
    calls=[("write_file", '{"a":"ä\\n"}'), ("now", "{}")],
    usage=(12, 7),
)
KINDS = ("openai_compat", "anthropic")


def clean(kind: str) -> bytes:
    return b"".join(frame for frame in render(kind, ANSWER) if isinstance(frame, bytes))


def tortured(kind: str) -> bytes:
    """The same events with everything that the format allows between and inside them."""
    events = clean(kind).removesuffix(b"\n\n").split(b"\n\n")
    loose = [event.replace(b"data: ", b"data:") if number % 2 else event for number, event in enumerate(events)]
    split = [event.replace(b',"', b',\ndata: "', 1) if number % 3 == 0 else event for number, event in enumerate(loose)]
    stream = b"\n\n: ping\n\n:\ndata:\n\n".join(split) + b"\n\n"
    return b"\xef\xbb\xbf" + stream.replace(b"\n", b"\r\n")


def is_whole(seen: Seen) -> bool:
    return (seen.thinking, seen.text, seen.calls, seen.usage) == (
        "hm 日",
        'Hi 😀 wö\u2028"q"\n',
        tuple(CallRequest(name=name, arguments=arguments) for name, arguments in ANSWER.calls),
        Usage(input_tokens=12, output_tokens=7),
    )


@pytest.mark.parametrize("kind", KINDS)
async def test_the_clean_stream_says_all_of_it(kind: str) -> None:
    assert is_whole(await play(kind, clean(kind)))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_split_at_any_byte_changes_nothing(kind: str) -> None:
    stream = tortured(kind)
    recorder = Recorder([stream], *([stream[:cut], stream[cut:]] for cut in range(1, len(stream))))
    provider = adapter(kind, recorder)
    whole = seen_in(await events_of(provider))
    assert is_whole(whole)
    while recorder.bodies:
        assert seen_in(await events_of(provider)) == whole, len(recorder.bodies)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_parts_of_a_few_bytes_change_nothing(kind: str, size: int) -> None:
    stream = tortured(kind)
    parts = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert await play(kind, *parts) == await play(kind, stream)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_number_of_splits_changes_nothing(kind: str, data: st.DataObject) -> None:
    stream = tortured(kind)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=20).map(sorted))
    parts = [stream[start:end] for start, end in pairwise([0, *cuts, len(stream)])]
    assert await play(kind, *parts) == await play(kind, stream)


@pytest.mark.parametrize("kind", KINDS)
async def test_lines_that_end_in_carriage_returns_change_nothing(kind: str) -> None:
    stream = clean(kind)
    assert await play(kind, stream.replace(b"\n", b"\r")) == await play(kind, stream)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_last_blank_line_may_be_missing(kind: str) -> None:
    stream = clean(kind)
    assert await play(kind, stream.rstrip(b"\n")) == await play(kind, stream)
