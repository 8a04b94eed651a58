"""An error in a command is one sentence for the person and a line in the log."""

from __future__ import annotations

from typing import Any

import discord
import structlog
from discord import app_commands

from bot.render.outbox import NO_PINGS
from bot.views.answering import SORRY

_log = structlog.get_logger()


class CountersignTree(app_commands.CommandTree[Any]):
    """The tree of slash commands, which answers its errors."""

    async def on_error(self, interaction: discord.Interaction[Any], error: app_commands.AppCommandError, /) -> None:
        sentence = sentence_for(error)
        if sentence == SORRY:
            _log.error("command_failed", exc_info=error)
        try:
            if interaction.response.is_done():
                await interaction.followup.send(sentence, ephemeral=True, allowed_mentions=NO_PINGS)
            else:
                await interaction.response.send_message(sentence, ephemeral=True, allowed_mentions=NO_PINGS)
        except discord.HTTPException as failure:
            _log.info("interaction_not_answered", code=failure.code, status=failure.status)


def sentence_for(error: app_commands.AppCommandError) -> str:
    """What the person is told."""
    match error:
        case app_commands.CommandNotFound() | app_commands.CommandSignatureMismatch():
            return "This command has changed. Restart Discord to see how it is now."
        case app_commands.CheckFailure():
            return str(error) or "You may not use this command here."
        case app_commands.TransformerError():
            return f"I cannot read {error.value!r} as a value for this command."
        case _:
            return SORRY
