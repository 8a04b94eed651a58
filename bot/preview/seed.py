"""The first world: guilds, channels, roles and members, from a mapping (JSON) or the default one.

A seed is `{"guilds": [{"name", "owner", "roles": [{"name", "permissions"?, "color"?}], "channels": [{"name", "topic"?,
"overwrites"?}], "members": [{"name", "display"?, "roles"?, "bot"?}],
"stickers"?: [{"name", "tags"?}], "emojis"?: [{"name"}]}]}`; a name is one person in all guilds.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.preview.permissions import BOT, EVERYONE, P
from bot.preview.snowflake import Snowflakes
from bot.preview.values import Application, Channel, Emoji, Guild, Json, Member, Role, Sticker, User
from bot.preview.world import World

DEFAULT: Mapping[str, Any] = {
    "guilds": [
        {
            "name": "Preview",
            "owner": "owner",
            "roles": [
                {"name": "Manager", "permissions": int(P.MANAGE_GUILD), "color": 0xE67E22},
                {"name": "Approver", "color": 0x2ECC71},
            ],
            "channels": [
                {"name": "general", "topic": "Anything goes"},
                {"name": "ops", "topic": "Work that needs an approval"},
            ],
            "members": [
                {"name": "owner", "display": "Owner", "roles": ["Manager"]},
                {"name": "alice", "display": "Alice", "roles": ["Approver"]},
                {"name": "bob", "display": "Bob"},
            ],
            "stickers": [{"name": "Wave", "tags": "wave"}, {"name": "Party", "tags": "tada"}],
        }
    ]
}


AVATAR_COLOURS = 5
"""How many the page has: it takes the one of an id's remainder by this."""


class SeedError(ValueError):
    """The seed does not describe a world; the message says which part."""


def build(world: World, ids: Snowflakes, joined_at: str, seed: Mapping[str, Any], bot_name: str) -> None:
    """Fill an empty world. Raises SeedError when something in `seed` is missing or has the wrong shape."""
    bot = world.users.put(User(id=ids.next(), username=bot_name, global_name=None, bot=True))
    world.adopt(world.applications.put(Application(id=bot.id, token=_token(bot.id))))
    people: dict[str, User] = {}
    try:
        for guild in seed["guilds"]:
            _Builder(world, ids, joined_at, people).guild(guild)
    except (KeyError, TypeError, AttributeError) as error:
        msg = f"the seed is not as bot/preview/seed.py describes it: {error!r}"
        raise SeedError(msg) from error


class _Builder:
    def __init__(self, world: World, ids: Snowflakes, joined_at: str, people: dict[str, User]) -> None:
        self._world = world
        self._ids = ids
        self._joined_at = joined_at
        self._people = people

    def guild(self, seed: Mapping[str, Any]) -> None:
        world, guild_id = self._world, self._ids.next()
        owner = self._person(seed["owner"], None)
        world.guilds.put(Guild(id=guild_id, name=seed["name"], owner_id=owner.id))
        everyone = int(seed.get("everyone", EVERYONE))
        world.roles.put(Role(id=guild_id, guild_id=guild_id, name="@everyone", permissions=everyone, position=0))
        roles = {role["name"]: self._role(guild_id, role, place) for place, role in enumerate(seed["roles"], 2)}
        bot_role = Role(
            id=self._ids.next(),
            guild_id=guild_id,
            name=world.bot.username,
            permissions=int(seed.get("bot_permissions", BOT)),
            managed=True,
        )
        world.roles.put(bot_role)
        self._member(guild_id, world.bot_id, [bot_role.id])
        for member in seed["members"]:
            person = self._person(member["name"], member.get("display"), bot=bool(member.get("bot", False)))
            self._member(guild_id, person.id, [roles[name].id for name in member.get("roles", ())])
        if world.member(guild_id, owner.id) is None:
            self._member(guild_id, owner.id, [])
        for sticker in seed.get("stickers", ()):
            tags = sticker.get("tags", sticker["name"])
            world.stickers.put(Sticker(id=self._ids.next(), guild_id=guild_id, name=sticker["name"], tags=tags))
        for emoji in seed.get("emojis", ()):
            world.emojis.put(Emoji(id=self._ids.next(), guild_id=guild_id, name=emoji["name"]))
        for place, channel in enumerate(seed["channels"]):
            self._channel(guild_id, channel, place, {name: role.id for name, role in roles.items()})

    def _person(self, name: str, display: str | None, *, bot: bool = False) -> User:
        known = self._people.get(name) or User(id=self._next_person(), username=name)
        told = replace(known, global_name=display or known.global_name, bot=bot or known.bot)
        self._people[name] = told
        return self._world.users.put(told)

    def _next_person(self) -> str:
        """An id with which the page draws the next person in the next colour."""
        wanted = len(self._people) % AVATAR_COLOURS
        return next(drawn for drawn in iter(self._ids.next, "") if int(drawn) % AVATAR_COLOURS == wanted)

    def _role(self, guild_id: str, seed: Mapping[str, Any], place: int) -> Role:
        role = Role(
            id=self._ids.next(),
            guild_id=guild_id,
            name=seed["name"],
            permissions=int(EVERYONE | int(seed.get("permissions", 0))),
            position=place,
            mentionable=bool(seed.get("mentionable", False)),
            color=int(seed.get("color", 0)),
        )
        return self._world.roles.put(role)

    def _member(self, guild_id: str, user_id: str, roles: list[str]) -> None:
        self._world.members.put(Member(guild_id=guild_id, user_id=user_id, roles=roles, joined_at=self._joined_at))

    def _channel(self, guild_id: str, seed: Mapping[str, Any], place: int, roles: Mapping[str, str]) -> None:
        overwrites = [self._overwrite(guild_id, entry, roles) for entry in seed.get("overwrites", ())]
        self._world.channels.put(
            Channel(
                id=self._ids.next(),
                guild_id=guild_id,
                name=seed["name"],
                topic=seed.get("topic"),
                position=place,
                overwrites=overwrites,
            )
        )

    def _overwrite(self, guild_id: str, seed: Mapping[str, Any], roles: Mapping[str, str]) -> Json:
        """`{"role": name | "@everyone"} or {"member": name}` with `allow` and `deny` as bits."""
        bits = {"allow": str(int(seed.get("allow", 0))), "deny": str(int(seed.get("deny", 0)))}
        if "member" in seed:
            name = seed["member"]
            user_id = self._world.bot_id if name == self._world.bot.username else self._people[name].id
            return {"id": user_id, "type": 1, **bits}
        return {"id": guild_id if seed["role"] == "@everyone" else roles[seed["role"]], "type": 0, **bits}


def _token(bot_id: str) -> str:
    """A token in Discord's shape: the bot's id, then two parts that nobody can guess."""
    head = base64.urlsafe_b64encode(bot_id.encode()).decode().rstrip("=")
    return f"{head}.{secrets.token_urlsafe(4)}.{secrets.token_urlsafe(28)}"
