"""Stage 04: what came out of a turn. Pure."""

from __future__ import annotations

from pipeline.details import merged
from pipeline.results import GenerationTurnResult, Reason, ThoughtLog, TurnStatus
from pipeline.state import LoopState

SCENE_METADATA = "[Scene Metadata]"


def build_result(state: LoopState, waiting: Reason = Reason.NONE) -> GenerationTurnResult:
    """The result of a turn that has ended, or that waits for people (`waiting` says for what)."""
    ending = state.ending
    status = TurnStatus.AWAITING_APPROVAL if ending is None else ending.status
    return GenerationTurnResult(
        status=status,
        reason=waiting if ending is None else ending.reason,
        text=_text(state),
        iterations=state.iteration,
        usage=state.usage,
        history=state.history,
        statuses=tuple(finished.status for finished in state.passes),
        tool_response_delivered=state.tool_response_delivered,
        sticker=state.sticker if status is TurnStatus.COMPLETED else "",
        thought_log=_thought_log(state),
    )


def _text(state: LoopState) -> str:
    details = ""
    for finished in state.passes:
        details = merged(details, finished.details)
    return f"{state.text}\n\n{SCENE_METADATA}\n{details}" if details else state.text


def _thought_log(state: LoopState) -> ThoughtLog | None:
    """What was thought in all passes; a pass that said nothing of it hides none of the earlier ones."""
    thoughts = [finished.thinking.strip() for finished in state.passes]
    if not any(thoughts):
        return None
    return ThoughtLog(
        text="\n\n".join(thought for thought in thoughts if thought),
        duration_ms=sum(finished.duration_ms for finished in state.passes),
        owner=state.passes[-1].model,
    )
