"""Discord's REST API v10: one module for each kind of thing, each with its `ROUTES`."""

from __future__ import annotations

from bot.preview.rest import (
    callbacks,
    channels,
    commands,
    guilds,
    messages,
    pins,
    reactions,
    threads,
    users,
    webhooks,
)
from bot.preview.router import Router


def router() -> Router:
    """All routes."""
    parts = (callbacks, channels, commands, guilds, messages, pins, reactions, threads, users, webhooks)
    return Router([route for part in parts for route in part.ROUTES])
