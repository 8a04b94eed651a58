"""Stop while tools run or wait: every call gets its result, and the next request is valid."""

from __future__ import annotations

import json

import pytest

from tests.support.home import Home
from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import MakeStage, labels


@pytest.mark.usefixtures("extra_tools")
async def test_stop_in_a_running_tool_ends_it_and_answers_every_call(make_stage: MakeStage, each_wire: Mind) -> None:
    stage = await make_stage(each_wire)
    async with Home() as home:
        ring = json.dumps({"port": home.port})
        each_wire.script(Pass(text=["I ring."], calls=[("list_dir", "{}"), ("call_home", ring), ("now", "{}")]))
        await stage.mention("ring home")
        await home.rung(1)
        running = await stage.until(lambda message: "running" in str(message["embeds"]) and "Stop" in labels(message))
        await stage.control.click(running, "alice", "Stop")
        stopped = await stage.until_notice("Stopped by Alice")
        assert stopped["content"] == "I ring."
        await stage.mention("and now?")
        await stage.until_reply("You said: and now?")
    listed, cancelled, skipped = each_wire.requests[-1].all_results
    assert "todo.txt" in listed
    assert "stopped" in cancelled.lower() or "cancelled" in cancelled.lower()
    assert skipped.lower().startswith("not run")
    assert home.calls == ["hello"]


async def test_stop_closes_the_cards_that_wait(make_stage: MakeStage, each_wire: Mind) -> None:
    stage = await make_stage(each_wire)
    each_wire.script(Pass(text=["I write."], calls=[("write_file", json.dumps({"path": "a.out", "content": "a"}))]))
    await stage.mention("write a")
    card = await stage.until_card("a.out")
    answer = await stage.control.command("general", "alice", "stop")
    assert answer["message"]["content"] == "Stopped."
    closed = await stage.until_changed(card, "Closed")
    assert labels(closed) == []
    await stage.idle()
    await stage.mention("and now?")
    await stage.until_reply("You said: and now?")
    assert not (stage.project / "a.out").exists()
    assert each_wire.requests[-1].all_results[0].lower().startswith("not run")


async def test_stop_drops_only_the_turn_that_runs_and_the_next_message_is_answered(
    make_stage: MakeStage, wire: Mind
) -> None:
    stage = await make_stage(wire)
    await stage.mention("write hello to notes.txt")
    await stage.until_card()
    await stage.mention("what about me", author="bob")
    await stage.control.command("general", "alice", "stop")
    await stage.until_reply("You said: what about me")
    assert len(wire.requests) == 2
