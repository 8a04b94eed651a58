"""Questions to people: asked, answered, denied, expired, and after a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.policy import Policy, ToolPolicies
from pipeline.records import ApprovalAsked, Ask, ToolFinished, Verdict
from pipeline.results import NoticeKind, Outcome, Reason, TurnStatus
from tests.support.memory_journal import Killed
from tests.support.scripts import Say, script
from tests.support.turns import TurnInMemory


def call(name: str, text: str = "") -> tuple[str, str]:
    return name, json.dumps({"text": text})


def asking(*calls: tuple[str, str]) -> TurnInMemory:
    return TurnInMemory(model=script(Say(text=["I will."], calls=calls), Say(text=["Done."])))


@pytest.mark.covers("status awaiting_approval/approval")
async def test_a_dangerous_call_waits_for_a_person_and_runs_once_approved() -> None:
    turn = asking(call("write", "x"))
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.AWAITING_APPROVAL, Reason.APPROVAL)
    assert turn.bench.runs == []
    await turn.decide(Verdict.APPROVE)
    assert (await turn.run()).status is TurnStatus.COMPLETED
    assert turn.bench.runs == [("write", "x")]


async def test_waiting_costs_nothing_and_changes_nothing() -> None:
    turn = asking(call("write"))
    await turn.run()
    commits = turn.journal.commits
    await turn.run()
    assert turn.journal.commits == commits


@pytest.mark.covers("status denied/person", "outcome denied", "embed denied")
async def test_a_denial_ends_the_turn_and_every_later_call_gets_a_result() -> None:
    turn = asking(call("write", "a"), call("echo", "b"))
    await turn.run()
    await turn.decide(Verdict.DENY)
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.DENIED, Reason.PERSON)
    assert turn.bench.runs == []
    assert [entry.outcome for entry in result.history] == [Outcome.DENIED, Outcome.NOT_RUN]
    assert turn.state.noticed(NoticeKind.DENIED)


async def test_a_denial_with_a_reason_is_a_result_that_the_model_reads() -> None:
    turn = asking(call("write", "a"))
    await turn.run()
    await turn.decide(Verdict.DENY_WITH_REASON, note="use the other file")
    result = await turn.run()
    assert result.status is TurnStatus.COMPLETED
    assert "use the other file" in turn.results()[0]
    assert turn.state.consecutive_errors == 0


@pytest.mark.covers("status denied/expired")
async def test_a_question_that_nobody_answers_ends_the_turn_as_denied() -> None:
    turn = asking(call("write", "a"))
    await turn.run()
    await turn.decide(Verdict.EXPIRED)
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.DENIED, Reason.EXPIRED)


async def test_a_card_that_cannot_be_shown_is_an_error_result() -> None:
    turn = asking(call("write", "a"))
    await turn.run()
    await turn.decide(Verdict.UNDELIVERABLE, note="it does not fit its card")
    result = await turn.run()
    assert result.history[0].outcome is Outcome.ERROR
    assert "does not fit" in turn.results()[0]


async def test_all_questions_of_a_pass_are_asked_at_once_and_calls_run_in_order() -> None:
    turn = asking(call("write", "a"), call("write", "b"))
    await turn.run()
    assert sum(isinstance(record, ApprovalAsked) for record in turn.records) == 2
    await turn.decide(Verdict.APPROVE, index=1)
    assert (await turn.run()).status is TurnStatus.AWAITING_APPROVAL
    assert turn.bench.runs == []
    await turn.decide(Verdict.APPROVE, index=0)
    await turn.run()
    assert turn.bench.runs == [("write", "a"), ("write", "b")]


async def test_one_of_two_may_be_approved_and_the_other_denied_with_a_reason() -> None:
    turn = asking(call("write", "a"), call("write", "b"))
    await turn.run()
    await turn.decide(Verdict.DENY_WITH_REASON, index=0, note="no")
    await turn.decide(Verdict.APPROVE, index=1)
    result = await turn.run()
    assert [entry.outcome for entry in result.history] == [Outcome.DENIED, Outcome.OK]
    assert turn.bench.runs == [("write", "b")]


async def test_an_answer_to_an_old_question_decides_nothing() -> None:
    turn = asking(call("write", "a"))
    await turn.run()
    await turn.decide(Verdict.DENY_WITH_REASON, note="first")
    await turn.decide(Verdict.APPROVE)
    await turn.run()
    assert turn.bench.runs == []


@pytest.mark.parametrize(("policy", "ran"), [(Policy.AUTO, 1), (Policy.ASK, 0), (Policy.DENY, 0)])
async def test_the_operators_policy_goes_before_the_tools_own(policy: Policy, ran: int) -> None:
    turn = asking(call("write", "a"))
    turn.policies = ToolPolicies(by_name={"write": policy})
    await turn.run()
    assert len(turn.bench.runs) == ran


async def test_a_call_that_is_bound_to_fail_bothers_nobody() -> None:
    turn = asking(("write", "{"))
    assert (await turn.run()).status is TurnStatus.COMPLETED
    assert not any(isinstance(record, ApprovalAsked) for record in turn.records)


async def test_a_tool_whose_schema_changed_since_the_approval_does_not_run() -> None:
    turn = asking(call("write", "a"))
    await turn.run()
    await turn.decide(Verdict.APPROVE)
    original = turn.params

    def changed() -> Any:
        params = original()
        object.__setattr__(params.context, "channel_id", "99")
        return params

    turn.params = changed  # type: ignore[method-assign]
    result = await turn.run()
    assert turn.bench.runs == []
    assert result.history[0].outcome is Outcome.DENIED


def killed_while_running(turn: TurnInMemory) -> None:
    """Have the next commit of a result fail as if the process died: the run is then of unknown outcome."""

    def before(_: int) -> None:
        raise Killed

    turn.journal.before = before


async def crash_in_the_run(name: str) -> TurnInMemory:
    turn = asking(call(name, "a"))
    turn.policies = ToolPolicies(by_name={name: Policy.AUTO})
    real = turn.bench._echo

    def act(name: str, text: str) -> Any:
        killed_while_running(turn)
        return real(name, text)

    turn.bench._echo = act  # type: ignore[method-assign]
    with pytest.raises(Killed):
        await turn.run()
    turn.bench._echo = real  # type: ignore[method-assign]
    turn.journal.before = lambda _: None
    turn.crash()
    return turn


@pytest.mark.covers("status awaiting_approval/again")
async def test_a_call_of_unknown_outcome_is_asked_about_and_never_run_again_by_itself() -> None:
    turn = await crash_in_the_run("echo")
    result = await turn.run()
    assert (result.status, result.reason) == (TurnStatus.AWAITING_APPROVAL, Reason.AGAIN)
    assert turn.bench.runs == [("echo", "a")]
    question = turn.state.calls[0].question
    assert question is not None
    assert question.ask is Ask.AGAIN


@pytest.mark.covers("outcome unknown")
async def test_run_again_runs_it_once_more_and_skip_says_that_the_outcome_is_unknown() -> None:
    again = await crash_in_the_run("echo")
    await again.run()
    await again.decide(Verdict.APPROVE)
    assert (await again.run()).status is TurnStatus.COMPLETED
    assert len(again.bench.runs) == 2

    for verdict in (Verdict.SKIP, Verdict.EXPIRED):
        skipped = await crash_in_the_run("echo")
        await skipped.run()
        await skipped.decide(verdict)
        result = await skipped.run()
        assert result.status is TurnStatus.COMPLETED
        assert result.history[0].outcome is Outcome.UNKNOWN
        assert len(skipped.bench.runs) == 1


async def test_an_idempotent_call_of_unknown_outcome_runs_again_by_itself() -> None:
    turn = await crash_in_the_run("note")
    assert (await turn.run()).status is TurnStatus.COMPLETED
    assert len(turn.bench.runs) == 2
    assert sum(isinstance(record, ToolFinished) for record in turn.records) == 1
