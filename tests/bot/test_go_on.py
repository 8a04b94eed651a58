"""A turn that a limit ended can go on: who may press, what begins, and that it begins once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.preview.server import Twin
from pipeline.records import Noticed
from pipeline.results import NoticeKind, Reason, TurnStatus
from pipeline.runtime import Submission
from tests.bot.stage import Stage, staged
from tests.bot.turns import Script, ended, said

GO_ON = "Go on for 100 more"
LIMIT = Noticed(notice=NoticeKind.ITERATION_LIMIT, detail="100")
GUARD = Noticed(notice=NoticeKind.LOOP_GUARD, detail='list_dir {"path": "a"}, 6 times with the same result')


@pytest.fixture
async def stage(twin: Twin, tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(twin, tmp_path) as opened:
        yield opened


def labels(message: dict[str, Any]) -> list[str]:
    return [button["label"] for row in message["components"] for button in row["components"]]


async def limited(stage: Stage, notice: Noticed = LIMIT) -> tuple[Script, dict[str, Any]]:
    """A turn that a limit ended, and its newest message."""
    script = await stage.ask()
    status, reason = TurnStatus.TIMEOUT, Reason.ITERATION_LIMIT
    if notice is GUARD:
        status, reason = TurnStatus.ERROR, Reason.LOOP_GUARD
    script.commit(said("So far."), notice, ended(status, reason))
    await stage.finish(script)
    return script, (await stage.replies())[-1]


async def test_a_press_of_the_requester_begins_a_turn_that_goes_on(stage: Stage) -> None:
    script, reply = await limited(stage)
    stage.now += 60
    await stage.control.click(reply["id"], "alice", label=GO_ON)
    (begun,) = stage.runtime.submitted
    start = script.start
    assert (begun.turn, begun.reply_to, begun.continues) == (reply["id"], start.turn, start.turn)
    assert (begun.user, begun.channel, begun.guild, begun.author) == (start.user, start.channel, start.guild, "alice")
    assert (begun.text, begun.at) == ("Go on.", stage.now)


async def test_the_button_goes_once_it_has_been_pressed(stage: Stage) -> None:
    _, reply = await limited(stage)
    await stage.control.click(reply["id"], "alice", label=GO_ON)
    (reply,) = await stage.replies()
    assert (reply["content"], labels(reply)) == ("So far.", [])
    assert reply["embeds"][0]["title"] == "Iteration limit reached"


async def test_the_other_buttons_stay_and_work(stage: Stage) -> None:
    script = await stage.ask()
    script.commit(replace(said("So far."), thinking="Hmm."), LIMIT)
    script.commit(ended(TurnStatus.TIMEOUT, Reason.ITERATION_LIMIT))
    await stage.finish(script)
    (reply,) = await stage.replies()
    await stage.control.click(reply["id"], "alice", label=GO_ON)
    (reply,) = await stage.replies()
    assert labels(reply) == ["Thoughts · 1 s"]
    told = await stage.control.click(reply["id"], "alice", label="Thoughts · 1 s")
    assert told["message"]["embeds"][0]["description"] == "Hmm."


async def test_two_presses_at_once_ask_for_the_same_turn(stage: Stage) -> None:
    _, reply = await limited(stage)
    await asyncio.gather(*(stage.control.click(reply["id"], user, label=GO_ON) for user in ("alice", "owner")))
    assert [one.turn for one in stage.runtime.submitted] == [reply["id"], reply["id"]]
    assert labels((await stage.replies())[-1]) == []


@pytest.mark.parametrize(
    ("submission", "words"),
    [
        (Submission.KNOWN, "pressed this already"),
        (Submission.QUEUED, "as soon as"),
        (Submission.FULL, "Too many messages"),
        (Submission.CLOSING, "about to restart"),
    ],
)
async def test_whoever_presses_is_told_what_becomes_of_it(stage: Stage, submission: Submission, words: str) -> None:
    _, reply = await limited(stage)
    stage.runtime.submission = submission
    async with stage.control.expect(lambda event: words in str(event)) as told:
        await stage.control.click(reply["id"], "alice", label=GO_ON)
    assert (await told)["message"]["flags"] & 64
    stays = submission in (Submission.FULL, Submission.CLOSING)
    assert labels((await stage.replies())[0]) == ([GO_ON] if stays else [])


async def test_an_approver_may_have_it_go_on_and_others_may_not(stage: Stage) -> None:
    _, reply = await limited(stage)
    refused = await stage.control.click(reply["id"], "bob", label=GO_ON)
    assert "who asked, or an approver" in refused["message"]["content"] and stage.runtime.submitted == []
    await stage.control.click(reply["id"], "owner", label=GO_ON)
    assert len(stage.runtime.submitted) == 1


async def test_a_requester_who_may_start_no_turns_any_more_is_refused(stage: Stage) -> None:
    _, reply = await limited(stage)
    stage.admits = False
    refused = await stage.control.click(reply["id"], "alice", label=GO_ON)
    assert "who asked" in refused["message"]["content"] and stage.runtime.submitted == []


async def test_it_can_be_pressed_after_a_restart(stage: Stage) -> None:
    _, reply = await limited(stage)
    await stage.close()
    await stage.open()
    await stage.control.click(reply["id"], "alice", label=GO_ON)
    assert len(stage.runtime.submitted) == 1


async def test_the_loop_guard_says_what_repeated_and_offers_to_go_on(stage: Stage) -> None:
    _, reply = await limited(stage, GUARD)
    assert labels(reply) == [GO_ON]
    words = reply["embeds"][0]["description"]
    assert "list_dir" in words and "6 times" in words and "Go on" in words


async def test_the_answer_of_a_turn_that_goes_on_refers_to_the_person_s_message(stage: Stage) -> None:
    asked, reply = await limited(stage)
    await stage.control.click(reply["id"], "alice", label=GO_ON)
    (begun,) = stage.runtime.submitted
    script = Script(stage.emit, begun)
    script.commit(said("The rest."), ended())
    await stage.finish(script)
    assert (await stage.replies())[-1]["message_reference"]["message_id"] == asked.turn


async def test_a_lost_message_of_a_turn_that_goes_on_is_not_taken_for_the_first_turn_s(stage: Stage) -> None:
    _, reply = await limited(stage)
    await stage.control.click(reply["id"], "alice", label=GO_ON)
    (begun,) = stage.runtime.submitted
    script = Script(stage.emit, begun)
    script.stream("The r")
    await stage.settled(script)
    await stage.close()
    stage.deliveries.rows.clear()
    await stage.open()
    again = script.replay(stage.emit)
    again.stream("The rest.")
    again.commit(said("The rest."), ended())
    await stage.finish(again)
    assert await stage.contents() == ["So far.", "The rest."]
