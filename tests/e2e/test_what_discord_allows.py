"""Answers that are empty or endless, Discord's limits and refusals, and mentions."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import MESSAGE, MESSAGES, Json, MakeStage, Stage, is_finished, words


@pytest.mark.parametrize(
    "empty",
    [Pass(text=[]), Pass(text=["  \n", " "]), Pass(thinking=["Hm, ", "what to say?"])],
    ids=["nothing", "blanks", "thinking only"],
)
async def test_an_answer_without_words_is_one_short_notice(make_stage: MakeStage, each_wire: Mind, empty: Pass) -> None:
    stage = await make_stage(each_wire)
    each_wire.script(empty, empty, empty)
    await stage.mention("say something")
    for asked in (1, 2):
        await each_wire.server.arrived(asked)
        await stage.control.advance(1)  # the pause before it is asked again
    notice = await stage.until_notice("Empty answer")
    assert [message["id"] for message in await stage.replies()] == [notice["id"]]
    assert all(call["status"] < 400 for call in await stage.control.requests(method="POST"))
    await stage.mention("and now?")
    await stage.until_reply("You said: and now?")


async def test_an_endless_answer_is_a_few_messages_and_a_file_with_every_word_once(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire, MAX_REPLY_MESSAGES="3")
    text = "".join(f"la{number} " for number in range(9000))
    wire.server.split = None  # 60,000 characters, an event a write
    wire.script(Pass(text=[text[start : start + 1000] for start in range(0, len(text), 1000)]))
    await stage.mention("sing")
    last = await stage.until(lambda message: bool(message["attachments"]) and is_finished(message))
    replies = await stage.replies()
    assert [reply["id"] for reply in replies].index(last["id"]) == 2 == len(replies) - 1
    assert all(len(reply["content"]) <= 2000 for reply in replies)
    async with aiohttp.ClientSession() as http, http.get(last["attachments"][0]["url"]) as response:
        rest = await response.text()
    sung = " ".join([*(reply["content"] for reply in replies), rest]).split()
    assert sung == text.split()


async def long_stream(stage: Stage, model: Mind, paragraphs: int) -> list[asyncio.Event]:
    """Ask for an answer of so many paragraphs; each is written when its event is set."""
    gates = [asyncio.Event() for _ in range(paragraphs)]
    model.server.split = None
    model.script(Pass(text=[piece for number, gate in enumerate(gates) for piece in (gate, paragraph(number))]))
    await stage.mention("tell me all")
    return gates


def paragraph(number: int) -> str:
    return f"Paragraph {number} begins. " + f"p{number} " * 600 + f"Paragraph {number} ends.\n\n"


def told_once(replies: list[Json], paragraphs: int) -> bool:
    text = "\n".join(reply["content"] for reply in replies)
    order = [text.index(f"Paragraph {number} {word}") for number in range(paragraphs) for word in ("begins", "ends")]
    return order == sorted(order) and all(text.split().count(f"p{number}") == 600 for number in range(paragraphs))


async def test_a_rate_limited_edit_and_message_arrive_once_and_in_order(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    gates = await long_stream(stage, wire, 4)
    gates[0].set()
    await stage.until(lambda message: "Paragraph 0 ends" in message["content"])
    await stage.control.fault("PATCH", MESSAGE, status=429, retry_after=1.5)
    await stage.control.fault("POST", MESSAGES, status=429, retry_after=0.5)
    for gate in gates:
        gate.set()
    await stage.until_reply("Paragraph 3 ends.")
    await stage.idle()
    replies = await stage.replies()
    assert all(is_finished(reply) for reply in replies)
    assert told_once(replies, 4)
    assert len(replies) == len(await stage.control.requests(method="POST", route=MESSAGES)) - 1
    assert len([call for call in await stage.control.requests() if call["status"] == 429]) == 2


async def test_a_refused_edit_sends_the_newest_text_next(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    gate = asyncio.Event()
    wire.script(Pass(text=["First. ", gate, *[f"step {number}, " for number in range(50)], "last."]))
    await stage.mention("count")
    begun = await stage.until(lambda message: "First." in message["content"])
    await stage.control.fault("PATCH", MESSAGE, status=429, retry_after=2.5)
    gate.set()
    await wire.server.arrived(1)
    await stage.control.advance(3)
    await stage.until_reply("last.")
    edits = await stage.edits_of(begun)
    assert 1 <= len(edits) <= 3


@pytest.mark.parametrize(("status", "code"), [(404, 10008), (403, 50001)])
async def test_an_answer_whose_message_was_taken_away_is_posted_afresh(
    make_stage: MakeStage, wire: Mind, status: int, code: int
) -> None:
    stage = await make_stage(wire)
    gate = asyncio.Event()
    wire.script(Pass(calls=[("list_dir", "{}")]), Pass(text=["Half of it, ", gate, "and all of it."]))
    await stage.mention("tell me")
    begun = await stage.until(lambda message: "Half of it," in message["content"])
    await stage.control.fault("PATCH", MESSAGE, status=status, body={"message": "gone", "code": code})
    gate.set()
    whole = await stage.until_reply("Half of it, and all of it.")
    assert whole["id"] != begun["id"]


async def test_an_answer_that_a_moderator_deletes_is_posted_afresh(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    gate = asyncio.Event()
    wire.script(Pass(text=["Half of it, ", gate, "and all of it."]))
    await stage.mention("tell me")
    begun = await stage.until(lambda message: "Half of it," in message["content"])
    await stage.control.delete(begun)
    gate.set()
    whole = await stage.until_reply("Half of it, and all of it.")
    assert [message["id"] for message in await stage.replies()] == [whole["id"]]


async def test_nothing_that_the_bot_shows_pings_anybody_but_the_person_who_asked(
    make_stage: MakeStage, each_wire: Mind
) -> None:
    stage = await make_stage(each_wire, CHAT_CHANNELS="")
    loud = f"@everyone @here <@&{stage.roles['Approver']}> <@{stage.members['bob']}>"
    (stage.project / "loud.txt").write_text(loud)
    each_wire.script(
        Pass(text=[loud], calls=[("read_file", json.dumps({"path": "loud.txt"}))]),
        Pass(calls=[("write_file", json.dumps({"path": loud.replace("/", "") + ".txt", "content": loud}))]),
        Pass(text=[f"I was told: {loud} ", *([f"{loud} "] * 40)]),
    )
    await stage.mention(f"read it: {loud}")
    card = await stage.until_card()
    opened = await stage.control.click(card, "alice", "Deny with reason…")
    await stage.control.modal(opened, "alice", {"Reason": loud})
    await stage.until_reply("I was told:")
    await stage.idle()
    await stage.control.command("general", "alice", "system", text=loud)
    await stage.mention(f"/model {loud}")
    await stage.until_reply("I do not know a model")

    sent = [call for call in await stage.control.requests() if _holds_text(call)]
    assert {call["method"] for call in sent} >= {"POST", "PATCH"}
    for call in sent:
        allowed = (call["body"].get("data") or call["body"])["allowed_mentions"]
        assert allowed["parse"] == [], call
        assert not allowed.get("users") and not allowed.get("roles"), call
    for reply in await stage.replies():
        assert not reply["mention_everyone"], words(reply)
        assert reply["mention_roles"] == []
        assert {user["username"] for user in reply["mentions"]} <= {"alice"}


def _holds_text(call: Json) -> bool:
    body = call["body"]
    body = body.get("data") or body if isinstance(body, dict) else body
    return isinstance(body, dict) and ("content" in body or "embeds" in body) and "title" not in body
