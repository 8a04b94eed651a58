"""Everything that can change the state of a turn.

A turn is an append-only list of these; `state.apply` folds them. Their fields are flat (strings, numbers, booleans,
tuples of them), so that the JSON in the journal stays readable for years. A kind that this version does not know is
skipped on load: an older bot can open a newer journal.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Literal, get_args

import orjson
from pydantic import Field, TypeAdapter

from pipeline.provider import Finish
from pipeline.results import Failure, NoticeKind, Outcome, Reason, StreamStatus, TurnStatus

JOURNAL_VERSION = 1


class Ask(StrEnum):
    """What a person is asked: may it run, or, after an unknown outcome, may it run again."""

    RUN = "run"
    AGAIN = "again"


class Verdict(StrEnum):
    """The answer. `undeliverable` is the bot's own: the question could not be shown to anybody."""

    APPROVE = "approve"
    DENY = "deny"
    DENY_WITH_REASON = "deny_with_reason"
    SKIP = "skip"
    EXPIRED = "expired"
    UNDELIVERABLE = "undeliverable"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """A person's message. `turn` is the id of that message, `text` what they wrote, `quoted` what they replied to,
    `images` ids of blobs, `parent` the channel that a thread belongs to (empty elsewhere), `at` epoch seconds.

    `reply_to` is the message to answer where that is not the turn's own (a button, a reminder), `follow_ups` how many
    turns in a row this message and those before it interrupted, `continues` the turn that this one goes on with.
    """

    kind: Literal["turn_started"] = "turn_started"
    turn: str
    channel: str
    guild: str
    user: str
    author: str
    text: str
    quoted: str = ""
    images: tuple[str, ...] = ()
    parent: str = ""
    at: float
    reply_to: str = ""
    follow_ups: int = 0
    continues: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """The person changed their message while it waited for its turn."""

    kind: Literal["message_edited"] = "message_edited"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsAdmitted:
    """Deliberate mode: the only tools of this turn. `triggers` are (tool, trigger, source) and say why."""

    kind: Literal["tools_admitted"] = "tools_admitted"
    names: tuple[str, ...]
    triggers: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResumed:
    """A start of the program found this turn running."""

    kind: Literal["turn_resumed"] = "turn_resumed"
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """The `n`th attempt: entry `entry` of the turn's chain of models, with key number `key` of its provider. It takes
    back what the attempt before it failed with."""

    kind: Literal["attempt_started"] = "attempt_started"
    n: int
    provider: str
    model: str
    entry: int = 0
    key: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PassFinished:
    """One provider pass. `calls` are (name, arguments as received); `detail` says what failed, for people.

    `text` is what people saw, `hidden` what the model said while its text was not shown, `details` the bodies of the
    detail blocks that were taken out of the text.
    """

    kind: Literal["pass_finished"] = "pass_finished"
    iteration: int
    status: StreamStatus
    finish: Finish = Finish.END
    reason: Reason = Reason.NONE
    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    provider: str = ""
    model: str = ""
    replay_origin: str = ""
    replay: str = ""
    detail: str = ""
    failure: Failure = Failure.NONE
    hidden: str = ""
    details: str = ""
    duration_ms: int = 0

    @property
    def is_cut(self) -> bool:
        """The model reached its output limit in the middle of an answer."""
        return self.status is StreamStatus.COMPLETED and self.finish is Finish.LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked:
    """A question for people about the call (`iteration`, `index`). `run` is how often it had started by then.

    `expires` is epoch seconds; `preview` is a diff of what would change, if there is one.
    """

    kind: Literal["approval_asked"] = "approval_asked"
    approval: str
    iteration: int
    index: int
    ask: Ask
    run: int
    seal: str
    expires: float
    preview: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPosted:
    """The question can be seen: `message` is the id of its card."""

    kind: Literal["card_posted"] = "card_posted"
    approval: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """An answer to exactly one question. `by` is a user id, empty for the clock; `name` how they are shown."""

    kind: Literal["decided"] = "decided"
    approval: str
    verdict: Verdict
    by: str = ""
    name: str = ""
    note: str = ""
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRequested:
    kind: Literal["stop_requested"] = "stop_requested"
    reason: Reason
    by: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """Appending this at the expected number is the right to run that call, once."""

    kind: Literal["tool_started"] = "tool_started"
    iteration: int
    index: int
    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """The one result of a call. `fingerprint` names (tool, arguments, result) for the loop guard."""

    kind: Literal["tool_finished"] = "tool_finished"
    iteration: int
    index: int
    run: int
    outcome: Outcome
    content: str
    duration_ms: int = 0
    fingerprint: str = ""
    end_turn: bool = False
    response_delivered: bool = False
    sticker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextAdded:
    """A restart: the call (`iteration`, `index`), whose result follows, brought more for the model to see.

    `context` is the kind of it, `images` are ids of blobs, `handles` pairs of a short name and the id it stands for.
    """

    kind: Literal["context_added"] = "context_added"
    iteration: int
    index: int
    context: str
    text: str = ""
    images: tuple[str, ...] = ()
    handles: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """People are told something in an embed; `detail` is the part that only this turn knows."""

    kind: Literal["noticed"] = "noticed"
    notice: NoticeKind
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded:
    kind: Literal["attempt_ended"] = "attempt_ended"
    status: TurnStatus
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """Delivery is done or impossible; the transcript is written in the same commit."""

    kind: Literal["turn_ended"] = "turn_ended"
    status: TurnStatus
    reason: Reason


LoopRecord = (
    TurnStarted
    | MessageEdited
    | ToolsAdmitted
    | TurnResumed
    | AttemptStarted
    | PassFinished
    | ApprovalAsked
    | CardPosted
    | Decided
    | StopRequested
    | ToolStarted
    | ToolFinished
    | ContextAdded
    | Noticed
    | AttemptEnded
    | TurnEnded
)

_ADAPTER: TypeAdapter[LoopRecord] = TypeAdapter(Annotated[LoopRecord, Field(discriminator="kind")])
_KINDS = frozenset(field.default for cls in get_args(LoopRecord) for field in fields(cls) if field.name == "kind")


def dump_record(record: LoopRecord) -> bytes:
    """`record` as JSON. Raises `pydantic_core.PydanticSerializationError` for text with a lone surrogate."""
    return _ADAPTER.dump_json(record)


def load_record(data: bytes | str) -> LoopRecord | None:
    """The record in `data`, or None when a newer version wrote a kind that this one does not know."""
    if orjson.loads(data).get("kind") not in _KINDS:
        return None
    return _ADAPTER.validate_json(data)
