"""The other end of the tool `call_home`: counts who rings, and answers when it is told to."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self


class Home:
    """An async context manager; `port` is where it listens, `calls` what was said so far."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.answer = asyncio.Event()
        self._rung = asyncio.Condition()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.answer.set()
        self._server.close()
        await self._server.wait_closed()

    async def rung(self, count: int) -> None:
        """Wait for the `count`th call."""
        async with asyncio.timeout(20), self._rung:
            await self._rung.wait_for(lambda: len(self.calls) >= count)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = (await reader.readline()).decode().strip()
        async with self._rung:
            self.calls.append(said)
            self._rung.notify_all()
        await self.answer.wait()
        writer.write(f"nice to hear {said}\n".encode())
        writer.close()
