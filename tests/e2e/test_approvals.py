"""Cards: which one a click decides, who may click, and what happens when clicks meet."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import Json, MakeStage, Stage, labels, words


def writes(*names: str) -> Pass:
    """One pass that writes these files, each with its own name in it."""
    return Pass(calls=[("write_file", json.dumps({"path": name, "content": f"{name}\n"})) for name in names])


def written(stage: Stage) -> Sequence[str]:
    return sorted(file.name for file in stage.project.glob("*.out"))


async def two_cards(stage: Stage, model: Mind) -> tuple[Json, Json]:
    """The open cards of one pass: for a.out, then for b.out."""
    model.script(writes("a.out", "b.out"), Pass(text=["Both are settled."]))
    await stage.mention("write two files")
    return await stage.until_card("a.out"), await stage.until_card("b.out")


async def test_a_click_decides_only_its_own_card_and_calls_run_in_their_order(
    make_stage: MakeStage, each_wire: Mind
) -> None:
    stage = await make_stage(each_wire)
    first, second = await two_cards(stage, each_wire)
    await stage.control.click(second, "alice", "Approve")
    assert "waits for an earlier call" in words(await stage.until_changed(second, "**Approved**"))
    assert "Approve" in labels(await stage.until_card("a.out"))
    assert written(stage) == []
    await stage.control.advance(5)  # Discord's window for edits
    await stage.control.click(first, "alice", "Approve")
    await stage.until_reply("Both are settled.")
    assert written(stage) == ["a.out", "b.out"]
    results = each_wire.requests[-1].results
    assert ["a.out" in results[0], "b.out" in results[1]] == [True, True]


async def test_one_of_two_calls_approved_and_one_denied_with_a_reason_get_each_their_own_result(
    make_stage: MakeStage, each_wire: Mind
) -> None:
    stage = await make_stage(each_wire)
    first, second = await two_cards(stage, each_wire)
    opened = await stage.control.click(first, "alice", "Deny with reason…")
    await stage.control.modal(opened, "alice", {"Reason": "a is taken"})
    await stage.control.click(second, "alice", "Approve")
    await stage.until_reply("Both are settled.")
    assert written(stage) == ["b.out"]
    denied, done = each_wire.requests[-1].results
    assert "a is taken" in denied and "created b.out" in done


async def test_a_denial_of_one_card_closes_the_other(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    first, second = await two_cards(stage, wire)
    await stage.control.click(second, "alice", "Deny")
    await stage.until_notice("Not approved")
    closed = await stage.until_changed(first, "Closed")
    assert labels(closed) == []
    assert written(stage) == []


async def test_an_old_card_is_closed_and_decides_nothing_of_a_new_one(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire, APPROVAL_TIMEOUT_S="60")
    wire.script(writes("a.out"), writes("b.out"), Pass(text=["Done."]))
    await stage.mention("write a")
    old = await stage.until_card("a.out")
    await stage.control.advance(61)
    expired = await stage.until_changed(old, "**Expired**")
    assert labels(expired) == []
    await stage.until_notice("Not approved")
    await stage.mention("write b")
    new = await stage.until_card("b.out")
    with pytest.raises(AssertionError, match="there is nothing called Approve"):
        await stage.control.click(old, "alice", "Approve")
    assert labels(await stage.until_card("b.out"))[0] == "Approve"
    await stage.control.click(new, "alice", "Approve")
    await stage.until_reply("Done.")
    assert written(stage) == ["b.out"]


async def test_a_click_that_meets_the_timeout_has_one_outcome_and_is_told_if_it_came_too_late(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire, APPROVAL_TIMEOUT_S="60")
    wire.script(writes("a.out"))
    await stage.mention("write a")
    card = await stage.until_card("a.out")
    await stage.control.advance(59)
    click, _ = await asyncio.gather(stage.control.click(card, "alice", "Approve"), stage.control.advance(1))
    closed = await stage.until(lambda shown: shown["id"] == card["id"] and labels(shown) == [])
    await stage.idle()
    assert ("This question is closed" in str(click)) == (written(stage) == [])
    assert ("**Approved**" in words(closed)) == (written(stage) == ["a.out"])
    assert ("**Expired**" in words(closed)) == (written(stage) == [])


async def test_a_role_that_was_lost_in_the_meantime_does_not_count(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(writes("a.out"), Pass(text=["Done."]))
    await stage.mention("write a")
    card = await stage.until_card("a.out")
    await stage.control.set_roles("alice")
    answer = await stage.control.click(card, "alice", "Approve")
    assert "You may not decide about this" in answer["message"]["content"]
    await stage.control.set_roles("bob", "Approver")
    await stage.control.click(card, "bob", "Approve")
    await stage.until_reply("Done.")


async def test_rights_are_checked_again_when_a_reason_is_sent(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(writes("a.out"))
    await stage.mention("write a")
    card = await stage.until_card("a.out")
    opened = await stage.control.click(card, "alice", "Deny with reason…")
    await stage.control.set_roles("alice")
    answer = await stage.control.modal(opened, "alice", {"Reason": "no"})
    assert "You may not decide about this" in answer["message"]["content"]
    assert "Approve" in labels(await stage.until_card("a.out"))


async def test_without_approvers_nothing_is_asked_and_nothing_runs(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire, APPROVERS="")
    wire.script(writes("a.out", "b.out"), Pass(text=["Nobody may."]))
    await stage.mention("write a", author="owner")
    reply = await stage.until_reply("Nobody may.")
    assert await stage.replies() == [reply]
    assert ["nobody may approve here" in result for result in wire.requests[-1].results] == [True, True]
    assert written(stage) == []


async def test_a_card_from_before_is_closed_when_nobody_may_decide_any_more(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(writes("a.out"), Pass(text=["Nobody may."]))
    await stage.mention("write a", author="owner")
    card = await stage.until_card("a.out")
    await stage.restart(APPROVERS="")
    closed = await stage.until_changed(card, "could not be asked")
    assert labels(closed) == []
    await stage.until_reply("Nobody may.")
    assert written(stage) == []


async def test_of_two_people_who_click_at_once_one_decides_and_the_other_is_told_who(
    make_stage: MakeStage, each_wire: Mind
) -> None:
    stage = await make_stage(each_wire)
    each_wire.script(writes("a.out"), Pass(text=["Done."]))
    await stage.mention("write a", author="bob")
    card = await stage.until_card("a.out")
    people = ("alice", "owner", "alice", "owner")
    answers = await asyncio.gather(*(stage.control.click(card, person, "Approve") for person in people))
    await stage.until_reply("Done.")
    told = [answer["message"]["content"] for answer in answers if answer["kind"] == "message"]
    assert len(told) == 3
    assert all(text.startswith(("Already decided by Alice", "Already decided by Owner")) for text in told)
    assert len(each_wire.requests) == 2
    assert len(each_wire.requests[-1].results) == 1


async def test_an_approval_and_a_denial_at_once_have_one_outcome(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(writes("a.out"), Pass(text=["Done."]))
    await stage.mention("write a", author="bob")
    card = await stage.until_card("a.out")
    await asyncio.gather(stage.control.click(card, "alice", "Approve"), stage.control.click(card, "owner", "Deny"))
    closed = await stage.until(lambda shown: shown["id"] == card["id"] and labels(shown) == [])
    await stage.idle()
    assert ("**Approved**" in words(closed)) == (written(stage) == ["a.out"])
    assert ("**Denied**" in words(closed)) == (written(stage) == [])
