"""The gateway: start, intents, resume, and what breaks a connection."""

from __future__ import annotations

import asyncio
import zlib

import aiohttp
import discord
import pytest
import zstandard

from bot.preview.compression import packer
from bot.preview.handshake import chunk
from bot.preview.server import Twin
from tests.support.control import ControlClient
from tests.support.discord_bot import Bot, point_at, running
from tests.support.twin import MakeTwin

ALL = discord.Intents.all()


async def test_the_bot_sees_its_guild_with_channels_and_roles(bot: Bot) -> None:
    [guild] = bot.guilds
    assert guild.name == "Preview"
    assert [channel.name for channel in guild.text_channels] == ["general", "ops"]
    assert "Approver" in [role.name for role in guild.roles]
    assert guild.me.guild_permissions.manage_messages
    assert [member.name for member in guild.members] == ["Countersign"], "without the members intent"


async def test_a_bot_with_the_members_intent_gets_them_in_chunks(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    intents = discord.Intents(guilds=True, members=True)
    async with running(twin, monkeypatch, intents=intents) as bot:
        [guild] = bot.guilds
        assert {member.name for member in guild.members} == {"Countersign", "owner", "alice", "bob"}
        assert guild.owner is not None
        assert guild.owner.name == "owner"
        assert [member.name for member in await guild.query_members("ali")] == ["alice"]


async def test_without_the_content_intent_only_mentions_and_direct_messages_are_read(
    twin: Twin, control: ControlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(twin, monkeypatch, intents=discord.Intents(guilds=True, messages=True)) as bot:
        await control.say("general", "alice", "secret")
        assert (await bot.hear()).content == ""
        await control.say("general", "alice", f"<@{bot.application_id}> hello")
        assert "hello" in (await bot.hear()).content
        await control.say("@alice", "alice", "direct")
        assert (await bot.hear()).content == "direct"
        assert (await bot.channel("general").send("own")).content == "own"


async def test_a_bot_without_an_intent_hears_nothing_of_it(
    twin: Twin, control: ControlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(twin, monkeypatch, intents=discord.Intents(guilds=True, dm_messages=True)) as bot:
        await control.say("general", "alice", "in the guild")
        await control.say("@alice", "alice", "direct")
        assert (await bot.hear()).content == "direct"


@pytest.mark.parametrize("fault", [{"kind": "close", "code": 4000}, {"kind": "close", "code": 1012}, {"kind": "op7"}])
async def test_what_was_said_in_between_arrives_once_after_a_resume(
    fault: dict[str, object], bot: Bot, twin: Twin, control: ControlClient
) -> None:
    async with control.expect(lambda event: event["type"] == "bot" and not event["online"]) as gone:
        await control.gateway_fault(str(fault["kind"]), **{key: fault[key] for key in fault if key != "kind"})
        await gone
    for number in range(3):
        await control.say("general", "alice", f"m{number}")
    await asyncio.wait_for(bot.resumed.wait(), 10)
    await control.say("general", "alice", "after")
    assert [(await bot.hear()).content for _ in range(4)] == ["m0", "m1", "m2", "after"]
    assert bot.heard.empty()


@pytest.mark.parametrize("resumable", [True, False])
async def test_an_invalid_session_ends_in_a_working_one(resumable: bool, bot: Bot, control: ControlClient) -> None:
    bot.ready.clear()
    await control.gateway_fault("op9", resumable=resumable)
    again = bot.resumed if resumable else bot.ready
    await asyncio.wait_for(again.wait(), 20)
    await control.say("general", "alice", "still here?")
    assert (await bot.hear()).content == "still here?"


async def test_a_wrong_token_is_a_login_failure(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(twin, monkeypatch)
    bot = Bot(discord.Intents.default())
    with pytest.raises(discord.LoginFailure):
        await bot.start(twin.token[:-1] + "?")
    await bot.close()


async def test_two_shards_share_the_guilds(make_twin: MakeTwin, monkeypatch: pytest.MonkeyPatch) -> None:
    base = {"owner": "o", "roles": [], "members": [], "channels": [{"name": "c"}]}
    twin = await make_twin(rate_limits=False, seed={"guilds": [{**base, "name": "A"}]})
    point_at(twin, monkeypatch)

    class Sharded(discord.AutoShardedClient):
        async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
            """No waiting between the shards of one process on this machine."""

    bot = Sharded(intents=discord.Intents(guilds=True), shard_count=2, guild_ready_timeout=0.01)
    ready = asyncio.Event()

    @bot.event
    async def on_ready() -> None:
        ready.set()

    task = asyncio.create_task(bot.start(twin.token))
    await asyncio.wait_for(ready.wait(), 10)
    assert [guild.name for guild in bot.guilds] == ["A"]
    assert sorted(session.shard for session in twin.backend.hub.sessions.values()) == [(0, 2), (1, 2)]
    await bot.close()
    await task


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        (["{}"], 4002),
        (["not json"], 4002),
        (['{"op": 99}'], 4001),
        (['{"op": 8, "d": {}}'], 4003),
        (['{"op": 2, "d": {"token": "wrong"}}'], 4004),
        (['{"op": 2, "d": {"token": "%s", "intents": 0}}'] * 2, 4005),
        (['{"op": 2, "d": {"token": "%s", "intents": 1, "shard": [2, 2]}}'], 4010),
        (['{"op": 2, "d": {"token": "%s", "intents": -1}}'], 4013),
        (['{"op": 2, "d": {"token": "%s", "intents": 32768}}'], 4014),
    ],
)
async def test_a_client_that_breaks_the_protocol_is_closed_with_its_code(
    frames: list[str], code: int, twin: Twin
) -> None:
    if code == 4014:
        twin.backend.closed_intents = 1 << 15
    async with aiohttp.ClientSession() as http, http.ws_connect(twin.gateway_url) as socket:
        for frame in frames:
            await socket.send_str(frame.replace("%s", twin.token))
        async for _ in socket:
            pass
        assert socket.close_code == code


async def test_a_heartbeat_is_acknowledged(twin: Twin) -> None:
    async with aiohttp.ClientSession() as http, http.ws_connect(twin.gateway_url) as socket:
        assert (await socket.receive_json())["op"] == 10
        await socket.send_json({"op": 1, "d": None})
        assert await socket.receive_json() == {"op": 11}


async def test_an_unknown_session_is_told_to_begin_anew(twin: Twin) -> None:
    async with aiohttp.ClientSession() as http, http.ws_connect(twin.gateway_url) as socket:
        await socket.receive_json()
        await socket.send_json({"op": 6, "d": {"token": twin.token, "session_id": "gone", "seq": 3}})
        assert await socket.receive_json() == {"op": 9, "d": False}


async def test_refused_connections_are_as_many_as_asked_for(twin: Twin, control: ControlClient) -> None:
    await control.gateway_fault("refuse", times=1)
    async with aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect(twin.gateway_url)
        async with http.ws_connect(twin.gateway_url) as socket:
            assert (await socket.receive_json())["op"] == 10


async def test_a_zlib_stream_is_one_context_flushed_at_each_message(twin: Twin) -> None:
    url = twin.gateway_url + "?v=10&encoding=json&compress=zlib-stream"
    async with aiohttp.ClientSession() as http, http.ws_connect(url) as socket:
        context = zlib.decompressobj()
        hello = (await socket.receive()).data
        assert hello.endswith(b"\x00\x00\xff\xff")
        assert b'"op":10' in context.decompress(hello)
        await socket.send_json({"op": 1, "d": None})
        assert context.decompress((await socket.receive()).data) == b'{"op":11}'


def test_a_zstd_stream_is_one_frame_with_a_block_for_each_message() -> None:
    pack = packer("zstd-stream")
    assert pack is not None
    context = zstandard.ZstdDecompressor().decompressobj()
    messages = [b"x" * size for size in (1, 1000, 100_000)]
    assert [context.decompress(pack(message)) for message in messages] == messages


async def test_members_are_asked_for_by_id_too(twin: Twin) -> None:
    world = twin.backend.world
    [guild] = world.guilds
    answer = chunk(world, {"guild_id": guild.id, "user_ids": [guild.owner_id, "1"], "nonce": "n"})
    assert [member["user"]["username"] for member in answer["members"]] == ["owner"]
    assert (answer["not_found"], answer["nonce"]) == (["1"], "n")
