"""What counts as "stop", and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.phrases import FILLERS, MAX_WORDS, STOP_PHRASES, is_stop_phrase

PHRASES = [phrase.strip() for listed in STOP_PHRASES.values() for phrase in listed.split(",")]
POLITE = [filler.strip() for filler in FILLERS.split(",")]
SIGNS = st.text(alphabet=' .,;!?…—\n\t"«»()*_~🛑', max_size=4)
FOREIGN = ["server", "tests", "reading", "build", "don't", "why", "Server", "le", "después"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "stop",
            "Stop, please!",
            "HALT",
            "cancel that",
            "That’s enough.",
            "never mind",
            "ok stop it now",
            "STOP STOP",
        ),
        *(
            "/stop",
            "Hör auf, bitte",
            "hor auf",
            "ça suffit",
            "¡Para ya!",
            "Não, chega.",
            "ストップ！",
            "停。",
            "Хватит!",
        ),
    ],
)
def test_a_message_that_only_asks_for_an_end_is_a_stop_phrase(text: str) -> None:
    assert is_stop_phrase(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "please", "ok", "no", "wait", "stop the server and restart it", "don't stop", "cancel the order", "🛑"),
        *("how do I stop it", "why did it stop", "stop at the first error", "nonstop", "stop " * (MAX_WORDS + 1)),
    ],
)
def test_a_message_that_says_more_or_something_else_is_none(text: str) -> None:
    assert not is_stop_phrase(text)


@given(st.sampled_from(PHRASES), SIGNS, SIGNS, st.booleans())
def test_every_phrase_counts_whatever_its_case_and_the_signs_around_it(
    phrase: str, before: str, after: str, upper: bool
) -> None:
    assert is_stop_phrase(f"{before}{phrase.upper() if upper else phrase}{after}")


@given(st.sampled_from(PHRASES), st.sampled_from(POLITE), st.booleans())
def test_every_phrase_counts_with_a_polite_word(phrase: str, polite: str, first: bool) -> None:
    text = f"{polite}, {phrase}" if first else f"{phrase} {polite}"
    assert is_stop_phrase(text) == (len(text.replace(",", " ").replace("-", " ").split()) <= MAX_WORDS)


@given(st.sampled_from(PHRASES), st.sampled_from(FOREIGN), st.booleans())
def test_no_phrase_counts_with_a_word_that_is_none(phrase: str, word: str, first: bool) -> None:
    assert not is_stop_phrase(f"{word} {phrase}" if first else f"{phrase} {word}")


@given(st.text(max_size=120))
def test_any_text_is_decided_and_signs_do_not_matter(text: str) -> None:
    assert is_stop_phrase(text) == is_stop_phrase(f"{text}!") or len(text) >= 80
