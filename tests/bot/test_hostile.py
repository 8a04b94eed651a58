"""Hostile input on its way to people, and secrets on their way to a log."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot import app
from bot.app import build_app
from bot.client import StartupError
from bot.doctor import report
from bot.render.activity import short_arguments
from bot.render.exact import exact_json
from bot.settings import load_settings

_LOGGING = """
import sys
from bot import logs

class Terminal:
    def write(self, text): return sys.__stdout__.write(text)
    def flush(self): sys.__stdout__.flush()
    def isatty(self): return True

sys.stderr = Terminal()
logs.configure()
import structlog

def call(key):
    raise ValueError("no")

try:
    call("sk-" + "very-secret")
except ValueError:
    structlog.get_logger().exception("turn_failed")
"""


@pytest.mark.parametrize("depth", [10, 400, 990, 5000, 100_000])
def test_arguments_of_any_depth_can_be_drawn(depth: int) -> None:
    deep = '{"a": ' + "[" * depth + "]" * depth + "}"
    assert len(short_arguments(deep)) <= 80
    assert exact_json(deep, compact=True).count("[") == depth


def test_an_error_on_a_terminal_is_logged_without_the_values_of_variables() -> None:
    shown = subprocess.run([sys.executable, "-c", _LOGGING], capture_output=True, text=True, check=True).stdout
    assert "turn_failed" in shown
    assert "ValueError: no" in shown
    assert "very-secret" not in shown


def test_passwords_in_addresses_are_no_part_of_the_report(tmp_path: Path) -> None:
    settings = load_settings(
        {
            "DISCORD_API_BASE": "https://me:hunter2@proxy.example/api/v10",
            "PROVIDERS__A__KIND": "openai_compat",
            "PROVIDERS__A__BASE_URL": "http://127.0.0.1:1/v1?key=hunter2",
            "PROVIDERS__A__MODEL": "m",
            "PROVIDERS__B__KIND": "openai_compat",
            "PROVIDERS__B__BASE_URL": "http://me:hunter2@127.0.0.1:1/v1",
        },
        env_file=None,
    )
    assert "hunter2" not in report(settings)


async def test_a_policy_about_a_tool_that_does_not_exist_stops_the_start(tmp_path: Path) -> None:
    settings = load_settings(
        {"DATA_DIR": str(tmp_path), "PROVIDERS__D__KIND": "demo", "TOOL_POLICIES": "wriet_file=deny"}, env_file=None
    )
    with pytest.raises(StartupError, match="wriet_file"):
        async with build_app(settings, now=time.time):
            pass


async def test_a_bot_that_is_told_to_end_while_it_starts_ends_in_peace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "CLOSE_S", 0.0)
    settings = load_settings(
        {
            "DATA_DIR": str(tmp_path),
            "DISCORD_TOKEN": "MTIz.abc.def",
            "DISCORD_API_BASE": "http://127.0.0.1:1/api/v10",
            "PROVIDERS__D__KIND": "demo",
        },
        env_file=None,
    )
    stopping = asyncio.Event()
    stopping.set()
    async with build_app(settings, now=time.time) as built:
        await built.serve(stopping)
        assert built.client.is_closed()
