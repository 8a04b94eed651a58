"""The tools that act on Discord, or read it: one module a tool, of the tool's name, found by looking at the folder.

A module `x.py` here exports `tools(deps)`; one whose name starts with `_` is shared code. Whatever a tool names has to
be in the channel where its turn runs, and neither the bot nor the person who asked may lack the right to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import discord

from bot.discord_tools._delivery import ReminderDelivery
from bot.discord_tools._download import Downloads
from pipeline.memory import ShortTermMemory
from pipeline.reminders import Reminders
from tools.base import Tool
from tools.stash import ContextStash

__all__ = ["DiscordDeps", "Downloads", "ReminderDelivery", "discord_tools", "names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordDeps:
    """What these tools need from outside. `wake` is called when there is a reminder more or less."""

    client: discord.Client
    downloads: Downloads
    stash: ContextStash
    memory: ShortTermMemory
    reminders: Reminders
    wake: Callable[[], None]


def names() -> tuple[str, ...]:
    """The names of these tools, known without a client."""
    return tuple(found.name for found in iter_modules(__path__) if not found.name.startswith("_"))


def discord_tools(deps: DiscordDeps) -> tuple[Tool[Any], ...]:
    """The tools of every module of this package, in order of the modules' names."""
    return tuple(tool for name in names() for tool in import_module(f"{__name__}.{name}").tools(deps))
