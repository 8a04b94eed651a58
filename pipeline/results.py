"""How a pass, a tool run and a turn can come out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pipeline.messages import Usage


class StreamStatus(StrEnum):
    """How one provider pass came out."""

    COMPLETED = "completed"
    FUNCTION_CALL = "function_call"
    ERROR = "error"
    TIMEOUT = "timeout"
    EMPTY_RESPONSE = "empty_response"
    STOPPED_BY_USER = "stopped_by_user"


class Outcome(StrEnum):
    """How one tool call came out. Every call gets exactly one."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    NOT_RUN = "not_run"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class TurnStatus(StrEnum):
    """How a turn ended, or that it waits for a person (`awaiting_approval` is not terminal)."""

    COMPLETED = "completed"
    DENIED = "denied"
    STOPPED_BY_USER = "stopped_by_user"
    TIMEOUT = "timeout"
    ERROR = "error"
    EMPTY_RESPONSE = "empty_response"
    AWAITING_APPROVAL = "awaiting_approval"


class Reason(StrEnum):
    """Why a turn has its status; which reasons go with which status is in `REASONS`."""

    NONE = ""
    END = "end"
    LENGTH = "length"
    END_TURN = "end_turn"
    PERSON = "person"
    EXPIRED = "expired"
    ITERATION_LIMIT = "iteration_limit"
    IDLE = "idle"
    FIRST_TOKEN = "first_token"  # noqa: S105
    PROVIDER = "provider"
    TOOL_ERRORS = "tool_errors"
    LOOP_GUARD = "loop_guard"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"
    CRASH_LOOP = "crash_loop"
    UNDELIVERABLE = "undeliverable"
    APPROVAL = "approval"
    AGAIN = "again"


REASONS: dict[TurnStatus, tuple[Reason, ...]] = {
    TurnStatus.COMPLETED: (Reason.END, Reason.LENGTH, Reason.END_TURN),
    TurnStatus.DENIED: (Reason.PERSON, Reason.EXPIRED),
    TurnStatus.STOPPED_BY_USER: (Reason.PERSON,),
    TurnStatus.TIMEOUT: (Reason.ITERATION_LIMIT, Reason.IDLE, Reason.FIRST_TOKEN),
    TurnStatus.ERROR: (
        Reason.PROVIDER,
        Reason.TOOL_ERRORS,
        Reason.LOOP_GUARD,
        Reason.REFUSED,
        Reason.INTERRUPTED,
        Reason.CRASH_LOOP,
        Reason.UNDELIVERABLE,
    ),
    TurnStatus.EMPTY_RESPONSE: (Reason.NONE,),
    TurnStatus.AWAITING_APPROVAL: (Reason.APPROVAL, Reason.AGAIN),
}


class NoticeKind(StrEnum):
    """What people are told in an embed while or after a turn runs."""

    STILL_WORKING = "still_working"
    ITERATION_LIMIT = "iteration_limit"
    TOOL_ERRORS = "tool_errors"
    LOOP_GUARD = "loop_guard"
    STREAM_TIMEOUT = "stream_timeout"
    PROVIDER_ERROR = "provider_error"
    REFUSED = "refused"
    EMPTY_RESPONSE = "empty_response"
    CUT_AT_LENGTH = "cut_at_length"
    INTERRUPTED = "interrupted"
    DENIED = "denied"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHistoryEntry:
    """A call and its result: one entry, so a call without a result cannot be written.

    `pre_tool_text` is what the same pass said before the call, `duration_ms` 0 for what never ran.
    """

    iteration: int
    index: int
    name: str
    arguments: str
    outcome: Outcome
    content: str
    duration_ms: int
    pre_tool_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassUsage:
    """Usage summed over the passes of one model in a turn."""

    provider: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationTurnResult:
    """What came out of a turn: `text` is everything that people saw, pass by pass."""

    status: TurnStatus
    reason: Reason
    text: str
    iterations: int
    usage: tuple[PassUsage, ...]
    history: tuple[ToolHistoryEntry, ...]
    tool_response_delivered: bool
