"""`docs/configuration.md` and `.env.example`, written from the settings: `python -m bot.settings_docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from bot.settings import GROUPS, Project, Provider
from bot.settings_text import Described, bounds_of, describe, form_of, reserved

NESTED: dict[str, tuple[str, type[BaseModel]]] = {
    "providers": ("PROVIDERS__<NAME>__", Provider),
    "projects": ("PROJECTS__<NAME>__", Project),
}

INTRO = """\
# Configuration

All settings are read once, at start. An environment variable wins over `.env` in the folder the bot is started in, that
wins over the TOML file named by `SETTINGS_FILE`, that wins over the default. An empty variable is the same as none
(`APPROVERS` is the exception: set but empty, nobody may approve).

A value that cannot be read or is out of its bounds stops the start with a sentence that names it; a name that is nearly
one of these gets a warning. `python -m bot doctor` shows what is in force and where it came from, without connecting.

Lists are separated by commas, and a number has at most 12 digits. *Reserved* settings are checked and have no effect in
this version.

This page is written by `python -m bot.settings_docs`.
"""

FILE = """\
## The settings file

The same names, in any case; prices (USD for a million tokens) live only here. A price is for every model whose name
begins like this, and wins over the bundled prices.

```toml
bot_soft_warn_iteration = 10
chat_channels = ["1234567890"]

[providers.local]
kind = "openai_compat"
base_url = "http://127.0.0.1:8080/v1"
model = "my-model"

[projects.notes]
path = "/srv/notes"

[prices."my-model"]
input = 0.15
output = 0.60
```
"""


def configuration_page() -> str:
    """The text of `docs/configuration.md`."""
    return "\n".join([INTRO, *_sections(), FILE])


def _sections() -> Iterator[str]:
    for title, group in GROUPS.items():
        plain = [_row(name, group, "") for name in group.model_fields if name not in (*NESTED, "prices")]
        yield _table(f"## {title}", plain)
        for name, (prefix, model) in NESTED.items():
            if name in group.model_fields:
                heading = f"### {name.capitalize()}\n\n{(model.__doc__ or '').strip()}"
                yield _table(heading, [_row(field, model, prefix) for field in model.model_fields])


def _table(heading: str, rows: list[str]) -> str:
    return "\n".join([heading, "", "| variable | default | value | effect |", "| --- | --- | --- | --- |", *rows, ""])


def _row(name: str, model: type[BaseModel], prefix: str) -> str:
    field = model.model_fields[name]
    about = describe(name, field, None)
    default = "required" if field.is_required() else _default(about)
    value = " ".join(part for part in (form_of(field), f"`{about.bounds}`" if about.bounds else "", _in(about)) if part)
    effect = about.meaning[:1].upper() + about.meaning[1:] if about.meaning[:1] != "`" else about.meaning
    reserved = " *Reserved.*" if about.reserved else ""
    return f"| `{prefix}{name.upper()}` | {default} | {value} | {effect}.{reserved} |"


def _default(about: Described) -> str:
    return "" if about.default in {"not set", "none", ""} else f"`{about.default}`"


def _in(about: Described) -> str:
    return f"({about.unit})" if about.unit else ""


def env_example() -> str:
    """The text of `.env.example`: what a real server needs first, then everything at its default, what has no effect in
    this version last."""
    return "\n".join([START, *_examples(), ""])


START = """\
# Copy this file to .env. Every line is optional for the preview; `python -m bot run` needs the first three.
# docs/configuration.md explains each name. Written by `python -m bot.settings_docs`.

# DISCORD_TOKEN=
# ANTHROPIC_API_KEY=
# PROJECTS__NOTES__PATH=/srv/notes
# APPROVERS=manage_guild,requester"""


def _examples() -> Iterator[str]:
    idle: list[str] = []
    for title, group in GROUPS.items():
        yield f"\n# --- {title}"
        for name in group.model_fields:
            if name == "prices":
                continue
            prefix, model = NESTED.get(name, ("", group))
            if prefix:
                yield f"# {prefix}..., once for each:"
            for setting in model.model_fields if prefix else (name,):
                line = _example(setting, model, prefix)
                if reserved(model.model_fields[setting]):
                    idle.append(line)
                else:
                    yield line
    yield "\n# --- Reserved: checked, without an effect in this version"
    yield from idle


def _example(name: str, model: type[BaseModel], prefix: str) -> str:
    field = model.model_fields[name]
    about = describe(name, field, None)
    default = "" if field.is_required() else _default(about).strip("`")
    # A note behind an empty value would become the value once somebody takes the line in.
    note = f"  # {bounds_of(field)} {_in(about)}".rstrip() if default else ""
    return f"# {prefix}{name.upper()}={default}{note}"


def write(root: Path) -> None:
    """Writes both files below `root`, the folder of the project."""
    (root / "docs" / "configuration.md").write_text(configuration_page(), encoding="utf-8")
    (root / ".env.example").write_text(env_example(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).resolve().parent.parent)
