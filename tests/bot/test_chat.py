"""Talking: who starts a turn, what the model is told, the queue, a whole story with a card."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.inbound import Admission
from bot.preview.seed import DEFAULT
from bot.preview.server import Twin
from pipeline.messages import UserMessage
from pipeline.runtime import RuntimeLimits
from tests.bot.full import Choices, FullBot, full_bot
from tests.support.control import ControlClient
from tests.support.scripts import Say, ScriptedModel, script
from tests.support.twin import MakeTwin

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def asked_of(model: ScriptedModel) -> UserMessage:
    """The person's message as the model saw it last."""
    return next(m for m in reversed(model.requests[-1].messages) if isinstance(m, UserMessage))


def asked_in(model: ScriptedModel) -> list[UserMessage]:
    """What the person wrote, for each request."""
    return [[m for m in request.messages if isinstance(m, UserMessage)][-1] for request in model.requests]


def labels(message: dict[str, Any]) -> list[str]:
    return [button["label"] for row in message["components"] for button in row["components"]]


async def test_a_mention_is_answered_without_the_mention_in_it(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(text=("Hi ", "alice")))
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("how are you?")
        reply = await bot.until_reply("Hi alice")
        assert reply["content"] == "Hi alice"
        assert asked_of(model).text == "Alice: how are you?"


async def test_a_reply_to_the_bot_brings_what_it_replies_to_as_data(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(text=("# One\ntwo",)), Say(text=("Second",)))
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("first")
        first = await bot.until_reply("One")
        await bot.control.say("general", "bob", "and then?", reply_to=first["id"])
        await bot.until_reply("Second")
        assert asked_of(model).text == "[in reply to Countersign: One two]\nBob: and then?"


async def test_a_direct_message_needs_no_mention(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(Say(text=("Hi",)))) as bot:
        await bot.control.say("@alice", "alice", "hello")
        await bot.until_reply("Hi", channel="@alice")


async def test_other_talk_and_edits_start_nothing(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(text=("Answered",)))
    async with full_bot(twin, tmp_path, model) as bot:
        silent = await bot.control.say("general", "bob", "hello everyone @everyone")
        await bot.control.edit(silent, content=f"<@{bot.me}> now with a mention")
        await bot.say("this one")
        await bot.until_reply("Answered")
        assert asked_of(model).text == "Alice: this one" and len(model.requests) == 1


async def test_bots_webhooks_and_unfurled_links_start_nothing(make_twin: MakeTwin, tmp_path: Path) -> None:
    (guild,) = DEFAULT["guilds"]
    robot = {"name": "robot", "bot": True}
    twin = await make_twin(seed={"guilds": [guild | {"members": [*guild["members"], robot]}]})
    model = script(Say(text=("Answered",)), Say(text=("Answered again",)))
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("I am a robot", author="robot")
        await bot.control.say("general", "", f"<@{bot.me}> I am a hook", webhook="CI")
        linked = await bot.say("https://example.org")
        await bot.until_reply("Answered")
        await bot.control.edit(linked, embeds=[{"title": "Example", "url": "https://example.org"}])
        await bot.say("last")
        await bot.until_reply("Answered again")
        assert [asked.text for asked in asked_in(model)] == ["Alice: https://example.org", "Alice: last"]


async def test_a_chat_channel_needs_no_mention(twin: Twin, tmp_path: Path) -> None:
    async with ControlClient(twin.url) as control:
        channels = (await control.world())["guilds"][0]["channels"]
    ops = next(channel["id"] for channel in channels if channel["name"] == "ops")
    choices = Choices(admission=Admission(chat_channels=frozenset({ops})))
    async with full_bot(twin, tmp_path, script(Say(text=("Hi",))), choices) as bot:
        await bot.control.say("ops", "bob", "hello")
        await bot.until_reply("Hi", channel="ops")


async def test_without_an_allowed_role_nothing_starts(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(text=("Hi",)))
    choices = Choices(admission=Admission(allowed_roles=frozenset({"1"})))
    async with full_bot(twin, tmp_path, model, choices) as bot:
        await bot.say("hello")
        refused = await bot.control.command("general", "alice", "cost")
        assert "ALLOWED_ROLES" in refused["message"]["content"]
        assert model.requests == []


async def test_somebody_with_an_allowed_role_may_start(twin: Twin, tmp_path: Path) -> None:
    async with ControlClient(twin.url) as control:
        roles = (await control.world())["guilds"][0]["roles"]
    approver = next(role["id"] for role in roles if role["name"] == "Approver")
    choices = Choices(admission=Admission(allowed_roles=frozenset({approver})))
    async with full_bot(twin, tmp_path, script(Say(text=("Hi",))), choices) as bot:
        await bot.say("hello", author="alice")
        await bot.until_reply("Hi")


async def test_a_picture_reaches_a_model_that_sees(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(text=("A dot",)))
    async with full_bot(twin, tmp_path, model) as bot:
        picture = {"filename": "a\n# b.png", "content_type": "image/png", "base64": PNG}
        await bot.control.say("general", "alice", f"<@{bot.me}> what is it?", attachments=[picture])
        await bot.until_reply("A dot")
        asked = asked_of(model)
        assert [image.data for image in asked.images] == [PNG]
        assert len(asked.text.splitlines()) == 2 and asked.text.splitlines()[1].startswith("[attachment: ")


async def test_a_second_message_waits_with_a_mark_until_the_first_is_answered(twin: Twin, tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = script(Say(text=("One",), hang=gate), Say(text=("Two",)))
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("first")
        await bot.until_reply("One")
        async with bot.control.expect(lambda event: event["type"] == "reaction_add") as marked:
            waiting = await bot.say("second", author="bob")
        assert (await marked)["message_id"] == waiting["id"]
        async with bot.control.expect(lambda event: event["type"] == "reaction_remove") as unmarked:
            gate.set()
        assert (await unmarked)["message_id"] == waiting["id"]
        await bot.until_reply("Two")


async def test_a_full_queue_is_said_once(twin: Twin, tmp_path: Path) -> None:
    gate = asyncio.Event()
    choices = Choices(limits=RuntimeLimits(max_queued_messages=0))
    async with full_bot(twin, tmp_path, script(Say(text=("One",), hang=gate)), choices) as bot:
        await bot.say("first")
        await bot.until_reply("One")
        await bot.say("second", author="bob")
        await bot.until_reply("Too many messages wait")
        gate.set()


async def test_an_empty_mention_is_told_what_to_write(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(Say(text=("x",)))) as bot:
        await bot.say("")
        await bot.until_reply("after the mention")


async def approve(bot: FullBot, user: str, label: str) -> dict[str, Any]:
    card = await bot.until_reply("Approve write?")
    return await bot.control.click(card["id"], user, label=label)


async def test_a_call_runs_once_it_is_approved(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(text=("I will write.",), calls=(("write", '{"text": "hello"}'),)), Say(text=("Written.",)))
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("write hello")
        refused = await approve(bot, "bob", "Approve")
        assert "may not decide" in refused["message"]["content"] and bot.bench.runs == []
        await approve(bot, "owner", "Approve")
        await bot.until_reply("Written.")
        assert bot.bench.runs == [("write", "hello")]
        first, card, last = await bot.replies()
        assert (first["content"], last["content"]) == ("I will write.", "Written.")
        assert "Approved" in card["embeds"][0]["description"] and labels(card) == []


async def test_two_people_press_at_once_and_one_is_told_who_was_first(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(calls=(("write", '{"text": "hello"}'),)), Say(text=("Written.",)))
    choices = Choices(approvers=frozenset({"requester", "manage_guild"}))
    async with full_bot(twin, tmp_path, model, choices) as bot:
        await bot.say("write hello")
        card = await bot.until_reply("Approve write?")
        answers = await asyncio.gather(
            bot.control.click(card["id"], "owner", label="Approve"),
            bot.control.click(card["id"], "alice", label="Approve"),
        )
        told = [answer["message"]["content"] for answer in answers if answer["kind"] == "message"]
        assert len(told) == 1 and told[0].startswith("Already decided by ")
        await bot.until_reply("Written.")
        assert bot.bench.runs == [("write", "hello")]


async def test_a_denial_ends_the_turn_in_words(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(calls=(("write", '{"text": "hello"}'),)), Say(text=("never",)))
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("write hello")
        await approve(bot, "owner", "Deny")
        await bot.until_reply("Not approved")
        assert bot.bench.runs == [] and len(model.requests) == 1


async def test_a_denial_with_a_reason_is_answered_by_the_model(twin: Twin, tmp_path: Path) -> None:
    model = script(Say(calls=(("write", '{"text": "hello"}'),)), Say(text=("Understood.",)))
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("write hello")
        shown = await approve(bot, "owner", "Deny with reason…")
        await bot.control.modal(shown["interaction"], "owner", {"Reason": "not today"})
        await bot.until_reply("Understood.")
        assert any("not today" in str(message) for message in model.requests[-1].messages)


async def test_the_stop_button_ends_a_streaming_answer_and_keeps_its_text(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(Say(text=("Part",), hang=asyncio.Event()))) as bot:
        await bot.say("go")
        reply = await bot.until_reply("Part")
        await bot.control.click(reply["id"], "alice", label="Stop")
        stopped = await bot.until_reply("Stopped by")
        assert stopped["content"] == "Part" and labels(stopped) == []


@pytest.mark.covers("limit CATCH_UP_MAX_AGE_S")
@pytest.mark.parametrize("max_age_s", [600.0, 0.0])
async def test_a_mention_from_while_the_bot_was_away_is_answered_after_a_start(
    twin: Twin, tmp_path: Path, max_age_s: float
) -> None:
    model = script(Say(text=("Answer",)))
    async with full_bot(twin, tmp_path, model) as bot:
        me = bot.me
        await bot.say("before")
        await bot.ended(1)
    async with ControlClient(twin.url) as control:
        await control.say("general", "bob", f"<@{me}> missed")
    async with full_bot(twin, tmp_path, model, Choices(catch_up_max_age_s=max_age_s)) as bot:
        await bot.say("after")
        await bot.ended(2 if max_age_s else 1)
    assert len(model.requests) == (3 if max_age_s else 2)
