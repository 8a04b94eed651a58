"""Approval cards and their buttons on the twin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.preview.server import Twin
from pipeline.approvals import AlreadyDecided, Expired, NotAllowed
from pipeline.records import ApprovalAsked, Ask, Verdict
from tests.bot.stage import Stage, staged
from tests.bot.turns import Script, asked, decided, ended, finished, running, said

TWO_CALLS = (("write_file", '{"path": "a.txt"}'), ("write_file", '{"path": "b.txt"}'))


@pytest.fixture
async def stage(twin: Twin, tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(twin, tmp_path) as opened:
        yield opened


async def carded(stage: Stage, *questions: ApprovalAsked) -> tuple[Script, list[dict[str, Any]]]:
    """A turn with a card for each of `questions`, and the cards."""
    script = await stage.ask()
    script.commit(said("", calls=TWO_CALLS), *questions)
    await stage.settled(script)
    return script, await stage.replies()


def labels(message: dict[str, Any]) -> list[str]:
    return [button["label"] for row in message["components"] for button in row["components"]]


async def test_all_cards_of_a_pass_are_posted_at_once_with_their_buttons(stage: Stage) -> None:
    script, cards = await carded(stage, asked(), asked(index=1))
    assert sorted(card["embeds"][0]["description"].count("a.txt") for card in cards) == [0, 1]
    assert all(labels(card) == ["Approve", "Deny", "Deny with reason…"] for card in cards)
    posted = {record.message for record in script.records if record.kind == "card_posted"}
    assert posted == {card["id"] for card in cards}


@pytest.mark.parametrize(("label", "verdict"), [("Approve", Verdict.APPROVE), ("Deny", Verdict.DENY)])
async def test_a_press_decides_about_its_own_card_only(stage: Stage, label: str, verdict: Verdict) -> None:
    first, second = asked(), asked(index=1)
    _, cards = await carded(stage, first, second)
    card = next(card for card in cards if "b.txt" in card["embeds"][0]["description"])
    await stage.control.click(card["id"], "owner", label=label)
    ((approval, answer, actor),) = stage.runtime.answers
    assert (approval, answer.verdict, answer.note) == (second.approval, verdict, "")
    assert actor.name == "Owner" and actor.manage_guild


async def test_the_reason_of_a_denial_comes_from_a_modal(stage: Stage) -> None:
    question = asked()
    _, cards = await carded(stage, question)
    shown = await stage.control.click(cards[0]["id"], "owner", label="Deny with reason…")
    assert shown["kind"] == "modal" and shown["modal"]["title"] == "Deny with a reason"
    await stage.control.modal(shown["interaction"], "owner", {"Reason": "too risky"})
    ((approval, answer, _),) = stage.runtime.answers
    assert (approval, answer.verdict, answer.note) == (question.approval, Verdict.DENY_WITH_REASON, "too risky")


async def test_a_modal_that_is_submitted_after_a_restart_still_counts(stage: Stage) -> None:
    script, cards = await carded(stage, asked())
    shown = await stage.control.click(cards[0]["id"], "owner", label="Deny with reason…")
    await stage.close()
    await stage.open()
    script.replay(stage.emit)
    await stage.control.modal(shown["interaction"], "owner", {"Reason": "too risky"})
    assert [answer.note for _, answer, _ in stage.runtime.answers] == ["too risky"]


async def test_somebody_who_may_not_decide_is_told_so_and_the_card_stays(stage: Stage) -> None:
    _, cards = await carded(stage, asked())
    stage.runtime.result = NotAllowed()
    answer = await stage.control.click(cards[0]["id"], "bob", label="Approve")
    assert "may not decide" in answer["message"]["content"] and answer["message"]["flags"] & 64
    refused = await stage.control.click(cards[0]["id"], "bob", label="Deny with reason…")
    assert refused["kind"] == "message" and "may not decide" in refused["message"]["content"]
    assert await stage.replies(viewer="owner") == cards


async def test_a_second_press_hears_who_was_first(stage: Stage) -> None:
    _, cards = await carded(stage, asked())
    stage.runtime.result = AlreadyDecided(verdict=Verdict.APPROVE, name="olga")
    answer = await stage.control.click(cards[0]["id"], "owner", label="Deny")
    assert answer["message"]["content"] == "Already decided by olga."


async def test_a_press_that_takes_long_is_acknowledged_first_and_answered_then(stage: Stage) -> None:
    _, cards = await carded(stage, asked())
    stage.runtime.hold = asyncio.Event()
    stage.runtime.result = AlreadyDecided(verdict=Verdict.APPROVE, name="olga")
    answer = await stage.control.click(cards[0]["id"], "owner", label="Deny")
    assert answer["kind"].startswith("deferred")
    stage.runtime.hold.set()
    said_later = await stage.control.until_message(
        "general", lambda m: m["content"] == "Already decided by olga.", viewer="owner"
    )
    assert said_later["flags"] & 64


async def test_a_press_on_an_expired_card_says_so(stage: Stage) -> None:
    _, cards = await carded(stage, asked())
    stage.runtime.result = Expired()
    answer = await stage.control.click(cards[0]["id"], "owner", label="Approve")
    assert "expired" in answer["message"]["content"]


async def test_a_decided_card_says_how_and_loses_its_buttons(stage: Stage) -> None:
    first, second = asked(), asked(index=1)
    script, _ = await carded(stage, first, second)
    script.commit(decided(second))
    await stage.settled(script)
    card = next(m for m in await stage.replies() if "b.txt" in m["embeds"][0]["description"])
    assert "waits for an earlier call" in card["embeds"][0]["description"] and labels(card) == []
    script.commit(decided(first), running(), finished(), running(index=1), finished(index=1))
    script.commit(said("Done.", iteration=1), ended())
    await stage.finish(script)
    *cards, reply = await stage.replies()
    assert reply["content"] == "Done."
    assert all("done in 1.2 s" in card["embeds"][0]["description"] and labels(card) == [] for card in cards)


async def test_a_card_still_says_how_its_call_ended_when_the_turn_has_gone_on(stage: Stage) -> None:
    question = asked()
    script, _ = await carded(stage, question)
    script.commit(decided(question), running(), finished(), running(index=1), finished(index=1))
    script.commit(said("", iteration=1, calls=(("now", "{}"),)), ended())
    await stage.finish(script)
    assert "done in" in (await stage.replies())[0]["embeds"][0]["description"]


async def test_a_card_that_does_not_fit_becomes_an_answer_to_the_model(stage: Stage) -> None:
    script = await stage.ask()
    question = asked()
    script.commit(said("", calls=(("write_file", '{"text": "' + "x" * 6000 + '"}'),)), question)
    await stage.settled(script)
    ((approval, why),) = stage.runtime.failed
    assert approval == question.approval and "too long" in why
    assert await stage.replies() == []


async def test_a_card_that_nobody_may_press_is_an_answer_to_the_model_instead(stage: Stage) -> None:
    script, start = await stage.ask(), asked()
    direct = Script(stage.emit, replace(script.start, turn=str(int(script.turn) + 1), guild=""))
    direct.commit(said("", calls=TWO_CALLS), start)
    await stage.settled(direct)
    ((approval, why),) = stage.runtime.failed
    assert approval == start.approval and "nobody may approve here" in why
    assert await stage.replies() == []


async def test_a_deleted_card_is_asked_again_while_it_is_open(stage: Stage) -> None:
    script, cards = await carded(stage, asked())
    await stage.control.delete(cards[0]["id"])
    await stage.control.until_message("general", lambda m: m["embeds"] and m["id"] != cards[0]["id"])
    await stage.settled(script)
    (again,) = await stage.replies()
    assert again["id"] != cards[0]["id"] and labels(again) == ["Approve", "Deny", "Deny with reason…"]


async def test_a_restart_neither_doubles_a_card_nor_loses_its_buttons(stage: Stage) -> None:
    question = asked()
    script, cards = await carded(stage, question)
    await stage.close()
    await stage.open()
    again = script.replay(stage.emit)
    await stage.settled(again)
    assert [message["id"] for message in await stage.replies()] == [cards[0]["id"]]
    await stage.control.click(cards[0]["id"], "owner", label="Approve")
    assert [approval for approval, _, _ in stage.runtime.answers] == [question.approval]


async def test_a_card_whose_id_was_lost_in_a_crash_is_found_again(stage: Stage) -> None:
    script, cards = await carded(stage, asked())
    await stage.close()
    stage.deliveries.rows.clear()
    script.records = [record for record in script.records if record.kind != "card_posted"]
    await stage.open()
    again = script.replay(stage.emit)
    stage.runtime.scripts[script.turn] = again
    await stage.settled(again)
    assert [message["id"] for message in await stage.replies()] == [cards[0]["id"]]
    assert again.records[-1].kind == "card_posted"


async def test_a_question_after_an_interruption_has_its_own_buttons(stage: Stage) -> None:
    script = await stage.ask()
    again = ApprovalAsked(
        approval="abcdef123456", iteration=0, index=0, ask=Ask.AGAIN, run=1, seal="0" * 64, expires=1_700_000_600.0
    )
    script.commit(said("", calls=TWO_CALLS), running(), again)
    await stage.settled(script)
    card = (await stage.replies())[-1]
    assert labels(card) == ["Run again", "Skip"]
    await stage.control.click(card["id"], "owner", label="Skip")
    assert stage.runtime.answers[0][1].verdict is Verdict.SKIP


async def test_the_stop_button_is_for_the_person_who_asked_and_for_moderators(stage: Stage) -> None:
    script = await stage.ask(author="alice")
    script.stream("Working")
    await stage.settled(script)
    (reply,) = await stage.replies()
    refused = await stage.control.click(reply["id"], "bob", label="Stop")
    assert "may stop this" in refused["message"]["content"] and stage.runtime.stops == []
    await stage.control.click(reply["id"], "alice", label="Stop")
    await stage.control.click(reply["id"], "owner", label="Stop")
    assert [turn for turn, _ in stage.runtime.stops] == [script.turn, script.turn]
