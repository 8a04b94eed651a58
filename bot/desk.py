"""What a press of a button does: the person behind an interaction, what they may do, what they are told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import discord

from bot.render.embeds import fallback_reasons, thoughts
from bot.render.offers import may_go_on
from bot.render.text import inline, one_line
from bot.views.answering import Said
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
from pipeline.calls import CallState
from pipeline.records import LoopRecord, TurnStarted, Verdict
from pipeline.results import NoticeKind
from pipeline.runtime import Submission
from pipeline.stages.build_result import build_result
from pipeline.state import LoopState, fold

GO_ON = "Go on."
_CLOSED = "This question is closed: it has expired, or its turn has ended. Nothing more is run because of it."
_ELSEWHERE = "I do not know this question here, so nothing is run because of it."
_NOTHING_TO_STOP = "There is nothing to stop: this has ended already."
_UNKNOWN_TURN = "I do not know this turn here any more, so there is nothing to show or to go on with."
_WENT_ON = "Somebody pressed this already. The answer to that stands below, or will."
_GOES_ON_LATER = "Noted: I go on as soon as what is running here has ended."
_FULL = "Too many messages wait in this channel already. Try again when some are answered."
_CLOSING = "I am about to restart. Press again in a minute."


class DeskRuntime(Protocol):
    """What the buttons ask of the runtime."""

    async def decide(self, approval: str, answer: Answer, actor: Actor) -> DecisionResult: ...

    async def stop_turn(self, turn: str, *, by: str, name: str) -> bool: ...

    async def submit(self, started: TurnStarted) -> Submission: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskParts:
    """What a desk works on. `question` finds the call behind a card of an open turn, `deciders` says who may decide,
    `records` reads a turn from the journal (empty: no such turn), `admits` whether a person may start turns; `now` is
    epoch seconds."""

    runtime: DeskRuntime
    approvers: Approvers
    question: Callable[[str], tuple[TurnStarted, CallState] | None]
    deciders: Callable[[TurnStarted], str]
    records: Callable[[str], Awaitable[Sequence[tuple[int, LoopRecord | None]]]]
    admits: Callable[[discord.User | discord.Member], bool]
    now: Callable[[], float]


class Desk:
    """Takes presses."""

    def __init__(self, parts: DeskParts) -> None:
        self._parts = parts
        self._runtime = parts.runtime
        self._approvers = parts.approvers

    async def decide(
        self, interaction: discord.Interaction[Any], approval: str, verdict: Verdict, note: str = ""
    ) -> Said | None:
        """Answer a question for the person who pressed. Their rights are checked now, inside."""
        if self._is_elsewhere(interaction, approval):
            return Said(text=_ELSEWHERE)
        result = await self._runtime.decide(approval, Answer(verdict=verdict, note=note), actor_of(interaction))
        match result:
            case Accepted():
                return None
            case AlreadyDecided(name=name):
                return Said(text=f"Already decided by {inline(name, 80)}.")
            case NotAllowed():
                return Said(text=self._not_allowed(approval))
            case Expired():
                return Said(text=_CLOSED)
            case UnknownApproval():
                return Said(text=_ELSEWHERE)

    def refusal(self, interaction: discord.Interaction[Any], approval: str) -> str | None:
        """Why this person cannot answer now, before they are asked for a reason; None when they can."""
        known = self._parts.question(approval)
        if known is None:
            return _CLOSED
        if self._is_elsewhere(interaction, approval):
            return _ELSEWHERE
        started, call = known
        if not self._approvers.permits(actor_of(interaction), started.user):
            return self._not_allowed(approval)
        if call.decision is not None and call.decision.name:
            return f"Already decided by {inline(call.decision.name, 80)}."
        return None if call.awaits_decision else _CLOSED

    async def stop_turn(self, interaction: discord.Interaction[Any], turn: str, user: str) -> Said | None:
        """End the turn that `user` began, for them or for somebody with the right to."""
        if not self.may_stop(interaction, user):
            return Said(
                text=f"Only <@{user}>, who asked, an approver or somebody with **Manage Messages** may stop this."
            )
        actor = actor_of(interaction)
        if await self._runtime.stop_turn(turn, by=actor.user, name=actor.name):
            return None
        return Said(text=_NOTHING_TO_STOP)

    def may_stop(self, interaction: discord.Interaction[Any], requester: str) -> bool:
        """The requester may, whoever decides about their calls, and moderators."""
        actor = actor_of(interaction)
        moderates = interaction.guild_id is not None and interaction.permissions.manage_messages
        return actor.user == requester or moderates or self._approvers.permits(actor, requester)

    def who_may_stop(self, requester: str) -> str:
        return f"Only <@{requester}>, who asked, approvers and people with **Manage Messages** may stop this."

    async def details(self, interaction: discord.Interaction[Any], turn: str) -> Said:
        """Why another model answered than the first of the chain."""
        state = await self._past(interaction, turn)
        notices = () if state is None else state.notices
        told = next((one.detail for one in notices if one.notice is NoticeKind.FALLBACK), None)
        return Said(text=_UNKNOWN_TURN) if told is None else Said(embeds=(fallback_reasons(told),))

    async def thoughts(self, interaction: discord.Interaction[Any], turn: str) -> Said:
        """What the models of a turn thought; what an embed cannot hold is attached as a file."""
        state = await self._past(interaction, turn)
        log = None if state is None else build_result(state).thought_log
        if log is None:
            return Said(text=_UNKNOWN_TURN)
        embed, is_whole = thoughts(log)
        return Said(embeds=(embed,), file=None if is_whole else ("thoughts.md", log.text))

    async def go_on(self, interaction: discord.Interaction[Any], turn: str) -> Said:
        """Begin a turn that goes on where `turn` reached a limit. It has the id of the message with the button, which
        is the ended turn's own: however often that is pressed, one turn begins."""
        ended, message = await self._past(interaction, turn), interaction.message
        if ended is None or message is None or not may_go_on(ended):
            return Said(text=_UNKNOWN_TURN)
        before = ended.started
        if not self._may_go_on(interaction, before.user):
            return Said(text=f"Only <@{before.user}>, who asked, or an approver may have this go on.")
        started = replace(
            before,
            turn=str(message.id),
            text=GO_ON,
            quoted="",
            images=(),
            at=self._parts.now(),
            reply_to=before.reply_to or before.turn,
            follow_ups=0,
            continues=before.turn,
        )
        match await self._runtime.submit(started):
            case Submission.STARTED:
                return Said(used_up=True)
            case Submission.QUEUED:
                return Said(used_up=True, text=_GOES_ON_LATER)
            case Submission.KNOWN:
                return Said(used_up=True, text=_WENT_ON)
            case Submission.FULL:
                return Said(text=_FULL)
            case Submission.CLOSING:
                return Said(text=_CLOSING)

    def _may_go_on(self, interaction: discord.Interaction[Any], requester: str) -> bool:
        """The requester, while they may start turns at all, and whoever decides about their calls."""
        actor = actor_of(interaction)
        own = actor.user == requester and self._parts.admits(interaction.user)
        return own or self._approvers.permits(actor, requester)

    async def _past(self, interaction: discord.Interaction[Any], turn: str) -> LoopState | None:
        """A turn that has ended in the channel of the press."""
        records = [record for _, record in await self._parts.records(turn) if record is not None]
        state = fold(records) if records else None
        is_here = state is not None and state.started.channel == str(interaction.channel_id)
        return state if is_here and state is not None and state.ending is not None else None

    def _is_elsewhere(self, interaction: discord.Interaction[Any], approval: str) -> bool:
        """Whether the question was asked in another channel: the rights of a person are those of where they press."""
        known = self._parts.question(approval)
        return known is not None and known[0].channel != str(interaction.channel_id)

    def _not_allowed(self, approval: str) -> str:
        known = self._parts.question(approval)
        who = "the people whom the operator named in `APPROVERS`" if known is None else self._parts.deciders(known[0])
        return f"You may not decide about this. Who may: {who}"


def actor_of(interaction: discord.Interaction[Any]) -> Actor:
    """The person behind an interaction, with the rights that Discord states in it."""
    user = interaction.user
    roles = frozenset(str(role.id) for role in user.roles) if isinstance(user, discord.Member) else frozenset()
    in_guild = interaction.guild_id is not None
    manages = in_guild and (interaction.permissions.manage_guild or interaction.permissions.administrator)
    name = one_line(user.display_name, 80) or "somebody"
    return Actor(user=str(user.id), name=name, roles=roles, manage_guild=manages)


def desk_of(interaction: discord.Interaction[Any]) -> Desk:
    """The desk of the client that got this interaction."""
    desk: Desk = interaction.client.desk
    return desk
