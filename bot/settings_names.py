"""Which setting somebody meant who wrote a name that is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial
from itertools import chain

from pydantic_settings import BaseSettings

from bot.settings_fields import Project, Provider
from bot.settings_sources import FILE_ONLY, NESTED, belongs

VERY_NEAR, NEAR = 0.85, 0.75
"""How alike two names are (`difflib`'s ratio): the environment is full of other programs' names, our files are not."""

_PARTS = sorted({part.upper() for model in (Provider, Project) for part in model.model_fields}, key=len, reverse=True)
_ONE_LINE = re.compile(rf"(PROVIDERS|PROJECTS)_+(.+?)_+({'|'.join(_PARTS)})")


def warnings_about(
    *, env: Iterable[str], dotenv: Iterable[str], file: Iterable[str], settings: type[BaseSettings]
) -> list[str]:
    """A sentence for each name that is nearly a setting, and for each of `file` (the TOML file's) that is none."""
    about = partial(_about, settings=settings)
    warnings = [about(name.upper(), wanted=VERY_NEAR) for name in env]
    warnings += [about(name.upper(), wanted=NEAR) for name in dotenv]
    unknown = [name.upper() for name in file if name not in settings.model_fields]
    warnings += [about(name, wanted=NEAR) or f"{name} in SETTINGS_FILE is not a setting." for name in unknown]
    return [warning for warning in dict.fromkeys(warnings) if warning]


def _about(name: str, *, wanted: float, settings: type[BaseSettings]) -> str:
    field, *rest = name.split("__", 2)
    if field.lower() in FILE_ONLY:
        return f"{name} has no effect: {field.lower()} are set in SETTINGS_FILE only."
    if belongs(name.lower(), settings):
        return ""
    if meant := _meant(name, wanted, settings):
        return f"{name} is not a setting; did you mean {meant}?"
    if field.lower() in NESTED and len(rest) < 2:
        return f"{name} has no effect: these settings are called {field}__<NAME>__<SETTING>."
    return ""


def _meant(name: str, wanted: float, settings: type[BaseSettings]) -> str:
    if split := _ONE_LINE.fullmatch(name):
        return "__".join(split.groups())
    field, *rest = name.split("__", 2)
    if rest:
        near = get_close_matches(field, [nested.upper() for nested in NESTED], 1, VERY_NEAR)
        return "__".join([near[0], *rest]) if near and near[0] != field else ""
    known = [known.upper() for known in settings.model_fields if known not in (*NESTED, *FILE_ONLY)]
    very_near = get_close_matches(name, known, 1, VERY_NEAR)
    shortened = (one for one in known if _is_short_for(name, one))
    near = get_close_matches(name, known, 1, wanted)
    return next(chain(very_near, shortened, near), "")


def _is_short_for(name: str, known: str) -> bool:
    """Whether `name` is `known` without some of its words: it begins alike, and all of its words are there in order."""
    words, of_known = name.split("_"), iter(known.split("_"))
    alike = all(any(_singular(word) == _singular(other) for other in of_known) for word in words)
    return len(words) >= 3 and known.startswith(f"{words[0]}_") and alike


def _singular(word: str) -> str:
    return word.removesuffix("S")
