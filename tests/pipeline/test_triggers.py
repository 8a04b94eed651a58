"""An operator's words and patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.triggers import MAX_LABEL_CHARS, MAX_PATTERN_CHARS, MAX_TEXT_CHARS, compile_pattern, label


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("deploy", "Please DEPLOY it."),
        ("ship  it", "now ship\n it, please"),
        ("café", "the CAFE\u0301 is open"),
        ("don't forget", "Don’t forget!"),
        ("straße", "in der STRASSE"),
        ("!run", "do !run it"),
        ("a.b", "x a.b y"),
    ],
)
def test_a_literal_is_found_without_case_accents_and_width_of_space(pattern: str, text: str) -> None:
    assert compile_pattern(pattern)(text)


@pytest.mark.parametrize(("pattern", "text"), [("deploy", "redeploy"), ("deploy", "deploying"), ("a.b", "axb")])
def test_a_literal_is_a_whole_word_and_no_pattern(pattern: str, text: str) -> None:
    assert not compile_pattern(pattern)(text)


def test_a_star_at_the_end_stands_for_the_rest_of_the_word() -> None:
    fits = compile_pattern("deploy*")
    assert [fits(text) for text in ("deploy", "We are deploying", "redeploy")] == [True, True, False]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("画像", "この画像を見て"), ("เตือน", "ช่วยเตือนฉันด้วย"), ("リマインダー", "明日のリマインダーを")],
)
def test_a_script_without_spaces_is_searched_everywhere(pattern: str, text: str) -> None:
    assert compile_pattern(pattern)(text)


def test_a_caret_fits_every_message() -> None:
    assert compile_pattern(" ^ ")("")


def test_a_pattern_between_slashes_is_matched_anywhere_without_case() -> None:
    fits = compile_pattern(r"/ship (it|now)\b/")
    assert [fits(text) for text in ("So SHIP it", "ship items")] == [True, False]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "nothing to look for"),
        (" * ", "nothing to look for"),
        ("/(/", "unclosed group"),
        ("/a)|(b/", "unopened group"),
        ("/(?=a)b/", "look-around"),
        (r"/(a)\1/", "backreferences"),
        ("/(a{1000}){1000}/", "size limit"),
        ("x" * (MAX_PATTERN_CHARS + 1), "longer than"),
    ],
)
def test_what_cannot_be_matched_is_refused_with_a_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        compile_pattern(pattern)


def test_a_pattern_that_would_take_ages_elsewhere_answers() -> None:
    # A backtracking engine needs 2^4000 steps for this one.
    assert not compile_pattern(r"/^(a+)+$/")("a" * (MAX_TEXT_CHARS - 1) + "b")


def test_only_the_beginning_of_a_very_long_text_is_looked_at() -> None:
    for pattern in ("end", "/end/"):
        assert not compile_pattern(pattern)("x " * MAX_TEXT_CHARS + "end")


@given(st.text())
def test_every_literal_finds_itself(text: str) -> None:
    try:
        fits = compile_pattern(text)
    except ValueError:
        return
    if not text.strip().startswith("/"):
        assert fits(text)


@given(st.text())
def test_a_label_is_one_short_line_without_back_ticks(text: str) -> None:
    shown = label(text)
    assert len(shown) <= MAX_LABEL_CHARS
    assert "`" not in shown
    assert "\n" not in shown
