"""The gateway websocket: hello, identify, heartbeats, resume, member chunks and the close codes.

Source: https://discord.com/developers/docs/events/gateway
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import orjson
from aiohttp import WSMsgType, web

from bot.preview.backend import Backend
from bot.preview.compression import Pack, packer
from bot.preview.handshake import chunk, guild_create, ready
from bot.preview.hub import Frame, Session
from bot.preview.values import Json

HEARTBEAT_MS = 41_250
ACK_S = 0.05  # discord.py notes the time of a heartbeat in a thread, after it was sent: an ack must not be faster
MAX_FRAME_BYTES = 4096
KNOWN_INTENTS = (1 << 26) - 1


class Close(Exception):
    """The connection ends with a Discord close code."""

    def __init__(self, code: int) -> None:
        super().__init__(str(code))
        self.code = code


class Gateway:
    """Accepts connections and keeps them until they end."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.refuse = 0  # how many of the next connections are answered with 503

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """`GET /gateway`, upgraded."""
        if self.refuse > 0:
            self.refuse -= 1
            return web.Response(status=503)
        try:
            pack = packer(request.query.get("compress", ""))
        except KeyError:
            return web.Response(status=400, text="compress is zlib-stream or zstd-stream")
        socket = web.WebSocketResponse(compress=False, max_msg_size=1 << 20)
        await socket.prepare(request)
        known_version = request.query.get("v", "10") in ("9", "10")
        await Connection(self._backend, socket, pack).run(known_version=known_version)
        return socket

    def close_all(self, code: int) -> int:
        """Close every connection; returns how many there were."""
        return self._tell(Frame(close_code=code))

    def reconnect_all(self) -> int:
        """Ask every client to come back (op 7)."""
        return self._tell(Frame(orjson.dumps({"op": 7, "d": None})))

    def invalidate_all(self, *, resumable: bool) -> int:
        """Tell every client that its session is invalid (op 9)."""
        count = self._tell(Frame(orjson.dumps({"op": 9, "d": resumable})))
        if not resumable:
            self._backend.hub.sessions.clear()
        return count

    def _tell(self, frame: Frame) -> int:
        outboxes = [session.outbox for session in self._backend.hub.sessions.values() if session.outbox is not None]
        for outbox in outboxes:
            outbox.put_nowait(frame)
        return len(outboxes)


class Connection:
    """One websocket. What goes out passes one queue, because the compression context wants one order."""

    def __init__(self, backend: Backend, socket: web.WebSocketResponse, pack: Pack | None) -> None:
        self._backend = backend
        self._socket = socket
        self._pack = pack
        self._outbox: asyncio.Queue[Frame] = asyncio.Queue()
        self._session: Session | None = None
        self._thrown_out = False

    async def run(self, *, known_version: bool) -> None:
        """Serve the connection to its end."""
        writer = asyncio.create_task(self._write())
        try:
            if not known_version:
                raise Close(4012)
            self._send({"op": 10, "d": {"heartbeat_interval": HEARTBEAT_MS, "_trace": []}})
            async for message in self._socket:
                if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                    self._receive(message.data)
        except Close as close:
            self._outbox.put_nowait(Frame(close_code=close.code))
            await writer
        finally:
            writer.cancel()
            self._leave()
            await asyncio.wait([writer])

    def _receive(self, data: str | bytes) -> None:
        if len(data) > MAX_FRAME_BYTES:
            raise Close(4002)
        try:
            payload = orjson.loads(data)
            op, body = payload["op"], payload.get("d")
        except (orjson.JSONDecodeError, TypeError, KeyError):
            raise Close(4002) from None
        match op:
            case 1:
                asyncio.get_running_loop().call_later(ACK_S, self._send, {"op": 11})
            case 2:
                self._identify(body)
            case 6:
                self._resume(body)
            case 3 | 4 | 8 | 31 if self._session is None:
                raise Close(4003)
            case 3 | 4 | 31:
                pass  # presence and voice show nowhere
            case 8:
                self._member_chunk(body)
            case _:
                raise Close(4001)

    def _identify(self, body: Json) -> None:
        if self._session is not None:
            raise Close(4005)
        self._authenticate(body)
        shard = body.get("shard") or [0, 1]
        intents = body.get("intents")
        if not isinstance(intents, int) or intents & ~KNOWN_INTENTS:
            raise Close(4013)
        if intents & self._backend.closed_intents:
            raise Close(4014)
        if not _is_shard(shard):
            raise Close(4010)
        session = Session(intents, (shard[0], shard[1]))
        hub = self._backend.hub
        for old in [known for known in hub.sessions.values() if known.outbox is None and known.shard == session.shard]:
            del hub.sessions[old.id]  # a client that identifies anew will not resume
        hub.sessions[session.id] = session
        self._join(session)
        session.send("READY", orjson.dumps(ready(self._backend, session)))
        for guild in self._backend.world.guilds:
            if session.concerns(guild.id):
                session.send("GUILD_CREATE", orjson.dumps(guild_create(self._backend, session, guild)))

    def _resume(self, body: Json) -> None:
        if self._session is not None:
            raise Close(4005)
        self._authenticate(body)
        session = self._backend.hub.sessions.get(str(body.get("session_id")))
        sequence = body.get("seq")
        if session is None or not isinstance(sequence, int) or not session.can_resume(sequence):
            self._send({"op": 9, "d": False})
            return
        for frame in session.missed(sequence):
            self._outbox.put_nowait(Frame(frame))
        self._join(session)
        session.send("RESUMED", b'{"_trace":[]}')

    def _join(self, session: Session) -> None:
        if session.outbox is not None:
            session.outbox.put_nowait(Frame(close_code=4000))
        was_online = self._backend.hub.online
        session.outbox = self._outbox
        self._session = session
        if not was_online:
            self._backend.hub.publish("bot", online=True)

    def _leave(self) -> None:
        session, hub = self._session, self._backend.hub
        if session is None or session.outbox is not self._outbox:
            return
        session.outbox = None
        if not self._thrown_out and self._socket.close_code in (1000, 1001):  # the client says that it is done
            hub.sessions.pop(session.id, None)
        if not hub.online:
            hub.publish("bot", online=False)

    def _member_chunk(self, body: Json) -> None:
        if not isinstance(body, dict):
            raise Close(4002)
        if self._session is not None:
            self._session.send("GUILD_MEMBERS_CHUNK", orjson.dumps(chunk(self._backend.world, body)))

    def _authenticate(self, body: Json) -> None:
        if not isinstance(body, dict) or body.get("token") != self._backend.world.token:
            raise Close(4004)

    def _send(self, payload: dict[str, Any]) -> None:
        self._outbox.put_nowait(Frame(orjson.dumps(payload)))

    async def _write(self) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                frame = await self._outbox.get()
                if frame.close_code is not None:
                    self._thrown_out = True
                    await self._socket.close(code=frame.close_code)
                    return
                if self._pack is None:
                    await self._socket.send_str(frame.data.decode())
                else:
                    await self._socket.send_bytes(self._pack(frame.data))


def _is_shard(shard: object) -> bool:
    """Whether it is a pair of numbers, the first below the second."""
    numbers = isinstance(shard, list) and len(shard) == 2 and all(isinstance(one, int) for one in shard)
    return isinstance(shard, list) and numbers and 0 <= shard[0] < shard[1]
