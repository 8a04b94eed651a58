"""The approval cards of one turn, each kept in its own task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import discord
import structlog

from bot.render.card import CardSubject, DoesNotFit, card
from bot.render.keeper import Keeper
from bot.render.outbox import Draft, MessageGone, Outbox, Place, Refused, button_ids, nonce_of
from bot.render.pacer import Kind, Pacer, Priority
from bot.views.approval import approval_view
from pipeline.journal import Deliveries, Delivery
from pipeline.records import ApprovalAsked, TurnStarted

_log = structlog.get_logger()

QUICK_S = 0.15


class CardRuntime(Protocol):
    """What a card tells the runtime."""

    async def card_posted(self, turn: str, approval: str, message: str) -> None: ...

    async def card_failed(self, turn: str, approval: str, why: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CardParts:
    """What every card needs. `refusal` says why nobody may decide about the calls of a turn; empty: somebody may."""

    outbox: Outbox
    pacer: Pacer
    deliveries: Deliveries
    runtime: CardRuntime
    refusal: Callable[[TurnStarted], str]


class CardKeeper(Keeper):
    """Keeps one card as its subject is: posts it while it is open, edits it when it is decided and when its call is
    done. A card that was never posted is not posted any more once its question is closed."""

    def __init__(
        self, question: ApprovalAsked, subject: Callable[[], CardSubject], parts: CardParts, *, may_exist: bool
    ) -> None:
        """`may_exist`: the question was read from the journal, so an earlier process may have posted its card."""
        super().__init__()
        self._question = question
        self._subject = subject
        self._parts = parts
        started = subject().started
        self._place = Place(channel=started.channel, guild=started.guild, trigger=started.turn)
        self._slot = f"card:{question.approval}"
        self._message: str | None = None
        self._shown: tuple[discord.Embed, ...] | None = None
        self._losses = 0
        self._failed = False
        self._is_refused = False  # a card that an earlier process posted is still kept
        self._may_exist = may_exist

    def message_deleted(self, message: str) -> None:
        """Somebody deleted a message on Discord: an open question is asked again."""
        if message == self._message:
            self._lose()
            self.changed()

    async def gave_up(self, why: str) -> None:
        await self._fail(f"the approval card could not be posted: {why}")

    async def step(self) -> bool:
        subject = self._subject()
        if self._message is None and not self._losses:
            self._message = subject.call.card or None
        if self._failed or (self._message is None and (self._is_refused or not subject.is_open)):
            return False
        if subject.is_open and not self._is_refused and (why := self._parts.refusal(subject.started)):
            self._message = self._message or await self._found()
            await self._tell(why)
            self._is_refused = True
            return True
        try:
            embeds = card(subject)
        except DoesNotFit as error:
            await self._fail(str(error))
            return True
        if embeds == self._shown:
            return False
        if subject.call.decision is not None and subject.call.finished is None:
            await self._outcome_of_a_quick_call()
        priority = Priority.CARD if subject.call.finished is None else Priority.EDIT
        await self._parts.pacer.leave(
            self._place.channel, lambda: (priority, Kind.CREATE if self._message is None else Kind.EDIT)
        )
        try:
            await self._send()
        except Refused as error:
            await self._fail(f"Discord did not take the approval card: {error}")
        return True

    async def _outcome_of_a_quick_call(self) -> None:
        """Wait a moment, unseen by people: a call that is done by then saves an edit, and edits are scarce."""
        with suppress(TimeoutError):
            async with asyncio.timeout(QUICK_S):
                while self._subject().call.finished is None:
                    await self._wake.wait()
                    self._wake.clear()

    async def _send(self) -> None:
        subject = self._subject()  # taken now: it may have been decided while the request waited
        if self._message is None and not subject.is_open:
            return
        embeds = card(subject)
        view = approval_view(self._question) if subject.is_open else None
        draft = Draft(embeds=embeds, view=view)
        if self._message is not None:
            await self._edit(self._message, draft)
        elif (found := await self._found()) is not None:
            await self._posted(found)
        else:
            nonce = nonce_of(self._place.trigger, self._slot, self._losses)
            created = await self._parts.outbox.create(self._place, draft, nonce=nonce, reply=False)
            self._shown = embeds
            await self._posted(created)

    async def _edit(self, message: str, draft: Draft) -> None:
        try:
            await self._parts.outbox.edit(self._place, message, draft)
            self._shown = draft.embeds
        except MessageGone:
            self._lose()

    def _lose(self) -> None:
        self._message, self._shown = None, None
        self._losses += 1

    async def _posted(self, message: str) -> None:
        self._message = message
        turn, approval = self._place.trigger, self._question.approval
        nonce = nonce_of(turn, self._slot, self._losses)
        delivery = Delivery(turn=turn, slot=self._slot, nonce=nonce, message=message)
        await self._parts.deliveries.put(delivery)
        await self._parts.runtime.card_posted(turn, approval, message)

    async def _found(self) -> str | None:
        """A card that an earlier process posted without its id reaching the journal."""
        if not self._may_exist or self._losses:
            return None
        self._may_exist = False
        for delivery in await self._parts.deliveries.of_turn(self._place.trigger):
            if delivery.slot == self._slot:
                return delivery.message
        own = await self._parts.outbox.own_messages(self._place)
        mine = {f"{word}:{self._question.approval}" for word in ("approve", "again")}
        return next((str(message.id) for message in own if mine & button_ids(message)), None)

    async def _fail(self, why: str) -> None:
        if self._subject().is_open:
            await self._tell(why)
        self._failed = True  # only now: while it cannot be written down, it is tried again

    async def _tell(self, why: str) -> None:
        """Have the call refused, with `why` as its result."""
        await self._parts.runtime.card_failed(self._place.trigger, self._question.approval, why)
