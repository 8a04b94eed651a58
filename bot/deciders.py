"""Who may decide, in words: for the card, for a refusal, for the log at start."""

from __future__ import annotations

from pipeline.approvals import Approvers
from pipeline.records import TurnStarted


class Deciders:
    """Says in Discord's markdown who may decide about the calls of a turn."""

    def __init__(self, approvers: Approvers) -> None:
        self._allowed = approvers.allowed

    def words(self, started: TurnStarted) -> str:
        """Who may decide about the calls of the turn that `started`."""
        who = []
        if "requester" in self._allowed:
            who.append(f"<@{started.user}>")
        if "manage_guild" in self._allowed and started.guild:
            who.append("people with **Manage Server**")
        if self._ids:
            who.append("the approvers whom the operator named")
        if who:
            return ", ".join(who)
        if "manage_guild" in self._allowed:
            return "nobody: in a direct message nobody has **Manage Server** (`APPROVERS` can name others)"
        return "nobody: the operator has named no `APPROVERS`"

    def warnings(self) -> tuple[str, ...]:
        """What the operator should know at start."""
        if not self._allowed:
            return ("APPROVERS is empty: nobody can approve anything.",)
        return ()

    @property
    def _ids(self) -> frozenset[str]:
        return self._allowed - {"requester", "manage_guild"}
