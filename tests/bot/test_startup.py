"""What an operator reads when the bot cannot start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from bot.__main__ import main
from bot.client import CountersignClient, StartupError, point_at


@asynccontextmanager
async def answering(status: int) -> AsyncIterator[str]:
    """A server that answers every request with `status`; the API address of it."""

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"message": "no", "code": 0}, status=status)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/api/v10"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("port", ["65536", "9" * 400, "9" * 5000, "-1", "many"])
def test_a_port_that_is_none_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str], port: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["preview", f"--port={port}"])
    assert ended.value.code == 2
    assert "--port: it must be a whole number 0..65535" in capsys.readouterr().err


async def start(api_base: str, folder: Path) -> None:
    point_at(api_base)
    client = CountersignClient(commands_file=folder / "commands")
    try:
        await client.serve("MTIz.abc.def")
    finally:
        await client.close()


async def test_a_refused_token_names_its_variable(tmp_path: Path) -> None:
    async with answering(401) as api_base:
        with pytest.raises(StartupError, match="DISCORD_TOKEN"):
            await start(api_base, tmp_path)


async def test_an_unreachable_discord_is_named_by_its_address(tmp_path: Path) -> None:
    async with answering(200) as api_base:
        pass
    with pytest.raises(StartupError, match=r"127\.0\.0\.1"):
        await start(api_base, tmp_path)


async def test_a_discord_that_fails_is_one_sentence(tmp_path: Path) -> None:
    async with answering(403) as api_base:
        with pytest.raises(StartupError, match="answered with an error"):
            await start(api_base, tmp_path)
