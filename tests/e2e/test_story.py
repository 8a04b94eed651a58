"""The story of the README, in Discord's own terms, with every kind of model."""

from __future__ import annotations

import json

from bot.render.exact import parse_box
from tests.support.minds import Mind
from tests.support.stage import FILES, MakeStage, is_finished, labels, words


async def test_a_question_about_the_folder_is_answered_from_what_the_tool_saw(
    make_stage: MakeStage, model: Mind
) -> None:
    stage = await make_stage(model)
    async with stage.control.expect(lambda event: "list_dir" in words_of(event)) as tool:
        asked = await stage.mention("what is in this folder?")
    assert "Stop" in labels((await tool)["message"])
    reply = await stage.until_reply("todo.txt")
    assert reply["message_reference"]["message_id"] == asked["id"]
    assert all(name.partition("/")[0] in reply["content"] for name in FILES)
    assert reply["embeds"] == []


async def test_an_approved_write_is_shown_exactly_happens_and_is_answered(make_stage: MakeStage, model: Mind) -> None:
    stage = await make_stage(model)
    await stage.mention("write milk and eggs to shopping.txt", author="bob")
    card = await stage.until_card()
    shown = json.loads(parse_box(card["embeds"][0]["description"]))
    assert shown == {"path": "shopping.txt", "content": "milk and eggs\n"}
    assert "+milk and eggs" in card["embeds"][1]["description"]
    assert labels(card) == ["Approve", "Deny", "Deny with reason…"]
    assert not (stage.project / "shopping.txt").exists()

    await stage.control.click(card, "alice", "Approve")
    await stage.until_reply("created shopping.txt")
    assert (stage.project / "shopping.txt").read_text() == "milk and eggs\n"
    closed = await stage.until_changed(card, "**Approved** by")
    assert "Alice" in words(closed)
    assert labels(closed) == []


async def test_a_person_who_may_not_decide_is_told_so_and_the_card_stays_as_it_is(
    make_stage: MakeStage, model: Mind
) -> None:
    stage = await make_stage(model)
    await stage.mention("write hello to notes.txt")
    card = await stage.until_card()
    for label in ("Approve", "Deny", "Deny with reason…"):
        answer = await stage.control.click(card, "bob", label)
        assert answer["message"]["viewer_only"] == stage.members["bob"]
        assert "You may not decide about this" in answer["message"]["content"]
    assert (await stage.replies())[-1] == card
    assert await stage.edits_of(card) == []
    assert not (stage.project / "notes.txt").exists()


async def test_a_denial_ends_the_turn(make_stage: MakeStage, model: Mind) -> None:
    stage = await make_stage(model)
    await stage.mention("write hello to notes.txt")
    card = await stage.until_card()
    await stage.control.click(card, "alice", "Deny")
    notice = await stage.until_notice("Not approved")
    assert "Alice denied" in words(notice)
    assert "**Denied** by" in words(await stage.until_changed(card, "**Denied** by"))
    assert not (stage.project / "notes.txt").exists()
    if not model.is_demo:
        assert len(model.requests) == 1


async def test_a_denial_with_a_reason_is_read_and_answered_by_the_model(make_stage: MakeStage, model: Mind) -> None:
    stage = await make_stage(model)
    await stage.mention("write hello to notes.txt")
    card = await stage.until_card()
    opened = await stage.control.click(card, "alice", "Deny with reason…")
    assert opened["kind"] == "modal"
    await stage.control.modal(opened, "alice", {"Reason": "the file is sacred"})
    reply = await stage.until_reply("I hear you")
    assert "the file is sacred" in reply["content"]
    assert "the file is sacred" in words(await stage.until_changed(card, "**Denied** by"))
    assert not (stage.project / "notes.txt").exists()


async def test_an_answer_grows_while_it_is_written_and_stop_keeps_what_was_said(
    make_stage: MakeStage, model: Mind
) -> None:
    stage = await make_stage(model)
    await stage.mention("long answer")
    begun = await stage.until(lambda message: "word 1" in message["content"])
    grown = await stage.until(lambda message: len(message["content"]) > len(begun["content"]))
    further = await stage.until(lambda message: len(message["content"]) > len(grown["content"]))
    assert further["content"].startswith(grown["content"].rstrip())
    await stage.control.click(further, "alice", "Stop")
    stopped = await stage.until_notice("Stopped by Alice")
    assert stopped["id"] == begun["id"]
    assert stopped["content"].startswith(further["content"].rstrip())
    assert "word 600" not in stopped["content"]
    assert [message["id"] for message in await stage.replies()] == [begun["id"]]
    assert is_finished(stopped)


def words_of(event: dict[str, object]) -> str:
    """What stands on the message of an event, if it is about one."""
    message = event.get("message")
    return words(message) if isinstance(message, dict) and "embeds" in message else ""
