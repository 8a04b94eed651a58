"""A turn in memory: begins it, runs the loop on it, answers its questions."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.events import EventSink
from pipeline.params import LoopLimits, ToolLoopParams
from pipeline.policy import ToolPolicies
from pipeline.records import Decided, LoopRecord, StopRequested, Verdict
from pipeline.results import GenerationTurnResult, Reason
from pipeline.state import LoopState
from pipeline.stop import StopSignal
from pipeline.tool_loop import run_tool_loop
from pipeline.turn_log import TurnLog
from tests.support.memory_journal import MemoryJournal
from tests.support.scripts import NOW, Recorder, ScriptedModel, Workbench, params, started


@dataclass(kw_only=True)
class TurnInMemory:
    """One turn of a scripted model, with everything a test wants to look at."""

    model: ScriptedModel
    bench: Workbench = field(default_factory=Workbench)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    sink: Recorder = field(default_factory=Recorder)
    stop: StopSignal = field(default_factory=StopSignal)
    limits: LoopLimits = field(default_factory=lambda: LoopLimits(max_iterations=100))
    policies: ToolPolicies = field(default_factory=ToolPolicies)
    _log: TurnLog | None = None

    async def run(self) -> GenerationTurnResult:
        """Advance the turn; begin it the first time. After `crash` this is what a start does."""
        return await run_tool_loop(self.params(), await self.log())

    def params(self) -> ToolLoopParams:
        sink: EventSink = self.sink
        return params(
            self.model, self.bench.registry(), limits=self.limits, policies=self.policies, sink=sink, stop=self.stop
        )

    async def log(self) -> TurnLog:
        if self._log is None:
            await self.journal.create(started(), images=(), queued=False)
            self._log = await TurnLog.load(self.journal, self.sink, "1")
        return self._log

    def crash(self) -> None:
        """Forget everything but the journal."""
        self._log = None
        self.stop = StopSignal()

    @property
    def state(self) -> LoopState:
        assert self._log is not None
        return self._log.state

    @property
    def records(self) -> list[LoopRecord]:
        return self.journal.records["1"]

    def results(self) -> list[str]:
        return [entry.content for entry in self.state.history]

    async def decide(self, verdict: Verdict, index: int = 0, note: str = "") -> None:
        """Answer the question about the call `index` of the newest pass, as the runtime would."""
        question = self.state.calls[index].question
        assert question is not None
        answer = Decided(approval=question.approval, verdict=verdict, by="7", name="olga", note=note, at=NOW)
        await (await self.log()).commit(answer)

    async def request_stop(self, reason: Reason = Reason.PERSON) -> None:
        await (await self.log()).commit(StopRequested(reason=reason, by="100", name="alice"))
        self.stop.request()
