"""The channels: one active turn in each, a queue behind it, stop, decisions, resume and drain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

import structlog

from pipeline.approvals import (
    Accepted,
    Actor,
    Answer,
    Approvers,
    DecisionResult,
    Expired,
    NotAllowed,
    UnknownApproval,
)
from pipeline.dispatch import TaskDispatcher
from pipeline.errors import StoreError
from pipeline.expiry import ExpiryTimer
from pipeline.follow_ups import Speech
from pipeline.journal import OpenTurn, Place
from pipeline.messages import Image
from pipeline.open_turns import OpenTurns, RuntimeLimits
from pipeline.queue import MessageQueue
from pipeline.records import CardPosted, Decided, StopRequested, TurnResumed, TurnStarted, Verdict
from pipeline.results import Reason, TurnStatus
from pipeline.standing import decided_before, expiry_of, is_asked, may_be_stopped, only_waits
from pipeline.stop import StopSignal
from pipeline.turn import TurnDeps, run_generation_turn
from pipeline.turn_log import TurnLog
from pipeline.turn_logs import TurnLogs

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
        self._speech = Speech(deps.sink)
        self._deps = replace(deps, sink=self._speech)
        self._limits = limits
        self._approvers = approvers
        self._dispatcher = TaskDispatcher(self._advance)
        self._timer = ExpiryTimer(deps.journal, deps.now, self._expire)
        self._open = OpenTurns()
        self._logs = TurnLogs(deps.journal, self._speech, self._open)
        self._queue = MessageQueue(
            deps.journal, self._speech, limits, opened=self._open, logs=self._logs, begin=self._dispatcher.wake
        )
        self._stops: dict[str, StopSignal] = {}
        self._failed: set[str] = set()
        self._closing = False

    async def submit(self, started: TurnStarted, images: Sequence[Image] = ()) -> Submission:
        """Begin a turn for a person's message, or queue it. Each message counts once, by its id.

        What a person writes on while their own turn runs goes before the others, and interrupts that turn unless it is
        in the middle of tools.
        """
        if started.turn in self._open:
            return Submission.KNOWN
        if self._closing:
            return Submission.KNOWN if await self._deps.journal.load(started.turn) else Submission.CLOSING
        waits = (
            self.is_busy(started.channel)
            or self._queue.next_of(started.channel) is not None
            or not self._open.may_run(started.user, started.guild, self._limits)
        )
        if waits and len(self.queued(started.channel)) >= self._limits.max_queued_messages:
            return Submission.FULL
        place = await self._queue.add(started, images, Place.QUEUED if waits else Place.ACTIVE)
        if place is None:
            return Submission.KNOWN
        if place is Place.ACTIVE:
            self._dispatcher.wake(started.turn)
            return Submission.STARTED
        await self._interrupt_for(started)
        return Submission.QUEUED

    async def _interrupt_for(self, started: TurnStarted) -> None:
        """End the turn that a follow-up follows, if the follow-up waits and that turn may be interrupted."""
        mine, holder = self._open.get(started.turn), self._open.holder(started.channel)
        if mine is None or not mine.follow_ups or holder is None or holder == mine or holder.user != mine.user:
            return
        request = StopRequested(reason=Reason.FOLLOW_UP, by=started.user, name=started.author)
        try:
            if await self._open.written(holder.turn) is None:
                return
            log = await self._logs.of(holder.turn)
            interrupted = await log.commit(request, when=self._speech.may_be_interrupted)
        except StoreError:  # the message waits all the same
            _log.exception("not_interrupted", turn=holder.turn)
            return
        if interrupted:
            self._signal(holder.turn, follow_up=True)

    def is_busy(self, channel: str) -> bool:
        """Whether a turn of this channel is active or waits for a person."""
        return self._open.holder(channel) is not None

    def is_open(self, turn: str) -> bool:
        """Whether a turn runs or waits, for a person or in its channel's queue."""
        return turn in self._open

    def queued(self, channel: str) -> Sequence[OpenTurn]:
        """The messages that wait in this channel, in the order in which they are answered."""
        return self._open.queued(channel)

    def waiting(self) -> Sequence[OpenTurn]:
        """The messages that wait, in all channels."""
        return [turn for turn in self._open.values() if turn.place is Place.QUEUED]

    def requester(self, channel: str) -> str | None:
        """The id of the person whose turn holds this channel."""
        turn = self._open.holder(channel)
        return None if turn is None else turn.user

    async def edit(self, turn: str, rewrite: Callable[[TurnStarted], str]) -> bool:
        """Change the words of a message that waits; `rewrite` makes them from how it was submitted. False, and nothing
        changes, when it does not wait any more."""
        return await self._queue.edit(turn, rewrite)

    async def drop(self, turn: str) -> bool:
        """Forget a message that waits. False, and nothing changes, when it does not wait any more."""
        return await self._queue.drop(turn)

    async def stop(self, channel: str, *, by: str, name: str, reason: Reason = Reason.PERSON) -> bool:
        """End the turn that holds this channel; what was said stays. False when there is none to stop.

        What its person wrote on meanwhile is dropped too.
        """
        turn = self._open.holder(channel)
        return turn is not None and await self.stop_turn(turn.turn, by=by, name=name, reason=reason)

    async def stop_turn(self, turn: str, *, by: str, name: str, reason: Reason = Reason.PERSON) -> bool:
        """End one turn, if it is open and not ending already. A stop outdoes a follow-up."""
        known = await self._open.written(turn)
        if known is None:
            return False
        if known.place is Place.QUEUED:
            return await self.drop(turn)
        log = await self._logs.of(turn)
        request = StopRequested(reason=reason, by=by, name=name)
        try:
            return await log.commit(request, when=may_be_stopped)
        finally:  # after a failure too: the record may be there, and people want the turn to end
            self._signal(turn)

    def _signal(self, turn: str, *, follow_up: bool = False) -> None:
        if (signal := self._stops.get(turn)) is not None:
            signal.request(follow_up=follow_up)
        self._dispatcher.wake(turn)

    async def decide(self, approval: str, answer: Answer, actor: Actor) -> DecisionResult:
        """Write a person's answer to one question, if they may give it and nobody did before."""
        turn = await self._deps.journal.turn_of_approval(approval)
        if turn is None:
            return UnknownApproval()
        log = await self._logs.of(turn)
        if not self._approvers.permits(actor, log.state.started.user):
            return NotAllowed()
        verdict = answer.verdict if self._deps.now() < expiry_of(log.state, approval) else Verdict.EXPIRED
        decided = Decided(
            approval=approval, verdict=verdict, by=actor.user, name=actor.name, note=answer.note, at=self._deps.now()
        )
        if verdict is Verdict.EXPIRED:
            decided = replace(decided, by="", name="", note="")
        if await self._close_question(log, decided):
            return Accepted(verdict=verdict) if verdict is not Verdict.EXPIRED else Expired()
        return decided_before(log.state, approval)

    async def card_posted(self, turn: str, approval: str, message: str) -> None:
        """The question can be seen, as message `message`."""
        log = await self._logs.of(turn)
        posted = CardPosted(approval=approval, message=message)
        await log.commit(posted, when=lambda state: is_asked(state, approval))

    async def card_failed(self, turn: str, approval: str, why: str) -> None:
        """The question cannot be shown: its call gets a result that says `why`."""
        log = await self._logs.of(turn)
        decided = Decided(approval=approval, verdict=Verdict.UNDELIVERABLE, note=why, at=self._deps.now())
        await self._close_question(log, decided)

    async def undeliverable(self, turn: str) -> None:
        """Nothing can be shown where this turn came from (the channel is gone): end it."""
        await self.stop_turn(turn, by="", name="", reason=Reason.UNDELIVERABLE)

    async def resume(self) -> int:
        """Take up every open turn after a start; how many there were. Ones that are too old end with a sentence."""
        opened = await self._deps.journal.open_turns()
        self._open.update((turn.turn, turn) for turn in opened)
        now = self._deps.now()
        for turn in opened:
            try:
                await self._take_up(turn, now)
            except Exception:  # it holds its channel, and no other
                _log.exception("turn_not_resumed", turn=turn.turn)
        await self._timer.arm()
        for channel in {turn.channel for turn in opened}:
            await self._queue.start_next(channel)
        return len(opened)

    async def _take_up(self, turn: OpenTurn, now: float) -> None:
        if turn.place is Place.ACTIVE and now - turn.created_at > self._limits.resume_max_age_s:
            await self.stop_turn(turn.turn, by="", name="", reason=Reason.INTERRUPTED)
        elif turn.place is Place.ACTIVE:
            await (await self._logs.of(turn.turn)).commit(TurnResumed(at=now), when=lambda state: state.ending is None)
        if turn.place is not Place.QUEUED:
            self._dispatcher.wake(turn.turn)
        else:
            await self._queue.take_up(turn)

    async def drain(self, grace_s: float) -> None:
        """Take nothing new, give running turns `grace_s` seconds, leave the rest to the next start."""
        self._closing = True
        self._queue.close()
        self._timer.cancel()
        await self._dispatcher.drain(grace_s)

    async def _advance(self, turn: str) -> None:
        if turn not in self._open:  # it has ended; what waits behind it is started again if that failed
            await self._queue.start_waiting()
            return
        signal = self._stops.setdefault(turn, StopSignal())
        try:
            log = await self._logs.of(turn)
            if not only_waits(log.state):
                await self._queue.move(turn, Place.ACTIVE)
                await self._resumed(log)
            result = await run_generation_turn(self._deps, log, signal)
        except Exception:
            self._failed.add(turn)
            raise
        finally:
            self._stops.pop(turn, None)
        if result.status is TurnStatus.AWAITING_APPROVAL:
            await self._queue.move(turn, Place.PARKED)
            await self._timer.arm()
        else:
            self._failed.discard(turn)
            _log.info("turn_ended", turn=turn, status=result.status, reason=result.reason, passes=result.iterations)
            await self._queue.turn_ended(self._open[turn], result)
        await self._queue.start_waiting()

    async def _resumed(self, log: TurnLog) -> None:
        """Note that a turn goes on after a failure, before anything is paid for: a few of them end it."""
        if log.turn in self._failed:
            await log.commit(TurnResumed(at=self._deps.now()), when=lambda state: state.ending is None)
            self._failed.discard(log.turn)

    async def _expire(self, turn: str, approval: str) -> None:
        log = await self._logs.of(turn)
        decided = Decided(approval=approval, verdict=Verdict.EXPIRED, at=self._deps.now())
        await self._close_question(log, decided)

    async def _close_question(self, log: TurnLog, decided: Decided) -> bool:
        """Write an answer if its question is open, and have the turn looked at: whether that was so."""
        try:
            return await log.commit(decided, when=lambda state: is_asked(state, decided.approval))
        finally:  # after a failure or a cancel too: the record may be there all the same
            self._dispatcher.wake(log.turn)
