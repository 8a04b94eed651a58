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
    FOLLOW_UP_INTERRUPT = "follow_up_interrupt"


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
    FOLLOW_UP_INTERRUPT = "follow_up_interrupt"
    TIMEOUT = "timeout"
    ERROR = "error"
    EMPTY_RESPONSE = "empty_response"
    SKIPPED = "skipped"
    AWAITING_APPROVAL = "awaiting_approval"


class Reason(StrEnum):
    """Why a turn has its status; which reasons go with which status is in `REASONS`."""

    NONE = ""
    END = "end"
    LENGTH = "length"
    END_TURN = "end_turn"
    PRETOOL_TEXT = "pretool_text"
    PERSON = "person"
    PHRASE = "phrase"
    FOLLOW_UP = "follow_up"
    DROPPED = "dropped"
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
    UNREACHABLE = "unreachable"
    APPROVAL = "approval"
    AGAIN = "again"


REASONS: dict[TurnStatus, tuple[Reason, ...]] = {
    TurnStatus.COMPLETED: (Reason.END, Reason.LENGTH, Reason.END_TURN, Reason.PRETOOL_TEXT),
    TurnStatus.DENIED: (Reason.PERSON, Reason.EXPIRED),
    TurnStatus.STOPPED_BY_USER: (Reason.PERSON, Reason.PHRASE, Reason.DROPPED),
    TurnStatus.FOLLOW_UP_INTERRUPT: (Reason.FOLLOW_UP,),
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
    TurnStatus.SKIPPED: (Reason.UNREACHABLE,),
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
    FALLBACK = "fallback"
    RETRY_EXHAUSTED = "retry_exhausted"


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


class Failure(StrEnum):
    """What kind of provider error it was: it says where another attempt makes sense."""

    NONE = ""
    TRANSIENT = "transient"  # another key or model may do, later the same one
    RATE_LIMITED = "rate_limited"
    KEY = "key"  # not accepted, or no money on it
    REQUEST = "request"  # this model will never take this request


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtLog:
    """What the models of a turn thought, pass by pass, and how long their passes took together (milliseconds).
    `owner` is the name of the model that spoke last."""

    text: str
    duration_ms: int
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationTurnResult:
    """What came out of a turn: `text` is everything that people saw, pass by pass, `statuses` how each pass came out,
    `sticker` the id of one to post after a completed answer."""

    status: TurnStatus
    reason: Reason
    text: str
    iterations: int
    usage: tuple[PassUsage, ...]
    history: tuple[ToolHistoryEntry, ...]
    statuses: tuple[StreamStatus, ...]
    tool_response_delivered: bool
    sticker: str
    thought_log: ThoughtLog | None


def is_retryable(status: TurnStatus, reason: Reason) -> bool:
    """Whether another model may do better. A turn that ended by its own limits is never tried again."""
    return reason in _RETRYABLE.get(status, ())


_RETRYABLE = {
    TurnStatus.ERROR: (Reason.PROVIDER,),
    TurnStatus.TIMEOUT: (Reason.IDLE, Reason.FIRST_TOKEN),
}
