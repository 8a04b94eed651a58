"""The notices and the activity embed: complete, harmless, within Discord's limits."""

from __future__ import annotations

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.activity import activity, short_arguments
from bot.render.embeds import NOTICES, notice, stopped
from bot.render.text import is_hidden, one_line
from pipeline.records import PassFinished, ToolFinished, ToolStarted
from pipeline.results import NoticeKind, Outcome, StreamStatus
from pipeline.state import LoopState, apply
from tests.bot.turns import started

HOSTILE = st.text(max_size=3000) | st.sampled_from(["```" * 500, "@everyone " * 400, "\u202e\u200b" * 900, "\n" * 3000])


def within_limits(embed: discord.Embed) -> bool:
    return (
        len(embed.title or "") <= 256
        and len(embed.description or "") <= 4096
        and all(len(field.name or "") <= 256 and len(field.value or "") <= 1024 for field in embed.fields)
        and len(embed) <= 6000
    )


def test_every_kind_of_notice_has_its_embed() -> None:
    assert set(NOTICES) == set(NoticeKind)
    titles = {notice(kind, "", ended=False).title for kind in NoticeKind}
    assert len(titles) == len(NoticeKind)


@pytest.mark.parametrize("kind", list(NoticeKind))
@given(detail=HOSTILE)
def test_a_notice_keeps_to_the_limits_and_to_one_line_of_detail(kind: NoticeKind, detail: str) -> None:
    for ended in (False, True):
        embed = notice(kind, detail, ended=ended)
        assert within_limits(embed) and len(embed) <= 1300
        assert (embed.description or "").count("\n") <= 2
        assert not any(is_hidden(char) for char in (embed.description or "").replace("\n", ""))


def test_a_notice_says_what_this_turn_knows() -> None:
    assert "read_file" in (notice(NoticeKind.LOOP_GUARD, "read_file, 6 times", ended=True).description or "")


@pytest.mark.covers("embed retry_exhausted")
def test_an_exhausted_retry_names_the_tool_and_says_that_the_answer_stands() -> None:
    embed = notice(NoticeKind.RETRY_EXHAUSTED, "3 failures in a row, the last in write_file: disk full", ended=True)
    assert "write_file: disk full" in (embed.description or "").replace("\\", "")
    assert "ends with what is written above" in (embed.description or "")


def test_still_working_does_not_claim_it_after_the_end() -> None:
    assert notice(NoticeKind.STILL_WORKING, "", ended=False).title == "Still working"
    assert "still working after" in (notice(NoticeKind.STILL_WORKING, "", ended=True).description or "")


def test_stopped_names_the_person() -> None:
    assert stopped("al*ice").title == "Stopped by al\\*ice"


def _turn_with(calls: tuple[tuple[str, str], ...]) -> LoopState:
    asked = PassFinished(iteration=0, status=StreamStatus.FUNCTION_CALL, calls=calls)
    return apply(apply(None, started()), asked)


def test_no_activity_before_the_first_call() -> None:
    assert activity(apply(None, started()), {}) is None


def test_each_call_is_a_line_with_its_state() -> None:
    state = _turn_with((("read_file", '{"path":"a.txt"}'), ("list_dir", "{}"), ("now", "{}")))
    state = apply(state, ToolStarted(iteration=0, index=0, run=1))
    finished = ToolFinished(iteration=0, index=0, run=1, outcome=Outcome.OK, content="x", duration_ms=1200)
    state = apply(apply(state, finished), ToolStarted(iteration=0, index=1, run=1))
    embed = activity(state, {(0, 1): 1700000000.0})
    assert embed is not None and embed.description is not None
    assert embed.description.splitlines() == [
        "✅ **read_file** path=a.txt · done · 1.2 s",
        "⚙️ **list_dir** · running · <t:1700000000:R>",
        "▫️ **now** · waits",
    ]


@given(st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1, max_size=30))
def test_the_activity_stays_small_whatever_a_model_calls(calls: list[tuple[str, str]]) -> None:
    embed = activity(apply(_turn_with(tuple(calls)), ToolStarted(iteration=0, index=0, run=1)), {})
    assert embed is not None and len(embed) <= 3000
    assert len((embed.description or "").splitlines()) <= 13


@given(HOSTILE)
def test_short_arguments_are_one_short_line(arguments: str) -> None:
    assert len(short_arguments(arguments)) <= 80 and "\n" not in short_arguments(arguments)


@given(st.text(max_size=200))
def test_data_for_a_prompt_is_one_line_and_no_heading(text: str) -> None:
    line = one_line(text, 80)
    assert len(line.splitlines()) <= 1 and not line.startswith(("#", ">", "```"))
