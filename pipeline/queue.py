"""The messages that wait: in which order, what becomes of them while they do, and when the next one begins."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import structlog

from pipeline.errors import Conflict, StoreError
from pipeline.events import EventSink, MessageStands, Standing
from pipeline.follow_ups import is_cut_short, joined, joined_text
from pipeline.journal import Journal, OpenTurn, Place
from pipeline.messages import Image
from pipeline.open_turns import OpenTurns, RuntimeLimits, age_of
from pipeline.records import AttemptEnded, MessageEdited, TurnEnded, TurnStarted
from pipeline.results import GenerationTurnResult, Reason, TurnStatus
from pipeline.state import LoopState
from pipeline.turn_logs import TurnLogs

_log = structlog.get_logger()

_DROPPED = (
    AttemptEnded(status=TurnStatus.STOPPED_BY_USER, reason=Reason.DROPPED),
    TurnEnded(status=TurnStatus.STOPPED_BY_USER, reason=Reason.DROPPED),
)


class MessageQueue:
    """Knows every open turn and starts the waiting ones: `begin` is called for each whose turn it is."""

    def __init__(
        self,
        journal: Journal,
        sink: EventSink,
        limits: RuntimeLimits,
        *,
        opened: OpenTurns,
        logs: TurnLogs,
        begin: Callable[[str], None],
    ) -> None:
        self._journal = journal
        self._sink = sink
        self._limits = limits
        self._open = opened
        self._logs = logs
        self._begin = begin
        self._closed = False

    def close(self) -> None:
        """Start nothing any more."""
        self._closed = True

    async def add(self, started: TurnStarted, images: Sequence[Image], place: Place) -> Place | None:
        """Write a turn, its place taken first, so that nobody waits for the disk to know who is where. Where it stands
        then; None when it is known already."""
        self._open[started.turn] = OpenTurn(
            turn=started.turn,
            channel=started.channel,
            guild=started.guild,
            user=started.user,
            place=place,
            created_at=started.at,
        )
        written = False
        try:
            async with self._open.lock(started.turn):  # at once: nobody else knows this turn
                if place is Place.QUEUED and (follow_ups := await self._follow_ups(started)):
                    written = await self._add_follow_up(replace(started, follow_ups=follow_ups), images)
                else:
                    written = await self._write(started, images)
        finally:
            place = self._open[started.turn].place
            if not written:
                self._open.remove(started.turn)
            elif place is Place.QUEUED:
                self._tell(started, Standing.WAITING)
            await self.start_next(started.channel)  # whoever came while this one's place was not sure
        return place if written else None

    async def _write(self, started: TurnStarted, images: Sequence[Image]) -> bool:
        queued = self._open[started.turn].place is Place.QUEUED
        try:
            return await self._journal.create(started, images=images, queued=queued)
        except Conflict:  # another process holds the channel: wait behind it
            self._open.move(started.turn, Place.QUEUED)
            return await self._journal.create(started, images=images, queued=True)

    async def _follow_ups(self, started: TurnStarted) -> int:
        """The how manyth follow-up in a row this message is; 0 for one that waits in line like any other."""
        holder = self._open.holder(started.channel)
        if holder is None or holder.user != started.user or started.reply_to or started.continues:
            return 0
        if holder.follow_ups >= self._limits.max_follow_up_interrupts:
            return 0
        if await self._open.written(holder.turn) is None:
            return 0
        log = await self._logs.of(holder.turn)
        return holder.follow_ups + 1 if holder.turn in self._open and not is_cut_short(log.state) else 0

    async def _add_follow_up(self, started: TurnStarted, images: Sequence[Image]) -> bool:
        """Write a turn that goes before others; an earlier one of the same person that has not begun goes into it."""
        self._open[started.turn] = replace(self._open[started.turn], follow_ups=started.follow_ups)
        before = self._open.follow_ups(started.channel, started.user)
        older = [turn for turn in before if age_of(turn.turn) < age_of(started.turn)]
        if not older:
            return await self._write(started, images)
        async with self._kept(older[-1].turn) as earlier:
            both = await self._joined(earlier, started, images) if earlier is not None else None
            written = await self._write(*(both or (started, images)))
            if earlier is not None and both is not None and written:
                await self._take_in(earlier)
        return written

    async def _joined(
        self, earlier: OpenTurn, newer: TurnStarted, images: Sequence[Image]
    ) -> tuple[TurnStarted, Sequence[Image]] | None:
        before = (await self._logs.of_waiting(earlier.turn)).state.started
        shown = await self._journal.images(before.images)
        both = joined(before, shown, newer)
        return None if both is None else (both, (*shown[: len(both.images) - len(images)], *images))

    async def _take_in(self, earlier: OpenTurn) -> None:
        """The words of `earlier` stand in a newer message now. If that cannot be written the next start does it."""
        try:
            await self._end(earlier, Standing.USED)
        except StoreError:
            _log.exception("follow_up_not_ended", turn=earlier.turn)
            self._open.remove(earlier.turn)

    async def edit(self, turn: str, rewrite: Callable[[TurnStarted], str]) -> bool:
        """The person changed their message: `rewrite` gives its words now. False when it does not wait any more."""
        async with self._kept(turn) as waiting:
            if waiting is None:
                return False
            log = await self._logs.of_waiting(turn)
            started = log.state.started
            before = await self._taken_in(started)
            text = joined_text(before[0].text if before else "", rewrite(started))
            return text != started.text and await log.commit(MessageEdited(text=text), when=_has_not_begun)

    async def drop(self, turn: str) -> bool:
        """Take a message out of the queue. False when it does not wait any more."""
        async with self._kept(turn) as waiting:
            return waiting is not None and await self._end(waiting, Standing.DROPPED)

    async def turn_ended(self, turn: OpenTurn, result: GenerationTurnResult) -> None:
        """Its channel is free. With a turn that somebody stopped goes what its person wrote on."""
        if result.status is TurnStatus.STOPPED_BY_USER:
            for follow_up in self._open.follow_ups(turn.channel, turn.user):
                await self.drop(follow_up.turn)
        if result.status is TurnStatus.FOLLOW_UP_INTERRUPT and not result.text:
            self._tell(turn, Standing.USED)
        self._open.remove(turn.turn)
        await self.start_next(turn.channel)

    async def take_up(self, turn: OpenTurn) -> None:
        """After a start: `turn` still waits. A message whose words it took in ends, if that was not written yet."""
        self._tell(turn, Standing.WAITING)
        if not turn.follow_ups:
            return
        started = (await self._logs.of_waiting(turn.turn)).state.started
        async with self._kept(started.continues) as earlier:
            if earlier is not None:
                await self._end(earlier, Standing.USED)

    async def _end(self, turn: OpenTurn, standing: Standing) -> bool:
        log = await self._logs.of_waiting(turn.turn)
        if not await log.commit(*_DROPPED, when=_has_not_begun):
            return False
        self._open.remove(turn.turn)
        self._tell(turn, standing)
        if standing is Standing.DROPPED:
            for gone in await self._taken_in(log.state.started):
                self._tell(gone, standing)
        return True

    async def _taken_in(self, started: TurnStarted) -> Sequence[TurnStarted]:
        """The messages whose words stand before those of `started`, the newest first."""
        found: list[TurnStarted] = []
        while started.follow_ups and started.continues:
            started = (await self._logs.of_waiting(started.continues)).state.started
            found.append(started)
        return found

    @asynccontextmanager
    async def _kept(self, turn: str) -> AsyncIterator[OpenTurn | None]:
        """In this block nobody starts a message that waits; None when it does not (any more)."""
        known = self._open.get(turn)
        if known is None:
            yield None
            return
        try:
            async with self._open.lock(turn):
                waiting = self._open.get(turn)
                yield waiting if waiting is not None and waiting.place is Place.QUEUED else None
        finally:
            await self.start_next(known.channel)

    async def move(self, turn: str, place: Place) -> bool:
        """Have the turn stand in `place`; whether it does."""
        before = self._open[turn].place
        if before is place:
            return True
        self._open.move(turn, place)  # first, so that nobody else takes it meanwhile
        moved = False
        try:
            moved = await self._journal.place(turn, place)
        finally:
            if not moved:
                self._open.move(turn, before)
        return moved

    def next_of(self, channel: str) -> OpenTurn | None:
        """The first queued message of a channel whose person and guild may run one more."""
        may_run = (t for t in self._open.queued(channel) if self._open.may_run(t.user, t.guild, self._limits))
        return next(may_run, None)

    async def start_next(self, channel: str) -> None:
        """Begin the next message of a free channel."""
        if self._closed or self._open.holder(channel) is not None:
            return
        first = self.next_of(channel)
        if first is None or self._open.is_locked(first.turn):  # who holds the lock comes back here
            return
        if await self.move(first.turn, Place.ACTIVE):
            self._begin(first.turn)

    async def start_waiting(self) -> None:
        """A turn made room: messages of other channels may have waited for their person's or guild's turn."""
        for channel in self._open.waiting_channels():
            await self.start_next(channel)

    def _tell(self, message: OpenTurn | TurnStarted, standing: Standing) -> None:
        self._sink.emit(
            MessageStands(turn=message.turn, channel=message.channel, guild=message.guild, standing=standing)
        )


def _has_not_begun(state: LoopState) -> bool:
    return state.attempt is None and state.ending is None
