"""The property that everything rests on: any script, any kill point, any order of clicks."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.params import LoopLimits
from pipeline.provider import Finish
from pipeline.records import LoopRecord, ToolStarted, Verdict
from pipeline.results import Outcome, TurnStatus
from pipeline.state import fold
from tests.support.memory_journal import Killed
from tests.support.scripts import Say, ScriptedModel
from tests.support.turns import TurnInMemory

calls = st.tuples(
    st.sampled_from(["echo", "note", "write", "fail", "finish", "nope"]),
    st.one_of(st.just("{"), st.integers(0, 2).map(lambda n: json.dumps({"text": str(n)}))),
)
passes = st.builds(
    Say,
    text=st.lists(st.sampled_from(["a", "b ", "\n"]), max_size=2),
    calls=st.lists(calls, max_size=3),
    finish=st.sampled_from(list(Finish)),
)
answers = st.sampled_from(
    [Verdict.APPROVE, Verdict.APPROVE, Verdict.DENY_WITH_REASON, Verdict.DENY, Verdict.EXPIRED, Verdict.UNDELIVERABLE]
)
kills = st.lists(st.tuples(st.integers(1, 12), st.booleans()), max_size=3)


@settings(max_examples=300, deadline=None)
@given(
    script=st.lists(passes, min_size=1, max_size=4),
    verdicts=st.lists(answers, max_size=6),
    order=st.randoms(use_true_random=False),
    kills=kills,
    stop_after=st.one_of(st.none(), st.integers(0, 3)),
)
def test_any_script_with_any_kills_and_clicks_ends_well(
    script: list[Say], verdicts: list[Verdict], order: object, kills: list[tuple[int, bool]], stop_after: int | None
) -> None:
    turn = TurnInMemory(
        model=ScriptedModel(passes=lambda _: Say()),
        limits=LoopLimits(max_iterations=5, max_consecutive_tool_errors=3, max_identical_tool_calls=2),
    )
    turn.model.passes = lambda _: _next_pass(turn, script)
    asyncio.run(_live(turn, iter(verdicts), order, kills, stop_after))
    _check(turn)


def _next_pass(turn: TurnInMemory, script: list[Say]) -> Say:
    """The pass for where the turn stands, so that one which is streamed again says the same."""
    return script[min(turn.state.iteration, len(script) - 1)]


async def _live(
    turn: TurnInMemory, verdicts: object, order: object, kills: list[tuple[int, bool]], stop_after: int | None
) -> None:
    """Run the turn to its end, killing it at the given commits, answering what it asks in any order."""
    pending = list(kills)

    def strike(before: bool) -> None:
        if pending and pending[0][1] is before:
            pending[0] = (pending[0][0] - 1, before)
            if pending[0][0] <= 0:
                pending.pop(0)
                raise Killed

    await turn.log()
    turn.journal.before = lambda _: strike(True)
    turn.journal.after = lambda _: strike(False)
    for step in range(60):
        try:
            if step == stop_after:
                await turn.request_stop()
            result = await turn.run()
            if result.status is not TurnStatus.AWAITING_APPROVAL:
                assert turn._log is not None
                assert turn.state == fold(turn.records), "replay equals live"
                return
            await _answer(turn, verdicts, order)
        except Killed:
            turn.crash()
    raise AssertionError("the turn did not end")


async def _answer(turn: TurnInMemory, verdicts: object, order: object) -> None:
    waiting = [index for index, call in enumerate(turn.state.calls) if call.awaits_decision]
    index = order.choice(waiting)  # type: ignore[attr-defined]
    await turn.decide(next(verdicts, Verdict.APPROVE), index=index, note="because")  # type: ignore[call-overload]


def _check(turn: TurnInMemory) -> None:
    records: list[LoopRecord] = turn.records
    state = fold(records)
    assert all(call.finished is not None for call in state.calls), "every call has its result"
    keys = [(entry.iteration, entry.index) for entry in state.history]
    assert len(keys) == len(set(keys)), "exactly one"
    assert len(keys) == sum(len(finished.calls) for finished in state.passes)
    assert state.iteration <= 5
    starts = Counter((r.iteration, r.index) for r in records if isinstance(r, ToolStarted))
    runs = Counter(name for name, _ in turn.bench.runs)
    names = {(entry.iteration, entry.index): entry.name for entry in state.history}
    for name, count in runs.items():
        assert count <= sum(n for key, n in starts.items() if names.get(key) == name), "no run without its right"
    again = sum(1 for r in records if r.kind == "approval_asked" and r.ask == "again")
    for key, count in starts.items():
        if names[key] not in ("note",):
            assert count <= 1 + again, "a call that is not idempotent starts again only when a person says so"
    for entry in state.history:
        if entry.outcome in (Outcome.DENIED, Outcome.NOT_RUN) and (entry.iteration, entry.index) in starts:
            raise AssertionError("a call that never ran was started")
