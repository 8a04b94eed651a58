"""A turn that reached its limit goes on when its person presses the button."""

from __future__ import annotations

import asyncio

from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import MakeStage, labels

LOOK = Pass(calls=[("list_dir", "{}")])
GO_ON = "Go on for 2 more"


async def test_the_button_at_the_limit_goes_on_with_the_same_conversation(
    make_stage: MakeStage, each_wire: Mind
) -> None:
    stage = await make_stage(each_wire, BOT_MAX_FUNCTION_CALL_ITERATIONS="2")
    each_wire.script(Pass(text=["First I look."], calls=[("list_dir", "{}")]), LOOK, LOOK, Pass(text=["Two files."]))
    asked = await stage.mention("count the files")
    limited = await stage.until_notice("Iteration limit reached")
    assert labels(limited) == [GO_ON]
    await stage.idle()
    await stage.control.click(limited, "alice", GO_ON)
    answer = await stage.until_reply("Two files.")
    assert answer["message_reference"]["message_id"] == asked["id"]
    contents = [reply["content"] for reply in await stage.replies()]
    assert contents == ["First I look.", "Two files."]
    spoken = each_wire.requests[-1].spoken
    assert any(text.endswith("count the files") for text in spoken) and any("Go on." in text for text in spoken)


async def test_two_people_who_press_at_once_begin_one_turn(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire, BOT_MAX_FUNCTION_CALL_ITERATIONS="2")
    wire.script(LOOK, LOOK, Pass(text=["Two files."]))
    await stage.mention("count the files")
    limited = await stage.until_notice("Iteration limit reached")
    await stage.idle()
    presses = (stage.control.click(limited, user, GO_ON) for user in ("alice", "owner"))
    await asyncio.gather(*presses)
    await stage.until_reply("Two files.")
    await stage.idle()
    assert len(wire.requests) == 3
    assert labels((await stage.replies())[0]) == []


async def test_a_press_while_another_turn_runs_waits_for_its_end(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire, BOT_MAX_FUNCTION_CALL_ITERATIONS="2")
    gate = asyncio.Event()
    wire.script(LOOK, LOOK, Pass(text=["For bob: ", gate, "done."]), Pass(text=["Two files."]))
    await stage.mention("count the files")
    limited = await stage.until_notice("Iteration limit reached")
    await stage.idle()
    await stage.mention("and me?", author="bob")
    await stage.until(lambda message: "For bob" in message["content"])
    async with stage.control.expect(lambda event: "I go on as soon as" in str(event)) as told:
        await stage.control.click(limited, "alice", GO_ON)
    assert (await told)["message"]["flags"] & 64
    gate.set()
    await stage.until_reply("Two files.")
    contents = [reply["content"] for reply in await stage.replies()]
    assert contents == ["", "For bob: done.", "Two files."]
    await stage.idle()
