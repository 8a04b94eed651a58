"""Where settings come from: variables, a `.env` file, a TOML file. All become one shape, `{field: value}`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dotenv.parser import parse_stream
from pydantic_settings import BaseSettings, EnvSettingsSource

NESTED = ("providers", "projects")
"""Fields that are set by `<FIELD>__<NAME>__<SETTING>`."""
FILE_ONLY = ("prices",)
EMPTY_COUNTS = ("approvers",)
"""Fields for which an empty variable is a value; elsewhere it is the same as none."""


class SettingsError(Exception):
    """The settings cannot be used. `sentences` says why, one for each setting, fit to be shown."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.sentences = tuple(sentences)
        super().__init__("\n".join(self.sentences))


class Variables(EnvSettingsSource):
    """Fields out of variables that are handed in, instead of the process's own."""

    def __init__(self, settings: type[BaseSettings], variables: Mapping[str, str]) -> None:
        self._given = {
            name.lower(): value.strip()
            for name, value in variables.items()
            if belongs(name.lower(), settings) and (value.strip() or name.lower() in EMPTY_COUNTS)
        }
        super().__init__(settings, case_sensitive=False)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._given


def belongs(name: str, settings: type[BaseSettings]) -> bool:
    """Whether the variable `name`, in lower case, is one of `settings`."""
    field, *rest = name.split("__", 2)
    if field in NESTED:
        return len(rest) == 2
    return name in settings.model_fields and name not in FILE_ONLY


def read_env_file(path: Path | None) -> dict[str, str]:
    """The variables of a `.env` file; none where there is no file. Raises `SettingsError` for a line it cannot read."""
    if path is None or not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8-sig") as stream:
            bindings = list(parse_stream(stream))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError([f"{path} cannot be read: {error}."]) from error
    bad = [b.original.line for b in bindings if b.error or (b.key is not None and b.value is None)]
    if bad:
        raise SettingsError(f"Line {line} of {path} is not NAME=value." for line in bad)
    return {b.key: b.value for b in bindings if b.key is not None and b.value is not None}


def read_settings_file(path: Path) -> dict[str, Any]:
    """The fields of a TOML settings file, names in any case. Raises `SettingsError` where it cannot be read."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f'SETTINGS_FILE is "{path}", which cannot be read: {error.strerror}.']) from error
    except (ValueError, RecursionError) as error:  # also a number or a nesting that is too long for Python
        raise SettingsError([f'SETTINGS_FILE is "{path}", which is not TOML: {str(error).split(";")[0]}.']) from error
    fields = {name.lower(): value for name, value in content.items()}
    for field in NESTED:
        groups = fields.get(field)
        if isinstance(groups, dict):
            fields[field] = {name.lower(): _lowered(group) for name, group in groups.items()}
    return fields


def _lowered(group: Any) -> Any:
    return {name.lower(): value for name, value in group.items()} if isinstance(group, dict) else group


def merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """`high` over `low`, group by group and setting by setting."""
    both = {**low, **high}
    for name in low.keys() & high.keys() & {*NESTED}:
        below, above = low[name], high[name]
        if isinstance(below, dict) and isinstance(above, dict):
            both[name] = below | {
                group: {**below[group], **values} if isinstance(below.get(group), dict) else values
                for group, values in above.items()
            }
    return both


def flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting in `fields` by the name of its variable."""
    names: dict[str, Any] = {}
    for field, value in fields.items():
        if field not in NESTED or not isinstance(value, dict):
            names[field.upper()] = value
            continue
        for group, values in value.items():
            for name, inner in values.items() if isinstance(values, dict) else ():
                names[f"{field}__{group}__{name}".upper()] = inner
    return names
