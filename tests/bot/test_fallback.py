"""A further attempt: what the failed one showed goes, and a quiet notice says who answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.preview.server import Twin
from bot.render.embeds import fallback_reasons, notice
from bot.render.layout import STARTS_OVER
from pipeline.provider import Finish
from pipeline.records import AttemptEnded, AttemptStarted, LoopRecord, Noticed, PassFinished, TurnEnded
from pipeline.results import NoticeKind, Reason, StreamStatus, TurnStatus
from tests.bot.stage import Stage, staged
from tests.bot.test_layout import Shown
from tests.bot.turns import Script, asked, decided, ended, finished, running, said

CALL = (("list_dir", "{}"),)
REASONS = "second/two\nfirst/one: overloaded, try later\nfirst/one-mini: no such model"
PASSES = st.tuples(st.sampled_from(["cut", "whole", "failed", "empty"]), st.text(" \nab", max_size=6))
FIRST = AttemptStarted(n=1, provider="first", model="one")
SECOND = AttemptStarted(n=2, provider="second", model="two")


def failed(text: str, iteration: int = 0) -> tuple[LoopRecord, ...]:
    """A pass that ends its attempt with an error which another attempt may make good."""
    status, reason = StreamStatus.ERROR, Reason.PROVIDER
    broken = PassFinished(iteration=iteration, status=status, reason=reason, text=text, detail="overloaded")
    return broken, AttemptEnded(status=TurnStatus.ERROR, reason=Reason.PROVIDER)


@pytest.fixture
async def stage(twin: Twin, tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(twin, tmp_path) as opened:
        yield opened


def labels(message: dict[str, Any]) -> list[str]:
    return [button["label"] for row in message["components"] for button in row["components"]]


async def test_the_next_attempt_answers_in_the_message_of_the_failed_one(stage: Stage) -> None:
    script = await stage.ask()
    script.commit(FIRST)
    script.stream("Half of a wro")
    await stage.settled(script)
    (before,) = await stage.replies()
    script.commit(*failed("Half of a wro"), SECOND)
    await stage.settled(script)
    (between,) = await stage.replies()
    assert (between["content"], between["embeds"], labels(between)) == (STARTS_OVER, [], ["Stop"])
    script.stream("Right", iteration=1)
    script.commit(said("Right", iteration=1), ended())
    await stage.finish(script)
    (after,) = await stage.replies()
    assert (after["id"], after["content"]) == (before["id"], "Right")


async def test_messages_that_only_the_failed_attempt_needed_are_deleted(stage: Stage) -> None:
    script = await stage.ask()
    text = "word " * 900
    script.commit(FIRST)
    script.stream(text)
    await stage.settled(script)
    assert len(await stage.replies()) == 3
    script.commit(*failed(text), SECOND)
    await stage.settled(script)
    assert await stage.contents() == [STARTS_OVER]


async def test_what_earlier_passes_said_stays(stage: Stage) -> None:
    script = await stage.ask()
    script.commit(FIRST, said("Looking.", calls=CALL), running(), finished())
    script.stream("There ar", iteration=1)
    script.commit(*failed("There ar", iteration=1), SECOND)
    await stage.settled(script)
    assert await stage.contents() == ["Looking."]
    script.commit(said("Three files.", iteration=2), ended())
    await stage.finish(script)
    assert await stage.contents() == ["Looking.\n\nThree files."]


async def test_an_error_that_another_attempt_makes_good_changes_nothing_on_the_message(stage: Stage) -> None:
    script = await stage.ask()
    script.commit(FIRST)
    script.stream("Half")
    await stage.settled(script)
    edits = len([r for r in await stage.control.requests() if r["method"] == "PATCH"])
    script.commit(*failed("Half"))
    await stage.settled(script)
    (reply,) = await stage.replies()
    assert (reply["content"], reply["embeds"], labels(reply)) == ("Half", [], ["Stop"])
    assert len([r for r in await stage.control.requests() if r["method"] == "PATCH"]) == edits


async def test_a_restart_between_two_attempts_leaves_nothing_of_the_failed_one(stage: Stage) -> None:
    script = await stage.ask()
    text = "word " * 900
    script.commit(FIRST)
    script.stream(text)
    script.commit(*failed(text))
    await stage.settled(script)
    await stage.close()
    await stage.open()
    again = script.replay(stage.emit)
    again.commit(SECOND)
    again.stream("Right", iteration=1)
    again.commit(said("Right", iteration=1), ended())
    await stage.finish(again)
    assert await stage.contents() == ["Right"]


async def test_a_failed_attempt_that_said_nothing_leaves_no_trace(stage: Stage) -> None:
    script = await stage.ask()
    script.commit(FIRST, *failed(""), SECOND)
    await stage.settled(script)
    assert await stage.replies() == []
    script.commit(said("Right", iteration=1), ended())
    await stage.finish(script)
    assert await stage.contents() == ["Right"]


def test_when_nothing_more_is_said_after_a_failed_attempt_no_message_stays() -> None:
    shown = Shown()
    shown.script.commit(FIRST, *failed("Half"), SECOND)
    assert shown.contents == [("reply:0.0", STARTS_OVER)]
    shown.script.commit(said("", iteration=1), ended(TurnStatus.STOPPED_BY_USER, Reason.PHRASE))
    assert shown.posts == ()


def test_below_cards_the_place_of_the_failed_text_is_used_again() -> None:
    shown = Shown()
    shown.script.commit(FIRST, said("I will.", calls=CALL), asked(), decided(asked()), running(), finished())
    shown.script.commit(*failed("Don", iteration=1), SECOND)
    assert shown.contents == [("reply:0.0", "I will."), ("reply:1.0", STARTS_OVER)]
    shown.script.stream("Done.", iteration=2)
    assert shown.contents == [("reply:0.0", "I will."), ("reply:1.0", "Done.")]


def test_the_last_attempt_s_error_ends_the_turn_with_its_text_and_a_notice() -> None:
    shown = Shown()
    shown.script.commit(FIRST, *failed("Half"), SECOND)
    broken, end = failed("Par", iteration=1)
    shown.script.commit(broken, Noticed(notice=NoticeKind.PROVIDER_ERROR, detail="overloaded"), end)
    (post,) = shown.posts
    assert (post.content, post.stop, len(post.embeds)) == ("Par", False, 1)


def test_an_attempt_that_no_other_followed_after_all_is_over_with_its_turn() -> None:
    shown = Shown()
    shown.script.commit(FIRST, *failed("Half"))
    assert [post.stop for post in shown.posts] == [True]
    shown.script.commit(TurnEnded(status=TurnStatus.ERROR, reason=Reason.PROVIDER))
    assert [(post.content, post.stop) for post in shown.posts] == [("Half", False)]


def test_a_pass_that_goes_on_with_a_cut_one_continues_its_text() -> None:
    shown = Shown()
    cut = PassFinished(iteration=0, status=StreamStatus.COMPLETED, finish=Finish.LENGTH, text="One long ")
    shown.script.commit(cut)
    shown.script.stream("sent", "ence.", iteration=1)
    assert shown.contents == [("reply:0.0", "One long sentence.")]
    shown.script.commit(said("sentence.", iteration=1))
    assert shown.contents == [("reply:0.0", "One long sentence.")]
    shown.script.commit(said("Another.", iteration=2), ended())
    assert shown.contents == [("reply:0.0", "One long sentence.\n\nAnother.")]


@given(st.lists(PASSES, max_size=8))
def test_whatever_passes_fail_or_are_cut_people_see_what_the_turn_says(passes: list[tuple[str, str]]) -> None:
    shown = Shown()
    shown.script.commit(FIRST)
    attempt = 1
    for number, (kind, text) in enumerate(passes):
        shown.script.stream(text, iteration=number)
        match kind:
            case "failed":
                attempt += 1
                shown.script.commit(*failed(text, number), replace(SECOND, n=attempt))
            case "empty":
                shown.script.commit(PassFinished(iteration=number, status=StreamStatus.EMPTY_RESPONSE, text=" "))
            case _:
                finish = Finish.LENGTH if kind == "cut" else Finish.END
                shown.script.commit(replace(said(text, iteration=number), finish=finish))
    shown.script.commit(ended())
    seen = "".join(content for _, content in shown.contents)
    assert "".join(seen.split()) == "".join(shown.view.state.text.split())


def test_an_empty_pass_that_is_asked_again_shows_nothing() -> None:
    shown = Shown()
    shown.script.stream(" \n")
    shown.script.commit(PassFinished(iteration=0, status=StreamStatus.EMPTY_RESPONSE, text=" \n"))
    assert shown.posts == ()
    shown.script.stream("Hello", iteration=1)
    assert shown.contents == [("reply:0.0", "Hello")]


def test_what_a_model_said_while_it_was_muted_and_its_details_are_not_shown() -> None:
    shown = Shown()
    kept = PassFinished(iteration=1, status=StreamStatus.COMPLETED, hidden="I try again", details="mood: calm")
    shown.script.commit(said("Here.", calls=CALL), running(), finished(), kept, ended())
    assert shown.contents == [("reply:0.0", "Here.")] and shown.posts[0].embeds == ()


def test_a_skipped_turn_shows_nothing() -> None:
    shown = Shown()
    shown.script.commit(FIRST, ended(TurnStatus.SKIPPED, Reason.UNREACHABLE))
    assert shown.posts == ()


@pytest.mark.covers("embed fallback")
def test_the_notice_says_who_answered_and_no_reasons() -> None:
    embed = notice(NoticeKind.FALLBACK, REASONS, ended=True)
    assert embed.title is None and "**second/two** answered" in (embed.description or "")
    assert "overloaded" not in str(embed.to_dict())


def test_the_reasons_keep_to_discord_s_limits() -> None:
    many = "second/two\n" + "\n".join(f"first/{n}: {'*why* ' * 900}" for n in range(9))
    embed = fallback_reasons(many)
    assert len(embed) <= 6000 and len(embed.fields) == 5 and embed.footer.text == "and 4 more"
    assert all(len(field.value or "") <= 1024 for field in embed.fields)
    assert fallback_reasons("").description == "**Another model** did."


async def fallen_back(stage: Stage) -> Script:
    script = await stage.ask()
    script.commit(FIRST, *failed("Par"), SECOND, said("Right", iteration=1))
    script.commit(Noticed(notice=NoticeKind.FALLBACK, detail=REASONS), ended())
    await stage.finish(script)
    return script


@pytest.mark.covers("embed fallback")
async def test_details_tell_the_one_who_presses_why_another_model_answered(stage: Stage) -> None:
    await fallen_back(stage)
    (reply,) = await stage.replies()
    assert reply["content"] == "Right" and labels(reply) == ["Details"]
    told = await stage.control.click(reply["id"], "bob", label="Details")
    assert told["kind"] == "message" and told["message"]["flags"] & 64
    fields = {field["name"]: field["value"] for field in told["message"]["embeds"][0]["fields"]}
    assert fields == {"first/one": "overloaded, try later", "first/one-mini": "no such model"}


async def test_details_are_told_after_a_restart_too(stage: Stage) -> None:
    await fallen_back(stage)
    (reply,) = await stage.replies()
    await stage.close()
    await stage.open()
    told = await stage.control.click(reply["id"], "alice", label="Details")
    assert "overloaded" in str(told["message"]["embeds"])


async def test_details_of_a_turn_that_is_not_in_the_journal_say_so(stage: Stage) -> None:
    script = await fallen_back(stage)
    (reply,) = await stage.replies()
    del stage.runtime.scripts[script.turn]
    told = await stage.control.click(reply["id"], "alice", label="Details")
    assert "do not know this turn" in told["message"]["content"]
