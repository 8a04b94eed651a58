"""From loop events to Discord: `emit` only updates what should be shown; tasks of their own bring it there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.render.board import CardKeeper, CardParts, CardRuntime
from bot.render.card import CardSubject
from bot.render.chips import Chips
from bot.render.keeper import Keeper
from bot.render.outbox import Outbox
from bot.render.pacer import Pacer
from bot.render.reply import ReplyEditor
from bot.render.sticker import StickerKeeper
from bot.render.view import TurnView
from pipeline.calls import CallState
from pipeline.events import Committed, LoopEvent, MessageStands
from pipeline.journal import Deliveries, OpenTurn
from pipeline.records import TurnEnded, TurnStarted


class SinkRuntime(CardRuntime, Protocol):
    """What the sink asks of the runtime, and tells it."""

    def queued(self, channel: str) -> Sequence[OpenTurn]: ...

    async def undeliverable(self, turn: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkParts:
    """`deciders` says in words who may decide about the calls of a turn, `refusal` why nobody may (empty: somebody
    may); `max_iterations` is how far a turn may go, `now` epoch seconds."""

    outbox: Outbox
    pacer: Pacer
    deliveries: Deliveries
    deciders: Callable[[TurnStarted], str]
    refusal: Callable[[TurnStarted], str]
    max_reply_messages: int
    max_iterations: int
    now: Callable[[], float]


@dataclass(slots=True, kw_only=True)
class _Turn:
    view: TurnView
    reply: ReplyEditor
    sticker: StickerKeeper
    cards: dict[str, CardKeeper] = field(default_factory=dict)

    @property
    def keepers(self) -> tuple[Keeper, ...]:
        return (self.reply, self.sticker, *self.cards.values())


class DiscordSink:
    """The event sink of the runtime, which is bound after construction: each needs the other."""

    def __init__(self, parts: SinkParts) -> None:
        self._parts = parts
        self.chips = Chips(outbox=parts.outbox, pacer=parts.pacer, deliveries=parts.deliveries, since=parts.now())
        self._runtime: SinkRuntime | None = None
        self._turns: dict[str, _Turn] = {}

    def bind(self, runtime: SinkRuntime) -> None:
        self._runtime = runtime

    def emit(self, event: LoopEvent) -> None:
        self.chips.take(event)
        if isinstance(event, MessageStands):
            self.queue_changed(event.channel)
            return
        turn = self._turns.get(event.turn)
        if turn is None:
            if isinstance(event, Committed) and isinstance(event.record, TurnStarted):
                self._begin(event.record)
            return
        if not turn.view.take(event):
            return
        if isinstance(event, Committed):
            self._post_cards(turn)
        turn.reply.changed()
        if turn.view.sticker:
            turn.sticker.changed()
        if isinstance(event, Committed) and isinstance(event.record, TurnEnded):
            self._end(event.turn)

    async def settle(self, turn: str) -> None:
        shown = self._turns.get(turn)
        if shown is not None:
            await asyncio.gather(*(keeper.settle() for keeper in shown.keepers))

    def message_deleted(self, message: str) -> None:
        """Somebody deleted a message in Discord."""
        for turn in list(self._turns.values()):
            turn.reply.message_deleted(message)
            for card in turn.cards.values():
                card.message_deleted(message)

    def queue_changed(self, channel: str) -> None:
        """More or fewer messages wait behind the turn of this channel: its cards say how many."""
        for turn in self._turns.values():
            if turn.view.state.started.channel == channel:
                for card in turn.cards.values():
                    card.changed()

    def question(self, approval: str) -> tuple[TurnStarted, CallState] | None:
        """The call that a card of an open turn is about."""
        for turn in self._turns.values():
            if approval in turn.view.cards:
                return turn.view.state.started, turn.view.cards[approval]
        return None

    async def close(self) -> None:
        """Stop all tasks; what is not delivered yet is left to the next start."""
        keepers = [keeper for turn in self._turns.values() for keeper in turn.keepers]
        await asyncio.gather(self.chips.close(), *(keeper.close() for keeper in keepers))
        self._turns.clear()

    def _begin(self, started: TurnStarted) -> None:
        view = TurnView(started, self._parts.now)
        reply = ReplyEditor(
            view=view,
            max_messages=self._parts.max_reply_messages,
            max_iterations=self._parts.max_iterations,
            outbox=self._parts.outbox,
            pacer=self._parts.pacer,
            deliveries=self._parts.deliveries,
            on_unreachable=lambda _: self._bound.undeliverable(started.turn),
        )
        sticker = StickerKeeper(
            view=view,
            reply=reply,
            outbox=self._parts.outbox,
            pacer=self._parts.pacer,
            deliveries=self._parts.deliveries,
        )
        self._turns[started.turn] = _Turn(view=view, reply=reply, sticker=sticker)

        def replayed() -> None:
            view.replayed = view.seq

        asyncio.get_running_loop().call_soon(replayed)  # a journal is replayed in one go
        reply.changed()
        self.queue_changed(started.channel)

    def _post_cards(self, turn: _Turn) -> None:
        parts = CardParts(
            outbox=self._parts.outbox,
            pacer=self._parts.pacer,
            deliveries=self._parts.deliveries,
            runtime=self._bound,
            refusal=self._parts.refusal,
        )
        for approval, call in turn.view.cards.items():
            if approval not in turn.cards and call.question is not None:
                subject = self._subject_of(turn.view, approval)
                may_exist = turn.view.replayed == 0
                turn.cards[approval] = CardKeeper(call.question, subject, parts, may_exist=may_exist)
            turn.cards[approval].changed()

    def _subject_of(self, view: TurnView, approval: str) -> Callable[[], CardSubject]:
        def subject() -> CardSubject:
            call = view.cards[approval]
            started = view.state.started
            return CardSubject(
                started=started,
                call=call,
                deciders=self._parts.deciders(started),
                waiting=len(self._bound.queued(started.channel)),
                closed=view.is_over,
                superseded=view.is_superseded(call),
                waits=view.waits_behind(call),
            )

        return subject

    def _end(self, turn: str) -> None:
        for keeper in self._turns.pop(turn).keepers:
            keeper.finish()

    @property
    def _bound(self) -> SinkRuntime:
        if self._runtime is None:
            raise RuntimeError("the sink is used before its runtime is bound")
        return self._runtime
