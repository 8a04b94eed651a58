"""The process behind search_files: what it refuses, and that it never outlives the call."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.tools.conftest import Project
from tools.builtin import Deps, _find, builtin_tools
from tools.registry import ToolRegistry


@pytest.fixture
def pid_pipe(project: Project, tmp_path: Path) -> Path:
    """In the place of ripgrep a program that answers one hit, writes its pid to the pipe, and never ends."""
    pipe, program = tmp_path / "pid", tmp_path / "rg"
    os.mkfifo(pipe)
    program.write_text(f"#!/bin/sh\nprintf 'a.txt\\0001:0:\\n'\necho $$ > {pipe}\nexec sleep 1000\n")
    program.chmod(0o755)
    project.write("a.txt", "needle\n")
    project.registry = ToolRegistry(builtin_tools(Deps(ripgrep=program)))
    return pipe


@pytest.mark.parametrize(("query", "words"), [("(", "unclosed group"), (r"a\n", "not allowed"), ("(?P<", "error")])
async def test_a_bad_regular_expression_is_explained(project: Project, query: str, words: str) -> None:
    assert words in await project.refused("search_files", json.dumps({"query": query, "regex": True}))


async def test_a_bad_glob_is_explained(project: Project) -> None:
    assert "unclosed character class" in await project.refused("search_files", '{"query":"a","glob":"["}')


async def test_a_hostile_regular_expression_ends(project: Project) -> None:
    project.write("a.txt", "a" * 5000 + "!\n")
    assert await project.ok("search_files", '{"query":"(a+)+$","regex":true}') == "(no matches)"


async def test_a_cancel_kills_the_process(project: Project, pid_pipe: Path) -> None:
    call = asyncio.create_task(project.call("search_files", '{"query":"needle"}'))
    pid = int(await asyncio.to_thread(pid_pipe.read_text))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_search_that_takes_too_long_shows_what_it_has(
    project: Project, pid_pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts: list[asyncio.Timeout] = []
    hit_arrived = asyncio.Event()
    make, parse = asyncio.timeout, _find._parse

    def remembered(delay: float) -> asyncio.Timeout:
        timeouts.append(make(delay))
        return timeouts[-1]

    def parsed(output: bytes) -> tuple[list[_find.Hit], bytes]:
        hit_arrived.set()
        return parse(output)

    monkeypatch.setattr(asyncio, "timeout", remembered)
    monkeypatch.setattr(_find, "_parse", parsed)
    call = asyncio.create_task(project.call("search_files", '{"query":"needle"}'))
    pid = int(await asyncio.to_thread(pid_pipe.read_text))
    await hit_arrived.wait()
    timeouts[0].reschedule(asyncio.get_running_loop().time())  # time is up
    assert (await call).content == "a.txt:1: needle\n[stopped after 20 s; narrow the search with path or glob]"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
