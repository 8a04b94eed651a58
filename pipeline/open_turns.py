"""The open turns of this process: who holds a channel, who waits, who may run one more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.journal import OpenTurn, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeLimits:
    """How much may go on at once, and how old (seconds) an interrupted turn may be to be taken up again."""

    max_user_active_turns: int = 3
    max_guild_active_turns: int = 10
    max_queued_messages: int = 20
    resume_max_age_s: float = 3600.0


class OpenTurns(dict[str, OpenTurn]):
    """The open turns by their ids; `unwritten` are those whose place is taken before the journal has them."""

    def __init__(self, turns: Iterable[OpenTurn] = ()) -> None:
        super().__init__((turn.turn, turn) for turn in turns)
        self.unwritten: set[str] = set()

    def reserve(self, turn: OpenTurn) -> None:
        """Take the place of a new turn."""
        self[turn.turn] = turn
        self.unwritten.add(turn.turn)

    def settle(self, turn: str, *, written: bool) -> None:
        """The journal has it now, or never will."""
        self.unwritten.discard(turn)
        if not written:
            del self[turn]

    def holder(self, channel: str) -> OpenTurn | None:
        """The turn of this channel that is active or waits for a person."""
        held = (t for t in self.values() if t.channel == channel and t.place is not Place.QUEUED)
        return next(held, None)

    def queued(self, channel: str) -> Sequence[OpenTurn]:
        """The messages that wait in this channel, oldest first."""
        waiting = (t for t in self.values() if t.channel == channel and t.place is Place.QUEUED)
        return sorted(waiting, key=lambda t: (t.created_at, len(t.turn), t.turn))

    def waiting_channels(self) -> Iterator[str]:
        """The channels in which a message waits, each once."""
        return iter({turn.channel for turn in self.values() if turn.place is Place.QUEUED})

    def may_run(self, user: str, guild: str, limits: RuntimeLimits) -> bool:
        """Whether this person, in this guild (empty: none), may have one more turn active."""
        active = [turn for turn in self.values() if turn.place is Place.ACTIVE]
        of_user = sum(turn.user == user for turn in active)
        of_guild = sum(turn.guild == guild for turn in active) if guild else 0
        return of_user < limits.max_user_active_turns and of_guild < limits.max_guild_active_turns
