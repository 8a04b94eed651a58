"""Answering an interaction in time. Discord wants to hear something within three seconds."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
import structlog
from discord.ui import View

from bot.render.outbox import NO_PINGS
from bot.render.text import clip

_log = structlog.get_logger()

PATIENCE_S = 1.5
SORRY = "Something went wrong inside the bot. Try again; the operator finds the details in its log."


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the person is told: ephemeral unless the channel needs to know. `file` is (name, text) of an attachment.

    `used_up`: the button that was pressed has done its work and goes.
    """

    text: str = ""
    embeds: tuple[discord.Embed, ...] = ()
    public: bool = False
    file: tuple[str, str] | None = None
    used_up: bool = False


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
    if said.used_up:
        await _take_away_the_button(interaction)
        if not said.text:
            return
    files = [] if said.file is None else [discord.File(io.BytesIO(said.file[1].encode()), said.file[0])]
    content = clip(said.text, 2000)
    if interaction.response.is_done():
        await interaction.followup.send(
            content or discord.utils.MISSING,
            embeds=said.embeds,
            files=files,
            ephemeral=not said.public,
            allowed_mentions=NO_PINGS,
        )
    else:
        await interaction.response.send_message(
            content or None,
            embeds=said.embeds,
            files=files,
            ephemeral=not said.public,
            allowed_mentions=NO_PINGS,
        )


async def _take_away_the_button(interaction: discord.Interaction[Any]) -> None:
    """Edit the message of a press: it keeps its other buttons."""
    if interaction.message is None or interaction.data is None:
        return
    pressed, view = interaction.data.get("custom_id"), View.from_message(interaction.message, timeout=None)
    for item in view.children:
        if getattr(item, "custom_id", None) == pressed:
            view.remove_item(item)
    view.stop()  # its other buttons are answered by their custom ids, not by this view
    if interaction.response.is_done():
        await _quietly(interaction.edit_original_response(view=view))
    else:
        await _quietly(interaction.response.edit_message(view=view))


async def _quietly(request: Coroutine[Any, Any, object]) -> None:
    """An interaction that cannot be answered any more is no error of the bot."""
    try:
        await request
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        _log.info("interaction_not_answered", why=str(error))
