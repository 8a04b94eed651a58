"""A channel's transcript: what a turn adds to it, the window of it that a model is shown, commands typed as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pydantic import TypeAdapter

from pipeline.messages import AssistantMessage, ContextMessage, Message, NoteMessage, ToolMessage, UserMessage
from pipeline.results import Reason, TurnStatus
from pipeline.state import LoopState
from tools.output import cap

_ADAPTER: TypeAdapter[Message] = TypeAdapter(Message)
CLIPPED_BYTES = 512  # what is kept of each tool result in a turn that alone is over the limit

Turn = tuple[Message, ...]


def size_bytes(message: Message) -> int:
    """The size of a message as serialised, without its pictures: those are stored beside it."""
    if isinstance(message, UserMessage):
        message = replace(message, images=())
    return len(_ADAPTER.dump_json(message))


def transcript_of(state: LoopState, asked: UserMessage) -> Turn:
    """The messages that the finished turn `state` leaves: the person's, ours, every call with its result.

    An answer that broke off says so, or the next turn would read as if it had been completed.
    """
    ending = state.ending
    said = [message for message in state.messages if not isinstance(message, ContextMessage)]
    if ending is None or ending.status is TurnStatus.COMPLETED:
        return (asked, *said)
    return (asked, *said, AssistantMessage(text=_BROKEN_OFF.get(ending.reason, _BROKEN_OFF[Reason.NONE])))


_BROKEN_OFF = {
    Reason.NONE: "(This answer ended early.)",
    Reason.PERSON: "(A person ended this answer early.)",
    Reason.PHRASE: "(A person ended this answer early.)",
    Reason.FOLLOW_UP: "(The person wrote on before this answer was complete.)",
    Reason.EXPIRED: "(Nobody approved in time, so this answer ended early.)",
    Reason.PROVIDER: "(This answer broke off with an error.)",
    Reason.ITERATION_LIMIT: "(This answer reached its limit of steps.)",
}


def window(turns: Sequence[Sequence[Message]], max_bytes: int) -> Turn:
    """The newest of `turns` (oldest first) that fit into `max_bytes`, whole; the newest always.

    A newest turn that alone is too large has its tool results clipped, the oldest first; nothing of it is dropped.
    Notes are left out: they are for people.
    """
    kept: list[Turn] = []
    left = max_bytes
    for turn in reversed(turns):
        shown: Turn = tuple(message for message in turn if not isinstance(message, NoteMessage))
        size = sum(map(size_bytes, shown))
        if size > left:
            if not kept:
                kept.append(_clipped(shown, size - left))
            break
        kept.append(shown)
        left -= size
    return tuple(message for turn in reversed(kept) for message in turn)


def _clipped(turn: Turn, excess: int) -> Turn:
    clipped: list[Message] = []
    for message in turn:
        short = message
        if excess > 0 and isinstance(message, ToolMessage):
            short = replace(message, content=cap(message.content, CLIPPED_BYTES))
            excess -= size_bytes(message) - size_bytes(short)
        clipped.append(short)
    return tuple(clipped)


class CommandName(StrEnum):
    CLEAR = "clear"
    MODEL = "model"
    SYSTEM = "system"
    COST = "cost"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCommand:
    """A command typed as text; `argument` is empty where there is none."""

    name: CommandName
    argument: str


def parse_command(text: str) -> TextCommand | None:
    """`/clear`, `/cost`, `/model [id]`, `/system [text]` in any case, after trimming; None for everything else."""
    word, _, rest = text.strip().partition(" ")
    try:
        name = CommandName(word.removeprefix("/").lower()) if word.startswith("/") else None
    except ValueError:
        return None
    return None if name is None else TextCommand(name=name, argument=rest.strip())
