"""Stage 03: a tool has the next pass see more."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from pipeline.records import ContextAdded
from pipeline.results import TurnStatus
from tests.support.provider_server import Pass
from tests.support.wire_turn import LIMITS, WireTurn, wire_turn
from tools.base import ContextItem, ContextRestart, Picture

ECHO = ("echo", '{"text": "hi"}')
PIXEL = Picture(media_type="image/png", data="aGk=")


def call(name: str, text: str = "x") -> tuple[str, str]:
    return name, json.dumps({"text": text})


def pre_tool_texts(turn: WireTurn) -> list[str]:
    return [entry.pre_tool_text for entry in turn.state.history]


async def test_a_restart_shows_the_item_from_the_next_pass_on_behind_a_short_result() -> None:
    async with wire_turn() as turn:
        item = ContextItem(text="what you asked to see", pictures=(PIXEL,))
        turn.bench.restart = ContextRestart(kind="image", item=item)
        turn.server.script([Pass(calls=[call("look")]), Pass(calls=[ECHO]), Pass(text=["a picture"])])
        await turn.run()
        assert turn.results()[0] == "it follows"
        for n in (1, 2):
            shown = [m for m in turn.wire(n) if m["role"] == "user" and "what you asked to see" in str(m["content"])]
            assert len(shown) == 1
            assert "data:image/png;base64,aGk=" in str(shown[0]["content"])
        added = [record for record in turn.records if isinstance(record, ContextAdded)]
        assert [one.context for one in added] == ["image"]


async def test_a_restart_through_the_stash_shows_the_item_once_and_its_key_works_once() -> None:
    async with wire_turn() as turn:
        key = turn.stash.put(ContextItem(text="from the stash"))
        turn.bench.restart = ContextRestart(kind="image", key=key)
        turn.server.script([Pass(calls=[call("look", "1")]), Pass(calls=[call("look", "2")]), Pass(text=["ok"])])
        await turn.run()
        shown = [m for m in turn.wire(2) if "from the stash" in str(m["content"])]
        assert len(shown) == 1
        assert len(turn.stash) == 0


async def test_a_restart_with_an_unknown_key_falls_back_to_its_item_and_goes_on() -> None:
    async with wire_turn() as turn:
        turn.bench.restart = ContextRestart(kind="image", item=ContextItem(text="inline"), key="gone")
        turn.server.script([Pass(calls=[call("look")]), Pass(text=["ok"])])
        assert (await turn.run()).status is TurnStatus.COMPLETED
        assert "inline" in str(turn.wire(1))


@pytest.mark.covers("limit MAX_ENHANCED_CONTEXT_RESTARTS")
@pytest.mark.parametrize("most", [0, 2])
async def test_restarts_have_their_own_cap_and_the_model_hears_of_it(most: int) -> None:
    async with wire_turn(limits=replace(LIMITS, max_restarts=most)) as turn:
        turn.bench.restart = ContextRestart(kind="image", item=ContextItem(text="more"))
        turn.server.script([Pass(calls=[call("look", str(n))]) for n in range(4)] + [Pass(text=["enough"])])
        await turn.run()
        assert len(turn.state.contexts) == most
        assert ["Nothing was added" in result for result in turn.results()] == [n >= most for n in range(4)]


async def test_a_kind_of_restart_that_was_used_is_neither_offered_nor_dispatched_again() -> None:
    async with wire_turn() as turn:
        turn.bench.restart = ContextRestart(kind="image", item=ContextItem(text="more"))
        turn.server.script(
            [Pass(calls=[call("look_once")]), Pass(calls=[call("look_once", "again")]), Pass(text=["ok"])]
        )
        await turn.run()
        assert turn.bench.runs == [("look_once", "x")]
        assert "already run in this turn" in turn.results()[1]
        offered = [[tool["function"]["name"] for tool in body["tools"]] for body in turn.server.requests]
        assert ["look_once" in names for names in offered] == [True, False, False]


async def test_a_tool_that_shows_pictures_is_not_for_a_model_that_sees_none() -> None:
    async with wire_turn() as turn:
        turn.with_traits(sees_images=False)
        turn.server.script([Pass(calls=[call("view_picture")]), Pass(text=["ok"])])
        await turn.run()
        assert turn.bench.runs == []
        assert "cannot see" in turn.results()[0]
        offered = {tool["function"]["name"] for body in turn.server.requests for tool in body["tools"]}
        assert "view_picture" not in offered and "look" in offered


async def test_a_restart_resets_the_error_count() -> None:
    async with wire_turn(limits=replace(LIMITS, max_consecutive_tool_errors=2)) as turn:
        turn.bench.restart = ContextRestart(kind="image", item=ContextItem(text="more"))
        turn.server.script(
            [Pass(calls=[call(name, str(n))]) for n, name in enumerate(["fail", "look", "fail"])] + [Pass(text=["ok"])]
        )
        assert (await turn.run()).status is TurnStatus.COMPLETED


async def test_the_calls_of_a_batch_are_finished_before_a_restarts_context_is_used() -> None:
    async with wire_turn() as turn:
        turn.bench.restart = ContextRestart(kind="image", item=ContextItem(text="the picture"))
        turn.server.script([Pass(calls=[call("look"), ECHO]), Pass(text=["ok"])])
        await turn.run()
        roles = [message["role"] for message in turn.wire(1)]
        assert roles[-4:] == ["assistant", "tool", "tool", "user"]


async def test_handles_that_a_restart_brought_reach_the_tools_that_follow() -> None:
    async with wire_turn() as turn:
        item = ContextItem(text="ref_1 alice", handles=(("ref_1", "4711"),))
        turn.bench.restart = ContextRestart(kind="message_metadata", item=item)
        turn.server.script([Pass(calls=[call("look")]), Pass(calls=[call("resolve", "ref_1")]), Pass(text=["ok"])])
        await turn.run()
        assert turn.results()[1] == "4711"


async def test_a_restart_is_kept_over_a_crash() -> None:
    async with wire_turn() as turn:
        item = ContextItem(text="look at this", pictures=(PIXEL,))
        turn.bench.restart = ContextRestart(kind="image", item=item)
        gate = asyncio.Event()
        turn.server.script([Pass(calls=[call("look")]), Pass(text=["a", gate]), Pass(text=["a picture"])])
        running = asyncio.create_task(turn.run())
        await turn.server.arrived(2)
        running.cancel()
        await asyncio.wait({running})
        assert (await turn.again()).text == "a picture"
        assert "data:image/png;base64,aGk=" in str(turn.wire(2))
        assert turn.bench.runs == [("look", "x")]
