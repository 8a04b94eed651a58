"""Who a message pings: what its text names, cut down by `allowed_mentions` and by the author's permissions.

Source: https://discord.com/developers/docs/resources/message#allowed-mentions-object
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bot.preview.permissions import P, in_channel
from bot.preview.values import Channel
from bot.preview.world import World

_USER, _ROLE, _EVERYONE = re.compile(r"<@!?(\d+)>"), re.compile(r"<@&(\d+)>"), re.compile(r"@(?:everyone|here)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """Ids of users and roles, and whether everybody is pinged."""

    users: list[str]
    roles: list[str]
    everyone: bool


def resolve(
    world: World,
    channel: Channel,
    author_id: str,
    content: str,
    *,
    allowed: Any = None,
    replied_to: str | None = None,
) -> Mentions:
    """`allowed` is the request's `allowed_mentions` or None; `replied_to` is the author of the message answered."""
    rights = in_channel(world, channel, author_id)
    may_ping_all = bool(rights & P.MENTION_EVERYONE)
    users = [user for user in _named(_USER, content) if user in world.users and _allows(allowed, "users", user)]
    if replied_to is not None and (allowed is None or allowed.get("replied_user")) and replied_to not in users:
        users.append(replied_to)
    roles = []
    for role_id in _named(_ROLE, content):
        role = world.roles.get(role_id)
        if role is None or role.guild_id != channel.guild_id or not _allows(allowed, "roles", role_id):
            continue
        if role.mentionable or may_ping_all:
            roles.append(role_id)
    everyone = bool(_EVERYONE.search(content)) and may_ping_all and (allowed is None or _parses(allowed, "everyone"))
    return Mentions(users=users, roles=roles, everyone=everyone)


def _named(pattern: re.Pattern[str], content: str) -> list[str]:
    return list(dict.fromkeys(pattern.findall(content)))


def _allows(allowed: Any, kind: str, snowflake: str) -> bool:
    if allowed is None or _parses(allowed, kind):
        return True
    return snowflake in {str(item) for item in allowed.get(kind) or ()}


def _parses(allowed: Any, kind: str) -> bool:
    return kind in (allowed.get("parse") or ())
