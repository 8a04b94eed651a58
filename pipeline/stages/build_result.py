"""Stage 04: what came out of a turn. Pure."""

from __future__ import annotations

from pipeline.results import GenerationTurnResult, Reason, TurnStatus
from pipeline.state import LoopState


def build_result(state: LoopState, waiting: Reason = Reason.NONE) -> GenerationTurnResult:
    """The result of a turn that has ended, or that waits for people (`waiting` says for what)."""
    ending = state.ending
    return GenerationTurnResult(
        status=TurnStatus.AWAITING_APPROVAL if ending is None else ending.status,
        reason=waiting if ending is None else ending.reason,
        text=state.text,
        iterations=state.iteration,
        usage=state.usage,
        history=state.history,
        tool_response_delivered=state.tool_response_delivered,
    )
