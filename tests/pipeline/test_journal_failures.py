"""The journal fails for a while (a full disk, a locked database): no channel is lost for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from pipeline import dispatch, expiry
from pipeline.approvals import Accepted, Answer
from pipeline.endings import MAX_RESUMES
from pipeline.errors import StoreError
from pipeline.journal import PendingApproval, Place, TurnOutput
from pipeline.messages import AssistantMessage
from pipeline.records import AttemptEnded, Decided, LoopRecord, PassFinished, StopRequested, Verdict
from pipeline.results import Reason
from pipeline.runtime import Submission
from tests.support.memory_journal import MemoryJournal
from tests.support.runtimes import OWNER, RuntimeInMemory
from tests.support.scripts import Say, script

ASKS = (Say(text=["I will."], calls=[("write", '{"text": "x"}')]), Say(text=["Done."]))


def _broken() -> None:
    raise StoreError("the disk is full")


@dataclass
class FragileJournal(MemoryJournal):
    """Raises where a test wants it to: before a write of certain records, or after it, or on a look-up."""

    down: bool = False
    refuses: type[LoopRecord] | None = None
    forgets_to_answer: type[LoopRecord] | None = None
    lookups_to_fail: int = 0
    moves_to_fail: int = 0
    on_write: Callable[[], None] = field(default=lambda: None)

    def __post_init__(self) -> None:
        super().__init__()

    async def append(
        self, turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None
    ) -> None:
        if self.down or self._has(self.refuses, records):
            self.on_write()
            _broken()
        await super().append(turn, after_seq, records, output)
        if self._has(self.forgets_to_answer, records):
            self.forgets_to_answer = None
            _broken()

    async def pending_approvals(self, channel: str | None = None) -> Sequence[PendingApproval]:
        if self.lookups_to_fail:
            self.lookups_to_fail -= 1
            _broken()
        return await super().pending_approvals(channel)

    async def place(self, turn: str, place: Place) -> bool:
        if self.moves_to_fail and self.turns[turn].place is Place.QUEUED:
            self.moves_to_fail -= 1
            _broken()
        return await super().place(turn, place)

    @staticmethod
    def _has(kind: type[LoopRecord] | None, records: Sequence[LoopRecord]) -> bool:
        return kind is not None and any(isinstance(record, kind) for record in records)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Retries do not wait, and the many expected tracebacks are not drawn."""
    monkeypatch.setattr(dispatch, "RETRY_S", (0.0,))
    monkeypatch.setattr(expiry, "RETRY_S", 0.0)
    with capture_logs():
        yield


async def test_a_turn_goes_on_by_itself_when_the_journal_works_again() -> None:
    journal = FragileJournal()
    bench = RuntimeInMemory(model=script(Say(text=["hello"])), journal=journal)
    tried = asyncio.Event()
    journal.on_write = tried.set
    await bench.submit("1")
    journal.down = True
    await tried.wait()
    journal.down = False
    await bench.ended("1")
    assert bench.journal.outputs["1"].messages[-1] == AssistantMessage(text="hello")
    assert await bench.submit("2") is Submission.STARTED


async def test_a_turn_that_fails_again_and_again_is_given_up_without_asking_the_model_for_ever() -> None:
    journal = FragileJournal(refuses=PassFinished)
    bench = RuntimeInMemory(model=script(Say(text=["hello"])), journal=journal)
    await bench.submit("1")
    await bench.until("1", "turn_resumed", MAX_RESUMES)
    await bench.ended("1")
    assert len(bench.model.requests) == MAX_RESUMES
    (end,) = bench.sink.of("1", "attempt_ended")
    assert isinstance(end, AttemptEnded)
    assert end.reason is Reason.CRASH_LOOP


async def test_while_the_journal_is_down_the_model_is_not_asked() -> None:
    journal = FragileJournal()
    bench = RuntimeInMemory(model=script(*ASKS), journal=journal)
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    await bench.answer("1", Verdict.DENY_WITH_REASON, note="not now")
    journal.down = True
    tries = 0

    def count() -> None:
        nonlocal tries
        tries += 1
        journal.down = tries < 20

    journal.on_write = count
    await bench.ended("1")
    assert tries == 20
    assert len(bench.model.requests) <= 2


async def test_a_queued_message_is_answered_although_its_start_failed_once() -> None:
    gate = asyncio.Event()
    journal = FragileJournal(moves_to_fail=1)
    bench = RuntimeInMemory(model=script(Say(text=["hm"], hang=gate)), journal=journal)
    await bench.submit("1")
    assert await bench.submit("2") is Submission.QUEUED
    gate.set()
    await bench.ended("1", "2")
    assert journal.moves_to_fail == 0


async def test_a_decision_counts_whose_write_was_reported_as_failed() -> None:
    journal = FragileJournal(forgets_to_answer=Decided)
    bench = RuntimeInMemory(model=script(*ASKS), journal=journal)
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    with pytest.raises(StoreError):
        await bench.answer("1", Verdict.APPROVE)
    await bench.ended("1")
    assert bench.bench.runs == [("write", "x")]


async def test_a_decision_counts_whose_press_was_cancelled_in_mid_write() -> None:
    written, gate = asyncio.Event(), asyncio.Event()

    class SlowJournal(FragileJournal):
        async def append(
            self, turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None
        ) -> None:
            await super().append(turn, after_seq, records, output)
            if self._has(Decided, records):
                written.set()
                await gate.wait()

    bench = RuntimeInMemory(model=script(*ASKS), journal=SlowJournal())
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    approval = bench.approval("1")
    press = asyncio.create_task(bench.runtime.decide(approval, Answer(verdict=Verdict.APPROVE), OWNER))
    await written.wait()
    press.cancel()
    with suppress(asyncio.CancelledError):
        await press
    gate.set()
    await bench.ended("1")
    assert bench.bench.runs == [("write", "x")]


async def test_stop_ends_a_stream_although_the_journal_refuses_to_note_it() -> None:
    journal = FragileJournal(refuses=StopRequested)
    bench = RuntimeInMemory(model=script(Say(text=["on and on"], hang=asyncio.Event())), journal=journal)
    await bench.submit("1")
    await bench.until("1", "attempt_started")
    with pytest.raises(StoreError):
        await bench.runtime.stop("10", by="100", name="alice")
    await bench.ended("1")


async def test_a_question_expires_although_the_journal_could_not_be_read_at_that_moment() -> None:
    journal = FragileJournal()
    bench = RuntimeInMemory(model=script(*ASKS), journal=journal)
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    await bench.runtime.drain(1)
    bench.offset = 3600.0
    bench.start()
    real, looked = journal.pending_approvals, 0

    async def flaky(channel: str | None = None) -> Sequence[PendingApproval]:
        nonlocal looked
        looked += 1
        if looked == 2:
            _broken()
        return await real(channel)

    journal.pending_approvals = flaky  # type: ignore[method-assign]
    await bench.runtime.resume()
    await bench.ended("1")
    assert looked > 2
    assert bench.bench.runs == []


async def test_a_turn_that_cannot_be_read_does_not_keep_the_others_from_being_resumed() -> None:
    journal = FragileJournal()
    bench = RuntimeInMemory(model=script(Say(text=["on"], hang=asyncio.Event())), journal=journal)
    await bench.submit("1", channel="10")
    await bench.submit("2", channel="20")
    await bench.until("2", "attempt_started")
    await bench.runtime.drain(0)
    journal.records["1"] = []
    bench.model = script(Say(text=["back again"]))
    bench.start()
    assert await bench.runtime.resume() == 2
    await bench.ended("2")
    await bench.runtime.drain(0)


async def test_a_press_while_the_bot_closes_is_noted_and_carried_out_by_the_next_start() -> None:
    bench = RuntimeInMemory(model=script(*ASKS))
    await bench.submit("1")
    await bench.until("1", "approval_asked")
    await bench.runtime.drain(0)
    assert await bench.answer("1", Verdict.APPROVE) == Accepted(verdict=Verdict.APPROVE)
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("turn")]
    bench.start()
    await bench.runtime.resume()
    await bench.ended("1")
    assert bench.bench.runs == [("write", "x")]
