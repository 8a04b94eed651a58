"""`python -m bot preview`: the Discord of `bot/preview` on this machine, and our bot in it."""

from __future__ import annotations

import asyncio
import errno
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from bot.app import build_app, stop_on_signals
from bot.client import StartupError
from bot.preview.clock import Clock, ShiftedLoop
from bot.preview.seed import SeedError
from bot.preview.server import Twin
from bot.settings import Settings, load_from_environment

SAMPLE = {
    "README.md": "# Sample project\n\nA folder for trying things out. Nothing here is precious.\n",
    "todo.txt": "water the plants\nwrite the report\n",
    "src/greet.py": 'def greet(name: str) -> str:\n    return f"Hello, {name}!"\n',
}


def preview(*, port: int, data: Path, seed: Path | None, with_bot: bool) -> int:
    """Serve until interrupted. `data` keeps the world and the bot's own files.

    Raises `StartupError` or `SettingsError` when it cannot start.
    """
    clock = Clock()
    with asyncio.Runner(loop_factory=lambda: ShiftedLoop(clock)) as runner:
        runner.run(_preview(clock, port, data, _read_seed(seed), with_bot))
    return 0


async def _preview(clock: Clock, port: int, data: Path, seed: Mapping[str, Any] | None, with_bot: bool) -> None:
    stopping = asyncio.Event()
    stop_on_signals(stopping)
    async with AsyncExitStack() as stack:
        twin = await _start_twin(stack, clock, port, data, seed)
        if not with_bot:
            _say(f"Discord is at {twin.url}", "Point a bot at it with:", *_exports(twin))
            await stopping.wait()
            return
        settings = preview_settings(twin, data)
        app = await stack.enter_async_context(build_app(settings, now=clock.time))
        _say(f"Open {twin.url}", *_about(settings))
        await app.serve(stopping)


async def _start_twin(
    stack: AsyncExitStack, clock: Clock, port: int, data: Path, seed: Mapping[str, Any] | None
) -> Twin:
    try:
        twin = Twin(data_dir=data / "discord", seed=seed, clock=clock)
        await twin.start(port=port)
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise StartupError(
                f"Port {port} cannot be used: choose another with --port (and --data, if a preview runs already)."
            ) from error
        raise StartupError(f"{error.strerror}.") from error
    except SeedError as error:
        raise StartupError(str(error)) from error
    stack.push_async_callback(twin.close)
    return twin


def preview_settings(twin: Twin, data: Path) -> Settings:
    """The operator's settings, pointed at `twin` and at files of the preview's own.

    Without a provider the demo model answers; without a folder the tools see a sample one.
    """
    own = load_from_environment()
    overrides = {
        "DISCORD_TOKEN": twin.token,
        "DISCORD_API_BASE": twin.api_base,
        "DISCORD_GATEWAY_URL": twin.gateway_url,
        "DATA_DIR": str(data / "bot"),
        "DATABASE_URL": f"sqlite:///{data / 'bot' / 'countersign.db'}",
    }
    if own.origin("APPROVERS") == "default":
        overrides["APPROVERS"] = ",".join(["manage_guild", *_approver_roles(twin)])
    if not own.providers:
        overrides["PROVIDERS__DEMO__KIND"] = "demo"
        overrides["MODEL_CHAIN"] = "demo/demo,demo/demo-2"
    if not own.projects:
        overrides["PROJECTS__SAMPLE__PATH"] = str(_sample_folder(data))
    return load_from_environment(**overrides)


def _approver_roles(twin: Twin) -> Iterator[str]:
    return (str(role.id) for role in twin.backend.world.roles if role.name == "Approver")


def _sample_folder(data: Path) -> Path:
    folder = data / "sample"
    if not folder.exists():
        for name, text in SAMPLE.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return folder.resolve()


def _read_seed(path: Path | None) -> Mapping[str, Any] | None:
    if path is None:
        return None
    try:
        seed: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StartupError(f"The seed {path} cannot be read: {error}.") from error
    return seed


def _exports(twin: Twin) -> tuple[str, ...]:
    values = {
        "DISCORD_TOKEN": twin.token,
        "DISCORD_API_BASE": twin.api_base,
        "DISCORD_GATEWAY_URL": twin.gateway_url,
    }
    return tuple(f"export {name}={value}" for name, value in values.items())


def _about(settings: Settings) -> Iterator[str]:
    folders = ", ".join(str(project.path) for project in settings.projects.values())
    yield f"The file tools see {folders}"
    model = settings.models[0]
    if settings.providers[model.provider].kind == "demo":
        yield "No provider key is set, so a demo model answers. Try: @Countersign what is in this folder?"
    yield "Stop with Ctrl+C."


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
