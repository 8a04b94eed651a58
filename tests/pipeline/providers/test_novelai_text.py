"""The parts that decide what people are shown while an answer streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers._novelai_text import (
    MAX_HELD_CHARS,
    SentenceHold,
    SpeakerCut,
    ThinkSplitter,
    VisibleText,
    partial_at_end,
)

PIECES = st.lists(st.sampled_from(["<think>", "</think>", "<", "thi", ">", "/", "é 😀", "\n", " a. b"]), max_size=12)
SPEECH = st.lists(st.sampled_from(["\n", "jane", ":", "ja", "Assistant:", "***", " 😀", "jane: hi"]), max_size=12)
PROSE = st.text(alphabet='ab .!?…。」"*)\n3😀', max_size=60)


def split(text: str, cuts: Sequence[int]) -> list[str]:
    points = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(points)]


def thought_and_said(parts: Sequence[str]) -> tuple[str, str]:
    splitter = ThinkSplitter()
    found = [part for text in parts for part in splitter.feed(text)] + list(splitter.end())
    thought = "".join(part.text for part in found if part.is_thinking)
    return thought, "".join(part.text for part in found if not part.is_thinking)


def spoken(parts: Sequence[str]) -> tuple[str, bool]:
    cut = SpeakerCut(("Assistant", "jane"))
    return "".join([*map(cut.feed, parts), cut.end()]), cut.is_over


def shown_of_a_cut_answer(parts: Sequence[str]) -> tuple[str, str]:
    visible = VisibleText(None, fresh=False)
    return "".join([*map(visible.feed, parts), visible.end(is_cut=True)]), visible.tail


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("<think>hm</think>Hi", "hm", "Hi"),
        ("Hi", "", "Hi"),
        ("a<think>b</think>c<think>d", "bd", "ac"),
        ("a</think>b", "", "ab"),
        ("a <thin b </ think>", "", "a <thin b </ think>"),
        ("<think>a<think>b</think>c</think>d", "ab", "cd"),
    ],
)
def test_think_tags_part_the_thinking_from_the_text(text: str, thought: str, said: str) -> None:
    assert thought_and_said([text]) == (thought, said)


def test_a_script_ends_where_somebody_speaks_or_the_scene_ends() -> None:
    assert spoken([" Hi.\njane: hello"]) == (" Hi.", True)
    assert spoken([" Hi.\nAssistant: hello"]) == (" Hi.", True)
    assert spoken([" Hi.\n***\nNew"]) == (" Hi.", True)
    assert spoken([" I told\njan"]) == (" I told\njan", False)


@pytest.mark.parametrize(
    ("text", "shown", "tail"),
    [
        ("One. Two", "One.", " Two"),
        ("One. Two.", "One. Two.", ""),
        ('She said "no." And th', 'She said "no."', " And th"),
        ("Pi is 3.14 or so", "", "Pi is 3.14 or so"),
        ("- one\n- two\n- th", "- one\n- two", "\n- th"),
        ("はい。そう", "はい。", "そう"),
        ("**Bold!** and", "**Bold!**", " and"),
    ],
)
def test_a_cut_answer_shows_whole_sentences_and_keeps_the_rest(text: str, shown: str, tail: str) -> None:
    assert shown_of_a_cut_answer([text]) == (shown, tail)


def test_a_sentence_without_an_end_is_shown_when_it_gets_long() -> None:
    hold = SentenceHold()
    shown = "".join(hold.feed("word ") for _ in range(MAX_HELD_CHARS))
    assert len(shown) > 4 * MAX_HELD_CHARS - 10


@pytest.mark.parametrize(
    ("read", "text"),
    [(thought_and_said, PIECES.map("".join)), (spoken, SPEECH.map("".join)), (shown_of_a_cut_answer, PROSE)],
)
@given(data=st.data())
def test_every_split_gives_the_same(
    read: Callable[[Sequence[str]], object], text: st.SearchStrategy[str], data: st.DataObject
) -> None:
    whole = data.draw(text)
    assert read(split(whole, data.draw(st.lists(st.integers(0, 500), max_size=12)))) == read([whole])
    assert read(list(whole)) == read([whole])


@given(text=PROSE)
def test_nothing_of_a_cut_answer_is_lost(text: str) -> None:
    shown, tail = shown_of_a_cut_answer(list(text))
    assert shown + tail == text


@given(text=st.text(alphabet="<think/>", max_size=20))
def test_a_partial_marker_is_the_longest_beginning_at_the_end(text: str) -> None:
    size = partial_at_end(text, ("<think>", "</think>"))
    found = [n for n in range(1, 8) if any(m.startswith(text[-n:]) and n < len(m) for m in ("<think>", "</think>"))]
    assert size == max((n for n in found if n <= len(text)), default=0)
