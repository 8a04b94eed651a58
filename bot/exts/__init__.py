"""What people can do in Discord, one module for each thing. A module exports `cogs(parts)`; adding one is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

import discord
from discord.ext import commands

from bot.desk import Desk
from bot.inbound import Admission
from bot.render.outbox import Outbox
from bot.render.pacer import Pacer
from bot.render.sink import DiscordSink
from pipeline.cost import Money
from pipeline.journal import Conversations
from pipeline.policy import ToolPolicies
from pipeline.provider import ProviderCatalog
from pipeline.results import PassUsage
from pipeline.runtime import ChannelRuntime
from tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the extensions work on. `limits` maps the name of each limit to its value, `price` sums usage up in money,
    `now` is epoch seconds; messages younger than `catch_up_max_age_s` are answered after a start (0: none)."""

    client: discord.Client
    runtime: ChannelRuntime
    sink: DiscordSink
    desk: Desk
    outbox: Outbox
    pacer: Pacer
    conversations: Conversations
    catalog: ProviderCatalog
    tools: ToolRegistry
    policies: ToolPolicies
    admission: Admission
    limits: Mapping[str, str]
    price: Callable[[Iterable[PassUsage]], Money]
    now: Callable[[], float]
    catch_up_max_age_s: float = 600.0


def all_cogs(parts: Parts) -> tuple[commands.Cog, ...]:
    """The cogs of every module in this package."""
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    return tuple(cog for module in modules if hasattr(module, "cogs") for cog in module.cogs(parts))
