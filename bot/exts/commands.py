"""The slash commands. Each acknowledges in time and answers the person alone, unless the channel needs to know.

Everybody who may start a turn may use them; `/stop` is for the person who asked, approvers and moderators. A server can
narrow each command further under Server Settings, Integrations.
"""

from __future__ import annotations

from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

from bot.exts import Parts
from bot.exts.controls import Controls
from bot.views.answering import Said, answered

_NOT_ADMITTED = "You need one of the roles that the operator named in `ALLOWED_ROLES` to use this here."


class Commands(commands.Cog):
    """The commands, as Discord shows them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._controls = Controls(parts)

    async def interaction_check(self, interaction: discord.Interaction[Any], /) -> bool:
        if not self._parts.admission.admits(interaction.user):
            raise app_commands.CheckFailure(_NOT_ADMITTED)
        return True

    @app_commands.command(description="Forget the conversation of this channel")
    async def clear(self, interaction: discord.Interaction[Any]) -> None:
        await answered(interaction, self._controls.clear(_channel(interaction)))

    @app_commands.command(description="Show or choose the model of this channel")
    @app_commands.describe(name="provider/model; leave it out to see what there is")
    async def model(self, interaction: discord.Interaction[Any], name: str = "") -> None:
        await answered(interaction, self._controls.model(_channel(interaction), name.strip()))

    @model.autocomplete("name")
    async def _model_names(self, _: discord.Interaction[Any], typed: str) -> list[app_commands.Choice[str]]:
        names = [name for name in self._parts.catalog.choices() if typed.lower() in name.lower() and len(name) <= 100]
        return [app_commands.Choice(name=name, value=name) for name in names[:25]]

    @app_commands.command(description="Show or set what the model is told in this channel")
    @app_commands.describe(text="the instructions; - takes them away; leave it out to see them")
    async def system(self, interaction: discord.Interaction[Any], text: str = "") -> None:
        await answered(interaction, self._controls.system(_channel(interaction), text.strip()))

    @app_commands.command(description="Tokens and money spent in this channel")
    async def cost(self, interaction: discord.Interaction[Any]) -> None:
        await answered(interaction, self._controls.cost(_channel(interaction)))

    @app_commands.command(description="End what is running in this channel")
    async def stop(self, interaction: discord.Interaction[Any]) -> None:
        await answered(interaction, self._stop(interaction))

    @app_commands.command(description="What the model can use, and what asks first")
    async def tools(self, interaction: discord.Interaction[Any]) -> None:
        await answered(interaction, _at_once(self._controls.tools()))

    @app_commands.command(description="The limits that are set")
    async def limits(self, interaction: discord.Interaction[Any]) -> None:
        await answered(interaction, _at_once(self._controls.limits()))

    @app_commands.command(description="How this works")
    async def help(self, interaction: discord.Interaction[Any]) -> None:
        await answered(interaction, _at_once(self._controls.help()))

    async def _stop(self, interaction: discord.Interaction[Any]) -> Said:
        channel = _channel(interaction)
        requester = self._parts.runtime.requester(channel)
        if requester is None:
            return Said(text="Nothing is running here.")
        if not self._parts.desk.may_stop(interaction, requester):
            return Said(text=self._parts.desk.who_may_stop(requester))
        user = interaction.user
        stopped = await self._parts.runtime.stop(channel, by=str(user.id), name=user.display_name)
        return Said(text="Stopped." if stopped else "Nothing is running here.")


def _channel(interaction: discord.Interaction[Any]) -> str:
    return str(interaction.channel_id)


async def _at_once(said: Said) -> Said:
    return said


def cogs(parts: Parts) -> tuple[commands.Cog, ...]:
    return (Commands(parts),)
