"""A conversation cut to what a small context holds: the system text, the newest exchanges, and the answer that is to go
on. An exchange is what a person said and everything that came of it; it is kept or dropped whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pipeline.messages import AssistantMessage, Message, NoteMessage, SystemMessage, ToolMessage, UserMessage
from pipeline.providers._novelai_stream import Rest

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """`shown` is what people saw of an answer that is to go on, `rest` what they did not; both are empty where the
    model begins one."""

    system: str
    exchanges: tuple[tuple[Message, ...], ...]
    shown: str
    rest: Rest


def read_history(messages: Sequence[Message], origin: str) -> History:
    """`messages` parted. `origin` marks the replays that are ours."""
    given = [message for message in messages if not isinstance(message, NoteMessage)]
    head = 0
    while head < len(given) and isinstance(given[head], SystemMessage):
        head += 1
    # An answer that was cut goes on; answers behind one another are one, each began with what the last left over.
    end = len(given)
    last = given[-1] if end > head else None
    rest = Rest.of(last.replay, origin) if isinstance(last, AssistantMessage) and not last.calls else None
    shown: list[str] = []
    while rest and end > head and isinstance(piece := given[end - 1], AssistantMessage) and not piece.calls:
        shown.insert(0, piece.text)
        end -= 1
    return History(
        system="\n\n".join(one.text for one in given[:head] if isinstance(one, SystemMessage)),
        exchanges=tuple(map(tuple, _exchanges(given[head:end]))),
        shown="".join(shown),
        rest=rest or Rest(),
    )


def newest(exchanges: Sequence[T], chars: int, size: Callable[[T], int]) -> list[T]:
    """The newest of `exchanges` that have at most `chars` characters together; the last one whatever its size."""
    kept = 0
    for exchange in reversed(exchanges):
        chars -= size(exchange)
        if kept and chars < 0:
            break
        kept += 1
    return list(exchanges[len(exchanges) - kept :])


def _exchanges(messages: Sequence[Message]) -> Iterator[list[Message]]:
    exchange: list[Message] = []
    in_tools = False
    for message in messages:
        # What a tool adds comes as a person's message too, behind its result.
        if exchange and not in_tools and isinstance(message, (UserMessage, SystemMessage)):
            yield exchange
            exchange = []
        exchange.append(message)
        if isinstance(message, (ToolMessage, AssistantMessage)):
            in_tools = isinstance(message, ToolMessage)
    if exchange:
        yield exchange
