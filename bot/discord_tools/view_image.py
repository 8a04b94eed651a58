"""Show the model pictures of the channel: attachments of earlier messages, and avatars."""

from __future__ import annotations

import base64
import re

import discord
from pydantic import Field

from bot.discord_tools import DiscordDeps
from bot.discord_tools._channel import Channel, open_channel
from bot.discord_tools._find import attachments_of, person_of
from bot.discord_tools._ids import Reference
from bot.inbound import IMAGE_TYPES, MAX_IMAGE_BYTES
from bot.render.text import one_line
from tools.base import (
    ContextItem,
    ContextRestart,
    Picture,
    Tool,
    ToolArguments,
    ToolContext,
    ToolError,
    ToolResult,
    define_tool,
)

MAX_PICTURES = 4
AVATAR_SIZE = 512
_AVATAR = re.compile(r"avatar of\s+(.+)", re.IGNORECASE)
_MAGIC = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


class Arguments(ToolArguments):
    pictures: list[Reference] = Field(
        min_length=1,
        max_length=3,
        description=(
            'What to look at: a handle such as "file_1" or "ref_3", the id of a message or an attachment of this '
            'channel, or "avatar of " and a person\'s id, mention or name.'
        ),
    )


def _sniffed(data: bytes) -> str | None:
    """The media type that the bytes themselves say; None for what models do not see."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)


def tools(deps: DiscordDeps) -> tuple[Tool[Arguments]]:
    async def addresses(channel: Channel, ctx: ToolContext, name: str) -> list[tuple[str, str]]:
        """(what it is, where it lies) of each picture that `name` stands for."""
        if avatar := _AVATAR.fullmatch(name.strip()):
            person = await person_of(channel, ctx, avatar[1])
            return [(f"avatar of {one_line(person.display_name, 80) or 'somebody'}", _avatar_url(person))]
        found = await attachments_of(channel, ctx, name)
        pictures = [each for each in found if (each.content_type or "").partition(";")[0].lower() in IMAGE_TYPES]
        if not pictures:
            raise ToolError(
                f"{one_line(found[0].filename, 100)} is no picture (PNG, JPEG, GIF, WebP); see read_attachment"
            )
        return [(one_line(each.filename, 100), each.url) for each in pictures]

    async def picture(what: str, url: str) -> Picture:
        data = await deps.downloads.get(url, max_bytes=MAX_IMAGE_BYTES)
        kind = _sniffed(data)
        if kind is None:
            raise ToolError(f"{what} is not what it is called: no PNG, JPEG, GIF or WebP")
        return Picture(media_type=kind, data=base64.b64encode(data).decode())

    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        rights = ("read_message_history",)
        channel = await open_channel(deps.client, ctx, bot=rights, person=rights)
        wanted = dict.fromkeys([found for name in args.pictures for found in await addresses(channel, ctx, name)])
        shown = list(wanted)[:MAX_PICTURES]
        pictures = [await picture(what, url) for what, url in shown]
        listed = "; ".join(f"{number}. {what}" for number, (what, _) in enumerate(shown, 1))
        item = ContextItem(text=f"[pictures that were asked for: {listed}]", pictures=tuple(pictures))
        left_out = f" {len(wanted) - len(shown)} more were left out." if len(wanted) > len(shown) else ""
        return ToolResult(
            content=f"You see from now on: {listed}.{left_out}",
            restart=ContextRestart(kind="image", key=deps.stash.put(item)),
        )

    return (
        define_tool(
            name="view_image",
            description=(
                "Look at pictures that were posted in this channel earlier, or at somebody's avatar. Works once for a "
                "message: name all that you want to see."
            ),
            arguments=Arguments,
            run=run,
            idempotent=True,
            once_a_turn=True,
            needs_sight=True,
            subject="image",
        ),
    )


def _avatar_url(person: discord.Member | discord.User) -> str:
    asset = person.display_avatar
    own = person.avatar is not None or (isinstance(person, discord.Member) and person.guild_avatar is not None)
    return (asset.replace(size=AVATAR_SIZE, static_format="png") if own else asset).url
