"""Appends batches of three records to a turn until it is killed; each line of its output is a batch that is kept.

python -m tests.pipeline.stores.writer sqlite:///PATH
"""

from __future__ import annotations

import asyncio
import sys

from pipeline.stores.engine import open_store
from tests.pipeline.stores.samples import said
from tests.support.scripts import NOW, started

BATCH = 3


async def write(url: str) -> None:
    async with open_store(url, clock=lambda: NOW) as store:
        await store.journal.create(started(), images=(), queued=False)
        seq = 1
        while True:
            await store.journal.append("1", seq, [said(seq + n, "x" * 2000) for n in range(BATCH)])
            seq += BATCH
            print(seq, flush=True)


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1]))
