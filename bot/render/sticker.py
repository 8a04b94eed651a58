"""The sticker after a completed answer: one message, once."""

from __future__ import annotations

import structlog

from bot.render.keeper import Keeper
from bot.render.outbox import Draft, Outbox, Refused, nonce_of, place_of
from bot.render.pacer import Kind, Pacer, Priority
from bot.render.reply import ReplyEditor
from bot.render.view import TurnView
from pipeline.journal import Deliveries, Delivery

_log = structlog.get_logger()

SLOT = "sticker"


class StickerKeeper(Keeper):
    """Posts the sticker of a turn when its answer is there. Where it cannot be posted, that is logged and nothing more:
    the answer counts."""

    def __init__(
        self, *, view: TurnView, reply: ReplyEditor, outbox: Outbox, pacer: Pacer, deliveries: Deliveries
    ) -> None:
        super().__init__()
        self._view = view
        self._reply = reply
        self._outbox = outbox
        self._pacer = pacer
        self._deliveries = deliveries
        self._place = place_of(view.state.started)
        self._is_done = False

    async def gave_up(self, why: str) -> None:
        _log.warning("sticker_not_posted", turn=self._view.state.turn, why=why)

    async def step(self) -> bool:
        sticker = self._view.sticker
        if self._is_done or not sticker:
            return False
        await self._reply.settle()
        if not await self._is_there(sticker):
            await self._pacer.leave(self._place.channel, lambda: (Priority.EDIT, Kind.CREATE))
            try:
                await self._post(sticker)
            except (Refused, ValueError) as error:  # ValueError: it is no id
                await self.gave_up(str(error))
        self._is_done = True
        return True

    async def _post(self, sticker: str) -> None:
        nonce = nonce_of(self._view.state.turn, SLOT, 0)
        alone = not self._reply.is_visible
        message = await self._outbox.create(self._place, Draft(sticker=sticker), nonce=nonce, reply=alone)
        await self._noted(message)

    async def _is_there(self, sticker: str) -> bool:
        """Whether an earlier process posted it, if only without having noted that."""
        if any(delivery.slot == SLOT for delivery in await self._deliveries.of_turn(self._view.state.turn)):
            return True
        if self._view.replayed > 1:
            for message in await self._outbox.own_messages(self._place):
                if sticker in {str(one.id) for one in message.stickers}:
                    await self._noted(str(message.id))
                    return True
        return False

    async def _noted(self, message: str) -> None:
        turn = self._view.state.turn
        delivery = Delivery(turn=turn, slot=SLOT, nonce=nonce_of(turn, SLOT, 0), message=message)
        await self._deliveries.put(delivery)
