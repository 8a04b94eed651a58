"""Rate limits and faults: what a bot that is too fast, or unlucky, gets to see."""

from __future__ import annotations

import asyncio

import aiohttp
import discord
import pytest

from bot.preview.server import Twin
from tests.support.control import ControlClient, Refused
from tests.support.discord_bot import Bot
from tests.support.twin import MakeTwin

MESSAGES, MESSAGE = "/channels/{channel_id}/messages", "/channels/{channel_id}/messages/{message_id}"


@pytest.fixture
async def limited(make_twin: MakeTwin) -> Twin:
    """A twin with Discord's rate limits."""
    return await make_twin()


class Http:
    """Bare calls, because discord.py waits for the limits that these tests want to see."""

    def __init__(self, twin: Twin, session: aiohttp.ClientSession) -> None:
        self.twin = twin
        self._session = session
        self.channels = [channel.id for channel in twin.backend.world.channels]

    async def __call__(
        self, method: str, path: str, body: object = None
    ) -> tuple[aiohttp.ClientResponse, dict[str, object]]:
        headers = {"Authorization": f"Bot {self.twin.token}"}
        async with self._session.request(method, self.twin.api_base + path, json=body, headers=headers) as response:
            return response, await response.json() if response.content_length else {}

    async def say(self, channel: int = 0, text: str = "x") -> tuple[aiohttp.ClientResponse, dict[str, object]]:
        return await self("POST", f"/channels/{self.channels[channel]}/messages", {"content": text})


async def test_five_messages_in_five_seconds_go_to_a_channel(limited: Twin) -> None:
    async with aiohttp.ClientSession() as session:
        http = Http(limited, session)
        left = [(await http.say())[0].headers["X-RateLimit-Remaining"] for _ in range(5)]
        assert left == ["4", "3", "2", "1", "0"]
        response, body = await http.say()
        assert response.status == 429
        assert (body["global"], response.headers["X-RateLimit-Scope"]) == (False, "user")
        assert 0 < float(str(body["retry_after"])) <= 5
        assert int(response.headers["Retry-After"]) >= 1
        assert response.headers["Via"]
        assert (await http.say(channel=1))[0].status == 200, "another channel has its own bucket"
        limited.advance(5)
        assert (await http.say())[0].status == 200


async def test_all_messages_of_a_channel_share_one_bucket_of_edits(limited: Twin) -> None:
    async with aiohttp.ClientSession() as session:
        http = Http(limited, session)
        ids = [str((await http.say())[1]["id"]) for _ in range(3)]
        base = f"/channels/{http.channels[0]}/messages/"
        edits = [await http("PATCH", base + ids[number % 3], {"content": f"{number}"}) for number in range(6)]
        assert [response.status for response, _ in edits] == [200] * 5 + [429]
        assert len({response.headers["X-RateLimit-Bucket"] for response, _ in edits}) == 1


async def test_fifty_calls_a_second_are_all_in_all(limited: Twin) -> None:
    async with aiohttp.ClientSession() as session:
        http = Http(limited, session)
        limited.clock.monotonic = lambda: 1000.0  # type: ignore[method-assign]
        calls = [await http("GET", "/users/@me") for _ in range(25)]
        calls += [await http("GET", f"/channels/{http.channels[0]}") for _ in range(26)]
        response, body = calls[-1]
        assert [response.status for response, _ in calls[:-1]] == [200] * 50
        assert (response.status, body["global"]) == (429, True)
        assert (response.headers["X-RateLimit-Global"], response.headers["X-RateLimit-Scope"]) == ("true", "global")
        callback, _ = await http("POST", "/interactions/1/token/callback", {"type": 5})
        assert callback.status == 404, "callbacks are outside the global limit"


async def test_an_old_message_takes_only_so_many_edits(limited: Twin) -> None:
    async with aiohttp.ClientSession() as session:
        http = Http(limited, session)
        message = str((await http.say())[1]["id"])
        limited.advance(3601)
        path = f"/channels/{http.channels[0]}/messages/{message}"
        for number in range(5):
            assert (await http("PATCH", path, {"content": f"{number}"}))[0].status == 200
        limited.advance(6)
        response, body = await http("PATCH", path, {"content": "one more"})
        assert (response.status, body["code"]) == (429, 30046)


async def test_discord_py_waits_for_a_limit_and_tries_again(bot: Bot, control: ControlClient) -> None:
    await control.fault("POST", MESSAGES, status=429, retry_after=0.01)
    message = await bot.channel("general").send("at last")
    assert message.content == "at last"
    statuses = [call["status"] for call in await control.requests(route=MESSAGES)]
    assert statuses == [429, 200]


async def test_faults_happen_in_order_and_as_often_as_asked(bot: Bot, control: ControlClient) -> None:
    await control.fault("POST", MESSAGES, status=403, body={"message": "Missing Access", "code": 50001})
    await control.fault("POST", MESSAGES, status=400, times=2)
    channel = bot.channel("general")
    codes = []
    for _ in range(3):
        with pytest.raises(discord.HTTPException) as caught:
            await channel.send("x")
        codes.append((caught.value.status, caught.value.code))
    assert codes == [(403, 50001), (400, 0), (400, 0)]
    await channel.send("works again")
    assert len(await control.messages("general")) == 1


async def test_a_fault_after_the_fact_loses_only_the_answer(bot: Bot, control: ControlClient) -> None:
    await control.fault("POST", MESSAGES, status=400, after=True)
    with pytest.raises(discord.HTTPException):
        await bot.channel("general").send("once", nonce="n")
    await bot.channel("general").send("once", nonce="n")
    assert len(await control.messages("general")) == 1


async def test_a_cut_connection_gives_no_answer(bot: Bot, control: ControlClient) -> None:
    await control.fault("POST", MESSAGES, cut=True)
    with pytest.raises(aiohttp.ClientError):
        await bot.channel("general").send("x")
    assert [call["status"] for call in await control.requests(route=MESSAGES)] == [0]


async def test_a_delay_ends_when_the_clock_has_moved(
    bot: Bot, twin: Twin, control: ControlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived, sleep = asyncio.Event(), twin.clock.sleep

    async def watched(delay_s: float) -> None:
        arrived.set()
        await sleep(delay_s)

    monkeypatch.setattr(twin.clock, "sleep", watched)
    message = await bot.channel("general").send("one")
    await control.fault("PATCH", MESSAGE, delay_ms=60_000)
    edit = asyncio.create_task(message.edit(content="two"))
    await arrived.wait()
    await control.advance(59)
    assert not edit.done()
    await control.advance(1)
    await edit
    [shown] = await control.messages("general")
    assert shown["content"] == "two"


@pytest.mark.parametrize(
    "wanted", [{}, {"match": {}}, {"match": {}, "status": 500, "when": "x"}, {"gateway": "explode"}]
)
async def test_a_fault_that_says_nothing_is_refused(
    wanted: dict[str, object], twin: Twin, control: ControlClient
) -> None:
    with pytest.raises(Refused) as caught:
        await control.post("/faults", wanted)
    assert caught.value.status == 400
