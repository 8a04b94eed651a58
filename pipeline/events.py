"""What the loop tells the world, and the one guard round it.

A committed record is an event, and loading a journal emits its records again: whoever shows a turn folds the same
stream live and after a restart. Between records come the pieces of a pass that are not committed yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import structlog

from pipeline.records import LoopRecord

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """`record` is in the journal as number `seq`. It can come again (a load, a restart): go by `seq`."""

    turn: str
    seq: int
    record: LoopRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class PassOpened:
    """A provider pass begins; text shown of an earlier, uncommitted run of this iteration is void."""

    turn: str
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextArrived:
    turn: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingArrived:
    turn: str
    text: str


class Standing(StrEnum):
    """What became of a message that is not answered by itself (yet)."""

    WAITING = "waiting"
    USED = "used"  # its words go into the answer to another message of its author
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStands:
    """The message `turn` waits for its turn, or will never have one of its own."""

    turn: str
    channel: str
    guild: str
    standing: Standing


LoopEvent = Committed | PassOpened | TextArrived | ThinkingArrived | MessageStands


class EventSink(Protocol):
    """A consumer of loop events. It never sends from the caller's task."""

    def emit(self, event: LoopEvent) -> None:
        """Take note of `event`: cheap, synchronous."""
        ...

    async def settle(self, turn: str) -> None:
        """Return when everything emitted for `turn` has been delivered, or cannot be."""
        ...


class GuardedSink:
    """The guard: a broken consumer is logged and never ends a turn."""

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink

    def emit(self, event: LoopEvent) -> None:
        try:
            self._sink.emit(event)
        except Exception:
            _log.exception("sink_failed", turn=event.turn, event_type=type(event).__name__)

    async def settle(self, turn: str) -> None:
        try:
            await self._sink.settle(turn)
        except Exception:
            _log.exception("settle_failed", turn=turn)


class NullSink:
    """Shows nothing."""

    def emit(self, event: LoopEvent) -> None:
        del event

    async def settle(self, turn: str) -> None:
        del turn
