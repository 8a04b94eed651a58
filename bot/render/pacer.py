"""When a request may leave: one pacer for the process.

Discord allows a bot 50 requests a second in all, and in a channel five new messages and five edits in five seconds and
a reaction every 0.25 s. discord.py waits when it hits a limit, but then requests line up behind it with text that is
already old, and the answer to the request that used the limit up is held back too. So we wait before, whoever waits
here looks at what to send only when it may go, and the last place is kept for what people wait for most.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial

PER_SECOND = 40
PER_WINDOW = 5
WINDOW_S = 5.0
TEXT_EDIT_SPACING_S = WINDOW_S / (PER_WINDOW - 1)
REACTION_SPACING_S = 0.3
LATE_S = 0.1
BURST_S = 0.2  # a fifth of the requests of a second at most: a busy machine sends late, and late ones add up
_SWEEP_AT = 512


class Priority(IntEnum):
    """Who goes first when requests wait. FULL is a message that the text has outgrown: done now, it is not left for the
    end, when everything is wanted at once."""

    FINAL = 0
    CARD = 1
    FIRST = 2
    FULL = 3
    EDIT = 4
    TYPING = 5


class Kind(IntEnum):
    """What a request is, for the limits of its channel. Text edits are also spaced out; other edits are rare."""

    OTHER = 0
    CREATE = 1
    EDIT = 2
    TEXT_EDIT = 3
    REACTION = 4


def _may_take_the_last(priority: Priority, kind: Kind) -> bool:
    """A final text never waits for edits of a text that went on, and a new message never for one that only overflows
    into the next."""
    return priority is Priority.FINAL or (kind is Kind.CREATE and priority <= Priority.FIRST)


@dataclass(slots=True)
class _Channel:
    creates: deque[float] = field(default_factory=deque)
    edits: deque[float] = field(default_factory=deque)
    next_text_edit: float = 0.0
    next_reaction: float = 0.0

    def free_at(self, priority: Priority, kind: Kind, now: float) -> float:
        """The earliest moment for a request of `kind`."""
        if kind is Kind.OTHER:
            return now
        if kind is Kind.REACTION:
            return self.next_reaction
        left = self.creates if kind is Kind.CREATE else self.edits
        while left and left[0] <= now - WINDOW_S:
            left.popleft()
        most = PER_WINDOW if _may_take_the_last(priority, kind) else PER_WINDOW - 1
        free = left[-most] + WINDOW_S if len(left) >= most else now
        return max(free, self.next_text_edit) if kind is Kind.TEXT_EDIT else free

    def note(self, kind: Kind, now: float) -> None:
        if kind is Kind.REACTION:
            self.next_reaction = now + REACTION_SPACING_S
        elif kind is Kind.CREATE:
            self.creates.append(now)
        elif kind is not Kind.OTHER:
            self.edits.append(now)
            self.next_text_edit = now + TEXT_EDIT_SPACING_S

    def is_idle(self, now: float) -> bool:
        return all(not left or left[-1] <= now - WINDOW_S for left in (self.creates, self.edits))


Urgency = tuple[Priority, Kind]


@dataclass(slots=True, eq=False)
class _Waiter:
    number: int
    channel: str
    urgency: Callable[[], Urgency]
    may_go: asyncio.Future[None]


class Pacer:
    """Lets requests leave: fewer than `per_second` in any second, the most urgent first, edits at a channel's pace.
    Typing takes at most half of them, so that there is always room for a text.

    `time` and `call_at` are the event loop's, unless a test brings its own clock.
    """

    def __init__(
        self,
        *,
        per_second: int = PER_SECOND,
        time: Callable[[], float] | None = None,
        call_at: Callable[[float, Callable[[], None]], object] | None = None,
    ) -> None:
        self._per_second = per_second
        self._time = time or (lambda: asyncio.get_running_loop().time())
        self._call_at = call_at or (lambda when, call: asyncio.get_running_loop().call_at(when, call))
        self._left: deque[float] = deque()
        self._fresh = 0  # how many of them have left since the timer
        self._channels: dict[str, _Channel] = {}
        self._waiting: list[_Waiter] = []
        self._number = 0
        self._timer_at: float | None = None

    async def leave(self, channel: str, urgency: Callable[[], Urgency]) -> None:
        """Return when a request may leave; send it at once. A cancelled waiter takes no place.

        `urgency` is asked again and again, since what waits as an edit may have become a final text; `nudge` when that
        happens.
        """
        self._number += 1
        future = asyncio.get_running_loop().create_future()
        waiter = _Waiter(number=self._number, channel=channel, urgency=urgency, may_go=future)
        self._waiting.append(waiter)
        self.nudge()
        try:
            await future
        finally:
            if waiter in self._waiting:
                self._waiting.remove(waiter)

    def nudge(self) -> None:
        """Let everybody go who may."""
        now = self._time()
        wake_at: float | None = None
        while self._left and self._left[0] <= now - 1.0:
            self._left.popleft()
        if self._waiting and (full_until := self._full_until()) > now:  # for everybody: no need to ask each
            self._wake_at(full_until)
            return
        asked = [(*waiter.urgency(), waiter) for waiter in self._waiting]
        for priority, kind, waiter in sorted(asked, key=lambda one: (one[0], one[2].number)):
            if waiter.may_go.done():
                continue
            most = self._per_second // 2 if priority is Priority.TYPING else self._per_second - 1
            free = max(now, self._freed(most, 1.0), self._full_until())
            free = max(free, self._channel(waiter.channel).free_at(priority, kind, now))
            if free > now:
                wake_at = free if wake_at is None else min(wake_at, free)
                continue
            self._left.append(now)
            self._fresh += 1
            self._channel(waiter.channel).note(kind, now)
            self._waiting.remove(waiter)
            waiter.may_go.set_result(None)
        if wake_at is not None:
            self._wake_at(wake_at)

    def _wake_at(self, when: float) -> None:
        if self._timer_at is None or when < self._timer_at:
            self._timer_at = when
            self._call_at(when, partial(self._on_timer, when))

    def _full_until(self) -> float:
        """When the most urgent request may leave, as far as the whole process goes."""
        burst = max(self._per_second // 5, 1)
        return max(self._freed(self._per_second - 1, 1.0), self._freed(burst, BURST_S))

    def _freed(self, most: int, window_s: float) -> float:
        """When fewer than `most` requests have left within `window_s`."""
        return self._left[-most] + window_s if len(self._left) >= most else 0.0

    def _on_timer(self, due: float) -> None:
        self._timer_at = None
        now = self._time()
        if now - due > LATE_S:  # the loop was held up: what was let go just before it leaves only now
            old = len(self._left) - self._fresh
            dated = (now if at >= old and left >= due - BURST_S else left for at, left in enumerate(self._left))
            self._left = deque(dated)
        self._fresh = 0
        self.nudge()

    def _channel(self, channel: str) -> _Channel:
        if len(self._channels) > _SWEEP_AT and channel not in self._channels:
            now = self._time()
            self._channels = {name: known for name, known in self._channels.items() if not known.is_idle(now)}
        return self._channels.setdefault(channel, _Channel())
