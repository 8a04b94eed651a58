"""Reminders: what may be set, and that each is said once, to the one person, whatever happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.discord_tools import ReminderDelivery
from bot.discord_tools._delivery import FIRST_RETRY_S, GIVE_UP_S
from bot.preview.permissions import P
from bot.preview.server import Twin
from pipeline.errors import StoreError
from tests.bot.tool_stage import ToolStage, tool_stage
from tests.support.control import real_timeout
from tools.base import ToolContext

MESSAGES = "/channels/{channel_id}/messages"


@pytest.fixture
async def stage(twin: Twin, tmp_path: Path) -> AsyncIterator[ToolStage]:
    async with tool_stage(twin, tmp_path) as made:
        yield made


async def set_one(stage: ToolStage, ctx: ToolContext, **arguments: Any) -> str:
    """Its id."""
    result = await stage.ok(ctx, "set_reminder", **({"text": "water the plants", "in_seconds": 60} | arguments))
    return result.content.split()[1]


async def said(stage: ToolStage, count: int = 1, channel: str = "general") -> list[dict[str, Any]]:
    """The bot's messages, once there are `count`."""
    async with stage.control.events() as events, real_timeout(20):
        while True:
            shown = await stage.said_by_bot(channel)
            if len(shown) >= count:
                return shown
            async for event in events:
                if "message" in event:
                    break


async def closed(stage: ToolStage) -> None:
    """Nothing is due any more."""
    async with real_timeout(20):
        while await stage.store.reminders.due(stage.twin.clock.time()):
            await asyncio.sleep(0)


async def requested(stage: ToolStage, count: int) -> None:
    """The bot has tried to write `count` times."""
    async with real_timeout(20):
        while len(await stage.control.requests(method="POST", route=MESSAGES)) < count:
            await asyncio.sleep(0)


def later(stage: ToolStage, seconds: float) -> None:
    """Time passes; the delivery looks again, as its own timer has it do."""
    stage.twin.advance(seconds)
    stage.delivery.wake()


async def test_a_reminder_is_one_reply_that_pings_only_the_person(stage: ToolStage) -> None:
    await stage.client.add_cog(stage.delivery)
    ctx = await stage.ask()
    text = f"@everyone tell <@{stage.user('bob')}>"
    await set_one(stage, ctx, text=text)
    assert await stage.said_by_bot() == []
    later(stage, 61)
    (message,) = await said(stage)
    await closed(stage)
    assert message["message_reference"]["message_id"] == ctx.turn
    assert text in message["content"]
    assert [user["id"] for user in message["mentions"]] == [ctx.user_id]
    assert not message["mention_everyone"]
    assert len(await stage.said_by_bot()) == 1


async def test_the_longest_reminder_fits_into_a_message(stage: ToolStage) -> None:
    await stage.client.add_cog(stage.delivery)
    await set_one(stage, await stage.ask(), text="🙂" * 900)
    later(stage, 61)
    assert (await said(stage))[0]["content"].count("🙂") == 900


async def test_a_reminder_whose_message_was_deleted_is_said_without_a_reply(stage: ToolStage) -> None:
    await stage.client.add_cog(stage.delivery)
    ctx = await stage.ask()
    await set_one(stage, ctx)
    await stage.control.delete(ctx.turn)
    later(stage, 61)
    (message,) = await said(stage)
    assert "message_reference" not in message
    assert [user["id"] for user in message["mentions"]] == [ctx.user_id]


async def test_a_reminder_is_said_in_a_direct_message_too(stage: ToolStage) -> None:
    await stage.client.add_cog(stage.delivery)
    await set_one(stage, await stage.ask(channel="@alice"))
    later(stage, 61)
    assert len(await said(stage, channel="@alice")) == 1


async def test_what_became_due_while_the_bot_was_away_is_said_at_its_start(twin: Twin, tmp_path: Path) -> None:
    async with tool_stage(twin, tmp_path) as stage:
        await set_one(stage, await stage.ask())
    twin.advance(3600)
    async with tool_stage(twin, tmp_path) as stage:
        await stage.client.add_cog(stage.delivery)
        await said(stage)
        await closed(stage)
        assert len(await stage.said_by_bot()) == 1


@pytest.mark.parametrize("away_s", [1, 3600])
async def test_a_crash_between_saying_and_noting_it_makes_no_second_message(
    twin: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, away_s: float
) -> None:
    async with tool_stage(twin, tmp_path) as stage:
        await set_one(stage, await stage.ask())
        never = asyncio.Event()

        async def hang(_: object) -> None:
            await never.wait()

        with monkeypatch.context() as patched:
            patched.setattr(ReminderDelivery, "_close", lambda self, reminder: hang(reminder))
            await stage.client.add_cog(stage.delivery)
            later(stage, 61)
            await said(stage)
            await stage.client.remove_cog("reminders")
        assert len(await stage.store.reminders.due(twin.clock.time())) == 1
    twin.advance(away_s)  # the nonce is forgotten after some minutes
    async with tool_stage(twin, tmp_path) as stage:
        await stage.client.add_cog(stage.delivery)
        await closed(stage)
        assert len(await stage.said_by_bot()) == 1


async def test_an_answer_that_was_lost_on_the_way_makes_no_second_message(stage: ToolStage) -> None:
    await set_one(stage, await stage.ask())
    await stage.control.fault("POST", MESSAGES, after=True, status=502, times=10)
    await stage.client.add_cog(stage.delivery)
    later(stage, 61)
    await said(stage)
    await stage.client.remove_cog("reminders")
    await stage.control._call("DELETE", "/faults")
    stage.twin.advance(3600)
    await stage.client.add_cog(ReminderDelivery(stage.client, stage.store.reminders, stage.twin.clock.time))
    await closed(stage)
    assert len(await stage.said_by_bot()) == 1


async def test_a_failure_is_tried_again_later_and_blocks_nobody(stage: ToolStage) -> None:
    await stage.client.add_cog(stage.delivery)
    await stage.control.fault("POST", MESSAGES, status=403, body={"code": 50013, "message": "Missing Permissions"})
    await set_one(stage, await stage.ask())
    await set_one(stage, await stage.ask(channel="ops"), in_seconds=61)
    later(stage, 62)
    await said(stage, channel="ops")
    assert await stage.said_by_bot() == []
    later(stage, FIRST_RETRY_S + 1)
    assert len(await said(stage)) == 1


async def test_a_reminder_for_a_channel_that_is_gone_is_given_up(stage: ToolStage) -> None:
    await stage.client.add_cog(stage.delivery)
    ctx = await stage.ask(channel="ops")
    await set_one(stage, ctx)
    await stage.control._call("DELETE", f"/channels/{ctx.channel_id}")
    later(stage, 61)
    await closed(stage)


async def test_a_reminder_that_nobody_lets_be_said_is_given_up_after_a_day(stage: ToolStage) -> None:
    await stage.client.add_cog(stage.delivery)
    await set_one(stage, await stage.ask())
    refusal = {"status": 403, "body": {"code": 50013, "message": "Missing Permissions"}, "times": 2}
    await stage.control.fault("POST", MESSAGES, **refusal)
    later(stage, 61)
    await requested(stage, 1)
    assert len(await stage.store.reminders.due(stage.twin.clock.time())) == 1
    later(stage, GIVE_UP_S)
    await closed(stage)
    assert await stage.said_by_bot() == []


async def test_a_store_that_fails_for_a_moment_loses_no_reminder(
    stage: ToolStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failed = stage.store.reminders.due, asyncio.Event()

    async def fail(_: float) -> Any:
        failed.set()
        monkeypatch.setattr(stage.store.reminders, "due", real)
        raise StoreError("the disk is away")

    await set_one(stage, await stage.ask())
    monkeypatch.setattr(stage.store.reminders, "due", fail)
    await stage.client.add_cog(stage.delivery)
    await failed.wait()
    later(stage, 61)
    assert len(await said(stage)) == 1


async def test_a_cancelled_reminder_is_not_said(stage: ToolStage) -> None:
    await stage.client.add_cog(stage.delivery)
    ctx = await stage.ask()
    first, second = await set_one(stage, ctx), await set_one(stage, ctx, text="the other")
    assert (await stage.ok(ctx, "list_reminders")).content.count("water the plants") == 1
    await stage.ok(ctx, "cancel_reminder", reminder=first)
    assert first not in (await stage.ok(ctx, "list_reminders")).content
    later(stage, 61)
    (message,) = await said(stage)
    await closed(stage)
    assert "the other" in message["content"]
    assert "no reminder" in await stage.refused(ctx, "cancel_reminder", reminder=second)


async def test_reminders_of_other_people_and_channels_are_not_shown_and_not_cancelled(stage: ToolStage) -> None:
    mine = await set_one(stage, await stage.ask(channel="@alice"))
    theirs = await set_one(stage, await stage.ask(author="bob"))
    ctx = await stage.ask()
    assert (await stage.ok(ctx, "list_reminders")).content == "This person has no reminders waiting in this channel."
    for other in (mine, theirs):
        assert "no reminder" in await stage.refused(ctx, "cancel_reminder", reminder=other)


async def test_the_same_call_again_is_the_same_reminder(stage: ToolStage) -> None:
    ctx = await stage.ask()
    assert await set_one(stage, ctx) == await set_one(stage, ctx)
    assert await set_one(stage, await stage.ask()) != await set_one(stage, ctx)
    assert len(await stage.store.reminders.open(ctx.user_id)) == 2


async def test_the_twenty_first_reminder_of_a_person_is_refused(stage: ToolStage) -> None:
    ctx = await stage.ask()
    for number in range(20):
        await set_one(stage, ctx, in_seconds=60 + number)
    assert "20 reminders waiting" in await stage.refused(ctx, "set_reminder", text="one more", in_seconds=5)


async def test_a_moment_in_iso_form_counts_with_its_offset(stage: ToolStage) -> None:
    ctx = await stage.ask()
    now = stage.twin.clock.time()
    at = datetime.fromtimestamp(int(now) + 7200, UTC)
    result = await stage.ok(ctx, "set_reminder", text="t", at=at.isoformat(), words="in two hours")
    assert f"<t:{int(now) + 7200}:F>" in result.content and '("in two hours")' in result.content
    (waiting,) = await stage.store.reminders.open(ctx.user_id)
    assert waiting.due == int(now) + 7200


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "either in_seconds or at"),
        ({"in_seconds": 5, "at": "2099-01-01T00:00:00Z"}, "either in_seconds or at"),
        ({"in_seconds": 0}, "in_seconds"),
        ({"in_seconds": 366 * 24 * 3600}, "in_seconds"),
        ({"at": "tomorrow"}, "no ISO 8601 time"),
        ({"at": "2030-01-01T09:00:00"}, "has no offset"),
        ({"at": "2001-01-01T00:00:00Z"}, "in the past"),
        ({"at": "9999-12-31T23:59:59-23:59"}, "more than a year ahead"),
        ({"in_seconds": 5, "text": " \n"}, "text is blank"),
        ({"in_seconds": 5, "text": "x" * 901}, "900"),
    ],
)
async def test_what_cannot_be_a_reminder_is_refused(stage: ToolStage, arguments: dict[str, Any], why: str) -> None:
    assert why in await stage.refused(await stage.ask(), "set_reminder", **({"text": "t"} | arguments))


async def test_a_bot_that_may_not_write_here_says_so_when_it_is_set(stage: ToolStage) -> None:
    ctx = await stage.ask()
    await stage.deny("Countersign", P.SEND_MESSAGES)
    assert "Send Messages" in await stage.refused(ctx, "set_reminder", text="t", in_seconds=5)
    assert await stage.store.reminders.open(ctx.user_id) == []
