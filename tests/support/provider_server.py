"""A language model's API on loopback that answers by script.

    async with ScriptedProvider(kind="openai_compat") as server:
        server.script([Pass(calls=[("list_dir", "{}")]), Pass(text=["Two ", "files."])])
        ...                      # point a provider at server.base_url
        assert server.requests[1]["messages"][-1]["role"] == "tool"

An `asyncio.Event` among the pieces of a pass pauses the stream until it is set, a float pauses that many seconds.
`split=1` writes every byte by itself.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.support.provider_wire import Answer, Frame, Pass, Piece, Raw, refusal, render, sse

__all__ = ["Answer", "Frame", "Pass", "Piece", "Raw", "ScriptedProvider", "refusal", "render", "sse"]


class ScriptedProvider:
    """`kind` is `openai_compat` or `anthropic`; `split` the most bytes a write may have (None: an event a write)."""

    def __init__(self, *, kind: str = "openai_compat", split: int | None = None) -> None:
        self.kind = kind
        self.split = split
        self.base_url = ""
        self.requests: list[dict[str, Any]] = []
        """The JSON bodies, in the order of arrival."""
        self.headers: list[dict[str, str]] = []
        """The headers of each request, names in lower case."""
        self.paths: list[str] = []
        self.connections: set[int] = set()
        self.abandoned = asyncio.Event()
        """Set when a client hung up in the middle of an answer."""
        self._script: deque[Answer] = deque()
        self._respond: Callable[[dict[str, Any]], Answer] | None = None
        self._arrived = asyncio.Condition()
        self._runner: web.AppRunner | None = None

    def script(self, answers: Iterable[Answer]) -> None:
        """Add answers, one for each request to come."""
        self._script.extend(answers)

    def respond(self, answer: Callable[[dict[str, Any]], Answer]) -> None:
        """Answer every request that finds the script empty with `answer(request)`."""
        self._respond = answer

    async def arrived(self, count: int) -> None:
        """Wait until `count` requests have come in altogether."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}" + ("/v1" if self.kind == "openai_compat" else "")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        async with self._arrived:
            self.requests.append(body)
            self.headers.append({name.lower(): value for name, value in request.headers.items()})
            self.paths.append(request.path)
            self.connections.add(id(request.transport))
            self._arrived.notify_all()
        answer = self._next(body)
        raw = answer if isinstance(answer, Raw) else Raw(frames=render(self.kind, answer), hang_up=answer.hang_up)
        response = web.StreamResponse(status=raw.status, headers=dict(raw.headers))
        try:
            await response.prepare(request)
            for frame in raw.frames:
                await self._write(response, frame)
        except (asyncio.CancelledError, ConnectionError):
            self.abandoned.set()
            raise
        if raw.hang_up and request.transport is not None:
            request.transport.close()
        else:
            await response.write_eof()
        return response

    def _next(self, body: dict[str, Any]) -> Answer:
        if self._script:
            return self._script.popleft()
        if self._respond is not None:
            return self._respond(body)
        return refusal(400, "the script of this server is over")

    async def _write(self, response: web.StreamResponse, frame: Frame) -> None:
        if isinstance(frame, asyncio.Event):
            await frame.wait()
        elif isinstance(frame, float):
            await asyncio.sleep(frame)
        elif self.split is None:
            await response.write(frame)
        else:
            for start in range(0, len(frame), self.split):
                await response.write(frame[start : start + self.split])
