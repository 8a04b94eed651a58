"""`kill -9` and SIGTERM while the model speaks: the turn goes on by the same path, and nothing is said twice."""

from __future__ import annotations

import asyncio

from tests.support.bot_process import BotProcess, MakeBot, lose_the_next_answer
from tests.support.minds import Mind
from tests.support.provider_server import Pass

WHOLE = "The answer is long, and it was whole."


async def answers_as_before(bot: BotProcess, model: Mind) -> None:
    """The next turn knows the answer, once; `mind` checks that its request is valid."""
    await bot.mention("and now?", author="bob")
    await bot.until_reply("You said: and now?")
    assert sum(WHOLE in text for text in model.requests[-1].spoken) == 1
    assert [message["content"] for message in await bot.replies()] == [WHOLE, "You said: and now?"]


async def test_a_killed_answer_is_whole_after_a_start_and_in_the_same_message(
    make_bot: MakeBot, each_wire: Mind
) -> None:
    bot = await make_bot(each_wire)
    each_wire.script(
        Pass(calls=[("list_dir", "{}")]), Pass(text=["The answer is long, ", asyncio.Event()]), Pass(text=[WHOLE])
    )
    await bot.mention("tell me")
    half = await bot.until(lambda message: "The answer is long," in message["content"])
    await bot.kill()
    await bot.start()
    whole = await bot.until_reply(WHOLE)
    assert whole["id"] == half["id"]
    assert each_wire.requests[1].results == each_wire.requests[2].results
    assert len(each_wire.requests) == 3
    await answers_as_before(bot, each_wire)


async def test_a_message_whose_id_was_lost_in_a_kill_is_found_again(make_bot: MakeBot, wire: Mind) -> None:
    bot = await make_bot(wire)
    wire.script(Pass(text=["The answer is long, ", asyncio.Event()]), Pass(text=[WHOLE]))
    await lose_the_next_answer(bot)
    await bot.mention("tell me")
    half = await bot.until(lambda message: "The answer is long," in message["content"])
    await bot.kill()
    bot.twin.faults.clear()
    await bot.start()
    assert (await bot.until_reply(WHOLE))["id"] == half["id"]
    await answers_as_before(bot, wire)


async def test_a_short_turn_is_finished_before_an_orderly_end(make_bot: MakeBot, wire: Mind) -> None:
    bot = await make_bot(wire, SHUTDOWN_GRACE_S="30")
    go_on = asyncio.Event()
    wire.script(Pass(text=["The answer is long, ", go_on, "and it was whole."]))
    await bot.mention("tell me")
    await bot.until(lambda message: "The answer is long," in message["content"])
    bot.terminate()
    go_on.set()
    assert await bot.ended() == 0
    (answer,) = await bot.replies()
    assert (answer["content"], answer["components"]) == (WHOLE, [])


async def test_a_long_turn_goes_on_after_an_orderly_end(make_bot: MakeBot, wire: Mind) -> None:
    bot = await make_bot(wire)
    wire.script(Pass(text=["The answer is long, ", asyncio.Event()]), Pass(text=[WHOLE]))
    await bot.mention("tell me")
    half = await bot.until(lambda message: "The answer is long," in message["content"])
    bot.terminate()
    assert await bot.ended() == 0
    await bot.start()
    assert (await bot.until_reply(WHOLE))["id"] == half["id"]
    await answers_as_before(bot, wire)


async def test_what_was_written_while_the_bot_was_down_is_answered_once(make_bot: MakeBot, wire: Mind) -> None:
    bot = await make_bot(wire)
    await bot.kill()
    await bot.mention("anybody there", author="bob")
    await bot.control.say("general", "bob", "not for the bot")
    for text in ("first", "second"):
        await bot.start()
        await bot.until_reply("You said: anybody there")
        await bot.mention(text)
        await bot.until_reply(f"You said: {text}")
        await bot.kill()
    said = [message["content"] for message in await bot.replies()]
    assert said == ["You said: anybody there", "You said: first", "You said: second"]
    assert len(wire.requests) == 3
