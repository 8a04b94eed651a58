"""How calls come in fragments, and what they become."""

from __future__ import annotations

import pytest

from pipeline.provider import Finish
from tests.pipeline.providers.helpers import DONE, delta, fragment, play

STOP = delta("stop") + DONE
ARGS = '{"path":"a.txt","content":"{\\"x\\": 1}"}'


async def calls_of(*chunks: bytes, end: bytes = STOP) -> list[tuple[str, str]]:
    seen = await play("openai_compat", b"".join(chunks) + end)
    return [(call.name, call.arguments) for call in seen.calls]


async def test_calls_without_index_are_told_apart_by_id() -> None:
    chunks = fragment(id="a", name="f", args='{"x":1}'), fragment(id="b", name="g", args="{}")
    assert await calls_of(*chunks) == [("f", '{"x":1}'), ("g", "{}")]


async def test_a_fragment_without_id_continues_the_call_opened_last() -> None:
    chunks = (
        fragment(id="a", name="f", args='{"x"'),
        fragment(args=":1}"),
        fragment(id="b", name="g", args=""),
        fragment(args='{"y":2}'),
    )
    assert await calls_of(*chunks) == [("f", '{"x":1}'), ("g", '{"y":2}')]


async def test_the_same_index_with_another_id_is_another_call() -> None:
    chunks = (
        fragment(index=0, id="a", name="r", args='{"p":1}'),
        fragment(index=0, id="b", name="r", args='{"p":'),
        fragment(index=0, args="2}"),
    )
    assert await calls_of(*chunks) == [("r", '{"p":1}'), ("r", '{"p":2}')]


@pytest.mark.parametrize("index", [{"index": 0}, {}])
async def test_an_id_and_name_that_are_repeated_with_more_arguments_stay_one_call(index: dict[str, int]) -> None:
    pieces = ['{"path"', ':"a', '"}']
    chunks = [fragment(**index, id="a", name="read_file", args=piece) for piece in pieces]
    assert await calls_of(*chunks) == [("read_file", '{"path":"a"}')]


@pytest.mark.parametrize("call_id", ["call_0", ""])
@pytest.mark.parametrize("indices", [({"index": 0}, {"index": 1}), ({}, {}), ({"index": 0}, {"index": 0})])
async def test_two_calls_under_one_id_are_two(call_id: str, indices: tuple[dict[str, int], dict[str, int]]) -> None:
    first, second = indices
    chunks = (
        fragment(**first, id=call_id, name="f", args='{"x":1}'),
        fragment(**second, id=call_id, name="f", args='{"x":1}'),
    )
    assert await calls_of(*chunks) == [("f", '{"x":1}')] * 2


@pytest.mark.parametrize("index", [{"index": 0}, {}])
@pytest.mark.parametrize("name", ["f", "g"])
async def test_a_head_without_id_after_whole_arguments_opens_another_call(index: dict[str, int], name: str) -> None:
    chunks = (
        fragment(**index, name="f", args='{"x":1}'),
        fragment(**index, name=name, args=""),
        fragment(**index, args='{"y"'),
        fragment(**index, args=":2}"),
    )
    assert await calls_of(*chunks) == [("f", '{"x":1}'), (name, '{"y":2}')]


async def test_another_name_after_whole_arguments_is_a_call_even_without_arguments() -> None:
    chunks = fragment(index=0, name="f", args='{"x":1}'), fragment(index=0, name="now", args="")
    assert await calls_of(*chunks) == [("f", '{"x":1}'), ("now", "{}")]


@pytest.mark.parametrize("index", [{"index": 0}, {}])
async def test_a_head_that_is_only_repeated_after_whole_arguments_opens_nothing(index: dict[str, int]) -> None:
    chunks = fragment(**index, id="a", name="f", args='{"x":1}'), fragment(**index, id="a", name="f", args="")
    assert await calls_of(*chunks) == [("f", '{"x":1}')]


async def test_two_calls_in_one_chunk_are_two() -> None:
    both = delta(
        tool_calls=[
            {"id": "", "function": {"name": "f", "arguments": ""}},
            {"id": "", "function": {"name": "g", "arguments": ""}},
        ]
    )
    assert await calls_of(both) == [("f", "{}"), ("g", "{}")]


async def test_interleaved_fragments_find_their_call_by_index() -> None:
    chunks = (
        fragment(index=0, id="a", name="f", args=""),
        fragment(index=1, id="b", name="g", args=""),
        fragment(index=0, args='{"x":1}'),
        fragment(index=1, args='{"y":2}'),
    )
    assert await calls_of(*chunks) == [("f", '{"x":1}'), ("g", '{"y":2}')]


async def test_a_name_in_two_pieces_is_put_together() -> None:
    chunks = (
        fragment(index=0, id="a", name="read_"),
        fragment(index=0, name="file", args='{"pa'),
        fragment(index=0, args='th":"x"}'),
    )
    assert await calls_of(*chunks) == [("read_file", '{"path":"x"}')]


@pytest.mark.parametrize("arguments", ["", None, "null", "  "])
async def test_missing_arguments_are_an_empty_object(arguments: str | None) -> None:
    chunk = delta(content=None, tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}])
    assert await calls_of(chunk) == [("f", "{}")]


@pytest.mark.parametrize("arguments", ["[]", '"x"', '{"q"'])
async def test_bad_arguments_are_passed_on_as_they_came(arguments: str) -> None:
    assert await calls_of(fragment(index=0, id="a", name="f", args=arguments)) == [("f", arguments)]


async def test_arguments_given_as_an_object_become_text() -> None:
    assert await calls_of(fragment(index=0, id="a", name="f", args={"x": [1, "ä"]})) == [("f", '{"x":[1,"ä"]}')]


async def test_a_placeholder_gives_way_to_the_arguments() -> None:
    chunks = fragment(index=0, id="a", name="f", args="{}"), fragment(index=0, args='{"x":1}')
    assert await calls_of(*chunks) == [("f", '{"x":1}')]


async def test_arguments_split_at_every_character_arrive_exactly() -> None:
    chunks = [fragment(index=0, args=character) for character in ARGS]
    assert await calls_of(fragment(index=0, id="a", name="f", args=""), *chunks) == [("f", ARGS)]


async def test_a_call_without_a_name_is_asked_for_under_one_that_does_not_exist() -> None:
    assert await calls_of(fragment(index=0, id="a", args="{}")) == [("unnamed_tool", "{}")]


async def test_the_old_function_call_is_a_call() -> None:
    chunks = delta(function_call={"name": "f", "arguments": '{"x"'}), delta(function_call={"arguments": ":1}"})
    seen = await play("openai_compat", *chunks, delta("function_call") + DONE)
    assert [(call.name, call.arguments) for call in seen.calls] == [("f", '{"x":1}')]
    assert seen.finish is Finish.TOOL_CALLS


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "other", "length"])
async def test_calls_are_taken_whatever_the_finish_reason(finish: str) -> None:
    chunk = fragment(index=0, id="a", name="f", args="{}")
    assert await calls_of(chunk, end=delta(finish) + DONE) == [("f", "{}")]


@pytest.mark.parametrize("finish", ["", None])
async def test_calls_are_taken_without_a_finish_reason(finish: str | None) -> None:
    chunk = fragment(index=0, id="a", name="f", args="{}")
    assert await calls_of(chunk, delta(finish), end=DONE) == [("f", "{}")]
