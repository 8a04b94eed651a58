"""The splitter: nothing lost, nothing doubled, every piece within the limit and balanced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.chunks import Piece, Splitter, split
from bot.render.text import units

FENCE = "```"
WORDS = st.sampled_from(
    ["word ", "line\n", "\n\n", FENCE, "```py\n", "\n```\n", "~~~", "`", "🙂", "e\u0301", "x" * 70, " ", "# h\n", "漢"]
)
TEXTS = st.one_of(st.text(max_size=400), st.lists(WORDS, max_size=120).map("".join))
LIMITS = st.integers(min_value=64, max_value=200)


def _balanced(piece: Piece) -> bool:
    return piece.content.count(FENCE) % 2 == 0


@given(TEXTS, LIMITS)
def test_the_bodies_joined_are_the_text(text: str, limit: int) -> None:
    assert "".join(piece.body for piece in split(text, limit)) == text


@given(TEXTS, LIMITS)
def test_no_piece_is_over_the_limit_in_code_points_or_utf16_units(text: str, limit: int) -> None:
    for piece in split(text, limit):
        assert len(piece.content) <= limit
        assert units(piece.content) <= limit


@given(TEXTS, LIMITS)
def test_every_piece_but_the_last_is_balanced(text: str, limit: int) -> None:
    for piece in split(text, limit)[:-1]:
        assert _balanced(piece)


@given(TEXTS, LIMITS, st.data())
def test_full_pieces_stay_as_they_are_while_the_text_grows(text: str, limit: int, data: st.DataObject) -> None:
    cut = data.draw(st.integers(min_value=0, max_value=len(text)))
    before, after = split(text[:cut], limit), split(text, limit)
    assert after[: len(before[:-1])] == before[:-1]


@given(st.lists(st.text(max_size=60), max_size=12), LIMITS)
def test_a_splitter_that_saw_the_text_grow_agrees_with_one_that_did_not(deltas: list[str], limit: int) -> None:
    splitter, text = Splitter(limit), ""
    for delta in deltas:
        text += delta
        assert splitter.split(text) == split(text, limit)


def test_a_text_of_exactly_the_limit_is_one_piece() -> None:
    assert [piece.content for piece in split("x" * 2000)] == ["x" * 2000]
    assert len(split("x" * 2001)) == 2


def test_emoji_count_twice() -> None:
    assert [units(piece.content) for piece in split("🙂" * 1500)] == [2000, 1000]


def test_a_block_on_one_line_is_closed_and_opened_again() -> None:
    pieces = split(f"{FENCE}{'x' * 2500}{FENCE}")
    assert len(pieces) == 2
    assert all(_balanced(piece) and not piece.is_blank for piece in pieces)


def test_the_language_goes_on_in_the_next_piece() -> None:
    code = "".join(f"print({n})\n" for n in range(400))
    pieces = split(f"Look:\n{FENCE}py\n{code}{FENCE}\nDone.")
    assert all(_balanced(piece) for piece in pieces)
    assert all(piece.opening == f"{FENCE}py\n" for piece in pieces[1:])


def test_a_fence_inside_a_block_closes_it_as_discord_does() -> None:
    text = FENCE + "\na" * 600 + f"\n{FENCE}not-a-close" + "\nb" * 900 + f"\n{FENCE}" + "\nc" * 200
    pieces = split(text)
    assert "".join(piece.body for piece in pieces) == text
    assert all(_balanced(piece) for piece in pieces)


def test_tildes_are_text_to_discord() -> None:
    text = "~~~\n" + "tilde\n" * 500 + "~~~\n"
    assert "".join(piece.content for piece in split(text)) == text


def test_a_closing_fence_with_a_long_tail_ends() -> None:
    text = f"{FENCE}\ncode\n{FENCE}{'t' * 1995}"
    pieces = split(text)
    assert "".join(piece.body for piece in pieces) == text
    assert all(_balanced(piece) for piece in pieces)


def test_a_cut_before_a_closing_fence_leaves_no_empty_block() -> None:
    for padding in range(1960, 2010):
        pieces = split(f"{FENCE}\n{'x' * padding}\n{FENCE}")
        assert not any(piece.is_blank for piece in pieces)
        assert all(_balanced(piece) for piece in pieces)


def test_a_paragraph_stays_whole_where_it_can() -> None:
    first, second = split(f"{'a' * 1500}\n\n{'b' * 1500}")
    assert (first.content.strip("\n"), second.content) == ("a" * 1500, "b" * 1500)


def test_a_limit_without_room_for_fences_is_refused() -> None:
    with pytest.raises(ValueError):
        split("x", 63)
