"""`scripts/bench [PART ...]`: measure and print a table; `scripts/bench --against REV`: the loop here and at a commit.

Times are of this machine and this moment; compare ratios.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from subprocess import CalledProcessError

from tests.bench import against
from tests.bench.table import Row, print_table

PARTS = ("loop", "adapters", "parts", "twin", "tools", "start", "delivery", "many")


async def main(names: list[str]) -> int:
    if names[:1] == ["--against"]:
        if len(names) != 2:
            sys.stderr.write("--against takes one commit, as in: scripts/bench --against HEAD~1\n")
            return 2
        try:
            print_table(against.measure(names[1]))
        except CalledProcessError as error:
            sys.stderr.write(f"{names[1]} cannot be measured: {error.stderr or error}\n")
            return 1
        return 0
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.stderr.write(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}\n")
        return 2
    rows: list[Row] = []
    for name in names or PARTS:
        measure: Callable[[], Awaitable[list[Row]]] = import_module(f"tests.bench.{name}").measure
        sys.stderr.write(f"measuring {name}\n")
        rows += await measure()
    print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
