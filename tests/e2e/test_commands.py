"""The slash commands, and their text forms after a mention."""

from __future__ import annotations

import asyncio

from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import MakeStage, Stage, words


async def told(stage: Stage, name: str, /, *, user: str = "alice", **options: str) -> str:
    """What a command answers, in words."""
    answer = await stage.control.command("general", user, name, **options)
    return words(answer["message"])


async def asked(stage: Stage, model: Mind, text: str) -> None:
    """A turn from the question to its end."""
    await stage.mention(text)
    await stage.until_reply(f"You said: {text}")
    await stage.idle()


async def test_clear_forgets_the_conversation_and_says_so_to_all(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    await asked(stage, wire, "remember the number seven")
    await asked(stage, wire, "go on")
    assert any("seven" in text for text in wire.requests[-1].spoken)
    answer = await stage.control.command("general", "bob", "clear")
    assert answer["message"]["content"].startswith("Forgot 2 turns")
    assert "viewer_only" not in answer["message"]
    await asked(stage, wire, "once more")
    assert len(wire.requests[-1].spoken) == 1


async def test_clear_refuses_while_a_turn_waits_for_a_person(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    await stage.mention("write hello to notes.txt")
    await stage.until_card()
    assert "A turn is running here" in await told(stage, "clear")


async def test_system_reaches_the_model_and_can_be_taken_away(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    await told(stage, "system", text="Answer like a pirate.")
    await asked(stage, wire, "hello")
    assert "Answer like a pirate." in wire.requests[-1].system
    assert "Answer like a pirate." in await told(stage, "system")
    await told(stage, "system", text="-")
    await asked(stage, wire, "hello again")
    assert "pirate" not in wire.requests[-1].system


async def test_model_shows_what_there_is_and_chooses_the_model_of_the_next_turn(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire)
    shown = await told(stage, "model")
    assert "This channel talks to `mind/scripted-1`" in shown
    assert "I do not know a model" in await told(stage, "model", name="nobody/knows")
    assert "mind/larger-2" in await told(stage, "model", name="mind/larger-2")
    await asked(stage, wire, "hello")
    assert wire.requests[-1].model == "larger-2"


async def test_cost_sums_up_what_the_provider_reported(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(Pass(text=["You said: one"], usage=(1000, 20)), Pass(text=["You said: two"], usage=(2000, 30)))
    await asked(stage, wire, "one")
    await asked(stage, wire, "two")
    assert "3,000 tokens read, 50 written" in await told(stage, "cost")


async def test_tools_says_what_asks_first(make_stage: MakeStage, demo: Mind) -> None:
    stage = await make_stage(demo)
    lines = (await told(stage, "tools")).splitlines()
    about = {line.partition(" ")[0].strip("`"): line for line in lines if line.startswith("`")}
    assert {"list_dir", "read_file", "search_files", "write_file", "edit_file", "now"} <= set(about)
    assert "asks first" in about["write_file"] and "asks first" not in about["read_file"]


async def test_limits_shows_the_limits_as_they_are_set(make_stage: MakeStage, demo: Mind) -> None:
    stage = await make_stage(demo, MAX_QUEUED_MESSAGES="7")
    assert "`MAX_QUEUED_MESSAGES` 7" in await told(stage, "limits")


async def test_help_names_every_command(make_stage: MakeStage, demo: Mind) -> None:
    stage = await make_stage(demo)
    shown = await told(stage, "help")
    commands = [command["name"] for command in (await stage.control.world())["commands"]]
    assert sorted(commands) == ["clear", "cost", "help", "limits", "model", "stop", "system", "tools"]
    assert all(f"/{name}" in shown for name in commands if name != "help")


async def test_answers_to_commands_are_for_the_person_alone(make_stage: MakeStage, demo: Mind) -> None:
    stage = await make_stage(demo)
    for name in ("cost", "tools", "limits", "help", "model", "system", "stop"):
        answer = await stage.control.command("general", "bob", name)
        assert answer["message"]["viewer_only"] == stage.members["bob"], name


async def test_stop_ends_the_turn_of_the_channel_while_the_model_is_silent(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(Pass(text=["Let me think. ", asyncio.Event()]))
    await stage.mention("hard question")
    await stage.until(lambda message: "Let me think." in message["content"])
    assert "may stop this" in await told(stage, "stop", user="bob")
    assert await told(stage, "stop") == "Stopped."
    assert (await stage.until_notice("Stopped by Alice"))["content"] == "Let me think."
    assert await told(stage, "stop") == "Nothing is running here."
    async with asyncio.timeout(10):
        await wire.server.abandoned.wait()


async def test_text_after_a_mention_works_as_a_command(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    await stage.mention("/system Answer in rhymes.")
    await stage.until_reply("Noted.")
    await asked(stage, wire, "hello")
    assert "Answer in rhymes." in wire.requests[-1].system
    await stage.mention("/cost")
    await stage.until_notice("Cost of this channel")
    await stage.mention("/model")
    await stage.until_reply("mind/scripted-1")
    await stage.mention("/clear")
    await stage.until_reply("Forgot 1 turn")
    assert len(wire.requests) == 1
