"""Records and outputs for the tests of the stores."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.journal import Journal, TurnOutput
from pipeline.messages import AssistantMessage, Message, Usage, UserMessage
from pipeline.records import ApprovalAsked, Ask, Decided, LoopRecord, PassFinished, TurnEnded, Verdict
from pipeline.results import PassUsage, Reason, StreamStatus, TurnStatus
from tests.support.scripts import NOW, started

RawSql = Callable[[str], list[tuple[object, ...]]]  # a statement on the file beside the store; its rows

ENDED = TurnEnded(status=TurnStatus.COMPLETED, reason=Reason.END)


def said(iteration: int, text: str = "hello") -> PassFinished:
    return PassFinished(iteration=iteration, status=StreamStatus.COMPLETED, text=text)


def asked(approval: str, expires: float = NOW + 60) -> ApprovalAsked:
    return ApprovalAsked(approval=approval, iteration=0, index=0, ask=Ask.RUN, run=0, seal="s", expires=expires)


def decided(approval: str, by: str = "7") -> Decided:
    return Decided(approval=approval, verdict=Verdict.APPROVE, by=by, name="olga", at=NOW)


def spent(tokens: int, model: str = "m") -> PassUsage:
    usage = Usage(input_tokens=tokens, output_tokens=1, cache_read_tokens=2, cache_write_tokens=3)
    return PassUsage(provider="p", model=model, usage=usage)


def exchange(question: str, answer: str = "yes") -> tuple[Message, ...]:
    return (UserMessage(text=question), AssistantMessage(text=answer))


def output(*messages: Message, channel: str = "10", user: str = "100", usage: tuple[PassUsage, ...] = ()) -> TurnOutput:
    return TurnOutput(channel=channel, user=user, messages=messages, usage=usage)


async def finish_turn(journal: Journal, turn: str, left: TurnOutput) -> None:
    """A whole turn, from its first record to its last."""
    await journal.create(started(turn, channel=left.channel, user=left.user), images=(), queued=False)
    await journal.append(turn, 1, [ENDED], left)


async def records_of(journal: Journal, turn: str) -> list[LoopRecord]:
    return [record for _, record in await journal.load(turn) if record is not None]
