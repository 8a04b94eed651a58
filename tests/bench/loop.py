"""What the loop itself costs: a provider in this process that answers at once, three deltas and one call a pass."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from pipeline.journal import Journal, TurnOutput
from pipeline.params import LoopLimits
from pipeline.records import LoopRecord
from pipeline.stores.engine import open_store
from pipeline.tool_loop import run_tool_loop
from pipeline.turn_log import TurnLog
from tests.bench.table import Row, ms
from tests.support.memory_journal import MemoryJournal
from tests.support.scripts import NOW, Recorder, Say, ScriptedModel, Workbench, params, started

ITERATIONS = (1, 100, 400)
REPEATS = 3


class NoJournal(MemoryJournal):
    """Keeps records in a list and nothing else: what is left is the loop."""

    async def append(
        self, turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None
    ) -> None:
        self.commits += 1
        self.records[turn].extend(records)


class Counted:
    """Counts the transactions of a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.commits = 0

    async def append(
        self, turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None
    ) -> None:
        self.commits += 1
        await self._journal.append(turn, after_seq, records, output)

    def __getattr__(self, name: str) -> object:
        return getattr(self._journal, name)


async def _one(journal: Journal, turn: str, iterations: int) -> float:
    """Seconds per iteration of one turn."""
    bench = Workbench()

    def say(n: int) -> Say:
        last = n == iterations - 1
        return Say(text=["one ", "two ", "three"], calls=[] if last else [("echo", f'{{"text": "{n}"}}')])

    model = ScriptedModel(passes=say)
    given = params(model, bench.registry(), limits=LoopLimits(max_iterations=iterations + 1), sink=Recorder())
    await journal.create(started(turn, channel=turn), images=(), queued=False)
    log = await TurnLog.load(journal, given.sink, turn)
    begun = time.perf_counter()
    result = await run_tool_loop(given, log)
    spent = time.perf_counter() - begun
    assert result.iterations == iterations
    return spent / iterations


@asynccontextmanager
async def _sqlite() -> AsyncIterator[Journal]:
    with TemporaryDirectory() as folder:
        async with open_store(f"sqlite:///{folder}/bench.db", clock=lambda: NOW) as store:
            yield store.journal


def fdatasync_floor() -> float:
    """Seconds of one fdatasync of a small append on this disk, the median of 200."""
    with TemporaryDirectory() as folder:
        handle = os.open(Path(folder) / "floor", os.O_CREAT | os.O_WRONLY)
        try:
            spent = []
            for _ in range(200):
                os.write(handle, b"x" * 4096)
                begun = time.perf_counter()
                os.fdatasync(handle)
                spent.append(time.perf_counter() - begun)
        finally:
            os.close(handle)
    return median(spent)


async def _series(journal: Journal, label: str, aim_ms: float) -> list[Row]:
    rows = []
    costs: dict[int, float] = {}
    for iterations in ITERATIONS:
        spent = [await _one(journal, f"{label}{iterations}{n}", iterations) for n in range(REPEATS)]
        costs[iterations] = min(spent)
        ratio = f"{costs[iterations] / costs[100]:.2f} of 100" if iterations == 400 else ""
        aim = f"< {aim_ms} ms" if iterations == 100 else "<= 1.20 of 100" if iterations == 400 else ""
        value = ms(costs[iterations])
        rows.append(Row(part="loop", what=f"{label}, {iterations} iterations", value=value, ratio=ratio, aim=aim))
    return rows


async def measure() -> list[Row]:
    """Cost of an iteration by the number of iterations, without and with the SQLite journal."""
    rows = [Row(part="disk", what="fdatasync floor", value=ms(fdatasync_floor()))]
    rows += await _series(NoJournal(), "no journal", 0.2)
    async with _sqlite() as journal:
        counted = Counted(journal)
        rows += await _series(counted, "SQLite", 2.5)  # type: ignore[arg-type]
        per_iteration = counted.commits / (REPEATS * sum(ITERATIONS))
        rows.append(
            Row(
                part="loop",
                what="SQLite transactions an iteration",
                value=f"{per_iteration:.2f}",
                aim="<= 2 and the end",
            )
        )
    return rows
