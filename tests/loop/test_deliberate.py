"""Deliberate mode in the loop: what the model is offered, what it may call, what stays on offer."""

from __future__ import annotations

import json

import pytest
from structlog.testing import capture_logs

from pipeline.deliberate import DeliberateMode
from pipeline.records import ToolsAdmitted, TurnStarted
from pipeline.results import Outcome, Reason, TurnStatus
from pipeline.triggers import Trigger
from tests.support.provider_server import Pass, refusal
from tests.support.wire_turn import WireTurn, wire_turn


def deliberate(turn: WireTurn, *targets: str, context_turns: int = 4) -> DeliberateMode:
    """The turns of these tests say "hello": that calls for `targets`."""
    return DeliberateMode(
        tools=turn.bench.registry(),
        store=turn.store.affordances,
        conversations=turn.store.conversations,
        context_turns=context_turns,
        triggers=[Trigger(pattern="hello", target=target) for target in targets],
    )


def offered(turn: WireTurn) -> list[list[str]]:
    """The names of the tools in each request."""
    return [[tool["function"]["name"] for tool in body.get("tools", ())] for body in turn.server.requests]


async def test_the_model_is_shown_the_admitted_tools_only_and_may_call_them() -> None:
    async with wire_turn() as turn:
        turn.admission = deliberate(turn, "echo", "note")
        turn.server.script([Pass(calls=[("echo", '{"text": "a"}')]), Pass(text=["Done."])])
        assert (await turn.run()).text == "Done."
        assert turn.bench.runs == [("echo", "a")]
        assert offered(turn) == [["echo", "note"]] * 2


async def test_a_turn_that_calls_for_nothing_has_no_tools_at_all() -> None:
    async with wire_turn() as turn:
        turn.admission = deliberate(turn)
        turn.server.script([Pass(text=["Hi."])])
        assert (await turn.run()).text == "Hi."
        assert "tools" not in turn.server.requests[0]
        assert turn.state.admitted == ToolsAdmitted(names=())


@pytest.mark.parametrize("called", ["note", "write"])
async def test_a_blocked_call_is_not_dispatched_and_the_model_sees_why_and_what_is_allowed(called: str) -> None:
    async with wire_turn() as turn:
        turn.admission = deliberate(turn, "echo", "fail")
        turn.server.script([Pass(calls=[(called, "{}")]), Pass(text=["I cannot."])])
        assert (await turn.run()).text == "I cannot."
        assert turn.bench.runs == []
        assert [entry.outcome for entry in turn.state.history] == [Outcome.ERROR]
        told = json.loads(turn.asked()[1].results[0])
        assert told["status"] == "blocked_by_deliberate_tool_mode"
        assert told["allowedToolNames"] == ["echo", "fail"]
        assert called in told["reason"]


async def test_a_resumed_turn_keeps_its_list_although_the_triggers_changed() -> None:
    async with wire_turn() as turn:
        turn.admission = deliberate(turn, "write")
        turn.server.script([Pass(calls=[("write", '{"text": "a"}')]), Pass(text=["Written."])])
        waiting = await turn.run()
        assert (waiting.status, waiting.reason) == (TurnStatus.AWAITING_APPROVAL, Reason.APPROVAL)
        turn.admission = deliberate(turn, "echo")
        await turn.again()
        assert turn.state.admitted is not None
        assert turn.state.admitted.names == ("write",)
        assert sum(isinstance(record, ToolsAdmitted) for record in turn.records) == 1


async def test_a_fallback_model_is_offered_the_same() -> None:
    async with wire_turn("openai_compat", "openai_compat") as turn:
        turn.admission = deliberate(turn, "echo")
        turn.server.script([refusal(500)])
        turn.servers[1].script([Pass(text=["Hi."])])
        await turn.run()
        (asked,) = turn.servers[1].requests
        assert [tool["function"]["name"] for tool in asked["tools"]] == ["echo"]


async def test_only_what_succeeded_stays_on_offer() -> None:
    async with wire_turn() as turn:
        turn.admission = deliberate(turn, "echo", "fail")
        turn.server.script([Pass(calls=[("echo", "{}"), ("fail", "{}"), ("note", "{}")]), Pass(text=["Done."])])
        await turn.run()
        assert await turn.store.affordances.take(turn.turn, "2") == ["echo"]


async def test_nothing_stays_on_offer_without_context_turns() -> None:
    async with wire_turn() as turn:
        turn.admission = deliberate(turn, "echo", context_turns=0)
        turn.server.script([Pass(calls=[("echo", "{}")]), Pass(text=["Done."])])
        await turn.run()
        assert await turn.store.affordances.take(turn.turn, "2") == []


async def test_the_log_says_which_trigger_had_a_tool_run_also_one_that_failed() -> None:
    async with wire_turn() as turn:
        turn.admission = deliberate(turn, "echo", "fail", "finish")
        turn.server.script([Pass(calls=[("echo", "{}"), ("fail", "{}"), ("note", "{}")]), Pass(text=["Done."])])
        with capture_logs() as logs:
            await turn.run()
        told = [(log["tool"], log["trigger"], log["source"]) for log in logs if log["event"] == "tool_triggered"]
        assert told == [("echo", "hello", "custom"), ("fail", "hello", "custom")]


class PowerCut(Exception):
    """The program is gone."""


class CutBeforeTheRecord(DeliberateMode):
    """Decides, and does not come to write it down."""

    async def admit(self, started: TurnStarted) -> ToolsAdmitted:
        await super().admit(started)
        raise PowerCut


async def test_a_crash_before_the_list_is_written_costs_no_turn_on_offer() -> None:
    async with wire_turn() as turn:
        await turn.store.affordances.keep(turn.turn, "0", ["echo"], 1)
        turn.server.script([Pass(text=["Hi."])])
        kept, conversations = turn.store.affordances, turn.store.conversations
        turn.admission = CutBeforeTheRecord(tools=turn.bench.registry(), store=kept, conversations=conversations)
        with pytest.raises(PowerCut):
            await turn.run()
        turn.admission = deliberate(turn)
        await turn.again()
        assert offered(turn) == [["echo"]]
        assert await kept.take(turn.turn, "2") == []
