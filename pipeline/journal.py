"""The ports to what survives a crash. Adapters are the modules of `pipeline.stores`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pipeline.messages import Image, Message
from pipeline.records import LoopRecord, TurnStarted
from pipeline.results import PassUsage


class Place(StrEnum):
    """Where a turn stands in its channel. At most one turn of a channel is active or parked."""

    QUEUED = "queued"
    ACTIVE = "active"
    PARKED = "parked"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A turn without `TurnEnded`. `created_at` is epoch seconds; with `follow_ups` it goes before those without."""

    turn: str
    channel: str
    guild: str
    user: str
    place: Place
    created_at: float
    follow_ups: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingApproval:
    """A question nobody has answered yet. `expires` is epoch seconds."""

    approval: str
    turn: str
    channel: str
    expires: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutput:
    """What a turn leaves behind, written in the commit of its `TurnEnded`."""

    channel: str
    user: str
    messages: tuple[Message, ...]
    usage: tuple[PassUsage, ...]


class Blobs(Protocol):
    """Pictures, kept apart from records."""

    async def images(self, ids: Sequence[str]) -> Sequence[Image]:
        """The pictures with these ids, in order; an unknown one is left out."""
        ...

    async def keep(self, images: Mapping[str, Image]) -> None:
        """Store pictures under their ids; one that is there already stays."""
        ...


class Journal(Blobs, Protocol):
    """Append-only records by turn, and what is derived from them in the same transaction."""

    async def create(self, started: TurnStarted, *, images: Sequence[Image], queued: bool) -> bool:
        """Write a new turn, its first record and the images that `started.images` names, in one commit.

        False when this turn is known already (a message is answered once). Raises `Conflict` when it should be
        active and the channel has an active or parked turn.
        """
        ...

    async def append(
        self, turn: str, after_seq: int, records: Sequence[LoopRecord], output: TurnOutput | None = None
    ) -> None:
        """Append all of `records` as numbers `after_seq` + 1 and on, or none, in one commit.

        `ApprovalAsked` and `Decided` also keep the row of the question, `TurnEnded` the turn's place; `output` goes
        with `TurnEnded`. Raises `Conflict` when a number is taken. A cancel does not undo the commit.
        """
        ...

    async def load(self, turn: str) -> Sequence[tuple[int, LoopRecord | None]]:
        """The records of a turn with their numbers, in order; None stands for a kind that is unknown here."""
        ...

    async def open_turns(self) -> Sequence[OpenTurn]:
        """All turns that have not ended, oldest first."""
        ...

    async def place(self, turn: str, place: Place) -> bool:
        """Move an open turn. False when it cannot be there (ended, or the channel is taken)."""
        ...

    async def pending_approvals(self, channel: str | None = None) -> Sequence[PendingApproval]:
        """Unanswered questions, the earliest expiry first."""
        ...

    async def turn_of_approval(self, approval: str) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """What a channel remembers beside its messages. Empty strings mean the default."""

    channel: str
    model: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """Tokens of one person with one model in a channel."""

    user: str
    usage: PassUsage
    since_clear: bool


class Conversations(Protocol):
    """The transcripts of channels: written by `Journal.append` with `TurnEnded`, read and cleared here."""

    async def channel(self, channel: str) -> ChannelState: ...

    async def set_model(self, channel: str, model: str) -> None: ...

    async def set_system(self, channel: str, text: str) -> None: ...

    async def clear(self, channel: str, at: float) -> int:
        """Forget the transcript and what was noted; the number of turns forgotten. Usage is kept, for `/cost`."""
        ...

    async def add_note(self, channel: str, text: str, at: float) -> None: ...

    async def turns(self, channel: str, max_bytes: int) -> Sequence[Sequence[Message]]:
        """The newest whole turns since the last clear, oldest first, at most `max_bytes` of serialised messages
        but always the newest turn."""
        ...

    async def usage(self, channel: str) -> Sequence[UsageRow]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message of ours on Discord: `slot` is `reply:N` or `card:APPROVAL`. Or, with the slot `chip:CHANNEL`, our
    reaction `nonce` on a person's message."""

    turn: str
    slot: str
    nonce: str
    message: str


class Deliveries(Protocol):
    """Which messages on Discord belong to which turn; written by the sink, not by the loop."""

    async def of_turn(self, turn: str) -> Sequence[Delivery]: ...

    async def chips(self, emojis: Collection[str]) -> Sequence[Delivery]:
        """Our reactions with one of `emojis`, of all turns."""
        ...

    async def put(self, delivery: Delivery) -> None: ...

    async def drop(self, turn: str, slot: str) -> None: ...
