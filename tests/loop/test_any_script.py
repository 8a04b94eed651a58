"""The properties of a whole turn: any script, any failures, a stop or a follow-up at any await, any denial."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.attempts import chain_of
from pipeline.errors import ProviderRejected, StreamCut
from pipeline.events import Committed, LoopEvent, PassOpened, TextArrived
from pipeline.keys import KeyRest
from pipeline.params import LoopLimits
from pipeline.policy import ToolPolicies
from pipeline.provider import Finish, Provider, ProviderTraits
from pipeline.providers import Catalog
from pipeline.records import (
    ApprovalAsked,
    AttemptStarted,
    Decided,
    PassFinished,
    StopRequested,
    ToolStarted,
    TurnEnded,
    Verdict,
)
from pipeline.results import GenerationTurnResult, Reason, StreamStatus, TurnStatus
from pipeline.stop import StopSignal
from pipeline.turn import TurnDeps, run_generation_turn
from pipeline.turn_log import TurnLog
from tests.support.memory_journal import MemoryConversations, MemoryJournal
from tests.support.scripts import NOW, Say, ScriptedModel, Workbench, started
from tools.base import ContextItem, ContextRestart
from tools.stash import ContextStash

CEILING = 6
TOOLS = ["echo", "write", "fail", "hang", "finish", "post", "remember", "look", "sticker", "nope"]
ERRORS = [
    ProviderRejected("busy", provider="p", advice="", transient=True, status=429),
    ProviderRejected("no", provider="p", advice="", transient=False, status=400),
    StreamCut("cut", provider="p", advice="", transient=True),
]

calls = st.tuples(
    st.sampled_from(TOOLS), st.one_of(st.just("{"), st.integers(0, 2).map(lambda n: json.dumps({"text": str(n)})))
)
passes = st.builds(
    Say,
    text=st.lists(st.sampled_from(["a", "b ", "\n"]), max_size=2),
    thinking=st.lists(st.just("hm"), max_size=1),
    calls=st.lists(calls, max_size=3),
    finish=st.sampled_from(list(Finish)),
    error=st.one_of(st.none(), st.none(), st.none(), st.sampled_from(ERRORS)),
    without_end=st.sampled_from([False, False, False, True]),
)
traits = st.builds(ProviderTraits, ends_after_text=st.booleans(), hides_retries=st.booleans(), keys=st.integers(1, 2))
answers = st.sampled_from([Verdict.APPROVE, Verdict.APPROVE, Verdict.DENY_WITH_REASON, Verdict.DENY, Verdict.EXPIRED])


class Screen:
    """What people see: the text of finished passes, and that of the pass that streams."""

    def __init__(self) -> None:
        self.finished: list[str] = []
        self.streaming = ""
        self.runs_after_stop = 0
        self._stopped = False
        self._failed = False

    def emit(self, event: LoopEvent) -> None:
        match event:
            case PassOpened():
                self.streaming = ""
            case TextArrived(text=text):
                self.streaming += text
            case Committed(record=PassFinished(text=text, status=status)):
                assert text in (self.streaming, self.streaming.strip()) or not self.streaming
                self.finished.append(text)
                self.streaming = ""
                self._failed = status in (StreamStatus.ERROR, StreamStatus.TIMEOUT)
            case Committed(record=AttemptStarted()) if self._failed:
                self.finished.pop()
                self._failed = False
            case Committed(record=StopRequested()):
                self._stopped = True
            case Committed(record=ToolStarted()):
                self.runs_after_stop += self._stopped
            case _:
                pass

    async def settle(self, turn: str) -> None:
        del turn

    @property
    def text(self) -> str:
        return "".join("".join(self.finished).split())


@dataclass(kw_only=True)
class World:
    """One turn with two scripted models, in memory."""

    script: list[Say]
    traits: ProviderTraits
    bench: Workbench = field(default_factory=Workbench)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    screen: Screen = field(default_factory=Screen)
    stop: StopSignal = field(default_factory=StopSignal)
    models: list[ScriptedModel] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        self.bench.restart = ContextRestart(kind="image", item=ContextItem(text="more"))
        self.models = [
            ScriptedModel(passes=self._say, name="first", traits=self.traits),
            ScriptedModel(passes=self._say, name="second", model="script-2", traits=replace(self.traits, keys=1)),
        ]

    def _say(self, _: int) -> Say:
        self.asked += 1
        return self.script[min(self.asked, len(self.script)) - 1]

    def deps(self) -> TurnDeps:
        providers: list[Provider] = list(self.models)
        return TurnDeps(
            bot_name="Countersign",
            journal=self.journal,
            conversations=MemoryConversations(self.journal),
            sink=self.screen,
            catalog=Catalog(providers, [(model.name, model.model) for model in providers]),
            tools=self.bench.registry(),
            policies=ToolPolicies(),
            limits=LoopLimits(max_iterations=CEILING, tool_timeout_s=0.01, settle_timeout_s=0.01, max_restarts=2),
            conversation_max_bytes=100_000,
            project_of=lambda _: None,
            keys=KeyRest(now=lambda: NOW),
            stash=ContextStash(ttl_s=300, max_entries=16, now=lambda: NOW),
            now=lambda: NOW,
        )


@settings(max_examples=200, deadline=None)
@given(
    script=st.lists(passes, min_size=1, max_size=6),
    habits=traits,
    verdicts=st.lists(answers, max_size=4),
    interrupt_at=st.one_of(st.none(), st.integers(0, 60)),
    reason=st.sampled_from([Reason.PERSON, Reason.PHRASE, Reason.FOLLOW_UP]),
)
def test_any_script_keeps_its_promises(
    script: list[Say], habits: ProviderTraits, verdicts: list[Verdict], interrupt_at: int | None, reason: Reason
) -> None:
    world = World(script=script, traits=habits)
    result = asyncio.run(_live(world, verdicts, interrupt_at, reason))
    _check(world, result, reason)


async def _live(
    world: World, verdicts: list[Verdict], interrupt_at: int | None, reason: Reason
) -> GenerationTurnResult:
    await world.journal.create(started(), images=(), queued=False)
    log = await TurnLog.load(world.journal, world.screen, "1")
    interrupting = asyncio.create_task(_interrupt(world, log, interrupt_at, reason))
    pending = list(verdicts)
    try:
        while True:
            result = await run_generation_turn(world.deps(), log, world.stop)
            if result.status is not TurnStatus.AWAITING_APPROVAL:
                break
            waiting = [call.question for call in log.state.open_calls if call.awaits_decision]
            question = next(question for question in waiting if question is not None)
            verdict = pending.pop(0) if pending else Verdict.APPROVE
            decided = Decided(approval=question.approval, verdict=verdict, by="7", name="olga", at=NOW)
            await log.commit(decided, when=lambda state: state.stop is None)
    finally:
        interrupting.cancel()
        await asyncio.wait({interrupting})
    assert asyncio.all_tasks() == {asyncio.current_task()}, "a task is left"
    assert world.stop._listeners == [], "a stop would still call somebody"
    assert all(model.closed == len(model.requests) for model in world.models), "a stream is left open"
    return result


async def _interrupt(world: World, log: TurnLog, ticks: int | None, reason: Reason) -> None:
    if ticks is None:
        return
    for _ in range(ticks):
        await asyncio.sleep(0)
    request = StopRequested(reason=reason, by="100", name="alice")
    if await log.commit(request, when=lambda state: state.ending is None and state.stop is None):
        world.stop.request(follow_up=reason is Reason.FOLLOW_UP)


def _check(world: World, result: GenerationTurnResult, reason: Reason) -> None:
    records = world.journal.records["1"]
    state_of_calls = Counter((r.iteration, r.index) for r in records if isinstance(r, ToolStarted))
    passes_made = sum(isinstance(r, PassFinished) for r in records)
    assert isinstance(records[-1], TurnEnded)
    assert passes_made <= CEILING
    assert all(count == 1 for count in state_of_calls.values()), "a call ran twice"
    assert world.screen.runs_after_stop == 0, "a tool was started after the stop"
    assert not result.sticker or result.status is TurnStatus.COMPLETED
    assert "".join(result.text.split()) == world.screen.text
    stopped = any(isinstance(r, StopRequested) for r in records)
    if result.status is TurnStatus.FOLLOW_UP_INTERRUPT:
        assert stopped and reason is Reason.FOLLOW_UP
    questions = {r.approval for r in records if isinstance(r, ApprovalAsked)}
    assert all(r.approval in questions for r in records if isinstance(r, Decided))
    assert len(chain_of(world.deps().catalog, "")) == 2
