"""Who may decide, what was decided, and the seal over exactly what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b, sha256

import orjson

from pipeline.records import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The person who pressed: their rights are those of the press, not of an earlier moment."""

    user: str
    name: str
    roles: frozenset[str] = frozenset()
    manage_guild: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvers:
    """Who may decide: ids of users or roles, `requester`, `manage_guild`. Empty means nobody."""

    allowed: frozenset[str]

    def permits(self, actor: Actor, requester: str) -> bool:
        """Whether `actor` may decide about a call that the person `requester` caused."""
        return (
            actor.user in self.allowed
            or not self.allowed.isdisjoint(actor.roles)
            or ("requester" in self.allowed and actor.user == requester)
            or ("manage_guild" in self.allowed and actor.manage_guild)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a person answers to a question; `note` is the reason of a denial with one."""

    verdict: Verdict
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The decision is in the journal."""

    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyDecided:
    """Somebody was first; `name` is how they are shown."""

    verdict: Verdict
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """The question was not answered in time, or its turn has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllowed:
    """This person may not decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownApproval:
    """No such question (another database, a forged id)."""


DecisionResult = Accepted | AlreadyDecided | Expired | NotAllowed | UnknownApproval


def approval_id(turn: str, iteration: int, index: int, asked: int) -> str:
    """The id of the `asked`th question about a call: the same after a crash, so nothing is asked twice."""
    return blake2b(f"{turn}/{iteration}/{index}/{asked}".encode(), digest_size=12).hexdigest()


def seal_of(
    *,
    tool: str,
    arguments: str,
    schema: Mapping[str, object],
    root: str,
    requester: str,
    channel: str,
    expires: float,
) -> str:
    """SHA-256 over what a decision is about; `arguments` is the canonical JSON of the validated arguments."""
    parts = [tool, arguments, orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode(), root, requester, channel]
    return sha256(orjson.dumps([*parts, round(expires, 3)])).hexdigest()
