"""Guilds, their members and roles."""

from __future__ import annotations

from dataclasses import replace

from bot.preview.backend import Backend
from bot.preview.errors import error
from bot.preview.permissions import P, in_guild
from bot.preview.rest.access import open_guild
from bot.preview.router import NO_CONTENT, Answer, Call, Route
from bot.preview.values import Member
from bot.preview.wire import channel_object, guild_emoji, guild_object, member_object, role_object, sticker_object

MAX_SNOWFLAKE = (1 << 64) - 1


def get(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    body = guild_object(backend.world, guild)
    if call.query.get("with_counts") in ("1", "true"):
        count = len(backend.world.members_of(guild.id))
        body |= {"approximate_member_count": count, "approximate_presence_count": count}
    return Answer(body=body)


def channels(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    found = [channel for channel in backend.world.channels_of(guild.id) if not channel.is_thread]
    return Answer(body=[channel_object(backend.world, channel) for channel in found])


def roles(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    return Answer(body=[role_object(role) for role in backend.world.roles_of(guild.id)])


def role(backend: Backend, call: Call) -> Answer:
    open_guild(backend, call["guild_id"])
    found = backend.world.roles.get(call["role_id"])
    if found is None or found.guild_id != call["guild_id"]:
        raise error(10011)
    return Answer(body=role_object(found))


def stickers(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    return Answer(body=[sticker_object(sticker) for sticker in backend.world.stickers_of(guild.id)])


def sticker(backend: Backend, call: Call) -> Answer:
    found = backend.world.stickers.get(call["sticker_id"])
    if found is None or found.guild_id != call.params.get("guild_id", found.guild_id):
        raise error(10060)
    return Answer(body=sticker_object(found))


def emojis(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    return Answer(body=[guild_emoji(emoji) for emoji in backend.world.emojis_of(guild.id)])


def member(backend: Backend, call: Call) -> Answer:
    return Answer(body=_shown(backend, _member(backend, call)))


def members(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    limit, after = call.number("limit", 1, 1000), call.number("after", 0, MAX_SNOWFLAKE)
    found = sorted(backend.world.members_of(guild.id), key=lambda member: int(member.user_id))
    return Answer(body=[_shown(backend, member) for member in found if int(member.user_id) > after][:limit])


def search(backend: Backend, call: Call) -> Answer:
    guild = open_guild(backend, call["guild_id"])
    query, limit = call.query.get("query", "").lower(), call.number("limit", 1, 1000)
    found = []
    for member in backend.world.members_of(guild.id):
        user = backend.world.users.get(member.user_id)
        names = [user.username, user.global_name, member.nick] if user else []
        if any(name.lower().startswith(query) for name in names if name):
            found.append(_shown(backend, member))
    return Answer(body=found[:limit])


def add_role(backend: Backend, call: Call) -> Answer:
    return _set_role(backend, call, wanted=True)


def remove_role(backend: Backend, call: Call) -> Answer:
    return _set_role(backend, call, wanted=False)


def _set_role(backend: Backend, call: Call, *, wanted: bool) -> Answer:
    member = _member(backend, call)
    if call["role_id"] not in backend.world.roles:
        raise error(10011)
    if not in_guild(backend.world, member.guild_id, backend.world.bot_id) & P.MANAGE_ROLES:
        raise error(50013)
    others = [role_id for role_id in member.roles if role_id != call["role_id"]]
    changed = replace(member, roles=[*others, call["role_id"]] if wanted else others)
    backend.events.member_updated(backend.world.members.put(changed))
    return NO_CONTENT


def _member(backend: Backend, call: Call) -> Member:
    guild = open_guild(backend, call["guild_id"])
    found = backend.world.member(guild.id, call["user_id"])
    if found is None:
        raise error(10007 if call["user_id"] in backend.world.users else 10013)
    return found


def _shown(backend: Backend, member: Member) -> dict[str, object]:
    return member_object(member, backend.world.users.get(member.user_id))


_GUILD = "/guilds/{guild_id}"
_ROLE = _GUILD + "/members/{user_id}/roles/{role_id}"
ROUTES = (
    Route(method="GET", template=_GUILD, handler=get),
    Route(method="GET", template=_GUILD + "/channels", handler=channels),
    Route(method="GET", template=_GUILD + "/roles", handler=roles),
    Route(method="GET", template=_GUILD + "/roles/{role_id}", handler=role),
    Route(method="GET", template=_GUILD + "/stickers", handler=stickers),
    Route(method="GET", template=_GUILD + "/stickers/{sticker_id}", handler=sticker),
    Route(method="GET", template="/stickers/{sticker_id}", handler=sticker),
    Route(method="GET", template=_GUILD + "/emojis", handler=emojis),
    Route(method="GET", template=_GUILD + "/members", handler=members),
    Route(method="GET", template=_GUILD + "/members/search", handler=search),
    Route(method="GET", template=_GUILD + "/members/{user_id}", handler=member),
    Route(method="PUT", template=_ROLE, handler=add_role),
    Route(method="DELETE", template=_ROLE, handler=remove_role),
)
