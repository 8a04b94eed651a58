"""Who may decide is said in words that people understand."""

from __future__ import annotations

import pytest

from bot.deciders import Deciders
from pipeline.approvals import Approvers
from pipeline.records import TurnStarted

ROLES = {"55": "1", "66": "2"}


def words(allowed: set[str], guild: str = "1") -> str:
    return deciders(allowed).words(begun(guild))


def deciders(allowed: set[str]) -> Deciders:
    return Deciders(Approvers(allowed=frozenset(allowed)), ROLES.get)


def begun(guild: str) -> TurnStarted:
    return TurnStarted(turn="9", channel="3", guild=guild, user="100", author="alice", text="hi", at=0.0)


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ({"manage_guild"}, "people with **Manage Server**"),
        ({"requester"}, "<@100>"),
        ({"55"}, "<@&55>"),
        ({"77"}, "<@77>"),
        ({"66", "77"}, "<@77>"),
        ({"requester", "manage_guild", "55"}, "<@100>, people with **Manage Server**, <@&55>"),
    ],
)
def test_roles_and_people_are_named_where_they_may_decide(allowed: set[str], expected: str) -> None:
    assert words(allowed) == expected


def test_in_a_direct_message_it_says_that_nobody_manages_a_server() -> None:
    assert words({"manage_guild"}, guild="") == "nobody, because in a direct message nobody manages a server"


def test_without_approvers_it_says_that_nobody_may() -> None:
    assert words(set()) == "nobody, because the operator has named no `APPROVERS` for this place"
    assert Deciders(Approvers(allowed=frozenset()), ROLES.get).warnings()


def test_a_long_list_is_cut_so_that_the_card_has_room() -> None:
    assert words({str(1000 + n) for n in range(40)}).endswith("others")


@pytest.mark.parametrize(("allowed", "guild"), [({"manage_guild"}, ""), (set(), "1"), ({"66"}, "1"), ({"55"}, "")])
def test_where_nobody_may_decide_a_call_is_refused_with_what_the_operator_can_do(allowed: set[str], guild: str) -> None:
    refusal = deciders(allowed).refusal(begun(guild))
    assert refusal.startswith("nobody may approve here, because ")
    assert "add `requester` to APPROVERS" in refusal


@pytest.mark.parametrize(("allowed", "guild"), [({"manage_guild"}, "1"), ({"requester"}, ""), ({"77"}, "")])
def test_where_somebody_may_decide_nothing_is_refused(allowed: set[str], guild: str) -> None:
    assert deciders(allowed).refusal(begun(guild)) == ""
