"""The commands, as slash commands and as text after a mention."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bot.preview.server import Twin
from pipeline.messages import SystemMessage, Usage
from tests.bot.full import FullBot, full_bot
from tests.support.scripts import Say, script

ANSWER = Say(text=("Hi",), usage=Usage(input_tokens=1200, output_tokens=34))


async def run(bot: FullBot, command: str, user: str = "alice", **options: str) -> dict[str, Any]:
    """The message that a command answers with."""
    answer = await bot.control.command("general", user, command, **options)
    assert answer["kind"] == "message", answer
    message: dict[str, Any] = answer["message"]
    return message


def is_private(message: dict[str, Any]) -> bool:
    return bool(message["flags"] & 64)


async def test_every_command_is_offered_with_a_description(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(ANSWER)) as bot:
        offered = {command["name"]: command["description"] for command in (await bot.control.world())["commands"]}
        assert set(offered) == {"clear", "model", "system", "cost", "stop", "tools", "limits", "help"}
        assert all(offered.values())


async def test_commands_are_told_to_discord_only_when_they_changed(twin: Twin, tmp_path: Path) -> None:
    for _ in range(2):
        async with full_bot(twin, tmp_path, script(ANSWER)) as bot:
            requests = await bot.control.requests()
    told = [request for request in requests if request["method"] == "PUT" and "commands" in request["route"]]
    assert len(told) == 1


async def test_what_is_asked_about_is_answered_to_the_person_alone(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(ANSWER)) as bot:
        for name, expected in (
            ("tools", "asks first"),
            ("limits", "BOT_MAX_FUNCTION_CALL_ITERATIONS"),
            ("help", "Approve"),
            ("model", "scripted/script-1"),
            ("system", "no instructions"),
            ("stop", "Nothing is running"),
        ):
            message = await run(bot, name)
            assert expected in str(message) and is_private(message)


async def test_cost_counts_tokens_and_says_where_no_price_is_known(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(ANSWER)) as bot:
        await bot.say("hello")
        await bot.until_reply("Hi")
        await bot.ended(1)
        (embed,) = (await run(bot, "cost"))["embeds"]
        assert embed["fields"][0]["value"] == "No price is known for `script-1`\n1,200 tokens read, 34 written"


async def test_cost_says_that_nothing_was_spent_instead_of_zeros_and_keeps_the_total(
    twin: Twin, tmp_path: Path
) -> None:
    async with full_bot(twin, tmp_path, script(ANSWER)) as bot:
        (embed,) = (await run(bot, "cost"))["embeds"]
        assert [field["value"] for field in embed["fields"]] == ["Nothing was spent yet."] * 2
        await bot.say("hello")
        await bot.ended(1)
        await run(bot, "clear")
        (embed,) = (await run(bot, "cost"))["embeds"]
        now, in_all = (field["value"] for field in embed["fields"])
        assert now == "Nothing was spent since the last `/clear`."
        assert "1,200 tokens read, 34 written" in in_all


async def test_clear_forgets_the_conversation_and_says_so_to_the_channel(twin: Twin, tmp_path: Path) -> None:
    model = script(ANSWER)
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("remember the fish")
        await bot.until_reply("Hi")
        await bot.ended(1)
        message = await run(bot, "clear")
        assert "Forgot 1 turn" in message["content"] and not is_private(message)
        await bot.say("what was it?")
        await bot.ended(2)
        assert "fish" not in str(model.requests[-1].messages)
        assert "nothing to forget" not in (await run(bot, "cost"))["content"]


async def test_clear_waits_for_the_end_of_a_running_turn(twin: Twin, tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with full_bot(twin, tmp_path, script(Say(text=("Part",), hang=gate))) as bot:
        await bot.say("go")
        await bot.until_reply("Part")
        assert "is running here" in (await run(bot, "clear"))["content"]
        gate.set()


async def test_system_reaches_the_model_and_a_dash_takes_it_away(twin: Twin, tmp_path: Path) -> None:
    model = script(ANSWER)
    async with full_bot(twin, tmp_path, model) as bot:
        await run(bot, "system", text="Talk like a pirate")
        assert "pirate" in str((await run(bot, "system"))["embeds"])
        await bot.say("hello")
        await bot.ended(1)
        system = model.requests[-1].messages[0]
        assert isinstance(system, SystemMessage) and "Talk like a pirate" in system.text
        await run(bot, "system", text="-")
        assert "no instructions" in (await run(bot, "system"))["content"]


async def test_a_model_that_nobody_configured_is_refused(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(ANSWER)) as bot:
        refused = await run(bot, "model", name="nobody/none")
        assert "do not know" in refused["content"] and is_private(refused)
        assert "From the next message on" in (await run(bot, "model", name="scripted"))["content"]


async def test_stop_ends_the_turn_for_those_who_may(twin: Twin, tmp_path: Path) -> None:
    async with full_bot(twin, tmp_path, script(Say(text=("Part",), hang=asyncio.Event()))) as bot:
        await bot.say("go")
        await bot.until_reply("Part")
        assert "may stop this" in (await run(bot, "stop", user="bob"))["content"]
        assert (await run(bot, "stop"))["content"] == "Stopped."
        await bot.until_reply("Stopped by")


async def test_commands_work_as_text_after_a_mention(twin: Twin, tmp_path: Path) -> None:
    model = script(ANSWER)
    async with full_bot(twin, tmp_path, model) as bot:
        await bot.say("/system Talk like a pirate")
        await bot.until_reply("Noted")
        await bot.say("/COST")
        await bot.until_reply("Cost of this channel")
        assert model.requests == []
