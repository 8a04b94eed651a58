"""The bot's settings, read once at start. The only module that reads the environment.

Variables win over `.env`, that wins over `SETTINGS_FILE` (TOML), that wins over the defaults.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from pydantic import BaseModel, PrivateAttr, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.settings_fields import (
    GROUPS,
    LIMIT_GROUPS,
    AccessSettings,
    ChannelSettings,
    DiscordSettings,
    LoopSettings,
    ModelSettings,
    Project,
    Provider,
    StorageSettings,
    StreamSettings,
)
from bot.settings_names import warnings_about
from bot.settings_sources import (
    SettingsError,
    Variables,
    flat,
    merged,
    read_env_file,
    read_settings_file,
)
from bot.settings_text import bounds_of, reserved, value_text
from bot.settings_types import MOST_DIGITS, TOO_LONG, ModelRef

__all__ = ["GROUPS", "LIMIT_GROUPS", "ModelRef", "Project", "Provider", "Settings", "SettingsError", "load_settings"]

KEYS_ALONE = {"openai": "openai_compat", "anthropic": "anthropic", "novelai": "novelai"}
"""Providers that a key alone makes (`<NAME>_API_KEY`), and their kinds."""
_LONG_NUMBERS = {TOO_LONG, "int_parsing_size", "finite_number"}


class Settings(
    DiscordSettings,
    AccessSettings,
    ModelSettings,
    StorageSettings,
    LoopSettings,
    StreamSettings,
    ChannelSettings,
    BaseSettings,
):
    """Every setting, checked. Made by `load_settings`; given values directly it reads nothing else."""

    model_config = SettingsConfigDict(
        env_nested_delimiter="__", env_nested_max_split=2, frozen=True, extra="forbid", hide_input_in_errors=True
    )

    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _warnings: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """`load_settings` puts the sources together, so that it can say where a value came from."""
        return (init_settings,)

    @model_validator(mode="after")
    def _fit_together(self) -> Settings:
        if problems := list(self._contradictions()):
            raise ValueError("\n".join(problems))
        return self

    def _contradictions(self) -> Iterator[str]:
        known = ", ".join(self.providers) or "none"
        for ref in self.model_chain:
            if ref.provider not in self.providers:
                yield f'MODEL_CHAIN has "{ref}", and there is no provider {ref.provider} (there is: {known}).'
        for model, price in self.prices.items():
            if min(price.input, price.output) < 0:
                yield f"The price of {model} in SETTINGS_FILE is below 0."
            if max(price.input, price.output) >= 10**MOST_DIGITS:
                yield f"The price of {model} in SETTINGS_FILE has more than {MOST_DIGITS} digits."
        served: dict[str, str] = {}
        for name, project in self.projects.items():
            for channel in project.channels or ("",):
                if other := served.get(channel):
                    what = f"channel {channel}" if channel else "all channels: give one of them CHANNELS"
                    yield f"PROJECTS__{other.upper()} and PROJECTS__{name.upper()} both serve {what}."
                served[channel] = name

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about settings that have no effect, such as misspelt ones."""
        return self._warnings

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """The models of a turn, first choice first; empty when no provider is configured."""
        return self.model_chain or tuple(ModelRef(provider=name) for name in [*self.providers][:1])

    @property
    def database(self) -> str:
        """The database's URL: `DATABASE_URL`, or SQLite in the data folder. It may hold a password."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{quote(str(self.data_dir / 'countersign.db'))}"

    def project_for(self, channel: str) -> tuple[str, Project] | None:
        """The folder, with its name, that the channel with this id sees; None when it sees none."""
        named = ((name, project) for name, project in self.projects.items() if channel in project.channels)
        open_to_all = ((name, project) for name, project in self.projects.items() if not project.channels)
        return next(named, None) or next(open_to_all, None)

    def key_variable(self, provider: str) -> str:
        """The variable that holds the key of the provider with this name."""
        own = f"PROVIDERS__{provider.upper()}__API_KEY"
        alone = f"{provider.upper()}_API_KEY"
        return alone if provider in KEYS_ALONE and own not in self._origins else own

    def origin(self, variable: str) -> str:
        """Where the value of `variable` came from: `env`, `.env`, `file` or `default`."""
        return self._origins.get(variable, "default")


def load_settings(env: Mapping[str, str], *, env_file: Path | None) -> Settings:
    """The settings out of `env`, the `.env` file at `env_file` and the TOML file that `SETTINGS_FILE` names.

    Raises `SettingsError` with one sentence for each setting that cannot be used.
    """
    dotenv = read_env_file(env_file)
    layers: dict[str, dict[str, Any]] = {"env": Variables(Settings, env)(), ".env": Variables(Settings, dotenv)()}
    named = layers["env"].get("settings_file") or layers[".env"].get("settings_file")
    file = read_settings_file(Path(named)) if named else {}
    layers["file"] = {name: value for name, value in file.items() if name in Settings.model_fields}

    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in reversed(layers.items()):
        values = merged(values, layer)
        origins.update(dict.fromkeys(flat(layer), origin))
    given = flat(values)
    try:
        settings = Settings(**_with_keys_alone(values))
    except ValidationError as error:
        sentences = (line for detail in error.errors() for line in _sentences(detail, given, origins))
        raise SettingsError(dict.fromkeys(sentences)) from None
    settings._origins = origins
    warnings = warnings_about(env=env, dotenv=dotenv, file=file, settings=Settings)
    idle = (name.upper() for name, field in Settings.model_fields.items() if reserved(field))
    warnings += [f"{name} is set and has no effect in this version." for name in idle if name in origins]
    settings._warnings = tuple(warnings)
    return settings


def load_from_environment(**overrides: str) -> Settings:
    """`load_settings` from this process's environment and the `.env` in its folder; `overrides` win over both."""
    return load_settings({**os.environ, **overrides}, env_file=Path(".env"))


def _with_keys_alone(values: dict[str, Any]) -> dict[str, Any]:
    """`values` with the providers that a key alone makes, unless one of that name is of another kind."""
    providers = values.get("providers", {})
    made = {}
    for name, kind in KEYS_ALONE.items():
        own = providers.get(name, {}) if isinstance(providers, dict) else {}
        if (key := values.get(f"{name}_api_key")) and isinstance(own, dict) and own.get("kind", kind) == kind:
            made[name] = {"kind": kind, "api_key": key, **own}
    return {**values, "providers": {**providers, **made}} if made else values


def _field_at(location: tuple[int | str, ...]) -> FieldInfo | None:
    head = Settings.model_fields.get(str(location[0]))
    models: dict[str, type[BaseModel]] = {"providers": Provider, "projects": Project}
    model = models.get(str(location[0]))
    return head if model is None or len(location) < 3 else model.model_fields.get(str(location[2]))


def _sentences(error: ErrorDetails, given: Mapping[str, Any], origins: Mapping[str, str]) -> list[str]:
    location = error["loc"]
    if not location:
        return str(error["ctx"]["error"]).split("\n")
    if location[0] == "prices":
        return [f"A price in SETTINGS_FILE cannot be used: {'.'.join(map(str, location))}: {error['msg']}."]
    depth = 3 if location[0] in {"providers", "projects"} else 1
    name = "__".join(map(str, location[:depth])).upper()
    field = _field_at(location)
    if "[key]" in location or (depth == 3 and len(location) < 3):
        name = "__".join(map(str, location[:2])).upper()
        return [f"{name} is not a group of settings, or its name is not made of a-z, 0-9, - and _."]
    if error["type"] == "extra_forbidden" or field is None:
        return [f"{name} is not a setting."]
    if error["type"] == "missing":
        return [f"{name} is not set: it must be {bounds_of(field)}."]
    length = f", of at most {MOST_DIGITS} digits" if error["type"] in _LONG_NUMBERS else ""
    source = f" (from {origins[name]})" if name in origins else ""
    shown = "has a value that cannot be used" if _is_secret(field.annotation) else f'is "{value_text(given.get(name))}"'
    return [f"{name} {shown}{source}: it must be {bounds_of(field)}{length}."]


def _is_secret(annotation: Any) -> bool:
    return annotation is SecretStr or any(_is_secret(part) for part in get_args(annotation))
