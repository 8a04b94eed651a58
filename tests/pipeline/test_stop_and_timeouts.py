"""A turn is stopped, or waits for something that does not come."""

from __future__ import annotations

import asyncio
import json

import pytest

from pipeline.events import TextArrived
from pipeline.params import LoopLimits
from pipeline.results import NoticeKind, Outcome, Reason, TurnStatus
from tests.support.scripts import Say, script
from tests.support.turns import TurnInMemory

FAST = LoopLimits(
    max_iterations=9, idle_timeout_s=0.05, first_token_timeout_s=0.02, settle_timeout_s=0.05, tool_timeout_s=0.02
)


class Signalling:
    """A recorder that says when text arrives."""

    def __init__(self, turn: TurnInMemory) -> None:
        self.seen = asyncio.Event()
        real = turn.sink.emit

        def emit(event: object) -> None:
            real(event)  # type: ignore[arg-type]
            if isinstance(event, TextArrived):
                self.seen.set()

        turn.sink.emit = emit  # type: ignore[method-assign]


@pytest.mark.covers("status stopped_by_user/person", "pass stopped_by_user")
async def test_a_stop_in_mid_stream_keeps_the_partial_text_and_closes_the_stream() -> None:
    turn = TurnInMemory(model=script(Say(text=["Par"], hang=asyncio.Event(), calls=[("echo", "{}")])))
    signal = Signalling(turn)
    running = asyncio.create_task(turn.run())
    await signal.seen.wait()
    await turn.request_stop()
    result = await running
    assert (result.status, result.reason, result.text) == (TurnStatus.STOPPED_BY_USER, Reason.PERSON, "Par")
    assert turn.model.closed == 1
    assert turn.bench.runs == []


@pytest.mark.covers("outcome cancelled")
async def test_a_stop_inside_a_running_tool_cancels_it_and_answers_every_call() -> None:
    calls = [("echo", "{}"), ("hang", "{}"), ("echo", json.dumps({"text": "never"}))]
    turn = TurnInMemory(model=script(Say(calls=calls)))
    running = asyncio.create_task(turn.run())
    await turn.bench.started.wait()
    await turn.request_stop()
    result = await running
    assert result.status is TurnStatus.STOPPED_BY_USER
    assert [entry.outcome for entry in result.history] == [Outcome.OK, Outcome.CANCELLED, Outcome.NOT_RUN]
    assert len(turn.model.requests) == 1


async def test_a_stop_while_a_question_is_open_closes_the_turn() -> None:
    turn = TurnInMemory(model=script(Say(calls=[("write", "{}")])))
    await turn.run()
    await turn.request_stop()
    result = await turn.run()
    assert result.status is TurnStatus.STOPPED_BY_USER
    assert result.history[0].outcome is Outcome.NOT_RUN


async def test_a_stop_before_the_first_pass_asks_no_provider() -> None:
    turn = TurnInMemory(model=script(Say(text=["x"])))
    await turn.request_stop()
    assert (await turn.run()).status is TurnStatus.STOPPED_BY_USER
    assert turn.model.requests == []


@pytest.mark.covers("status timeout/idle", "status timeout/first_token", "pass timeout", "embed stream_timeout")
@pytest.mark.parametrize(("said", "reason"), [([], Reason.FIRST_TOKEN), (["Par"], Reason.IDLE)])
async def test_a_silent_provider_times_out_and_what_was_said_stays(said: list[str], reason: Reason) -> None:
    turn = TurnInMemory(model=script(Say(text=said, hang=asyncio.Event())), limits=FAST)
    result = await turn.run()
    assert (result.status, result.reason, result.text) == (TurnStatus.TIMEOUT, reason, "".join(said))
    assert turn.state.noticed(NoticeKind.STREAM_TIMEOUT)
    assert turn.model.closed == 1


async def test_a_provider_that_is_slow_to_close_does_not_delay_the_timeout_for_ever() -> None:
    turn = TurnInMemory(model=script(Say(hang=_Stubborn())), limits=FAST)
    assert (await turn.run()).status is TurnStatus.TIMEOUT


class _Stubborn(asyncio.Event):
    """Takes a cancel and goes on waiting, once."""

    async def wait(self) -> bool:  # type: ignore[override]
        try:
            await super().wait()
        except asyncio.CancelledError:
            await super().wait()
        return True


async def test_a_tool_that_takes_too_long_is_cancelled_and_its_result_says_so() -> None:
    turn = TurnInMemory(model=script(Say(calls=[("hang", "{}")]), Say(text=["ok"])), limits=FAST)
    result = await turn.run()
    assert result.status is TurnStatus.COMPLETED
    assert result.history[0].outcome is Outcome.ERROR
    assert "may have taken effect" in result.history[0].content


async def test_a_hard_cancel_is_not_swallowed_and_leaves_the_turn_open() -> None:
    turn = TurnInMemory(model=script(Say(text=["Par"], hang=asyncio.Event())))
    signal = Signalling(turn)
    running = asyncio.create_task(turn.run())
    await signal.seen.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert turn.state.ending is None
    assert turn.model.closed == 1


async def test_nothing_is_left_running_after_a_turn() -> None:
    turn = TurnInMemory(model=script(Say(calls=[("hang", "{}")]), Say(text=["ok"])), limits=FAST)
    await turn.run()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert turn.stop._listeners == []


@pytest.mark.covers("limit STREAM_SDK_CALL_TIMEOUT_MS")
@pytest.mark.parametrize(("idle_s", "status"), [(0.02, TurnStatus.TIMEOUT), (5.0, TurnStatus.COMPLETED)])
async def test_the_idle_timeout_decides_how_long_a_silence_may_last(idle_s: float, status: TurnStatus) -> None:
    assert await _after_a_silence(LoopLimits(idle_timeout_s=idle_s), said=["Par"]) is status


@pytest.mark.covers("limit STREAM_FIRST_TOKEN_TIMEOUT_MS")
@pytest.mark.parametrize(("first_s", "status"), [(0.02, TurnStatus.TIMEOUT), (5.0, TurnStatus.EMPTY_RESPONSE)])
async def test_the_first_token_timeout_decides_how_late_an_answer_may_begin(first_s: float, status: TurnStatus) -> None:
    assert await _after_a_silence(LoopLimits(first_token_timeout_s=first_s), said=[]) is status


async def _after_a_silence(limits: LoopLimits, said: list[str]) -> TurnStatus:
    """The status of a turn whose provider is silent for a tenth of a second."""
    silence = asyncio.Event()
    asyncio.get_running_loop().call_later(0.1, silence.set)
    return (await TurnInMemory(model=script(Say(text=said, hang=silence)), limits=limits).run()).status


@pytest.mark.covers("limit TOOL_EXECUTION_TIMEOUT_MS")
@pytest.mark.parametrize(("timeout_s", "outcome"), [(0.02, Outcome.ERROR), (5.0, Outcome.OK)])
async def test_the_tool_timeout_decides_how_long_a_run_may_last(timeout_s: float, outcome: Outcome) -> None:
    limits = LoopLimits(tool_timeout_s=timeout_s)
    turn = TurnInMemory(model=script(Say(calls=[("hang", "{}")]), Say(text=["ok"])), limits=limits)
    asyncio.get_running_loop().call_later(0.1, turn.bench.gate.set)
    assert (await turn.run()).history[0].outcome is outcome


@pytest.mark.covers("limit STREAM_ABANDONED_SETTLE_TIMEOUT_MS")
@pytest.mark.parametrize(("settle_s", "closed_by_itself"), [(0.0, False), (5.0, True)])
async def test_the_settle_timeout_decides_how_long_an_aborted_call_may_take_to_close(
    settle_s: float, closed_by_itself: bool
) -> None:
    closing = _SlowToClose()
    limits = LoopLimits(first_token_timeout_s=0.02, settle_timeout_s=settle_s)
    await TurnInMemory(model=script(Say(hang=closing)), limits=limits).run()
    assert closing.closed_by_itself is closed_by_itself


class _SlowToClose(asyncio.Event):
    """Takes a tenth of a second to clean up after a cancel."""

    closed_by_itself = False

    async def wait(self) -> bool:  # type: ignore[override]
        try:
            await super().wait()
        finally:
            done = asyncio.Event()
            asyncio.get_running_loop().call_later(0.1, done.set)
            await done.wait()
            self.closed_by_itself = True
        return True


@pytest.mark.covers("limit TOOL_RESULT_MAX_BYTES")
@pytest.mark.parametrize("most", [256, 1000])
async def test_a_long_result_is_cut_at_its_limit_and_says_so(most: int) -> None:
    said = json.dumps({"text": "é" * 2000})
    limits = LoopLimits(tool_result_max_bytes=most)
    turn = TurnInMemory(model=script(Say(calls=[("echo", said)]), Say(text=["ok"])), limits=limits)
    content = (await turn.run()).history[0].content
    assert most - 40 < len(content.encode()) <= most
    assert "[truncated" in content
