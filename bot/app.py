"""The composition root: every part is made and wired here, once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

import httpx
import structlog

from bot.client import CountersignClient, StartupError, point_at
from bot.deciders import Deciders
from bot.desk import Desk, DeskParts
from bot.discord_tools import DiscordDeps, Downloads, ReminderDelivery, discord_tools
from bot.doctor import limits as described_limits
from bot.doctor import unknown_policies
from bot.exts import Parts, all_cogs
from bot.inbound import Admission
from bot.limits import loop_limits, runtime_limits
from bot.providers import build_providers
from bot.render.outbox import Outbox
from bot.render.pacer import Pacer
from bot.render.sink import DiscordSink, SinkParts
from bot.settings import Settings
from pipeline.approvals import Approvers
from pipeline.cost import total
from pipeline.deliberate import DeliberateMode
from pipeline.errors import StoreError
from pipeline.events import GuardedSink
from pipeline.keys import KeyRest
from pipeline.policy import Policy, ToolPolicies
from pipeline.providers import Catalog, http_client
from pipeline.runtime import ChannelRuntime
from pipeline.stores.engine import open_store
from pipeline.stores.store import Store
from pipeline.turn import TurnDeps
from tools.builtin import Deps, builtin_tools, find_ripgrep
from tools.registry import ToolRegistry
from tools.scope import ProjectScope
from tools.stash import ContextStash

_log = structlog.get_logger()

BOT_NAME = "Countersign"
CLOSE_S = 5.0  # how long Discord's client may take to close


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """A wired bot that has not connected yet."""

    settings: Settings
    client: CountersignClient
    runtime: ChannelRuntime
    sink: DiscordSink

    async def serve(self, stopping: asyncio.Event) -> None:
        """Connect, take up what was open, and run until `stopping` is set; then drain.

        Raises `StartupError` when Discord cannot be reached or refuses the token.
        """
        token = self.settings.discord_token
        if token is None:
            raise StartupError("DISCORD_TOKEN is not set: take the bot's token from the developer portal.")
        serving = asyncio.create_task(self.client.serve(token.get_secret_value()), name="discord")
        waiting = asyncio.create_task(stopping.wait(), name="stopping")
        try:
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            ended_by_itself = serving.done()  # what fails later fails because we close
            await self._drain()
        finally:
            waiting.cancel()
            await self._close(serving)
        if ended_by_itself:
            await serving

    async def _drain(self) -> None:
        await self.runtime.drain(0.0 if self.client.is_closed() else self.settings.shutdown_grace_s)
        await self.sink.close()

    async def _close(self, serving: asyncio.Task[None]) -> None:
        await self.client.close()
        await asyncio.wait({serving}, timeout=CLOSE_S)
        serving.cancel()
        if serving.done() and not serving.cancelled() and (error := serving.exception()) is not None:
            _log.debug("closed", error=str(error))


@asynccontextmanager
async def build_app(settings: Settings, *, now: Callable[[], float]) -> AsyncIterator[App]:
    """Make and wire everything that `settings` name. Nothing connects to Discord before `serve`.

    Raises `StartupError` with one sentence when something cannot be opened.
    """
    point_at(settings.discord_api_base, settings.discord_gateway_url)
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(http_client())
        try:
            store = await stack.enter_async_context(open_store(settings.database, clock=now))
            chain = [(ref.provider, ref.model) for ref in settings.models]
            catalog = Catalog(build_providers(settings, http), chain)
            scopes = _scopes(settings)
        except (StoreError, ValueError, OSError) as error:
            raise StartupError(str(error)) from error
        yield _wire(settings, store, catalog, scopes, now, http=http)


def _wire(
    settings: Settings,
    store: Store,
    catalog: Catalog,
    scopes: dict[str, ProjectScope],
    now: Callable[[], float],
    *,
    http: httpx.AsyncClient,
) -> App:
    client = CountersignClient(commands_file=settings.data_dir / "commands.sha256")
    approvers = Approvers(allowed=settings.approvers)
    deciders = Deciders(approvers, partial(_guild_of_role, client))
    outbox, pacer = Outbox(client), Pacer()
    sink = DiscordSink(
        SinkParts(
            outbox=outbox,
            pacer=pacer,
            deliveries=store.deliveries,
            deciders=deciders.words,
            refusal=deciders.refusal,
            max_reply_messages=settings.max_reply_messages,
            max_iterations=settings.bot_max_function_call_iterations,
            now=now,
        )
    )
    stash = ContextStash(
        ttl_s=settings.enhanced_context_stash_ttl_ms / 1000,
        max_entries=settings.enhanced_context_stash_max_entries,
        now=now,
    )
    reminding = ReminderDelivery(client, store.reminders, now)
    acting = DiscordDeps(
        client=client,
        downloads=Downloads(http=http, api_base=settings.discord_api_base),
        stash=stash,
        memory=store.memory,
        reminders=store.reminders,
        wake=reminding.wake,
    )
    tools = _tools(settings, acting)
    policies = ToolPolicies(by_name=settings.tool_policies)
    deps = TurnDeps(
        bot_name=BOT_NAME,
        journal=store.journal,
        conversations=store.conversations,
        sink=GuardedSink(sink),
        catalog=catalog,
        tools=tools,
        policies=policies,
        limits=loop_limits(settings),
        conversation_max_bytes=settings.conversation_max_bytes,
        project_of=partial(_project_of, settings, scopes),
        keys=KeyRest(now=now),
        stash=stash,
        now=now,
        recall=store.memory.recall,
        admission=_deliberate(settings, store, tools, policies) if settings.deliberate_tool_mode else None,
    )
    runtime = ChannelRuntime(deps, runtime_limits(settings), approvers)
    sink.bind(runtime)
    admission = Admission(chat_channels=settings.chat_channels, allowed_roles=settings.allowed_roles)
    desk = Desk(
        DeskParts(
            runtime=runtime,
            approvers=approvers,
            question=sink.question,
            deciders=deciders.words,
            records=store.journal.load,
            admits=admission.admits,
            now=now,
        )
    )
    parts = Parts(
        client=client,
        runtime=runtime,
        sink=sink,
        desk=desk,
        outbox=outbox,
        pacer=pacer,
        conversations=store.conversations,
        catalog=catalog,
        tools=tools,
        policies=policies,
        admission=admission,
        limits={limit.variable: limit.words for limit in described_limits(settings) if not limit.reserved},
        price=partial(total, overrides=settings.prices),
        now=now,
        catch_up_max_age_s=settings.catch_up_max_age_s,
    )
    client.bind(desk=desk, sink=sink, cogs=(*all_cogs(parts), reminding), on_login=runtime.resume)
    for sentence in (*settings.warnings, *deciders.warnings()):
        _log.warning("settings", note=sentence)
    return App(settings=settings, client=client, runtime=runtime, sink=sink)


def _guild_of_role(client: CountersignClient, number: str) -> str | None:
    roles = (guild.get_role(int(number)) for guild in client.guilds)
    return next((str(role.guild.id) for role in roles if role is not None), None)


def _tools(settings: Settings, acting: DiscordDeps) -> ToolRegistry:
    """The tools. Raises StartupError for a policy about none of them: misspelt, it would bind nothing."""
    tools = ToolRegistry([*builtin_tools(Deps(ripgrep=find_ripgrep())), *discord_tools(acting)])
    for sentence in unknown_policies(settings, tools.names):
        raise StartupError(sentence)
    return tools


def _deliberate(settings: Settings, store: Store, tools: ToolRegistry, policies: ToolPolicies) -> DeliberateMode:
    return DeliberateMode(
        tools=[tool for tool in tools if policies.of(tool) is not Policy.DENY],
        store=store.affordances,
        conversations=store.conversations,
        context_turns=settings.deliberate_tool_context_turns,
        triggers=settings.deliberate_tool_triggers,
    )


def _scopes(settings: Settings) -> dict[str, ProjectScope]:
    return {name: ProjectScope(name, project.path) for name, project in settings.projects.items()}


def _project_of(settings: Settings, scopes: dict[str, ProjectScope], channel: str) -> ProjectScope | None:
    found = settings.project_for(channel)
    return None if found is None else scopes[found[0]]


def stop_on_signals(
    stopping: asyncio.Event, signals: Iterable[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
) -> None:
    """Have the running loop set `stopping` when the process is asked to end."""
    for number in signals:
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
