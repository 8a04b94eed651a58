"""What a press of a button does: the person behind an interaction, what they may do, what they are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import discord

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
from pipeline.records import TurnStarted, Verdict
from pipeline.state import CallState

_CLOSED = "This question is closed: it has expired, or its turn has ended. Nothing more is run because of it."
_ELSEWHERE = "I do not know this question here, so nothing is run because of it."
_NOTHING_TO_STOP = "There is nothing to stop: this has ended already."


class DeskRuntime(Protocol):
    """What the buttons ask of the runtime."""

    async def decide(self, approval: str, answer: Answer, actor: Actor) -> DecisionResult: ...

    async def stop_turn(self, turn: str, *, by: str, name: str) -> bool: ...


class Desk:
    """Takes presses. `question` finds the call behind a card of an open turn, `deciders` says who may decide."""

    def __init__(
        self,
        *,
        runtime: DeskRuntime,
        approvers: Approvers,
        question: Callable[[str], tuple[TurnStarted, CallState] | None],
        deciders: Callable[[TurnStarted], str],
    ) -> None:
        self._runtime = runtime
        self._approvers = approvers
        self._question = question
        self._deciders = deciders

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
        known = self._question(approval)
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

    def _is_elsewhere(self, interaction: discord.Interaction[Any], approval: str) -> bool:
        """Whether the question was asked in another channel: the rights of a person are those of where they press."""
        known = self._question(approval)
        return known is not None and known[0].channel != str(interaction.channel_id)

    def _not_allowed(self, approval: str) -> str:
        known = self._question(approval)
        who = "the people whom the operator named in `APPROVERS`" if known is None else self._deciders(known[0])
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
