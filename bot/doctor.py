"""What `python -m bot doctor` prints: what is configured, what is missing, and every limit. It connects to nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from bot.discord_tools import names as discord_tool_names
from bot.providers import build_providers
from bot.settings import LIMIT_GROUPS, Provider, Settings
from bot.settings_checks import placeholders, unreachable, unwritable
from bot.settings_text import Described, describe, value_text
from pipeline.providers import http_client
from tools.builtin import Deps, builtin_tools
from tools.registry import ToolRegistry


def limits(settings: Settings) -> tuple[Described, ...]:
    """Every limit as it stands, those without an effect in this version last."""
    fields = ((name, field) for group in LIMIT_GROUPS for name, field in group.model_fields.items())
    described = [describe(name, field, getattr(settings, name)) for name, field in fields]
    return tuple(sorted(described, key=lambda limit: limit.reserved))


def missing(settings: Settings) -> tuple[str, ...]:
    """A sentence for each thing that `python -m bot run` needs and does not have."""
    return tuple(_missing(settings))


def _missing(settings: Settings) -> Iterator[str]:
    if settings.discord_token is None:
        yield "DISCORD_TOKEN is not set: take the bot's token from the developer portal."
    yield from placeholders(settings)
    if not settings.providers:
        yield "No provider is configured: set OPENAI_API_KEY, ANTHROPIC_API_KEY or PROVIDERS__<NAME>__KIND."
    try:
        _models(settings)
    except ValueError as error:
        yield str(error)
    yield from unreachable(settings)
    if not settings.projects:
        yield "No folder is configured: set PROJECTS__<NAME>__PATH to the folder that the file tools may see."
    yield from unknown_policies(settings, [*ToolRegistry(builtin_tools(Deps())).names, *discord_tool_names()])
    for name, project in settings.projects.items():
        if not project.path.is_dir():
            yield f'PROJECTS__{name.upper()}__PATH is "{project.path}", which is not a folder here.'
    yield from unwritable(settings)


def unknown_policies(settings: Settings, tools: Collection[str]) -> Iterator[str]:
    """A sentence for each policy about none of `tools` (names): misspelt, it would bind nothing."""
    for name in settings.tool_policies:
        if name not in tools:
            yield f'TOOL_POLICIES has "{name}", and there is no such tool (there is: {", ".join(tools)}).'


def _models(settings: Settings) -> dict[str, str]:
    """The model of each provider, first choice first. Raises ValueError where a provider can never answer."""
    return {provider.name: provider.model for provider in build_providers(settings, http_client())}


def report(settings: Settings) -> str:
    """The report as text, ending in a newline. Secrets appear as `set` or `not set`."""
    parts = [
        _section("Configured", _columns(_configured(settings))),
        _section("Missing", missing(settings) or ["nothing: `python -m bot run` can start"]),
        _section("Worth a look", _remarks(settings)),
        *(_section(title, _columns(rows)) for title, rows in _limit_tables(settings)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _configured(settings: Settings) -> Iterator[tuple[str, ...]]:
    yield "Discord token", value_text(settings.discord_token), settings.origin("DISCORD_TOKEN")
    yield "Discord API", value_text(settings.discord_api_base), settings.origin("DISCORD_API_BASE")
    yield "Discord gateway", value_text(settings.discord_gateway_url), settings.origin("DISCORD_GATEWAY_URL")
    try:
        models = _models(settings)
    except ValueError:  # said under what is missing
        models = {}
    for name, provider in settings.providers.items():
        declared = settings.origin(f"PROVIDERS__{name.upper()}__KIND")
        origin = settings.origin(settings.key_variable(name)) if declared == "default" else declared
        yield "Provider", _provider(name, provider, models.get(name, provider.model)), origin
    yield "Models", ", ".join(map(str, settings.models)) or "none", settings.origin("MODEL_CHAIN")
    for name, project in settings.projects.items():
        serves = "channels " + ", ".join(project.channels) if project.channels else "every other channel"
        yield "Folder", f"{name}: {project.path} for {serves}", settings.origin(f"PROJECTS__{name.upper()}__PATH")
    for label, field in {
        "Chat channels": "chat_channels",
        "Allowed roles": "allowed_roles",
        "Approvers": "approvers",
        "Tool policies": "tool_policies",
        "Data folder": "data_dir",
        "Settings file": "settings_file",
        "Own prices": "prices",
    }.items():
        value = getattr(settings, field)
        shown = ", ".join(value) or "none" if field == "prices" else value_text(value)
        yield label, shown, settings.origin(field.upper())
    database = settings.database if settings.database_url is None else "set"
    yield "Database", database, settings.origin("DATABASE_URL")


def _provider(name: str, provider: Provider, model: str) -> str:
    keys = {0: "no key", 1: "key set"}.get(len(provider.keys), f"{len(provider.keys)} keys set")
    where = f" at {value_text(provider.base_url)}" if provider.base_url else ""
    return f"{name}: {provider.kind}{where}, {keys}, model {model or 'unknown'}"


def _remarks(settings: Settings) -> Iterator[str]:
    yield from settings.warnings
    if not settings.approvers:
        yield "APPROVERS is empty: nobody can approve anything."
    elif settings.approvers == {"manage_guild"}:
        yield "Only people who may manage the server can approve: in a direct message nobody can."


def _limit_tables(settings: Settings) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    titles = {False: "Limits", True: "Reserved (checked, without an effect in this version)"}
    for kept, title in titles.items():
        rows: list[tuple[str, ...]] = [
            (
                limit.variable,
                f"{limit.value} {limit.unit}".rstrip(),
                f"default {limit.default}",
                settings.origin(limit.variable),
            )
            for limit in limits(settings)
            if limit.reserved is kept
        ]
        yield title, rows


def _columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def _section(title: str, lines: Iterable[str]) -> str:
    body = [f"  {line}" for line in lines]
    return "\n".join([title, *body]) if body else ""
