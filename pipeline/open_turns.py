"""The open turns of this process: who holds a channel, who waits, who may run one more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.journal import OpenTurn, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeLimits:
    """How much may go on at once, how often in a row a person's next message may go before all others, and how old
    (seconds) an interrupted turn may be to be taken up again."""

    max_user_active_turns: int = 3
    max_guild_active_turns: int = 10
    max_queued_messages: int = 20
    max_follow_up_interrupts: int = 3
    resume_max_age_s: float = 3600.0


class OpenTurns(dict[str, OpenTurn]):
    """The open turns by their ids. Who changes what the journal says of one that waits holds its `lock`; meanwhile it
    is not started."""

    def __init__(self, turns: Iterable[OpenTurn] = ()) -> None:
        super().__init__((turn.turn, turn) for turn in turns)
        self._locks: dict[str, asyncio.Lock] = {}

    def lock(self, turn: str) -> asyncio.Lock:
        """The lock of an open turn."""
        return self._locks.setdefault(turn, asyncio.Lock())

    def is_locked(self, turn: str) -> bool:
        return turn in self._locks and self._locks[turn].locked()

    async def written(self, turn: str) -> OpenTurn | None:
        """The turn, once nobody changes it any more; None when it is not open (then)."""
        if self.is_locked(turn):
            async with self.lock(turn):
                pass
        return self.get(turn)

    def move(self, turn: str, place: Place) -> None:
        self[turn] = replace(self[turn], place=place)

    def remove(self, turn: str) -> OpenTurn:
        """It has ended, or was never written."""
        self._locks.pop(turn, None)
        return self.pop(turn)

    def holder(self, channel: str) -> OpenTurn | None:
        """The turn of this channel that is active or waits for a person."""
        held = (t for t in self.values() if t.channel == channel and t.place is not Place.QUEUED)
        return next(held, None)

    def queued(self, channel: str) -> Sequence[OpenTurn]:
        """The messages that wait in this channel: follow-ups first, then the oldest."""
        waiting = (t for t in self.values() if t.channel == channel and t.place is Place.QUEUED)
        return sorted(waiting, key=lambda t: (t.follow_ups == 0, t.created_at, *age_of(t.turn)))

    def follow_ups(self, channel: str, user: str) -> Sequence[OpenTurn]:
        """What this person wrote on and what has not begun yet, oldest first."""
        return [turn for turn in self.queued(channel) if turn.follow_ups and turn.user == user]

    def waiting_channels(self) -> Iterator[str]:
        """The channels in which a message waits, each once."""
        return iter({turn.channel for turn in self.values() if turn.place is Place.QUEUED})

    def may_run(self, user: str, guild: str, limits: RuntimeLimits) -> bool:
        """Whether this person, in this guild (empty: none), may have one more turn active."""
        active = [turn for turn in self.values() if turn.place is Place.ACTIVE]
        of_user = sum(turn.user == user for turn in active)
        of_guild = sum(turn.guild == guild for turn in active) if guild else 0
        return of_user < limits.max_user_active_turns and of_guild < limits.max_guild_active_turns


def age_of(message: str) -> tuple[int, str]:
    """Sorts message ids by age: they are numbers, and the shorter is older."""
    return len(message), message
