"""`python -m bot run | preview | doctor`. An error at start is one sentence and exit code 2."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from bot import doctor, logs
from bot.app import build_app, stop_on_signals
from bot.client import StartupError
from bot.preview_command import preview
from bot.settings import Settings, SettingsError, load_from_environment


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code: 0 for an orderly end, 2 for an error that a person can mend."""
    options = _parser().parse_args(arguments)
    logs.configure(verbose=options.verbose)
    try:
        match options.command:
            case "doctor":
                return _doctor(load_from_environment())
            case "preview":
                return preview(port=options.port, data=options.data, seed=options.seed, with_bot=not options.no_bot)
            case _:
                return _run(load_from_environment())
    except SettingsError as error:
        return _fail(*error.sentences)
    except StartupError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bot", description="Countersign, a Discord bot.")
    parser.add_argument("--verbose", action="store_true", help="log more")
    commands = parser.add_subparsers(dest="command", metavar="run | preview | doctor")
    commands.add_parser("run", help="connect to Discord (the default)")
    commands.add_parser("doctor", help="say what is configured, without connecting")
    show = commands.add_parser("preview", help="a Discord on this machine, with the bot in it")
    show.add_argument("--port", type=_port, default=8700, help="of the page (default 8700; 0: any free one)")
    show.add_argument("--data", type=Path, default=Path("data/preview"), help="where its world is kept")
    show.add_argument("--seed", type=Path, help="JSON with guilds, channels, members and roles for a new world")
    show.add_argument("--no-bot", action="store_true", help="the Discord alone; prints what to export for a bot")
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65_535):
        raise argparse.ArgumentTypeError("it must be a whole number 0..65535")
    return int(text)


def _doctor(settings: Settings) -> int:
    sys.stdout.write(doctor.report(settings))
    return 2 if doctor.missing(settings) else 0


def _run(settings: Settings) -> int:
    if missing := doctor.missing(settings):
        return _fail(*missing)
    asyncio.run(_serve(settings))
    return 0


async def _serve(settings: Settings) -> None:
    stopping = asyncio.Event()
    stop_on_signals(stopping)
    async with build_app(settings, now=time.time) as app:
        await app.serve(stopping)


def _fail(*sentences: str) -> int:
    sys.stderr.write("\n".join(sentences) + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
