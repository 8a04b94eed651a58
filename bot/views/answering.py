"""Answering an interaction in time. Discord wants to hear something within three seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
import structlog

from bot.render.outbox import NO_PINGS
from bot.render.text import clip

_log = structlog.get_logger()

PATIENCE_S = 1.5
SORRY = "Something went wrong inside the bot. Try again; the operator finds the details in its log."


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the person is told: ephemeral unless the channel needs to know."""

    text: str = ""
    embeds: tuple[discord.Embed, ...] = ()
    public: bool = False


async def answered(interaction: discord.Interaction[Any], work: Coroutine[None, None, Said | None]) -> None:
    """Do `work` and tell the person what it says; None tells nothing. Slow work is acknowledged before it is done."""
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait([task], timeout=PATIENCE_S)
        if not done:
            is_command = interaction.type is discord.InteractionType.application_command
            await _quietly(interaction.response.defer(ephemeral=True, thinking=is_command))
        said = await _outcome(task)
        if said is not None:
            await _quietly(_tell(interaction, said))
        elif not interaction.response.is_done():
            await _quietly(interaction.response.defer())
    finally:
        task.cancel()


async def _outcome(task: asyncio.Future[Said | None]) -> Said | None:
    try:
        return await task
    except Exception:
        _log.exception("interaction_failed")
        return Said(text=SORRY)


async def _tell(interaction: discord.Interaction[Any], said: Said) -> None:
    content = clip(said.text, 2000) or discord.utils.MISSING
    if interaction.response.is_done():
        await interaction.followup.send(
            content, embeds=said.embeds, ephemeral=not said.public, allowed_mentions=NO_PINGS
        )
    else:
        await interaction.response.send_message(
            content if said.text else None, embeds=said.embeds, ephemeral=not said.public, allowed_mentions=NO_PINGS
        )


async def _quietly(request: Coroutine[Any, Any, object]) -> None:
    """An interaction that cannot be answered any more is no error of the bot."""
    try:
        await request
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        _log.info("interaction_not_answered", why=str(error))
