"""The cap on results, and text that can always be encoded."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tools.output import cap, cut, scrub, visible

text = st.text()  # without surrogates
any_text = st.text(st.characters())


@given(text, st.integers(min_value=64, max_value=400))
def test_a_capped_text_is_within_the_limit_and_counts_what_it_dropped(value: str, limit: int) -> None:
    value = value * 20
    capped = cap(value, limit)
    assert len(capped.encode()) <= limit
    if capped != value:
        found = re.fullmatch(r"(?s)(.*)\n\[truncated (\d+) bytes\]", capped)
        assert found is not None
        assert value.startswith(found[1])
        assert len(found[1].encode()) + int(found[2]) == len(value.encode())


@given(text, st.integers(min_value=64, max_value=200))
def test_capping_twice_changes_nothing(value: str, limit: int) -> None:
    once = cap(value * 20, limit)
    assert cap(once, limit) == once


def test_a_text_that_fits_exactly_is_left_alone() -> None:
    assert cap("é" * 50, 100) == "é" * 50


def test_a_limit_below_the_marker_leaves_the_marker() -> None:
    assert cap("x" * 1000, 5) == "[truncated 1000 bytes]"


@given(text, st.integers(min_value=0, max_value=50))
def test_a_cut_never_splits_a_character_and_takes_all_that_fits(value: str, limit: int) -> None:
    head = cut(value, limit)
    assert value.startswith(head)
    assert len(head.encode()) <= limit
    if head != value:
        assert len((head + value[len(head)]).encode()) > limit


@given(any_text)
def test_scrubbed_text_can_be_encoded_and_clean_text_is_unchanged(value: str) -> None:
    scrub(value).encode()
    if not any(0xD800 <= ord(c) <= 0xDFFF for c in value):
        assert scrub(value) == value


@given(any_text)
def test_visible_text_is_one_printable_line(value: str) -> None:
    shown = visible(value, 50)
    assert shown.isprintable()
    assert len(shown) <= 51


def test_invisible_characters_are_shown_as_escapes() -> None:
    assert visible("a\nb\u202ec") == "a\\nb\\u202ec"
