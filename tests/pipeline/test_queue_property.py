"""Whatever people do in whatever order: one turn a channel, no message without a fate, nothing begun after a stop."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from pipeline.events import Standing
from pipeline.journal import Place, TurnOutput
from pipeline.messages import Image
from pipeline.records import AttemptEnded, LoopRecord, StopRequested, TurnStarted
from pipeline.results import Reason
from pipeline.runtime import RuntimeLimits, Submission
from tests.support.memory_journal import MemoryJournal
from tests.support.scripts import Say, ScriptedModel
from tests.support.talk import Talk

PEOPLE, CHANNELS = ("100", "200"), ("10", "20")
ACTS = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(PEOPLE), st.sampled_from(CHANNELS)),
    st.tuples(st.just("stop"), st.sampled_from(PEOPLE), st.sampled_from(CHANNELS)),
    st.tuples(st.sampled_from(["edit", "drop", "stop turn"]), st.integers(0, 5), st.just("")),
    st.tuples(st.sampled_from(["go on", "let things happen"]), st.integers(1, 12), st.just("")),
)
PASSES = st.lists(st.sampled_from(["text", "silence", "tool", "text and tool"]), min_size=1, max_size=6)


class SlowJournal(MemoryJournal):
    """Others get their turn before and after every write, as with a disk."""

    async def create(self, started: TurnStarted, *, images: Sequence[Image], queued: bool) -> bool:
        await asyncio.sleep(0)
        written = await super().create(started, images=images, queued=queued)
        await asyncio.sleep(0)
        return written

    async def append(
        self, turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None
    ) -> None:
        await asyncio.sleep(0)
        await super().append(turn, after_seq, records, output)
        await asyncio.sleep(0)

    async def load(self, turn: str) -> Sequence[tuple[int, LoopRecord | None]]:
        await asyncio.sleep(0)
        return await super().load(turn)

    async def keep(self, images: Mapping[str, Image]) -> None:
        await asyncio.sleep(0)


@dataclass
class World:
    """People at a runtime whose model does `passes` again and again, each as long as nobody lets it go on."""

    passes: list[str]
    talk: Talk = field(init=False)
    gates: list[asyncio.Event] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    acts: list[asyncio.Task[None]] = field(default_factory=list)
    said: int = 0
    over: bool = False

    def __post_init__(self) -> None:
        limits = RuntimeLimits(max_queued_messages=4, max_user_active_turns=1, max_follow_up_interrupts=2)
        model = ScriptedModel(passes=self._pass)
        self.talk = Talk(model=model, journal=SlowJournal(), limits=limits)

    def _pass(self, n: int) -> Say:
        if self.over:
            return Say(text=["Done."])
        kind = self.passes[n % len(self.passes)]
        gate = asyncio.Event()
        self.gates.append(gate)
        calls = [("hang", f'{{"text": "{n}"}}')] * 2 if "tool" in kind else []
        return Say(text=["well "] if "text" in kind else [], hang=gate, calls=calls)

    async def act(self, kind: str, who: str | int, channel: str) -> None:
        runtime = self.talk.runtime
        match kind:
            case "say":
                self.said += 1
                turn = str(self.said)
                if (
                    await self.talk.submit(turn, user=str(who), channel=channel, text=f"<{turn}>")
                    is not Submission.FULL
                ):
                    self.accepted.append(turn)
            case "stop":
                await runtime.stop(channel, by=str(who), name="somebody")
            case "stop turn":
                await runtime.stop_turn(str(who), by="100", name="somebody")
            case "edit":
                await runtime.edit(str(who), lambda _: f"<{who}> edited")
            case "drop":
                await runtime.drop(str(who))

    async def live(self, acts: Sequence[tuple[str, str | int, str]]) -> None:
        for kind, who, channel in acts:
            if kind == "go on":
                self.let_go()
            elif kind != "let things happen":
                self.acts.append(asyncio.create_task(self.act(kind, who, channel)))
            for _ in range(who if isinstance(who, int) else 1):
                await asyncio.sleep(0)
                self.at_most_one_turn_holds_a_channel()
        await asyncio.gather(*self.acts)
        self.over = True
        async with asyncio.timeout(20):
            while any(turn.place is not Place.ENDED for turn in self.talk.journal.turns.values()):
                self.let_go()
                await asyncio.sleep(0)
                self.at_most_one_turn_holds_a_channel()
        await self.talk.runtime.drain(10)

    def let_go(self) -> None:
        self.talk.bench.gate.set()
        while self.gates:
            self.gates.pop().set()

    def at_most_one_turn_holds_a_channel(self) -> None:
        held = Counter(
            turn.channel for turn in self.talk.journal.turns.values() if turn.place in (Place.ACTIVE, Place.PARKED)
        )
        assert all(count == 1 for count in held.values()), held

    def every_message_has_a_fate(self) -> None:
        fates = dict(self.talk.standings)
        for turn in self.accepted:
            records = self.talk.journal.records[turn]
            dropped = any(isinstance(r, AttemptEnded) and r.reason is Reason.DROPPED for r in records)
            assert not dropped or fates[turn] in (Standing.USED, Standing.DROPPED), (turn, fates)
            assert dropped == (turn not in self.talk.journal.outputs)

    def words_of_used_messages_are_answered_or_dropped_aloud(self) -> None:
        fates = dict(self.talk.standings)
        kept = " ".join(str(output.messages) for output in self.talk.journal.outputs.values())
        for turn, fate in fates.items():
            if fate is Standing.USED:
                assert f"<{turn}>" in kept, (turn, fates)

    def nothing_begins_after_a_stop(self) -> None:
        for records in self.talk.journal.records.values():
            before = list(takewhile(lambda r: not isinstance(r, StopRequested), records))
            after = Counter(record.kind for record in records[len(before) :])
            assert after["tool_started"] == 0
            assert after["pass_finished"] <= 1  # the one that ran

    def every_call_has_one_result(self) -> None:
        for turn, records in self.talk.journal.records.items():
            calls = sum(len(r.calls) for r in records if r.kind == "pass_finished")
            assert calls == sum(r.kind == "tool_finished" for r in records), turn


@settings(max_examples=150, deadline=None)
@given(st.lists(ACTS, max_size=25), PASSES)
def test_any_order_of_messages_stops_edits_and_ends(acts: list[tuple[str, str | int, str]], passes: list[str]) -> None:
    async def run() -> None:
        world = World(passes)
        await world.live(acts)
        world.every_message_has_a_fate()
        world.words_of_used_messages_are_answered_or_dropped_aloud()
        world.nothing_begins_after_a_stop()
        world.every_call_has_one_result()
        assert world.talk.runtime._stops == {}
        assert not any(world.talk.runtime.is_open(turn) for turn in world.talk.journal.turns)

    with capture_logs() as logs:
        asyncio.run(run())
    assert not [entry for entry in logs if entry["log_level"] == "error"]
