"""The Discord client: what it is allowed to see, its buttons, its commands, and errors at start in one sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import aiohttp
import discord
import orjson
import structlog
import yarl
from discord import app_commands
from discord.ext import commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.desk import Desk
from bot.exts.errors import CountersignTree
from bot.render.outbox import NO_PINGS
from bot.render.sink import DiscordSink
from bot.settings_text import value_text
from bot.views.answering import answered
from bot.views.approval import DecisionButton, ReasonButton, reason_of
from bot.views.offers import OfferButton
from bot.views.stop import StopButton
from pipeline.records import Verdict

_log = structlog.get_logger()


class StartupError(Exception):
    """The bot cannot start; the message is one sentence for the operator."""


def point_at(api_base: str, gateway_url: str = "") -> None:
    """Have every client of this process talk to another Discord: a REST proxy, or the one of the preview.

    `api_base` includes `/api/v10`. discord.py keeps these addresses in its classes; they are set nowhere else.
    """
    Route.BASE = api_base.rstrip("/")
    if gateway_url:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url)
        discord.Asset.BASE = str(yarl.URL(api_base).origin() / "cdn")


def intents() -> discord.Intents:
    """Guilds, messages and their content: no members, no presences."""
    wanted = discord.Intents.none()
    wanted.guilds = True
    wanted.guild_messages = True
    wanted.dm_messages = True
    wanted.message_content = True
    return wanted


class CountersignClient(commands.AutoShardedBot):
    """discord.py's client with our parts. `commands_file` remembers which commands Discord has been told of."""

    def __init__(self, *, commands_file: Path, guild_ready_timeout: float = 2.0) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # there is no voice here to warn about
        super().__init__(
            command_prefix=(),
            help_command=None,
            tree_cls=CountersignTree,
            intents=intents(),
            allowed_mentions=NO_PINGS,
            guild_ready_timeout=guild_ready_timeout,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
        )
        self._commands_file = commands_file
        self._desk: Desk | None = None
        self._sink: DiscordSink | None = None
        self._cogs_to_add: tuple[commands.Cog, ...] = ()
        self._on_login: Callable[[], Awaitable[object]] | None = None

    def bind(
        self,
        *,
        desk: Desk,
        sink: DiscordSink,
        cogs: Iterable[commands.Cog],
        on_login: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Give the client what it serves; once, before `serve`. `on_login` is awaited before any event arrives."""
        self._desk, self._sink, self._cogs_to_add, self._on_login = desk, sink, tuple(cogs), on_login

    @property
    def desk(self) -> Desk:
        if self._desk is None:
            raise RuntimeError("the client is used before it is bound")
        return self._desk

    async def serve(self, token: str) -> None:
        """Run until `close`. Raises StartupError when Discord cannot be reached or does not let the bot in."""
        try:
            await self.start(token)
        except discord.LoginFailure as error:
            raise StartupError(
                "Discord refused the token: check DISCORD_TOKEN (developer portal, page Bot)."
            ) from error
        except discord.PrivilegedIntentsRequired as error:
            raise StartupError(
                "Discord does not let this bot read messages: switch on the Message Content Intent in the developer "
                "portal (page Bot, Privileged Gateway Intents)."
            ) from error
        except (aiohttp.ClientError, discord.GatewayNotFound, OSError) as error:
            raise StartupError(f"Discord cannot be reached at {value_text(Route.BASE)}: {error}.") from error
        except (discord.ConnectionClosed, discord.HTTPException) as error:
            raise StartupError(f"Discord answered with an error: {error}.") from error

    async def setup_hook(self) -> None:
        self.add_dynamic_items(DecisionButton, ReasonButton, StopButton, OfferButton)
        for cog in self._cogs_to_add:
            await self.add_cog(cog)
        await self._sync_commands()
        if self._on_login is not None:
            await self._on_login()

    async def on_ready(self) -> None:
        _log.info("online", user=str(self.user), guilds=len(self.guilds))

    async def _sync_commands(self) -> None:
        """Tell Discord about the commands, but only when they differ from what it was last told."""
        payload = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        about = [Route.BASE, str(self.application_id), sorted(payload, key=lambda command: str(command["name"]))]
        told = sha256(orjson.dumps(about, option=orjson.OPT_SORT_KEYS)).hexdigest()
        if self._commands_file.exists() and self._commands_file.read_text() == told:
            return
        try:
            await self.tree.sync()
        except (discord.HTTPException, app_commands.CommandSyncFailure) as error:
            _log.warning("commands_not_synced", why=str(error))
            return
        self._commands_file.parent.mkdir(parents=True, exist_ok=True)
        self._commands_file.write_text(told)

    async def on_message(self, message: discord.Message, /) -> None:
        """Nothing: the chat listens for itself, and there are no prefix commands."""

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """A submitted reason, told by its custom id, so that it counts after a restart too."""
        submitted = reason_of(interaction)
        if submitted is not None:
            approval, reason = submitted
            verdict = Verdict.DENY_WITH_REASON if reason else Verdict.DENY
            await answered(interaction, self.desk.decide(interaction, approval, verdict, reason))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        if self._sink is not None:
            self._sink.message_deleted(str(payload.message_id))

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        if self._sink is not None:
            for message in payload.message_ids:
                self._sink.message_deleted(str(message))
