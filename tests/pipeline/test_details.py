"""Detail blocks in a stream: kept, not shown, wherever the deltas cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.details import MAX_CHARS, DetailsFilter, merged

PIECES = ["<details>", "</details>", "<summary>s</summary>", "<det", "a", " <", "ä\n", "</"]


def play(parts: list[str]) -> tuple[str, list[str]]:
    one = DetailsFilter()
    shown = "".join([*(one.feed(part) for part in parts), one.finish()])
    return shown, one.bodies


def test_a_block_is_kept_without_its_summary_and_not_shown() -> None:
    assert play(["Hi <details><summary>Scene</summary> at sea </details>there"]) == ("Hi there", ["at sea"])


def test_an_open_block_counts_as_closed_at_the_end() -> None:
    assert play(["Hi<DETAILS>at sea"]) == ("Hi", ["at sea"])


def test_a_tag_that_is_none_is_text() -> None:
    assert play(["a < b, a <det", "ail"]) == ("a < b, a <detail", [])


def test_a_block_without_end_is_shown_after_all_when_it_is_too_long() -> None:
    shown, bodies = play(["<details>", "x" * MAX_CHARS, "yz"])
    assert shown == "<details>" + "x" * MAX_CHARS + "yz"
    assert bodies == []


@given(st.lists(st.sampled_from(PIECES)), st.randoms(use_true_random=False))
def test_where_the_deltas_cut_makes_no_difference(pieces: list[str], random: object) -> None:
    text = "".join(pieces)
    parts = []
    rest = text
    while rest:
        size = random.randint(1, len(rest))  # type: ignore[attr-defined]
        parts.append(rest[:size])
        rest = rest[size:]
    assert play(parts) == play([text]) == play(list(text))


def test_details_of_several_passes_are_merged_and_blank_ones_change_nothing() -> None:
    assert merged("", "a") == "a"
    assert merged("a", " \n") == "a"
    assert merged("a", "b") == "a\n\nb"
