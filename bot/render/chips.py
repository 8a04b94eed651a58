"""One reaction on a person's own message says what became of it, where no answer says so yet.

Nothing on a message that is answered at once. ⏳ while it waits, then 👀 until there is a first sign of its answer;
✅ when its words went into the answer to another message, or ended a turn; ✖️ when it was dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import structlog

from bot.render.outbox import MessageGone, Outbox, Place, Refused, Transient, Unreachable
from bot.render.pacer import Kind, Pacer, Priority
from pipeline.events import Committed, LoopEvent, MessageStands, Standing, TextArrived
from pipeline.journal import Deliveries, Delivery
from pipeline.records import ApprovalAsked, AttemptEnded, Noticed, ToolStarted, TurnEnded, TurnStarted

_log = structlog.get_logger()


class Chip(StrEnum):
    NONE = ""
    WAITING = "⏳"
    BEGUN = "👀"
    USED = "✅"
    DROPPED = "✖️"


_PASSING = (Chip.WAITING, Chip.BEGUN)
_CHIPS = {Standing.WAITING: Chip.WAITING, Standing.USED: Chip.USED, Standing.DROPPED: Chip.DROPPED}
_SLOT = "chip:"


@dataclass(slots=True, kw_only=True)
class _Mark:
    """`shown` is None until it is known what an earlier process left on the message."""

    place: Place
    wanted: Chip
    shown: Chip | None = None
    task: asyncio.Task[None] | None = None


class Chips:
    """Keeps the reactions as the turns want them, at the channels' pace; the newest wish wins.

    Each is noted in `deliveries` while it is there, so that a later process can take it away. Turns that began before
    `since` (epoch seconds) may have one.
    """

    def __init__(self, *, outbox: Outbox, pacer: Pacer, deliveries: Deliveries, since: float) -> None:
        self._outbox = outbox
        self._pacer = pacer
        self._deliveries = deliveries
        self._since = since
        self._marks: dict[str, _Mark] = {}

    def take(self, event: LoopEvent) -> None:
        """Note what an event says about a message."""
        mark = self._marks.get(event.turn)
        match event:
            case MessageStands():
                place = Place(channel=event.channel, guild=event.guild, trigger=event.turn)
                self.show(place, _CHIPS[event.standing])
            case Committed(record=TurnStarted() as started) if mark is not None or started.at < self._since:
                place = Place(channel=started.channel, guild=started.guild, trigger=started.turn)
                self.show(place, Chip.NONE if mark is None else Chip.BEGUN)
            case TextArrived(text=text) if mark is not None and not text.isspace():
                self.show(mark.place, Chip.NONE)
            case Committed(record=ApprovalAsked() | ToolStarted() | Noticed() | AttemptEnded() | TurnEnded()):
                if mark is not None and mark.wanted in _PASSING:
                    self.show(mark.place, Chip.NONE)
            case _:
                pass

    def show(self, place: Place, chip: Chip) -> None:
        """Have `chip` on the message `place.trigger`, and nothing else."""
        mark = self._marks.setdefault(place.trigger, _Mark(place=place, wanted=chip))
        mark.wanted = chip
        if mark.task is None:
            mark.task = asyncio.get_running_loop().create_task(self._bring(mark))

    async def tidy(self, is_open: Callable[[str], bool]) -> None:
        """Take away what an earlier process left on the messages of turns that have ended since."""
        for left in await self._deliveries.chips(_PASSING):
            if left.turn not in self._marks and not is_open(left.turn):
                channel = left.slot.removeprefix(_SLOT)
                self.show(Place(channel=channel, guild="", trigger=left.turn), Chip.NONE)

    async def close(self) -> None:
        """Stop now; the next start goes on."""
        tasks = [mark.task for mark in self._marks.values() if mark.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _bring(self, mark: _Mark) -> None:
        try:
            if mark.shown is None:
                mark.shown = await self._left(mark.place.trigger)
            while mark.shown != mark.wanted:
                await self._pacer.leave(mark.place.channel, lambda: (Priority.EDIT, Kind.REACTION))
                await self._step(mark)
        except Exception:
            _log.exception("chip_failed", message=mark.place.trigger)
        finally:
            mark.task = None
            if mark.wanted not in _PASSING:
                self._marks.pop(mark.place.trigger, None)

    async def _left(self, message: str) -> Chip:
        rows = await self._deliveries.of_turn(message)
        left = (row.nonce for row in rows if row.slot.startswith(_SLOT))
        return Chip(next(left, Chip.NONE))

    async def _step(self, mark: _Mark) -> None:
        """One request towards what is wanted: the old chip goes before the new one comes."""
        message, slot = mark.place.trigger, f"{_SLOT}{mark.place.channel}"
        if mark.shown:
            await self._react(mark.place, mark.shown, add=False)
            await self._deliveries.drop(message, slot)
            mark.shown = Chip.NONE
        elif mark.wanted is not Chip.NONE:  # it may have changed while the request waited
            chip = mark.wanted
            await self._deliveries.put(Delivery(turn=message, slot=slot, nonce=chip, message=message))
            await self._react(mark.place, chip, add=True)
            mark.shown = chip

    async def _react(self, place: Place, chip: Chip, *, add: bool) -> None:
        """A chip that cannot be put there or taken away is no reason to try again."""
        try:
            await self._outbox.react(place, chip, add=add)
        except (MessageGone, Refused, Transient, Unreachable):
            _log.info("reaction_failed", message=place.trigger, add=add)
