"""The file tools, through the registry as the loop calls them, on a generated tree of 2,000 files."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.stage import ROOT
from tests.bench.table import Row, ms, peak_memory_mib
from tools.base import ToolContext
from tools.builtin import Deps, builtin_tools, find_ripgrep
from tools.registry import ToolRegistry
from tools.scope import ProjectScope

FOLDERS, FILES_EACH, LINES = 20, 100, 60
CALLS = 50
BIG_MIB = 200
BIG = "big.txt"
BIG_CALL = {"path": BIG, "offset": 400_000, "limit": 100}

Call = tuple[str, dict[str, object]]

CASES: tuple[tuple[str, Call], ...] = (
    ("read_file, 4 KiB", ("read_file", {"path": "f3/m7.py"})),
    ("list_dir, 100 files", ("list_dir", {"path": "f3"})),
    ("search_files, one hit in 2,000 files", ("search_files", {"query": "needle_1234"})),
    ("search_files, one folder of 20", ("search_files", {"query": "needle_1234", "path": "f12"})),
    ("write_file, 4 KiB", ("write_file", {"path": "out/new.txt", "content": "x" * 4096})),
)


def _registry(*, ripgrep: bool) -> ToolRegistry:
    return ToolRegistry(builtin_tools(Deps(ripgrep=find_ripgrep() if ripgrep else None)))


def _context(root: Path) -> ToolContext:
    scope = ProjectScope("bench", root)
    return ToolContext(
        scope=scope, turn="1", user_id="1", channel_id="2", guild_id="3", now=time.time, max_result_bytes=12_288
    )


def _make_tree(root: Path) -> None:
    for folder in range(FOLDERS):
        (root / f"f{folder}").mkdir()
        for number in range(FILES_EACH):
            name = folder * FILES_EACH + number
            lines = (f"def thing_{name}_{line}(value: int) -> int: return value + {line}" for line in range(LINES))
            text = "\n".join([*lines, f"# needle_{name}"]) + "\n"
            (root / f"f{folder}" / f"m{number}.py").write_text(text)


async def _seconds(registry: ToolRegistry, context: ToolContext, call: Call, calls: int) -> float:
    """The median of `calls` calls."""
    name, arguments = call
    text = json.dumps(arguments)
    spent = []
    for _ in range(calls):
        begun = time.perf_counter()
        result = await registry.execute(name, text, context)
        spent.append(time.perf_counter() - begun)
        assert not result.is_error, result.content
    return median(spent)


async def measure() -> list[Row]:
    """Milliseconds a call, and the memory that a part of a very large file takes."""
    rows = []
    with TemporaryDirectory() as name:
        root = Path(name)
        _make_tree(root)
        context, registry = _context(root), _registry(ripgrep=True)
        for what, call in CASES:
            rows.append(Row(part="tools", what=what, value=ms(await _seconds(registry, context, call, CALLS))))
        what, call = CASES[2]
        slow = await _seconds(_registry(ripgrep=False), context, call, 3)
        fast = await _seconds(registry, context, call, 3)
        rows.append(
            Row(part="tools", what=f"{what}, without ripgrep", value=ms(slow), ratio=f"{slow / fast:.1f} of with")
        )
        rows.append(_big_file(root))
    return rows


def _big_file(root: Path) -> Row:
    """Read 100 lines far inside in a process of its own, whose peak of memory is then that of the call."""
    with (root / BIG).open("wb") as file:
        block = b"some line of a very large file, neither short nor long\n" * 20_000
        while file.tell() < BIG_MIB * 1024 * 1024:
            file.write(block)
    told = subprocess.run(
        [sys.executable, "-m", "tests.bench.tools", str(root)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    spent, before, peak = (float(value) for value in told.stdout.split())
    return Row(
        part="tools",
        what=f"read_file, 100 lines of {BIG_MIB} MiB at line {BIG_CALL['offset']}",
        value=f"{ms(spent)}, {peak - before:.1f} MiB more",
        ratio=f"{peak / before:.2f} of memory before",
    )


async def _read_big(root: Path) -> None:
    context, registry = _context(root), _registry(ripgrep=True)
    await _seconds(registry, context, ("list_dir", {}), 1)  # a thread is there
    before = peak_memory_mib()
    spent = await _seconds(registry, context, ("read_file", BIG_CALL), 1)
    sys.stdout.write(f"{spent} {before} {peak_memory_mib()}\n")


if __name__ == "__main__":
    asyncio.run(_read_big(Path(sys.argv[1])))
