"""The parts that run most often, each by itself: fold, step, splitter, card, a commit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory

from bot.render.card import CardSubject, card
from bot.render.chunks import Splitter, split
from pipeline.calls import CallState
from pipeline.events import NullSink
from pipeline.messages import ToolCall
from pipeline.records import (
    ApprovalAsked,
    Ask,
    LoopRecord,
    Noticed,
    PassFinished,
    ToolFinished,
    ToolStarted,
    dump_record,
    load_record,
)
from pipeline.results import NoticeKind, Outcome, StreamStatus
from pipeline.state import LoopState, fold
from pipeline.steps import next_step
from pipeline.stores.engine import open_store
from pipeline.turn_log import TurnLog
from tests.bench.table import Row, ms
from tests.support.scripts import NOW, Workbench, params, script, started

ITERATIONS = 400
COMMITS = 200
AT_ONCE = 16
PARAGRAPH = "Some words of an answer, and `code`, and a list:\n- one\n- two\n\n```python\nprint('hello')\n```\n\n"


def best_s(work: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of one run of `work`, the fastest of `repeats`."""
    spent = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begun)
    return min(spent)


async def measure() -> list[Row]:
    """A row for each part."""
    return [*_fold(), *_splitter(), _card(), *await _commits()]


def _records() -> list[LoopRecord]:
    """1,200 records of a turn of 400 iterations, each a pass, a start and a result."""
    records: list[LoopRecord] = []
    for number in range(ITERATIONS):
        calls = (("read_file", f'{{"path": "src/f{number}.py"}}'),)
        status = StreamStatus.FUNCTION_CALL
        records += [
            PassFinished(iteration=number, status=status, text="I look at it.", calls=calls, input_tokens=900),
            ToolStarted(iteration=number, index=0, run=1),
            ToolFinished(
                iteration=number, index=0, run=1, outcome=Outcome.OK, content="line\n" * 40, fingerprint=str(number)
            ),
        ]
    return records


def _fold() -> list[Row]:
    records = _records()
    first = fold([started()])
    stored = [dump_record(record) for record in records]
    whole, half = best_s(lambda: fold(records, first)), best_s(lambda: fold(records[: len(records) // 2], first))
    given = params(script(), Workbench().registry())
    state: LoopState = fold(records, first)
    step = best_s(lambda: [next_step(given, state) for _ in range(1000)]) / 1000
    loaded = best_s(lambda: [load_record(data) for data in stored])
    count = f"{len(records):,} records"
    return [
        Row(part="parts", what=f"fold of {count}", value=ms(whole), ratio=f"{whole / half:.2f} of half as many"),
        Row(part="parts", what=f"JSON of {count} read", value=ms(loaded), ratio=f"{loaded / whole:.2f} of the fold"),
        Row(part="parts", what=f"next_step after {count}", value=ms(step)),
    ]


def _splitter() -> list[Row]:
    text = PARAGRAPH * 200
    whole = best_s(lambda: split(text))

    def grow() -> None:
        splitter = Splitter()
        for end in range(0, len(text), 200):
            splitter.split(text[:end])

    grown = best_s(grow, 3)
    return [
        Row(part="parts", what="splitter, characters a second", value=f"{len(text) / whole:,.0f}"),
        Row(
            part="parts",
            what="splitter, the same text growing by 200",
            value=f"{len(text) / grown:,.0f}",
            ratio=f"{grown / whole:.2f} of at once",
        ),
    ]


def _card() -> Row:
    arguments = '{"path": "src/app.py", "content": "' + "print(1)\\n" * 150 + '"}'
    diff = "--- a\n+++ b\n" + "+print(1)\n" * 150
    question = ApprovalAsked(
        approval="ab" * 12, iteration=0, index=0, ask=Ask.RUN, run=0, seal="0" * 64, expires=NOW, preview=diff
    )
    call = ToolCall(id="x", name="write_file", arguments=arguments)
    state = CallState(iteration=0, index=0, call=call, asked=1, question=question)
    subject = CardSubject(started=started(), call=state, deciders="anyone with **Manage Server**")
    return Row(
        part="parts", what="approval card, 1.5 KB of arguments and a diff", value=ms(best_s(lambda: card(subject)))
    )


async def _commits() -> list[Row]:
    """Commits of one record, one after the other and by sixteen turns at once."""
    with TemporaryDirectory() as folder:
        async with open_store(f"sqlite:///{folder}/bench.db", clock=lambda: NOW) as store:
            logs = []
            for number in range(AT_ONCE):
                await store.journal.create(started(str(number), channel=str(number)), images=(), queued=False)
                logs.append(await TurnLog.load(store.journal, NullSink(), str(number)))
            alone = await _commit(logs[:1], COMMITS)
            together = await _commit(logs, COMMITS // AT_ONCE)
    return [
        Row(part="parts", what="TurnLog commit on SQLite", value=ms(alone)),
        Row(
            part="parts",
            what=f"the same, {AT_ONCE} turns at once",
            value=ms(together),
            ratio=f"{together / alone:.2f} of one turn",
        ),
    ]


async def _commit(logs: list[TurnLog], each: int) -> float:
    """Seconds a commit."""
    record = Noticed(notice=NoticeKind.STILL_WORKING)

    async def some(log: TurnLog) -> None:
        for _ in range(each):
            await log.commit(record)

    begun = time.perf_counter()
    await asyncio.gather(*(some(log) for log in logs))
    return (time.perf_counter() - begun) / (each * len(logs))
