"""The bot's own account, other users, the application and the gateway's address."""

from __future__ import annotations

from bot.preview.backend import Backend
from bot.preview.errors import error
from bot.preview.handshake import APPLICATION_FLAGS
from bot.preview.permissions import in_guild
from bot.preview.router import Answer, Call, Route
from bot.preview.values import Json, User
from bot.preview.wire import self_object, user_object


def me(backend: Backend, _call: Call) -> Answer:
    return Answer(body=self_object(backend.world.bot))


def user(backend: Backend, call: Call) -> Answer:
    found = backend.world.users.get(call["user_id"])
    if found is None:
        raise error(10013)
    return Answer(body=user_object(found))


def my_guilds(backend: Backend, _call: Call) -> Answer:
    world = backend.world
    shown: list[Json] = [
        {
            "id": guild.id,
            "name": guild.name,
            "icon": None,
            "banner": None,
            "owner": False,
            "permissions": str(in_guild(world, guild.id, world.bot_id)),
            "features": [],
        }
        for guild in world.guilds
    ]
    return Answer(body=shown)


def application(backend: Backend, _call: Call) -> Answer:
    world = backend.world
    guild = next(iter(world.guilds), None)
    owner = world.users.get(guild.owner_id) if guild else None
    owner = owner or User(id=world.bot_id, username=world.bot.username)
    return Answer(body=application_object(world.bot, owner, len(list(world.guilds))))


def application_object(bot: User, owner: User, guild_count: int) -> Json:
    return {
        "id": bot.id,
        "name": bot.username,
        "icon": None,
        "description": "",
        "type": None,
        "bot": user_object(bot),
        "bot_public": False,
        "bot_require_code_grant": False,
        "rpc_origins": [],
        "verify_key": "0" * 64,
        "flags": APPLICATION_FLAGS,
        "flags_new": str(APPLICATION_FLAGS),
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "owner": user_object(owner),
        "approximate_guild_count": guild_count,
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "explicit_content_filter": 0,
        "team": None,
        "eligible_oauth2_scopes": [],
    }


def gateway(backend: Backend, _call: Call) -> Answer:
    return Answer(body={"url": _gateway_url(backend)})


def gateway_bot(backend: Backend, _call: Call) -> Answer:
    limit = {"total": 1000, "remaining": 1000, "reset_after": 86_400_000, "max_concurrency": 16}
    return Answer(body={"url": _gateway_url(backend), "shards": 1, "session_start_limit": limit})


def _gateway_url(backend: Backend) -> str:
    return backend.base_url.replace("http", "ws", 1) + "/gateway"


ROUTES = (
    Route(method="GET", template="/users/@me", handler=me),
    Route(method="GET", template="/users/@me/guilds", handler=my_guilds),
    Route(method="GET", template="/users/{user_id}", handler=user),
    Route(method="GET", template="/applications/@me", handler=application),
    Route(method="GET", template="/oauth2/applications/@me", handler=application),
    Route(method="GET", template="/gateway", handler=gateway, auth="none"),
    Route(method="GET", template="/gateway/bot", handler=gateway_bot),
)
