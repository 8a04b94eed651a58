"""Who is told what: gateway sessions (by intents, shard and sight) and watchers of /control/events."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Iterator

import orjson

from bot.preview.clock import Clock
from bot.preview.permissions import P, can
from bot.preview.values import Channel, Json
from bot.preview.world import World

REPLAY_FRAMES = 2000  # what a session keeps for a resume
WATCHER_FRAMES = 20_000  # a watcher that is further behind is let go


class Intent:
    """The gateway intents that the twin's events ask for."""

    NONE = 0
    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_MESSAGE_REACTIONS = 1 << 13
    DIRECT_MESSAGE_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15


class Frame:
    """A packed-later frame and what should happen after it: nothing, or a close with a code."""

    __slots__ = ("close_code", "data")

    def __init__(self, data: bytes = b"", close_code: int | None = None) -> None:
        self.data = data
        self.close_code = close_code


class Session:
    """A gateway session: it outlives its connection, and keeps what a resume has to repeat."""

    def __init__(self, intents: int, shard: tuple[int, int]) -> None:
        self.id = secrets.token_hex(16)
        self.intents = intents
        self.shard = shard
        self.sequence = 0
        self.outbox: asyncio.Queue[Frame] | None = None
        self._sent: deque[tuple[int, bytes]] = deque(maxlen=REPLAY_FRAMES)

    def send(self, event: str, data: bytes) -> None:
        """Send one dispatch now, or keep it until the session is resumed."""
        self.sequence += 1
        frame = b'{"op":0,"t":"%b","s":%d,"d":%b}' % (event.encode(), self.sequence, data)
        self._sent.append((self.sequence, frame))
        if self.outbox is not None:
            self.outbox.put_nowait(Frame(frame))

    def can_resume(self, sequence: int) -> bool:
        """Whether everything after `sequence` is still here."""
        if sequence > self.sequence:
            return False
        return sequence == self.sequence or (bool(self._sent) and self._sent[0][0] <= sequence + 1)

    def missed(self, sequence: int) -> Iterator[bytes]:
        """The frames after `sequence`."""
        return (frame for number, frame in self._sent if number > sequence)

    def concerns(self, guild_id: str | None) -> bool:
        """Whether events of this guild (or of direct messages) belong to the session's shard."""
        number, count = self.shard
        return number == ((int(guild_id) >> 22) % count if guild_id else 0)


class Hub:
    """Hands every event to those who may see it. An event is turned into bytes once, however many listen."""

    def __init__(self, world: World, clock: Clock) -> None:
        self._world = world
        self._clock = clock
        self.sessions: dict[str, Session] = {}
        self._watchers: set[asyncio.Queue[bytes | None]] = set()

    @property
    def online(self) -> bool:
        """Whether a bot is connected."""
        return any(session.outbox is not None for session in self.sessions.values())

    def dispatch(
        self,
        event: str,
        body: Json,
        *,
        guild_id: str | None,
        intent: int = Intent.NONE,
        channel: Channel | None = None,
        bare: Json | None = None,
    ) -> None:
        """Send a gateway event. `bare` goes to sessions without the message-content intent."""
        if not self.sessions:
            return
        if channel is not None and not can(self._world, channel, self._world.bot_id, P.VIEW_CHANNEL):
            return
        full_data: bytes | None = None
        bare_data: bytes | None = None
        for session in self.sessions.values():
            if intent & session.intents != intent or not session.concerns(guild_id):
                continue
            if bare is not None and not session.intents & Intent.MESSAGE_CONTENT:
                bare_data = bare_data or orjson.dumps(bare)
                session.send(event, bare_data)
            else:
                full_data = full_data or orjson.dumps(body)
                session.send(event, full_data)

    def publish(self, kind: str, **fields: object) -> None:
        """Tell the watchers of /control/events."""
        if not self._watchers:
            return
        event = {"type": kind, "t_ms": round(self._clock.monotonic() * 1000, 3), **fields}
        data = b"data: " + orjson.dumps(event) + b"\n\n"
        for queue in list(self._watchers):
            if queue.qsize() > WATCHER_FRAMES:
                self._watchers.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(data)

    def watch(self) -> asyncio.Queue[bytes | None]:
        """Start to listen; None in the queue means that the hub has let the watcher go."""
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._watchers.add(queue)
        return queue

    def unwatch(self, queue: asyncio.Queue[bytes | None]) -> None:
        self._watchers.discard(queue)

    def close(self) -> None:
        """Let everybody go."""
        for queue in self._watchers:
            queue.put_nowait(None)
        self._watchers.clear()
        for session in self.sessions.values():
            if session.outbox is not None:
                session.outbox.put_nowait(Frame(close_code=1012))
