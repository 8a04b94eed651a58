"""What an operator reads when the program cannot start: one sentence, exit code 2, no traceback."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.preview.server import Twin
from tests.support.bot_process import MakeBot, run_program
from tests.support.control import ControlClient
from tests.support.minds import Mind
from tests.support.stage import bot_environment
from tests.support.twin import MakeTwin


@pytest.fixture
async def settings(make_twin: MakeTwin, tmp_path: Path, demo: Mind) -> dict[str, str]:
    """Settings with which the bot would start."""
    twin: Twin = await make_twin()
    async with ControlClient(twin.url) as control:
        return bot_environment(twin, await control.world(), tmp_path) | demo.environment()


async def one_sentence(*arguments: str, folder: Path, environment: Mapping[str, str]) -> str:
    """What the program says when it gives up."""
    code, said = await run_program(*arguments, folder=folder, environment=environment)
    lines = said.strip().splitlines()
    assert code == 2, said
    assert len(lines) == 1, said
    return lines[0]


@pytest.mark.parametrize(
    ("without", "says"),
    [
        ("DISCORD_TOKEN", "DISCORD_TOKEN is not set"),
        ("PROVIDERS__DEMO__KIND", "No provider is configured"),
        ("PROJECTS__SAMPLE__PATH", "No folder is configured"),
    ],
)
async def test_a_setting_that_is_missing_is_named(
    settings: dict[str, str], tmp_path: Path, without: str, says: str
) -> None:
    del settings[without]
    assert says in await one_sentence("run", folder=tmp_path, environment=settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PROJECTS__SAMPLE__PATH", "nowhere/at/all"),
        ("MAX_QUEUED_MESSAGES", "many"),
        ("PROVIDERS__DEMO__KIND", "llama"),
        ("PROVIDERS__DEMO__MODLE", "x"),
        ("DISCORD_API_BASE", "http://example.com/api/v10"),
        ("STREAM_SDK_CALL_TIMEOUT_MS", "9" * 400),
        ("DISCORD_TOKEN", "your-token-here"),
        ("DATA_DIR", "/dev/null/data"),
    ],
)
async def test_a_value_that_cannot_be_used_is_named(
    settings: dict[str, str], tmp_path: Path, name: str, value: str
) -> None:
    assert name in await one_sentence("run", folder=tmp_path, environment=settings | {name: value})


async def test_a_misspelt_setting_is_named_and_does_no_harm(settings: dict[str, str], tmp_path: Path) -> None:
    environment = settings | {"MAX_QUEUED_MESSAGE": "3"}
    code, said = await run_program("doctor", folder=tmp_path, environment=environment)
    assert code == 0
    assert "MAX_QUEUED_MESSAGE " in said
    assert "MAX_QUEUED_MESSAGES" in said


async def test_a_token_that_discord_refuses(settings: dict[str, str], tmp_path: Path) -> None:
    wrong = settings | {"DISCORD_TOKEN": "MTIz.not.mine"}
    said = await one_sentence("run", folder=tmp_path, environment=wrong)
    assert "DISCORD_TOKEN" in said
    assert "MTIz.not.mine" not in said


async def test_a_discord_that_cannot_be_reached(settings: dict[str, str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    unreachable = settings | {"DISCORD_API_BASE": f"http://127.0.0.1:{port}/api/v10"}
    assert f"127.0.0.1:{port}" in await one_sentence("run", folder=tmp_path, environment=unreachable)


async def test_a_port_of_the_preview_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = await one_sentence(
            "preview", "--port", port, "--data", str(tmp_path / "data"), folder=tmp_path, environment={}
        )
    assert port in said and "--port" in said


async def test_a_database_that_another_bot_uses(make_bot: MakeBot, demo: Mind, tmp_path: Path) -> None:
    bot = await make_bot(demo)
    said = await one_sentence("run", folder=tmp_path, environment=bot.environment)
    assert "countersign.db" in said
    assert bot.twin.backend.hub.online


async def test_no_approvers_is_said_at_start(make_bot: MakeBot, demo: Mind) -> None:
    bot = await make_bot(demo, APPROVERS="")
    await bot.mention("think")
    await bot.until_reply("two and two is four")
    assert "nobody can approve anything" in bot.log
