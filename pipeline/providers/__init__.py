"""Adapters of the provider port: one module a kind, found by its name.

A module `x.py` with `create(config, client) -> Provider` is the kind `x`; `DEFAULT_MODELS` is its table of models for
operators who name none.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import httpx

from pipeline.provider import Provider
from pipeline.providers._config import ProviderConfig
from pipeline.providers._http import http_client
from pipeline.providers.catalog import Catalog

__all__ = ["Catalog", "ProviderConfig", "build", "http_client", "kinds"]

_NO_KINDS = {"catalog"}


def kinds() -> tuple[str, ...]:
    """The kinds of provider that exist, by name."""
    names = (module.name for module in iter_modules(__path__))
    return tuple(sorted(name for name in names if not name.startswith("_") and name not in _NO_KINDS))


def build(config: ProviderConfig, client: httpx.AsyncClient) -> Provider:
    """The provider that `config` declares. Raises ValueError, with a sentence for people, for an unknown kind."""
    if config.kind not in kinds():
        raise ValueError(f"provider {config.name} has the unknown kind {config.kind!r}; known: {', '.join(kinds())}")
    provider: Provider = import_module(f"{__name__}.{config.kind}").create(config, client)
    return provider
