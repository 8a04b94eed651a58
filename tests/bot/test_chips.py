"""One reaction on a person's message says what became of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.preview.server import Twin
from bot.render.chips import Chip
from bot.render.outbox import Place
from pipeline.events import MessageStands, Standing
from pipeline.journal import Delivery
from pipeline.records import AttemptStarted
from pipeline.results import Reason, TurnStatus
from tests.bot.stage import WAIT_S, Stage, staged
from tests.bot.turns import ended, said
from tests.support.control import Json, real_timeout

MISSING = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me"


async def written(stage: Stage) -> Json:
    return await stage.control.say("general", "alice", "hello")


def stands(stage: Stage, message: Json, standing: Standing) -> None:
    channel, guild = message["channel_id"], ""
    stage.emit(MessageStands(turn=message["id"], channel=channel, guild=guild, standing=standing))


async def chips(stage: Stage, message: Json) -> list[str]:
    shown = next(one for one in await stage.control.messages("general") if one["id"] == message["id"])
    return [reaction["emoji"]["name"] for reaction in shown.get("reactions") or ()]


async def until(stage: Stage, message: Json, *wanted: str) -> None:
    async with real_timeout(WAIT_S):
        while await chips(stage, message) != list(wanted):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("standing", list(Standing))
async def test_each_standing_has_its_chip_which_replaces_the_one_before(
    twin: Twin, tmp_path: Path, standing: Standing
) -> None:
    async with staged(twin, tmp_path) as stage:
        message = await written(stage)
        stands(stage, message, Standing.WAITING)
        await until(stage, message, "⏳")
        stands(stage, message, standing)
        await until(stage, message, {"waiting": "⏳", "used": "✅", "dropped": "✖️"}[standing])


async def test_a_message_that_is_answered_at_once_gets_no_chip(twin: Twin, tmp_path: Path) -> None:
    async with staged(twin, tmp_path) as stage:
        script = await stage.ask()
        script.commit(said("Hi"), ended())
        await stage.finish(script)
        calls = await stage.control.requests()
        assert [call for call in calls if "reactions" in call["path"]] == []


async def test_a_message_that_waited_is_seen_until_its_answer_shows(twin: Twin, tmp_path: Path) -> None:
    async with staged(twin, tmp_path) as stage:
        message = await written(stage)
        stands(stage, message, Standing.WAITING)
        await until(stage, message, "⏳")
        script = await stage.begin(message)
        await until(stage, message, "👀")
        script.stream("Hi")
        await until(stage, message)
        async with real_timeout(WAIT_S):
            while any(slot.startswith("chip:") for _, slot in stage.deliveries.rows):  # noted as gone, too
                await asyncio.sleep(0)


async def test_a_turn_that_ends_without_a_word_leaves_no_chip(twin: Twin, tmp_path: Path) -> None:
    async with staged(twin, tmp_path) as stage:
        message = await written(stage)
        stands(stage, message, Standing.WAITING)
        await until(stage, message, "⏳")
        script = await stage.begin(message)
        script.commit(AttemptStarted(n=1, provider="p", model="m"))
        script.commit(ended(TurnStatus.FOLLOW_UP_INTERRUPT, Reason.FOLLOW_UP))
        stands(stage, message, Standing.USED)
        await until(stage, message, "✅")


async def test_only_the_newest_of_many_changes_is_shown(twin: Twin, tmp_path: Path) -> None:
    async with staged(twin, tmp_path) as stage:
        message = await written(stage)
        for standing in (Standing.WAITING, Standing.USED, Standing.WAITING, Standing.DROPPED):
            stands(stage, message, standing)
        await until(stage, message, "✖️")
        calls = await stage.control.requests()
        assert len([call for call in calls if "reactions" in call["path"]]) == 1


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_a_chip_that_cannot_be_placed_disturbs_nothing(twin: Twin, tmp_path: Path, status: int) -> None:
    async with staged(twin, tmp_path) as stage:
        message, other = await written(stage), await written(stage)
        await stage.control.fault("PUT", MISSING, status=status, times=1 if status != 500 else 5)
        stands(stage, message, Standing.WAITING)
        script = await stage.begin(other)
        script.commit(said("Hi"), ended())
        await stage.finish(script)
        assert await stage.contents() == ["Hi"]


async def test_what_an_earlier_process_left_is_taken_away_unless_its_turn_is_open(twin: Twin, tmp_path: Path) -> None:
    async with staged(twin, tmp_path) as stage:
        over, waiting, done = await written(stage), await written(stage), await written(stage)
        stands(stage, over, Standing.WAITING)
        stands(stage, waiting, Standing.WAITING)
        stands(stage, done, Standing.USED)
        await until(stage, over, "⏳")
        await until(stage, waiting, "⏳")
        await until(stage, done, "✅")
        await stage.close()
        await stage.open()
        await stage.sink.chips.tidy(lambda turn: turn == waiting["id"])
        await until(stage, over)
        assert await chips(stage, waiting) == ["⏳"]
        assert await chips(stage, done) == ["✅"]


async def test_a_chip_of_an_earlier_process_is_replaced_like_ones_own(twin: Twin, tmp_path: Path) -> None:
    async with staged(twin, tmp_path) as stage:
        message = await written(stage)
        channel = message["channel_id"]
        row = Delivery(turn=message["id"], slot=f"chip:{channel}", nonce=Chip.WAITING, message=message["id"])
        await stage.deliveries.put(row)
        place = Place(channel=channel, guild="", trigger=message["id"])
        await (
            stage.client.get_partial_messageable(int(channel))
            .get_partial_message(int(message["id"]))
            .add_reaction("⏳")
        )
        stage.sink.chips.show(place, Chip.USED)
        await until(stage, message, "✅")
