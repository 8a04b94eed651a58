"""The reply of one turn: its messages are kept as the layout wants them, the newest text first of all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

import structlog

from bot.render.keeper import Keeper
from bot.render.layout import STARTS_OVER, Layout, Post
from bot.render.outbox import (
    Draft,
    MessageGone,
    Outbox,
    Refused,
    Transient,
    Unreachable,
    button_ids,
    nonce_of,
    place_of,
)
from bot.render.pacer import Kind, Pacer, Priority, Urgency
from bot.render.view import TurnView
from bot.views.offers import turn_view
from pipeline.journal import Deliveries, Delivery

_log = structlog.get_logger()

TYPING_EVERY_S = 8.0


@dataclass(slots=True, kw_only=True)
class _Shown:
    """A message that is there; `post` is what stands in it, None when that is not known (after a restart)."""

    message: str
    post: Post | None = None


@dataclass(slots=True, kw_only=True)
class _Memory:
    """What is known about the messages of this turn."""

    shown: dict[str, _Shown] = field(default_factory=dict)
    losses: dict[str, int] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)


class ReplyEditor(Keeper):
    """Creates, edits and deletes the messages of one turn in its own task.

    `on_unreachable` is awaited when nothing can be shown in this channel any more.
    """

    def __init__(
        self,
        *,
        view: TurnView,
        max_messages: int,
        max_iterations: int,
        outbox: Outbox,
        pacer: Pacer,
        deliveries: Deliveries,
        on_unreachable: Callable[[str], Coroutine[None, None, None]],
    ) -> None:
        super().__init__()
        self._view = view
        self._layout = Layout(max_messages, max_iterations)
        self._outbox = outbox
        self._pacer = pacer
        self._deliveries = deliveries
        self._on_unreachable = on_unreachable
        self._place = place_of(view.state.started)
        self._memory: _Memory | None = None
        self._swept = 0  # how many failed attempts have nothing left here
        self._searched = False
        self._following: Post | str | None = None
        self._asked: Urgency | None = None
        self._looked_at = view.progress
        self._typing: asyncio.Task[None] | None = None

    def changed(self) -> None:
        super().changed()
        if self._asked is not None and self._looked_at != self._view.progress:
            self._look_again()
        if self._shall_type() and self._typing is None:
            self._typing = asyncio.get_running_loop().create_task(self._type())

    @property
    def is_visible(self) -> bool:
        """Whether any message of the turn is there."""
        return self._memory is not None and bool(self._memory.shown)

    def message_deleted(self, message: str) -> None:
        """Somebody deleted a message on Discord."""
        for slot, shown in list((self._memory or _Memory()).shown.items()):
            if shown.message == message and self._memory is not None:
                self._lose(self._memory, slot)
                self.changed()

    def finish(self) -> None:
        if self._typing is not None:
            self._typing.cancel()
        super().finish()

    async def close(self) -> None:
        if self._typing is not None:
            self._typing.cancel()
        await super().close()

    async def gave_up(self, why: str) -> None:
        if not self._view.is_over:
            await self._on_unreachable(why)

    async def step(self) -> bool:
        memory = self._memory = self._memory or await self._remembered()
        self._following = self._next(memory)
        if self._following is None:
            return False
        await self._pacer.leave(self._place.channel, self._noted_urgency)
        self._asked = None
        match self._next(memory):  # the text is taken now: it may have grown while the request waited
            case None:
                pass
            case str() as slot:
                await self._remove(memory, slot)
            case post if post.slot in memory.shown:
                await self._edit(memory, post, memory.shown[post.slot])
            case post:
                await self._create(memory, post)
        return True

    def _next(self, memory: _Memory) -> Post | str | None:
        """What to do first: the slot of a message that a failed attempt has left, the first message whose text is not
        there, one whose rider is not right, then the slot of one that should not be there."""
        wanted = {post.slot: post for post in self._layout.posts(self._view)}
        if self._swept < self._view.taken_back:
            if (left := next((slot for slot in reversed(memory.shown) if slot not in wanted), None)) is not None:
                return left
            self._swept = self._view.taken_back
        wrong = [post for post in wanted.values() if not self._is_there(memory, post)]
        for post in wrong:
            shown = memory.shown.get(post.slot)
            if shown is None or shown.post is None or shown.post.content != post.content:
                return post
        if wrong:
            return wrong[0]
        return next((slot for slot in memory.shown if slot not in wanted and self._is_done_with(slot)), None)

    def _is_done_with(self, slot: str) -> bool:
        """Whether nothing can come into a slot any more. After a restart a pass is streamed again: until then its
        messages stay as they are."""
        return self._view.is_over or _slot_key(slot)[0] < len(self._view.sections) - 1

    def _is_there(self, memory: _Memory, post: Post) -> bool:
        return post.slot in memory.shown and memory.shown[post.slot].post == post

    def _look_again(self) -> None:
        """A request waits, and what it is for may have become something more urgent."""
        self._following = self._next(self._memory or _Memory())
        if self._asked != self._noted_urgency():
            self._pacer.nudge()

    def _urgency(self) -> Urgency:
        """Only edits of a text that goes on are spaced out; a first and a last text go as soon as Discord allows."""
        post = self._following
        if self._memory is None or not isinstance(post, Post):
            return Priority.EDIT, Kind.OTHER
        shown = self._memory.shown.get(post.slot)
        before = None if shown is None or shown.post is None else shown.post.content
        kind = Kind.CREATE if shown is None else Kind.EDIT
        if self._view.is_over:
            return Priority.EDIT if before == post.content else Priority.FINAL, kind
        overflows = _slot_key(post.slot)[1] > 0
        if post.content and before in (None, "", STARTS_OVER) and not overflows:
            return Priority.FIRST, kind
        is_full = not post.stop
        return Priority.FULL if is_full else Priority.EDIT, Kind.CREATE if shown is None else Kind.TEXT_EDIT

    def _noted_urgency(self) -> Urgency:
        self._looked_at = self._view.progress
        self._asked = self._urgency()
        return self._asked

    async def _create(self, memory: _Memory, post: Post) -> None:
        nonce = nonce_of(self._view.state.turn, post.slot, memory.losses.get(post.slot, 0))
        message = await self._found(memory, post)
        if message is not None:
            memory.shown[post.slot] = _Shown(message=message)
        else:
            draft, reply = self._draft(memory, post), not memory.shown
            try:
                message = await self._outbox.create(self._place, draft, nonce=nonce, reply=reply)
            except (Refused, Unreachable) as error:
                if isinstance(error, Unreachable) and not self._may_lack_files(memory, post):
                    raise
                self._refused(memory, post)
                return
            memory.shown[post.slot] = _Shown(message=message, post=post)
        delivery = Delivery(turn=self._view.state.turn, slot=post.slot, nonce=nonce, message=message)
        await self._deliveries.put(delivery)

    async def _edit(self, memory: _Memory, post: Post, shown: _Shown) -> None:
        try:
            await self._outbox.edit(self._place, shown.message, self._draft(memory, post))
        except MessageGone:
            if self._may_lack_files(memory, post):
                memory.plain.add(post.slot)
            else:
                self._lose(memory, post.slot)
        except Refused:
            self._refused(memory, post)
        else:
            shown.post = post

    async def _remove(self, memory: _Memory, slot: str) -> None:
        gone = memory.shown.pop(slot)
        await self._deliveries.drop(self._view.state.turn, slot)
        try:
            await self._outbox.delete(self._place, gone.message)
        except (MessageGone, Refused):
            _log.info("message_was_gone", turn=self._view.state.turn, slot=slot)

    def _may_lack_files(self, memory: _Memory, post: Post) -> bool:
        """The bot may write here but perhaps not attach files: the text is tried without its file first."""
        return bool(post.rest) and post.slot not in memory.plain

    def _lose(self, memory: _Memory, slot: str) -> None:
        memory.shown.pop(slot, None)
        memory.losses[slot] = memory.losses.get(slot, 0) + 1

    def _refused(self, memory: _Memory, post: Post) -> None:
        """Discord does not take it: once more without anything round the text, then it is left as it is."""
        _log.error("message_refused", turn=self._view.state.turn, slot=post.slot)
        if post.slot in memory.plain or not post.content:
            memory.shown.setdefault(post.slot, _Shown(message="0")).post = post
        memory.plain.add(post.slot)

    def _draft(self, memory: _Memory, post: Post) -> Draft:
        if post.slot in memory.plain:
            return Draft(content=post.content)
        started = self._view.state.started
        return Draft(
            content=post.content,
            embeds=post.embeds,
            view=turn_view(started, post.offers, stop=post.stop),
            rest=post.rest,
        )

    async def _remembered(self) -> _Memory:
        of_turn = await self._deliveries.of_turn(self._view.state.turn)
        replies = sorted((d for d in of_turn if d.slot.startswith("reply:")), key=lambda d: _slot_key(d.slot))
        self._searched = self._view.replayed <= 1  # a new turn has no messages yet
        return _Memory(shown={delivery.slot: _Shown(message=delivery.message) for delivery in replies})

    async def _found(self, memory: _Memory, post: Post) -> str | None:
        """A message of this slot whose id was lost in a crash between its creation and the note of its id."""
        if self._searched:
            return None
        turn = self._view.state.turn
        known = {shown.message for shown in memory.shown.values()}
        own = [m for m in await self._outbox.own_messages(self._place) if str(m.id) not in known]
        self._searched = True
        for message in own:
            replies = message.reference is not None and str(message.reference.message_id) == self._place.trigger
            stops = any(button.startswith(f"stop:{turn}:") for button in button_ids(message))
            if (replies and not memory.shown) or stops or (post.content and message.content == post.content):
                return str(message.id)
        return None

    def _shall_type(self) -> bool:
        return not (self._is_dead or self._view.is_over or self._view.has_text or self._view.waits_for_people)

    async def _type(self) -> None:
        try:
            while self._shall_type():
                await self._pacer.leave(self._place.channel, lambda: (Priority.TYPING, Kind.OTHER))
                if self._shall_type():
                    await self._outbox.type(self._place)
                    await asyncio.sleep(TYPING_EVERY_S)
        except (Transient, Unreachable, Refused):
            _log.info("typing_failed", channel=self._place.channel)
        finally:
            self._typing = None


def _slot_key(slot: str) -> tuple[int, ...]:
    return tuple(int(part) for part in slot.partition(":")[2].split("."))
