"""What a session is told at its start, and the members it may ask for."""

from __future__ import annotations

from bot.preview.backend import Backend
from bot.preview.hub import Intent, Session
from bot.preview.values import Guild, Json
from bot.preview.wire import channel_object, guild_object, member_object, self_object
from bot.preview.world import World

APPLICATION_FLAGS = (1 << 13) | (1 << 15) | (1 << 19)  # limited presence, members and message content: granted


def ready(backend: Backend, session: Session) -> Json:
    world = backend.world
    return {
        "v": 10,
        "user": self_object(world.bot),
        "guilds": [{"id": guild.id, "unavailable": True} for guild in world.guilds if session.concerns(guild.id)],
        "session_id": session.id,
        "session_type": "normal",
        "resume_gateway_url": backend.base_url.replace("http", "ws", 1) + "/gateway",
        "shard": list(session.shard),
        "application": {"id": world.bot_id, "flags": APPLICATION_FLAGS},
        "private_channels": [],
        "relationships": [],
        "presences": [],
        "user_settings": {},
        "_trace": [],
    }


def guild_create(backend: Backend, session: Session, guild: Guild) -> Json:
    """The whole guild. Without the presences intent only the bot is among the members, as in Discord."""
    world = backend.world
    everybody = world.members_of(guild.id)
    shown = (
        everybody if session.intents & Intent.GUILD_PRESENCES else [m for m in everybody if m.user_id == world.bot_id]
    )
    channels = world.channels_of(guild.id)
    return {
        **guild_object(world, guild),
        "joined_at": next((m.joined_at for m in everybody if m.user_id == world.bot_id), None),
        "large": False,
        "unavailable": False,
        "member_count": len(everybody),
        "members": [member_object(member, world.users.get(member.user_id)) for member in shown],
        "channels": [channel_object(world, channel) for channel in channels if not channel.is_thread],
        "threads": [
            channel_object(world, channel) for channel in channels if channel.is_thread and not channel.archived
        ],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def chunk(world: World, body: Json) -> Json:
    """The answer to op 8: members by id, by the start of their name, or all."""
    guild_id = str(body.get("guild_id"))
    wanted = body.get("user_ids")
    ids = {str(item) for item in (wanted if isinstance(wanted, list) else [wanted])} if wanted else None
    query, limit = str(body.get("query") or "").lower(), body.get("limit")
    found = []
    for member in world.members_of(guild_id):
        user = world.users.get(member.user_id)
        if user is None or (ids is not None and user.id not in ids):
            continue
        if any(name.lower().startswith(query) for name in (user.username, user.global_name, member.nick) if name):
            found.append(member_object(member, user))
    known = {member["user"]["id"] for member in found}
    answer: Json = {
        "guild_id": guild_id,
        "members": found[:limit] if isinstance(limit, int) and limit > 0 else found,
        "chunk_index": 0,
        "chunk_count": 1,
        "not_found": sorted((ids or set()) - known),
        "presences": [],
    }
    return {**answer, "nonce": body["nonce"]} if body.get("nonce") else answer
