"""Who may decide is said in words that people understand."""

from __future__ import annotations

import pytest

from bot.deciders import Deciders
from pipeline.approvals import Approvers
from pipeline.records import TurnStarted

ROLES = {"55": "1", "66": "2"}


def words(allowed: set[str], guild: str = "1") -> str:
    started = TurnStarted(turn="9", channel="3", guild=guild, user="100", author="alice", text="hi", at=0.0)
    return Deciders(Approvers(allowed=frozenset(allowed)), ROLES.get).words(started)


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
    assert words({"manage_guild"}, guild="").startswith("nobody: in a direct message")


def test_without_approvers_it_says_that_nobody_may() -> None:
    assert words(set()).startswith("nobody: the operator has named no `APPROVERS`")
    assert Deciders(Approvers(allowed=frozenset()), ROLES.get).warnings()


def test_a_long_list_is_cut_so_that_the_card_has_room() -> None:
    assert words({str(1000 + n) for n in range(40)}).endswith("others")
