"""`python -m bot preview` as a newcomer starts it: a process of its own, without a key, in an empty folder."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
START_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A running preview: the address that it printed, and the folder that its tools see."""

    url: str
    project: Path


@asynccontextmanager
async def preview(folder: Path) -> AsyncIterator[Preview]:
    """The preview on a free port with everything in `folder`, until the end of the block."""
    with (folder / "preview.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "preview", "--port", "0", "--data", str(folder / "data")),
            cwd=folder,
            env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    try:
        async with asyncio.timeout(START_S):
            said = "".join([await _line(process) for _ in range(2)])
        found = re.fullmatch(r"Open (\S+)\nThe file tools see (\S+)\n", said)
        assert found, f"{said}\n{(folder / 'preview.log').read_text()}"
        yield Preview(url=found[1], project=Path(found[2]))
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def _line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode()
