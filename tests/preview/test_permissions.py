"""Who sees what, who may do what: for the bot by Discord's codes, for people by a sentence."""

from __future__ import annotations

import io

import discord
import pytest

from bot.preview.permissions import ALL, EVERYONE, P, in_channel, in_guild
from bot.preview.server import Twin
from bot.preview.values import Channel
from tests.support.control import ControlClient, Refused
from tests.support.discord_bot import Bot, running
from tests.support.twin import MakeTwin

BOT_ROLE = "Countersign"


async def deny_bot(control: ControlClient, bits: int) -> None:
    await control.set_channel("ops", overwrites=[{"role": BOT_ROLE, "deny": int(bits)}])


async def test_a_hidden_channel_gives_missing_access_and_no_events(bot: Bot, control: ControlClient) -> None:
    channel = bot.channel("ops")
    await deny_bot(control, P.VIEW_CHANNEL)
    with pytest.raises(discord.Forbidden) as caught:
        await channel.send("x")
    assert caught.value.code == 50001
    await control.say("ops", "alice", "not for the bot")
    await control.say("general", "alice", "for the bot")
    assert (await bot.hear()).content == "for the bot"


@pytest.mark.parametrize("denied", [P.SEND_MESSAGES, P.EMBED_LINKS, P.ATTACH_FILES])
async def test_a_missing_permission_is_told(denied: int, bot: Bot, control: ControlClient) -> None:
    await deny_bot(control, denied)
    file = discord.File(io.BytesIO(b"x"), filename="x.txt")
    with pytest.raises(discord.Forbidden) as caught:
        await bot.channel("ops").send("x", embed=discord.Embed(title="t"), file=file)
    assert caught.value.code == 50013


async def test_without_history_nothing_is_listed_or_answered(bot: Bot, control: ControlClient) -> None:
    told = await control.say("ops", "alice", "before")
    await deny_bot(control, P.READ_MESSAGE_HISTORY)
    channel = bot.channel("ops")
    assert [message async for message in channel.history()] == []
    with pytest.raises(discord.HTTPException) as caught:
        await channel.send("x", reference=channel.get_partial_message(int(told["id"])).to_reference())
    assert caught.value.code == 160002


async def test_only_embeds_of_others_can_be_suppressed(bot: Bot, control: ControlClient) -> None:
    await control.say("general", "alice", "https://example.org")
    message = await bot.hear()
    with pytest.raises(discord.Forbidden) as caught:
        await message.edit(content="mine now")
    assert caught.value.code == 50005
    await message.edit(suppress=True)
    [shown] = await control.messages("general")
    assert shown["flags"] & 4


async def test_others_messages_are_deleted_only_by_those_who_manage_them(bot: Bot, control: ControlClient) -> None:
    await control.say("ops", "alice", "x")
    message = await bot.hear()
    await deny_bot(control, P.MANAGE_MESSAGES)
    with pytest.raises(discord.Forbidden):
        await message.delete()
    await control.set_channel("ops", overwrites=[])
    await message.delete()
    assert await control.messages("ops") == []


async def test_people_are_held_to_their_permissions_too(twin: Twin, control: ControlClient) -> None:
    denied = int(P.SEND_MESSAGES | P.ADD_REACTIONS)
    await control.set_channel("ops", overwrites=[{"role": "@everyone", "deny": denied}])
    with pytest.raises(Refused, match="bob may not write in ops"):
        await control.say("ops", "bob", "x")
    told = await control.say("ops", "owner", "the owner may always")
    with pytest.raises(Refused, match="may not react"):
        await control.react(told, "bob", "👀")
    await control.set_channel("ops", overwrites=[{"role": "@everyone", "deny": int(P.VIEW_CHANNEL)}])
    with pytest.raises(Refused, match="may not read"):
        await control.messages("ops", "bob")


async def test_roles_can_be_given_and_taken_while_the_bot_runs(
    twin: Twin, control: ControlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(twin, monkeypatch, intents=discord.Intents(guilds=True, members=True)) as bot:
        member = bot.guilds[0].get_member_named("bob")
        assert member is not None
        await control.set_roles("bob", "Approver")
        fetched = await bot.guilds[0].fetch_member(member.id)
        assert [role.name for role in fetched.roles] == ["@everyone", "Approver"]
        await control.set_roles("bob")
        assert [role.name for role in (await bot.guilds[0].fetch_member(member.id)).roles] == ["@everyone"]


async def test_a_deleted_channel_is_unknown(bot: Bot, control: ControlClient) -> None:
    channel = bot.channel("ops")
    async with control.session.delete(f"{control._url}/channels/ops") as response:
        assert response.status == 200
    with pytest.raises(discord.NotFound) as caught:
        await channel.send("x")
    assert caught.value.code == 10003


async def test_overwrites_go_from_everyone_to_roles_to_the_member(make_twin: MakeTwin) -> None:
    overwrites = [
        {"role": "@everyone", "deny": int(P.VIEW_CHANNEL | P.SEND_MESSAGES)},
        {"role": "Staff", "allow": int(P.VIEW_CHANNEL | P.SEND_MESSAGES)},
        {"role": "Muted", "deny": int(P.SEND_MESSAGES)},
        {"member": "carl", "deny": int(P.VIEW_CHANNEL)},
    ]
    seed = {
        "name": "G",
        "owner": "boss",
        "roles": [{"name": "Staff"}, {"name": "Muted"}, {"name": "Admin", "permissions": int(P.ADMINISTRATOR)}],
        "channels": [{"name": "c", "overwrites": overwrites}],
        "members": [
            {"name": "anna"},
            {"name": "ben", "roles": ["Staff"]},
            {"name": "both", "roles": ["Staff", "Muted"]},
            {"name": "carl", "roles": ["Staff"]},
            {"name": "dora", "roles": ["Admin"]},
        ],
    }
    world = (await make_twin(seed={"guilds": [seed]})).backend.world
    channel = next(iter(world.channels))
    people = {user.username: user.id for user in world.users}
    can = {name: in_channel(world, channel, snowflake) for name, snowflake in people.items()}
    both = P.VIEW_CHANNEL | P.SEND_MESSAGES
    assert can["anna"] == 0
    assert can["ben"] & both == both
    assert can["both"] & both == both, "an allow of one role wins over the deny of another"
    assert can["carl"] == 0
    assert can["dora"] == can["boss"] == ALL


async def test_a_thread_follows_its_parent_and_its_own_send_permission(twin: Twin) -> None:
    world = twin.backend.world
    bob = next(user.id for user in world.users if user.username == "bob")
    parent = next(channel for channel in world.channels if channel.name == "ops")
    denied = int(P.SEND_MESSAGES)
    overwrite = {"id": parent.guild_id, "type": 0, "allow": "0", "deny": str(denied)}
    world.channels.put(Channel(id=parent.id, guild_id=parent.guild_id, name="ops", overwrites=[overwrite]))
    thread = world.channels.put(Channel(id="5", type=11, guild_id=parent.guild_id, parent_id=parent.id, name="t"))
    assert in_channel(world, thread, bob) & P.SEND_MESSAGES
    assert not in_channel(world, world.channels.get(parent.id) or parent, bob) & P.SEND_MESSAGES
    assert in_guild(world, parent.guild_id or "", bob) == int(EVERYONE)
    assert in_guild(world, parent.guild_id or "", "1") == 0
