"""A bot in deliberate mode: the model gets the tools that a message calls for, and keeps those it used for a while."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import MakeStage

FILE_TOOLS = {"edit_file", "list_dir", "read_file", "write_file"}


def offered(wire: Mind) -> Sequence[set[str]]:
    """The names of the tools in each request."""
    return [{tool["function"]["name"] for tool in body.get("tools", ())} for body in wire.server.requests]


@pytest.mark.covers("limit DELIBERATE_TOOL_MODE")
async def test_the_model_has_no_tools_until_a_message_calls_for_one(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire, DELIBERATE_TOOL_MODE="true")
    await stage.mention("tell me a joke")
    await stage.until_reply("You said: tell me a joke")
    await stage.mention("what is in this folder?")
    await stage.until_reply("todo.txt")
    none, first, second = offered(wire)
    assert none == set()
    assert first == second
    assert first >= FILE_TOOLS
    assert "now" not in first


async def test_a_model_that_calls_another_tool_is_told_what_it_may_call(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire, DELIBERATE_TOOL_MODE="true")
    wire.script(Pass(calls=[("write_file", '{"path": "x.txt", "content": "x"}')]))
    await stage.mention("what time is it?")
    await stage.until_reply("blocked_by_deliberate_tool_mode")
    assert '"allowedToolNames":["now"]' in wire.requests[-1].results[-1]
    assert not (stage.project / "x.txt").exists()


async def test_a_tool_that_was_used_stays_on_offer_for_its_turns_over_a_restart_too(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire, DELIBERATE_TOOL_MODE="true", DELIBERATE_TOOL_CONTEXT_TURNS="2")
    wire.script(Pass(calls=[("now", "{}")]), Pass(text=["It is late."]))
    await stage.mention("what time is it?")
    await stage.until_reply("It is late.")
    await stage.mention("I see")
    await stage.until_reply("You said: I see")
    await stage.idle()
    await stage.restart()
    for text in ("hm", "well"):
        await stage.mention(text)
        await stage.until_reply(f"You said: {text}")
    assert offered(wire) == [{"now"}] * 4 + [set()]


async def test_other_bots_offer_everything(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    await stage.mention("tell me a joke")
    await stage.until_reply("You said: tell me a joke")
    assert offered(wire)[0] >= {*FILE_TOOLS, "now", "search_files"}
