"""A journal in memory with the real one's rules, for property tests and for measuring the loop alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pipeline.errors import Conflict
from pipeline.journal import ChannelState, OpenTurn, PendingApproval, Place, TurnOutput, UsageRow
from pipeline.messages import Image, Message
from pipeline.records import ApprovalAsked, Decided, LoopRecord, TurnEnded, TurnStarted, dump_record, load_record


class Killed(BaseException):
    """Stands for SIGKILL in a test: nothing between the commit and the test may catch it."""


def survive(_: int) -> None:
    return None


class MemoryJournal:
    """`before` and `after` are called round every commit with its number, and may raise `Killed`.

    Records pass through their JSON, so what a journal cannot hold fails here too.
    """

    def __init__(self) -> None:
        self.records: dict[str, list[LoopRecord]] = {}
        self.turns: dict[str, OpenTurn] = {}
        self.outputs: dict[str, TurnOutput] = {}
        self.pictures: dict[str, Image] = {}
        self.commits = 0
        self.before: Callable[[int], None] = survive
        self.after: Callable[[int], None] = survive

    async def create(self, started: TurnStarted, *, images: Sequence[Image], queued: bool) -> bool:
        if started.turn in self.records:
            return False
        held = (Place.ACTIVE, Place.PARKED)
        if not queued and any(t.channel == started.channel and t.place in held for t in self.turns.values()):
            raise Conflict("the channel is taken")
        place = Place.QUEUED if queued else Place.ACTIVE
        self.turns[started.turn] = OpenTurn(
            turn=started.turn,
            channel=started.channel,
            guild=started.guild,
            user=started.user,
            place=place,
            created_at=started.at,
            follow_ups=started.follow_ups,
        )
        self.records[started.turn] = []
        await self.append(started.turn, 0, [started])
        return True

    async def append(
        self, turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None
    ) -> None:
        if len(self.records[turn]) != after_seq:
            raise Conflict("taken")
        self.commits += 1
        self.before(self.commits)
        stored = [load_record(dump_record(record)) for record in records]
        self.records[turn].extend(record for record in stored if record is not None)
        if output is not None:
            self.outputs[turn] = output
        if any(isinstance(record, TurnEnded) for record in records):
            self.turns[turn] = replace(self.turns[turn], place=Place.ENDED)
        self.after(self.commits)

    async def load(self, turn: str) -> Sequence[tuple[int, LoopRecord | None]]:
        return list(enumerate(self.records.get(turn, []), start=1))

    async def images(self, ids: Sequence[str]) -> Sequence[Image]:
        return [self.pictures[blob] for blob in ids if blob in self.pictures]

    async def keep(self, images: Mapping[str, Image]) -> None:
        self.pictures.update(images)

    async def open_turns(self) -> Sequence[OpenTurn]:
        return [turn for turn in self.turns.values() if turn.place is not Place.ENDED]

    async def place(self, turn: str, place: Place) -> bool:
        self.turns[turn] = replace(self.turns[turn], place=place)
        return True

    async def pending_approvals(self, channel: str | None = None) -> Sequence[PendingApproval]:
        pending = [
            PendingApproval(
                approval=record.approval, turn=turn, channel=self.turns[turn].channel, expires=record.expires
            )
            for turn, records in self.records.items()
            for record in records
            if isinstance(record, ApprovalAsked)
            and self.turns[turn].place is not Place.ENDED
            and not any(isinstance(d, Decided) and d.approval == record.approval for d in records)
        ]
        return sorted(pending, key=lambda p: p.expires)

    async def turn_of_approval(self, approval: str) -> str | None:
        for turn, records in self.records.items():
            if any(isinstance(record, ApprovalAsked) and record.approval == approval for record in records):
                return turn
        return None


class MemoryConversations:
    """Transcripts in memory, read from the outputs of a `MemoryJournal`."""

    def __init__(self, journal: MemoryJournal) -> None:
        self._journal = journal

    async def channel(self, channel: str) -> ChannelState:
        return ChannelState(channel=channel)

    async def set_model(self, channel: str, model: str) -> None:
        raise AssertionError("not part of this double")

    async def set_system(self, channel: str, text: str) -> None:
        raise AssertionError("not part of this double")

    async def clear(self, channel: str, at: float) -> int:
        raise AssertionError("not part of this double")

    async def add_note(self, channel: str, text: str, at: float) -> None:
        raise AssertionError("not part of this double")

    async def turns(self, channel: str, max_bytes: int) -> Sequence[Sequence[Message]]:
        return [output.messages for output in self._journal.outputs.values() if output.channel == channel]

    async def usage(self, channel: str) -> Sequence[UsageRow]:
        return []
