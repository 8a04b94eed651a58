"""Control: what the page and the tests ask of the twin, and who may ask it."""

from __future__ import annotations

import aiohttp
import pytest

from bot.preview.server import Twin
from tests.support.control import ControlClient, Refused
from tests.support.discord_bot import Bot


async def test_the_default_world_has_people_channels_and_an_approver(twin: Twin, control: ControlClient) -> None:
    world = await control.world()
    [guild] = world["guilds"]
    roles = {role["id"]: role["name"] for role in guild["roles"]}
    held = {m["user"]["username"]: [roles[role] for role in m["roles"]] for m in guild["members"]}
    assert guild["name"] == "Preview"
    assert [channel["name"] for channel in guild["channels"]] == ["general", "ops"]
    assert held == {"Countersign": ["Countersign"], "owner": ["Manager"], "alice": ["Approver"], "bob": []}
    assert world["bot"]["token"] == twin.token
    assert world["bot"]["online"] is False


async def test_the_stream_tells_every_change_in_order_with_its_time(bot: Bot, control: ControlClient) -> None:
    seen = []
    async with control.events() as events:
        message = await bot.channel("general").send("one")
        await message.edit(content="two")
        await message.add_reaction("👀")
        await message.delete()
        async for event in events:
            seen.append(event)
            if event["type"] == "message_delete":
                break
    assert [event["type"] for event in seen] == ["message_create", "message_update", "reaction_add", "message_delete"]
    assert [event["t_ms"] for event in seen] == sorted(event["t_ms"] for event in seen)
    assert (seen[0]["message"]["content"], seen[1]["message"]["content"]) == ("one", "two")
    assert seen[3] == {**seen[3], "channel_id": str(message.channel.id), "message_id": str(message.id)}


async def test_the_stream_says_when_the_bot_comes_and_goes(bot: Bot, control: ControlClient) -> None:
    assert (await control.world())["bot"]["online"] is True
    async with control.expect(lambda event: event["type"] == "bot") as gone:
        await bot.close()
    assert (await gone)["online"] is False


async def test_people_write_up_to_four_thousand_characters(twin: Twin, control: ControlClient) -> None:
    assert len((await control.say("general", "alice", "x" * 4000))["content"]) == 4000
    with pytest.raises(Refused):
        await control.say("general", "alice", "x" * 4001)


async def test_only_its_author_edits_a_message(bot: Bot, control: ControlClient) -> None:
    told = await control.say("general", "alice", "mine")
    with pytest.raises(Refused, match="only its author"):
        await control.edit(told, content="no", author="bob")
    own = await bot.channel("general").send("the bot's")
    with pytest.raises(Refused, match="only its author"):
        await control.edit(str(own.id), content="no")


async def test_a_reply_may_leave_the_author_alone(bot: Bot, control: ControlClient) -> None:
    own = await bot.channel("general").send("question?")
    loud = await control.say("general", "alice", "yes", reply_to=str(own.id))
    quiet = await control.say("general", "alice", "no", reply_to=str(own.id), mention=False)
    assert [len(message["mentions"]) for message in (loud, quiet)] == [1, 0]
    heard = await bot.hear()
    assert heard.reference is not None
    assert heard.reference.message_id == own.id


async def test_a_thread_and_a_channel_can_be_made(bot: Bot, control: ControlClient) -> None:
    await control.post("/channels", {"name": "new", "topic": "fresh"})
    thread = await control.post("/channels", {"name": "aside", "parent": "new", "user": "alice"})
    await control.say("aside", "alice", "in the thread")
    heard = await bot.hear()
    assert (str(heard.channel.id), heard.content) == (thread["id"], "in the thread")


@pytest.mark.parametrize(
    ("path", "body", "status", "sentence"),
    [
        ("/messages", {"channel": "nowhere", "author": "alice", "content": "x"}, 404, "there is no channel nowhere"),
        ("/messages", {"channel": "general", "author": "nobody", "content": "x"}, 404, "there is no user nobody"),
        ("/messages", {"channel": "general", "content": "x"}, 400, "author is missing"),
        ("/messages", {"channel": "general", "author": "Countersign"}, 403, "the bot writes for itself"),
        ("/messages", {"channel": "general", "author": "alice"}, 400, "Cannot send an empty message"),
        ("/command", {"channel": "general", "user": "alice", "name": "x"}, 404, "there is no command /x here"),
        ("/clock", {"advance_s": -1}, 400, "advance_s is a number of seconds, 0 or more"),
        ("/reactions", {"message": "1", "user": "alice", "emoji": "👀"}, 404, "there is no message 1"),
    ],
)
async def test_what_cannot_be_done_is_told_in_one_sentence(
    path: str, body: dict[str, object], status: int, sentence: str, twin: Twin, control: ControlClient
) -> None:
    with pytest.raises(Refused) as caught:
        await control.post(path, body)
    assert (caught.value.status, caught.value.sentence) == (status, sentence)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_another_site_gets_nothing(headers: dict[str, str], twin: Twin) -> None:
    port = twin.url.rsplit(":", 1)[1]
    headers = {name: value.replace("{port}", port) for name, value in headers.items()}
    paths = ("/control/world", "/api/v10/gateway", "/gateway", "/page/app.js")
    async with aiohttp.ClientSession() as session:
        for path in paths:
            async with session.get(twin.url + path, headers=headers) as response:
                assert response.status == 403, path


async def test_the_own_page_is_served_and_may_ask(twin: Twin) -> None:
    async with aiohttp.ClientSession(headers={"Origin": twin.url, "Sec-Fetch-Site": "same-origin"}) as session:
        async with session.get(twin.url + "/control/world") as response:
            assert response.status == 200
        async with session.get(twin.url + "/") as response:
            assert (response.status, response.content_type) == (200, "text/html")
            assert "default-src 'self'" in response.headers["Content-Security-Policy"]
        async with session.get(twin.url + "/page/..%2Fserver.py") as response:
            assert response.status == 404


async def test_a_form_cannot_write(twin: Twin) -> None:
    url = twin.url + "/control/clock"
    async with aiohttp.ClientSession() as session, session.post(url, data='{"advance_s": 1}') as response:
        assert response.status == 415
    assert twin.clock.offset_s == 0


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, 0),
        ("PATCH", "/gateway", 405, 0),
        ("GET", "/channels/abc", 400, 50035),
        ("GET", "/users/1", 404, 10013),
        ("GET", "/guilds/1", 404, 10004),
    ],
)
async def test_an_unknown_path_is_answered_as_discord_does(
    method: str, path: str, status: int, code: int, twin: Twin
) -> None:
    headers, url = {"Authorization": f"Bot {twin.token}"}, twin.api_base + path
    async with aiohttp.ClientSession(headers=headers) as session, session.request(method, url) as response:
        assert (response.status, (await response.json())["code"]) == (status, code)


async def test_avatars_are_pictures(bot: Bot) -> None:
    assert bot.user is not None
    assert (await bot.user.display_avatar.read()).startswith(b"\x89PNG")


async def test_the_twin_listens_on_this_machine_only() -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.1 only"):
        await Twin().start(host="0.0.0.0")
