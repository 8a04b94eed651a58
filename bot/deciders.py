"""Who may decide, in words: for the card, for a refusal, for the log at start."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.approvals import Approvers
from pipeline.records import TurnStarted

MOST_NAMED = 6  # a card has little room
WORDS = frozenset({"requester", "manage_guild"})


class Deciders:
    """Says in Discord's markdown who may decide about the calls of a turn.

    `role_guild` finds the guild (its id) of a role; None for the id of a person, or of a role that the bot cannot see.
    """

    def __init__(self, approvers: Approvers, role_guild: Callable[[str], str | None]) -> None:
        self._allowed = approvers.allowed
        self._role_guild = role_guild

    def words(self, started: TurnStarted) -> str:
        """Who may decide about the calls of the turn that `started`."""
        who = list(self._named(started))
        if who:
            more = ["others"] if len(who) > MOST_NAMED else []
            return ", ".join([*who[:MOST_NAMED], *more])
        return f"nobody, because {self._why_nobody()}"

    def refusal(self, started: TurnStarted) -> str:
        """Why nobody may decide about the calls of the turn that `started`, for the model; empty where somebody may."""
        if any(self._named(started)):
            return ""
        return (
            f"nobody may approve here, because {self._why_nobody()}. It is of no use to try again; "
            "the operator can add `requester` to APPROVERS, so that the person who asks may approve"
        )

    def _why_nobody(self) -> str:
        if "manage_guild" in self._allowed:
            return "in a direct message nobody manages a server"
        return "the operator has named no `APPROVERS` for this place"

    def warnings(self) -> tuple[str, ...]:
        """What the operator should know at start."""
        if not self._allowed:
            return ("APPROVERS is empty: nobody can approve anything.",)
        if self._allowed == {"manage_guild"}:
            return ("APPROVERS is manage_guild only: in direct messages nobody can approve.",)
        return ()

    def _named(self, started: TurnStarted) -> Iterator[str]:
        if "requester" in self._allowed:
            yield f"<@{started.user}>"
        if "manage_guild" in self._allowed and started.guild:
            yield "people with **Manage Server**"
        for number in sorted(self._allowed - WORDS, key=int):
            guild = self._role_guild(number)
            if guild is None:
                yield f"<@{number}>"
            elif guild == started.guild:
                yield f"<@&{number}>"
