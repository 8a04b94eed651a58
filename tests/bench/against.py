"""Two versions of the loop against each other: both in turn, in processes of their own, in one run.

Times on one machine drift by more than a change costs, so only interleaved runs can be compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.table import Row, ms

ROUNDS = 7
HERE = Path(__file__).parents[2]
_CHILD = """
import asyncio, json
from tests.bench.loop import NoJournal, _one, _sqlite

async def main():
    await _one(NoJournal(), "warm", 50)
    bare = [await _one(NoJournal(), f"n{n}", 100) for n in range(7)]
    async with _sqlite() as journal:
        await _one(journal, "warm", 20)
        stored = [await _one(journal, f"s{n}", 100) for n in range(3)]
    print(json.dumps({"no journal": min(bare), "SQLite": min(stored)}))

asyncio.run(main())
"""


def measure(revision: str) -> list[Row]:
    """The cost of an iteration here and at `revision`, medians of interleaved runs, as a ratio.

    Raises CalledProcessError where git does not know the revision or its benchmark cannot run.
    """
    costs: dict[str, dict[str, list[float]]] = {"here": {}, revision: {}}
    with _checked_out(revision) as there:
        for _ in range(ROUNDS):
            for name, tree in ((revision, there), ("here", HERE)):
                for what, spent in _run(tree).items():
                    costs[name].setdefault(what, []).append(spent)
    rows = []
    for what, runs in costs["here"].items():
        before, now = median(costs[revision][what]), median(runs)
        ratio, aim = f"{now / before:.2f} of before", "<= 1.10 of before"
        rows.append(Row(part="against", what=f"{what}, 100 iterations, {revision}", value=ms(before)))
        rows.append(Row(part="against", what=f"{what}, 100 iterations, here", value=ms(now), ratio=ratio, aim=aim))
    return rows


def _run(tree: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        check=True,
        capture_output=True,
        text=True,
    )
    costs: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return costs


@contextmanager
def _checked_out(revision: str) -> Iterator[Path]:
    """A tree of its own with that version in it."""
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), revision], cwd=HERE, check=True)
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=HERE, check=True)
