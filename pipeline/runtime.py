"""The channels: one active turn in each, a queue behind it, stop, decisions, resume and drain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from weakref import WeakValueDictionary

import structlog

from pipeline.approvals import (
    Accepted,
    Actor,
    AlreadyDecided,
    Answer,
    Approvers,
    DecisionResult,
    Expired,
    NotAllowed,
    UnknownApproval,
)
from pipeline.dispatch import TaskDispatcher
from pipeline.errors import Conflict
from pipeline.events import EventSink, NullSink
from pipeline.expiry import ExpiryTimer
from pipeline.journal import OpenTurn, Place
from pipeline.messages import Image
from pipeline.open_turns import OpenTurns, RuntimeLimits
from pipeline.records import CardPosted, Decided, StopRequested, TurnResumed, TurnStarted, Verdict
from pipeline.results import Reason, TurnStatus
from pipeline.state import LoopState
from pipeline.stop import StopSignal
from pipeline.turn import TurnDeps, run_generation_turn
from pipeline.turn_log import TurnLog

__all__ = ["ChannelRuntime", "RuntimeLimits", "Submission"]

_log = structlog.get_logger()


class Submission(StrEnum):
    """What became of a message."""

    STARTED = "started"
    QUEUED = "queued"
    FULL = "full"
    KNOWN = "known"
    CLOSING = "closing"


class ChannelRuntime:
    """Owns every open turn. All changes are records first; a wake only has the turn looked at."""

    def __init__(self, deps: TurnDeps, limits: RuntimeLimits, approvers: Approvers) -> None:
        self._deps = deps
        self._limits = limits
        self._approvers = approvers
        self._dispatcher = TaskDispatcher(self._advance)
        self._timer = ExpiryTimer(deps.journal, deps.now, self._expire)
        self._open = OpenTurns()
        self._logs: WeakValueDictionary[str, TurnLog] = WeakValueDictionary()
        self._stops: dict[str, StopSignal] = {}
        self._failed: set[str] = set()
        self._closing = False

    async def submit(self, started: TurnStarted, images: Sequence[Image] = ()) -> Submission:
        """Begin a turn for a person's message, or queue it. Each message counts once, by its id."""
        if started.turn in self._open:
            return Submission.KNOWN
        if self._closing:
            return Submission.KNOWN if await self._deps.journal.load(started.turn) else Submission.CLOSING
        waits = self.is_busy(started.channel) or not self._open.may_run(started.user, started.guild, self._limits)
        if waits and len(self.queued(started.channel)) >= self._limits.max_queued_messages:
            return Submission.FULL
        try:
            place = await self._create(started, images, Place.QUEUED if waits else Place.ACTIVE)
        finally:
            await self._start_next(started.channel)  # whoever came while this one's place was not sure
        if place is Place.ACTIVE:
            self._dispatcher.wake(started.turn)
        return {Place.ACTIVE: Submission.STARTED, Place.QUEUED: Submission.QUEUED}.get(place, Submission.KNOWN)

    async def _create(self, started: TurnStarted, images: Sequence[Image], place: Place) -> Place:
        """Write a turn, its place taken first, so that nobody waits for the disk to know who is where. Where it stands
        then; `ENDED` when it is known already."""
        turn = OpenTurn(
            turn=started.turn,
            channel=started.channel,
            guild=started.guild,
            user=started.user,
            place=place,
            created_at=started.at,
        )
        self._open.reserve(turn)
        written = taken = False
        try:
            written = await self._deps.journal.create(started, images=images, queued=place is Place.QUEUED)
        except Conflict:  # another process holds the channel: wait behind it
            taken = True
        finally:
            self._open.settle(started.turn, written=written)
        if taken:
            return await self._create(started, images, Place.QUEUED)
        return place if written else Place.ENDED

    def is_busy(self, channel: str) -> bool:
        """Whether a turn of this channel is active or waits for a person."""
        return self._open.holder(channel) is not None

    def queued(self, channel: str) -> Sequence[OpenTurn]:
        """The messages that wait in this channel, oldest first."""
        return self._open.queued(channel)

    def requester(self, channel: str) -> str | None:
        """The id of the person whose turn holds this channel."""
        turn = self._open.holder(channel)
        return None if turn is None else turn.user

    async def stop(self, channel: str, *, by: str, name: str, reason: Reason = Reason.PERSON) -> bool:
        """End the turn that holds this channel; what was said stays. False when there is none to stop."""
        turn = self._open.holder(channel)
        return turn is not None and await self.stop_turn(turn.turn, by=by, name=name, reason=reason)

    async def stop_turn(self, turn: str, *, by: str, name: str, reason: Reason = Reason.PERSON) -> bool:
        """End one turn, if it is open and not ending already."""
        if turn not in self._open:
            return False
        log = await self._log(turn)
        request = StopRequested(reason=reason, by=by, name=name)
        try:
            return await log.commit(request, when=lambda state: state.ending is None and state.stop is None)
        finally:  # after a failure too: the record may be there, and people want the turn to end
            if (signal := self._stops.get(turn)) is not None:
                signal.request()
            self._dispatcher.wake(turn)

    async def decide(self, approval: str, answer: Answer, actor: Actor) -> DecisionResult:
        """Write a person's answer to one question, if they may give it and nobody did before."""
        turn = await self._deps.journal.turn_of_approval(approval)
        if turn is None:
            return UnknownApproval()
        log = await self._log(turn)
        if not self._approvers.permits(actor, log.state.started.user):
            return NotAllowed()
        verdict = answer.verdict if self._deps.now() < _expiry(log.state, approval) else Verdict.EXPIRED
        decided = Decided(
            approval=approval, verdict=verdict, by=actor.user, name=actor.name, note=answer.note, at=self._deps.now()
        )
        if verdict is Verdict.EXPIRED:
            decided = replace(decided, by="", name="", note="")
        if await self._close_question(log, decided):
            return Accepted(verdict=verdict) if verdict is not Verdict.EXPIRED else Expired()
        return _decided_before(log.state, approval)

    async def card_posted(self, turn: str, approval: str, message: str) -> None:
        """The question can be seen, as message `message`."""
        log = await self._log(turn)
        posted = CardPosted(approval=approval, message=message)
        await log.commit(posted, when=lambda state: _is_open(state, approval))

    async def card_failed(self, turn: str, approval: str, why: str) -> None:
        """The question cannot be shown: its call gets a result that says `why`."""
        log = await self._log(turn)
        decided = Decided(approval=approval, verdict=Verdict.UNDELIVERABLE, note=why, at=self._deps.now())
        await self._close_question(log, decided)

    async def undeliverable(self, turn: str) -> None:
        """Nothing can be shown where this turn came from (the channel is gone): end it."""
        await self.stop_turn(turn, by="", name="", reason=Reason.UNDELIVERABLE)

    async def resume(self) -> int:
        """Take up every open turn after a start; how many there were. Ones that are too old end with a sentence."""
        opened = await self._deps.journal.open_turns()
        self._open = OpenTurns(opened)
        now = self._deps.now()
        for turn in opened:
            try:
                await self._take_up(turn, now)
            except Exception:  # it holds its channel, and no other
                _log.exception("turn_not_resumed", turn=turn.turn)
        await self._timer.arm()
        for channel in {turn.channel for turn in opened}:
            await self._start_next(channel)
        return len(opened)

    async def _take_up(self, turn: OpenTurn, now: float) -> None:
        if turn.place is Place.ACTIVE and now - turn.created_at > self._limits.resume_max_age_s:
            await self.stop_turn(turn.turn, by="", name="", reason=Reason.INTERRUPTED)
        elif turn.place is Place.ACTIVE:
            await (await self._log(turn.turn)).commit(TurnResumed(at=now), when=lambda state: state.ending is None)
        if turn.place is not Place.QUEUED:
            self._dispatcher.wake(turn.turn)

    async def drain(self, grace_s: float) -> None:
        """Take nothing new, give running turns `grace_s` seconds, leave the rest to the next start."""
        self._closing = True
        self._timer.cancel()
        await self._dispatcher.drain(grace_s)

    async def _advance(self, turn: str) -> None:
        if turn not in self._open:  # it has ended; what waits behind it is started again if that failed
            await self._start_waiting()
            return
        signal = self._stops.setdefault(turn, StopSignal())
        try:
            log = await self._log(turn)
            if not _only_waits(log.state):
                await self._move(turn, Place.ACTIVE)
                await self._resumed(log)
            result = await run_generation_turn(self._deps, log, signal)
        except Exception:
            self._failed.add(turn)
            raise
        finally:
            self._stops.pop(turn, None)
        if result.status is TurnStatus.AWAITING_APPROVAL:
            await self._move(turn, Place.PARKED)
            await self._timer.arm()
        else:
            channel = self._open.pop(turn).channel
            self._failed.discard(turn)
            _log.info("turn_ended", turn=turn, status=result.status, reason=result.reason, passes=result.iterations)
            await self._start_next(channel)
        await self._start_waiting()

    async def _resumed(self, log: TurnLog) -> None:
        """Note that a turn goes on after a failure, before anything is paid for: a few of them end it."""
        if log.turn in self._failed:
            await log.commit(TurnResumed(at=self._deps.now()), when=lambda state: state.ending is None)
            self._failed.discard(log.turn)

    async def _move(self, turn: str, place: Place) -> bool:
        """Have the turn stand in `place`; whether it does."""
        known = self._open[turn]
        if known.place is place:
            return True
        self._open[turn] = replace(known, place=place)  # first, so that nobody else takes it meanwhile
        moved = False
        try:
            moved = await self._deps.journal.place(turn, place)
        finally:
            if not moved:
                self._open[turn] = known
        return moved

    async def _start_next(self, channel: str) -> None:
        """Begin the oldest queued message of a free channel, if its person and guild may run one more."""
        waiting = self.queued(channel)
        if self._closing or not waiting or self.is_busy(channel):
            return
        first = waiting[0]
        if first.turn in self._open.unwritten or not self._open.may_run(first.user, first.guild, self._limits):
            return
        if await self._move(first.turn, Place.ACTIVE):
            self._dispatcher.wake(first.turn)

    async def _start_waiting(self) -> None:
        """A turn made room: messages of other channels may have waited for their person's or guild's turn."""
        for channel in self._open.waiting_channels():
            await self._start_next(channel)

    async def _expire(self, turn: str, approval: str) -> None:
        log = await self._log(turn)
        decided = Decided(approval=approval, verdict=Verdict.EXPIRED, at=self._deps.now())
        await self._close_question(log, decided)

    async def _close_question(self, log: TurnLog, decided: Decided) -> bool:
        """Write an answer if its question is open, and have the turn looked at: whether that was so."""
        try:
            return await log.commit(decided, when=lambda state: _is_open(state, decided.approval))
        finally:  # after a failure or a cancel too: the record may be there all the same
            self._dispatcher.wake(log.turn)

    async def _log(self, turn: str) -> TurnLog:
        """The one log of a turn. That of an ended turn is read without telling anybody: it has been shown."""
        log = self._logs.get(turn)
        if log is None:
            sink: EventSink = self._deps.sink if turn in self._open else NullSink()
            log = await TurnLog.load(self._deps.journal, sink, turn)
            log = self._logs.setdefault(turn, log)
        return log


def _is_open(state: LoopState, approval: str) -> bool:
    call = state.question(approval)
    return state.ending is None and state.stop is None and call is not None and call.awaits_decision


def _only_waits(state: LoopState) -> bool:
    """Whether nothing but a person can move this turn: it need not count as active."""
    open_calls = state.open_calls
    return state.stop is None and bool(open_calls) and open_calls[0].awaits_decision


def _expiry(state: LoopState, approval: str) -> float:
    call = state.question(approval)
    return 0.0 if call is None or call.question is None else call.question.expires


def _decided_before(state: LoopState, approval: str) -> DecisionResult:
    decided = next((d for d in state.decisions if d.approval == approval), None)
    if decided is None or decided.verdict in (Verdict.EXPIRED, Verdict.UNDELIVERABLE):
        return Expired()
    return AlreadyDecided(verdict=decided.verdict, name=decided.name)
