"""The Stop button on a running turn's newest message."""

from __future__ import annotations

import re
from typing import Any

import discord
from discord.ui import Button, DynamicItem, View

from bot.desk import desk_of
from bot.views.answering import answered


class StopButton(DynamicItem[Button[View]], template=r"stop:(?P<turn>[0-9]{1,20}):(?P<user>[0-9]{1,20})"):
    """Ends the turn. Its custom id was written by the bot itself, so the requester in it can be trusted."""

    def __init__(self, turn: str, user: str) -> None:
        super().__init__(
            Button(label="Stop", emoji="⏹️", style=discord.ButtonStyle.secondary, custom_id=f"stop:{turn}:{user}")
        )
        self.turn = turn
        self.user = user

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> StopButton:
        del interaction, item
        return cls(match["turn"], match["user"])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        await answered(interaction, desk_of(interaction).stop_turn(interaction, self.turn, self.user))
