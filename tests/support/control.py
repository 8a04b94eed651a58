"""A person in front of the twin: /control over real HTTP, also of a twin in another process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import aiohttp
import orjson

Json = dict[str, Any]


class Refused(AssertionError):
    """Control said no; the message is its sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(f"{status}: {sentence}")
        self.status = status
        self.sentence = sentence


class ControlClient:
    """Use as an async context manager. Channels and people go by name or id; messages by object or id."""

    def __init__(self, url: str) -> None:
        self._url = url + "/control"
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        # A test may move this loop's time by hours, which is no reason to give up on a call.
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        assert self._session is not None, "use `async with ControlClient(url)`"
        return self._session

    async def world(self) -> Json:
        return await self._object("GET", "/world")

    async def say(self, channel: str, author: str, content: str = "", **more: Any) -> Json:
        """A person writes; `more` is reply_to, attachments, mention, webhook, type, embeds."""
        body = {"channel": channel, "author": author, "content": content, **more}
        return await self._object("POST", "/messages", body)

    async def edit(self, message: Json | str, **fields: Any) -> Json:
        return await self._object("PATCH", f"/messages/{_id(message)}", fields)

    async def delete(self, message: Json | str) -> None:
        await self._call("DELETE", f"/messages/{_id(message)}")

    async def react(self, message: Json | str, user: str, emoji: str, *, remove: bool = False) -> None:
        await self._call(
            "POST", "/reactions", {"message": _id(message), "user": user, "emoji": emoji, "remove": remove}
        )

    async def messages(self, channel: str, viewer: str | None = None) -> list[Json]:
        query = {"channel": channel} | ({"viewer": viewer} if viewer else {})
        found: list[Json] = await self._call("GET", "/messages", query=query)
        return found

    async def click(
        self,
        message: Json | str,
        user: str,
        label: str | None = None,
        *,
        custom_id: str | None = None,
        values: Sequence[str] | None = None,
    ) -> Json:
        body: Json = {"message": _id(message), "user": user}
        body |= {"custom_id": custom_id} if custom_id else {"label": label}
        return await self._object("POST", "/click", body | ({"values": list(values)} if values is not None else {}))

    async def modal(self, interaction: Json | str, user: str, fields: Mapping[str, Any]) -> Json:
        """Submit; `interaction` is the answer of the click that opened the modal, or its id."""
        opener = interaction if isinstance(interaction, str) else interaction["interaction"]
        return await self._object("POST", "/modal", {"interaction": opener, "user": user, "fields": dict(fields)})

    async def command(self, channel: str, user: str, name: str, /, **options: Any) -> Json:
        body = {"channel": channel, "user": user, "name": name, "options": options}
        return await self._object("POST", "/command", body)

    async def set_roles(self, user: str, *roles: str) -> Json:
        return await self._object("PATCH", f"/members/{user}", {"roles": list(roles)})

    async def set_channel(self, channel: str, **fields: Any) -> Json:
        return await self._object("PATCH", f"/channels/{channel}", fields)

    async def requests(self, since: int = 0, *, method: str | None = None, route: str | None = None) -> list[Json]:
        """The bot's REST calls after number `since`, those of a method and a route template if given."""
        found: list[Json] = await self._call("GET", "/requests", query={"since": str(since)})
        return [one for one in found if method in (None, one["method"]) and route in (None, one["route"])]

    async def fault(self, method: str, route: str, **how: Any) -> None:
        """The next matching call fails: status, retry_after, times, delay_ms, after, cut, body."""
        await self._call("POST", "/faults", {"match": {"method": method, "route": route}, **how})

    async def gateway_fault(self, kind: str, **how: Any) -> Json:
        """`close` (code), `op7`, `op9` (resumable) or `refuse` (times)."""
        return await self._object("POST", "/faults", {"gateway": kind, **how})

    async def advance(self, seconds: float) -> None:
        await self._call("POST", "/clock", {"advance_s": seconds})

    async def post(self, path: str, body: Json) -> Any:
        """Any other call of control."""
        return await self._call("POST", path, body)

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[Json]]:
        """The stream of changes; it has begun when the block is entered, so nothing in it is missed."""
        async with self.session.get(self._url + "/events") as response:
            assert response.status == 200, await response.text()
            await response.content.readline()
            yield _events(response.content)

    async def until(self, predicate: Callable[[Json], Any], *, timeout_s: float = 10.0) -> Json:
        """The next event for which `predicate` holds. Start what causes it after this waits: see `expect`."""
        async with self.expect(predicate, timeout_s=timeout_s) as event:
            pass
        return await event

    @asynccontextmanager
    async def expect(
        self, predicate: Callable[[Json], Any], *, timeout_s: float = 10.0
    ) -> AsyncIterator[asyncio.Task[Json]]:
        """Listen first, act in the block, then `await` what the block got."""
        async with self.events() as events:
            task = asyncio.create_task(_first(events, predicate, timeout_s))
            try:
                yield task
                await asyncio.wait([task])
            finally:
                task.cancel()

    async def until_message(
        self, channel: str, predicate: Callable[[Json], Any], *, viewer: str | None = None, timeout_s: float = 10.0
    ) -> Json:
        """A message of the channel for which `predicate` holds: one that is there, or the first that becomes so."""
        async with self.events() as events, real_timeout(timeout_s):
            while True:
                for message in await self.messages(channel, viewer):
                    if predicate(message):
                        return message
                async for event in events:
                    if "message" in event:
                        break

    async def _object(self, method: str, path: str, body: Json | None = None) -> Json:
        found: Json = await self._call(method, path, body)
        return found

    async def _call(
        self, method: str, path: str, body: Json | None = None, *, query: Mapping[str, str] | None = None
    ) -> Any:
        async with self.session.request(method, self._url + path, json=body, params=query) as response:
            data = await response.read()
            value = orjson.loads(data) if data else None
            if response.status >= 400:
                raise Refused(response.status, value["error"] if isinstance(value, dict) else str(value))
            return value


@asynccontextmanager
async def real_timeout(seconds: float) -> AsyncIterator[None]:
    """`asyncio.timeout` in seconds of the wall, on a loop whose time a test moves. Raises TimeoutError."""
    loop, end = asyncio.get_running_loop(), time.monotonic() + seconds

    async def watch(scope: asyncio.Timeout) -> None:
        while (left_s := end - time.monotonic()) > 0:
            await asyncio.sleep(left_s)
        scope.reschedule(loop.time())

    async with asyncio.timeout(None) as scope:
        watcher = asyncio.create_task(watch(scope))
        try:
            yield
        finally:
            watcher.cancel()


def _id(message: Json | str) -> str:
    return message if isinstance(message, str) else str(message["id"])


async def _events(stream: aiohttp.StreamReader) -> AsyncIterator[Json]:
    async for line in stream:
        if line.startswith(b"data: "):
            yield orjson.loads(line[6:])


async def _first(events: AsyncIterator[Json], predicate: Callable[[Json], Any], timeout_s: float) -> Json:
    async with real_timeout(timeout_s):
        async for event in events:
            if predicate(event):
                return event
    msg = "the twin has ended its events"
    raise AssertionError(msg)
