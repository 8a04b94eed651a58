"""What people are offered when a turn has ended: buttons on its newest message. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pipeline.results import NoticeKind
from pipeline.stages.build_result import build_result
from pipeline.state import LoopState


class OfferKind(StrEnum):
    """What a button does; its value begins the button's custom id."""

    GO_ON = "go_on"
    DETAILS = "details"
    THOUGHTS = "thoughts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One button."""

    kind: OfferKind
    label: str


def offers(state: LoopState, max_iterations: int) -> tuple[Offer, ...]:
    """The buttons for the ended turn `state`; `max_iterations` is how many steps a turn that goes on may take."""
    made: list[Offer] = []
    if may_go_on(state):
        made.append(Offer(kind=OfferKind.GO_ON, label=f"Go on for {max_iterations} more"))
    if state.noticed(NoticeKind.FALLBACK):
        made.append(Offer(kind=OfferKind.DETAILS, label="Details"))
    if (log := build_result(state).thought_log) is not None:
        made.append(Offer(kind=OfferKind.THOUGHTS, label=f"Thoughts · {span(log.duration_ms)}"))
    return tuple(made)


def may_go_on(state: LoopState) -> bool:
    """Whether the turn ended by a limit that people may lift once more."""
    return state.noticed(NoticeKind.ITERATION_LIMIT) or state.noticed(NoticeKind.LOOP_GUARD)


def span(duration_ms: int) -> str:
    """A duration for people: whole seconds, from a minute on with minutes."""
    seconds = max(round(duration_ms / 1000), 1)
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds} s"
