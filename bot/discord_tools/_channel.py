"""The channel of a call, and who may do what in it; what Discord refuses, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import aiohttp
import discord

from tools.base import ToolContext, ToolError
from tools.output import visible

Channel = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread | discord.DMChannel
_KINDS = (discord.TextChannel, discord.VoiceChannel, discord.StageChannel, discord.Thread, discord.DMChannel)
_UNKNOWN_EMOJI = 10014  # https://discord.com/developers/docs/topics/opcodes-and-status-codes#json


@contextmanager
def explained(what: str) -> Iterator[None]:
    """What Discord refuses in this block becomes a ToolError about `what`."""
    try:
        yield
    except discord.NotFound as error:
        raise ToolError(f"there is no {what} in this channel, or not any more") from error
    except discord.Forbidden as error:
        raise ToolError(f"Discord does not let the bot do this ({visible(error.text)}); {_WHO_CAN}") from error
    except discord.HTTPException as error:
        if error.code == _UNKNOWN_EMOJI:
            raise ToolError("there is no such emoji that the bot can use") from error
        raise ToolError(f"Discord refused ({error.status}: {visible(error.text)})") from error
    except (aiohttp.ClientError, OSError) as error:
        raise ToolError("Discord cannot be reached now; try again in a moment") from error


async def open_channel(
    client: discord.Client, ctx: ToolContext, *, bot: Iterable[str] = (), person: Iterable[str] = ()
) -> Channel:
    """The channel where the call's turn runs.

    `bot` and `person` name the rights (attributes of `discord.Permissions`) that the bot and whoever asked need there,
    beside seeing it. They are looked up now, because they may have changed since the message. Raises ToolError that
    says who lacks what and who can change it.
    """
    with explained("channel"):
        channel = client.get_channel(int(ctx.channel_id)) or await client.fetch_channel(int(ctx.channel_id))
    if not isinstance(channel, _KINDS):
        raise ToolError("this does not work in this kind of channel")
    if isinstance(channel, discord.DMChannel):  # nobody is there but the two, and they have all rights they need
        return channel if channel.recipients else await _fetched(client, channel)
    if lacking := _lacking(channel, channel.guild.me, bot):
        raise ToolError(f"the bot has no right to {lacking} in this channel; {_WHO_CAN}")
    member = await member_of(channel, int(ctx.user_id))
    if not isinstance(member, discord.Member):
        raise ToolError("the person who asked does not see this channel any more")
    if lacking := _lacking(channel, member, person):
        raise ToolError(f"the person who asked has no right to {lacking} in this channel, so it is not done for them")
    return channel


async def _fetched(client: discord.Client, channel: discord.DMChannel) -> discord.DMChannel:
    """The same channel with the person in it, whom the client does not always know."""
    with explained("channel"):
        fetched = await client.fetch_channel(channel.id)
    return fetched if isinstance(fetched, discord.DMChannel) else channel


async def member_of(channel: Channel, user: int) -> discord.Member | discord.User | None:
    """Somebody who sees this channel; None when they do not."""
    if isinstance(channel, discord.DMChannel):
        return next((known for known in (*channel.recipients, channel.me) if known.id == user), None)  # type: ignore[return-value]
    try:
        with explained("such person"):
            member = await channel.guild.fetch_member(user)
    except ToolError as error:
        if isinstance(error.__cause__, discord.NotFound):
            return None
        raise
    sees = channel.permissions_for(member).view_channel
    if sees and isinstance(channel, discord.Thread) and channel.is_private():
        sees = channel.permissions_for(member).manage_threads or await _is_in(channel, user)
    return member if sees else None


async def _is_in(thread: discord.Thread, user: int) -> bool:
    try:
        await thread.fetch_member(user)
    except discord.NotFound:
        return False
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        raise ToolError("Discord does not say who is in this thread; try again in a moment") from error
    return True


def _lacking(
    channel: discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread,
    member: discord.Member,
    rights: Iterable[str],
) -> str:
    """The rights that `member` lacks, as Discord's settings call them."""
    granted = channel.permissions_for(member)
    return ", ".join(
        right.replace("_", " ").title() for right in ("view_channel", *rights) if not getattr(granted, right)
    )


_WHO_CAN = "somebody who manages this server can give it in the channel's settings"
