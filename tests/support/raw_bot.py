"""The smallest bot that can press back: a gateway connection and REST calls, no library in between.

It is for tests of the preview page, which need somebody to answer a button, a command or a modal.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
import orjson

Json = dict[str, Any]
Answer = Callable[[Json], Json | None]

INTENTS = 1 | 1 << 9 | 1 << 12 | 1 << 15
MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, MODAL = 4, 5, 6, 7, 9


class RawBot:
    """`answers` maps a custom_id or a command's name to what the first acknowledgement is; None leaves it out."""

    def __init__(self, api_base: str, gateway_url: str, token: str) -> None:
        self._api = api_base
        self._gateway = gateway_url
        self._token = token
        self.answers: dict[str, Answer] = {}
        self.interactions: asyncio.Queue[Json] = asyncio.Queue()
        self.user_id = ""

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(headers={"Authorization": f"Bot {self._token}"})
        self._socket = await self._http.ws_connect(self._gateway)
        await self._socket.receive()  # hello
        properties = {"os": "linux", "browser": "raw", "device": "raw"}
        identify = {"token": self._token, "intents": INTENTS, "properties": properties}
        await self._socket.send_json({"op": 2, "d": identify})
        while (frame := orjson.loads((await self._socket.receive()).data))["t"] != "READY":
            pass
        self.user_id = frame["d"]["user"]["id"]
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        await self._socket.close()
        await self._http.close()

    async def rest(self, method: str, path: str, body: object = None) -> Json:
        """One REST call; an answer that is not 2xx fails the test with its body."""
        async with self._http.request(method, self._api + path, json=body) as answer:
            data = await answer.read()
            assert answer.status < 300, f"{method} {path}: {answer.status} {data.decode()}"
            value: Json = orjson.loads(data) if data else {}
            return value

    async def post(self, channel_id: str, content: str = "", **fields: object) -> Json:
        return await self.rest("POST", f"/channels/{channel_id}/messages", {"content": content, **fields})

    async def edit(self, message: Mapping[str, Any], **fields: object) -> Json:
        return await self.rest("PATCH", f"/channels/{message['channel_id']}/messages/{message['id']}", fields)

    async def delete(self, message: Mapping[str, Any]) -> None:
        await self.rest("DELETE", f"/channels/{message['channel_id']}/messages/{message['id']}")

    async def register(self, *commands: Json) -> None:
        await self.rest("PUT", f"/applications/{self.user_id}/commands", list(commands))

    async def _read(self) -> None:
        async for frame in self._socket:
            event = orjson.loads(frame.data)
            if event.get("t") == "INTERACTION_CREATE":
                await self._answer(event["d"])

    async def _answer(self, interaction: Json) -> None:
        data = interaction["data"]
        answer = self.answers.get(data.get("custom_id") or data["name"])
        self.interactions.put_nowait(interaction)
        callback = answer(interaction) if answer else None
        if callback is not None:
            path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
            await self.rest("POST", path, callback)


def says(content: str, *, kind: int = MESSAGE, **fields: object) -> Answer:
    """An answer that is always the same message."""
    return lambda _: {"type": kind, "data": {"content": content, **fields}}


def row(*components: Json) -> Json:
    return {"type": 1, "components": list(components)}


def button(label: str, custom_id: str, *, style: int = 2, **fields: object) -> Json:
    return {"type": 2, "style": style, "label": label, "custom_id": custom_id, **fields}
