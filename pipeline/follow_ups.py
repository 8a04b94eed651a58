"""A person writes on while their turn runs: when that may interrupt it, and what becomes of their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline.events import Committed, EventSink, LoopEvent, PassOpened, TextArrived
from pipeline.messages import Image
from pipeline.records import PassFinished, TurnEnded, TurnStarted
from pipeline.results import Reason
from pipeline.state import LoopState

MAX_JOINED_CHARS = 16_000
"""Messages that are longer together are answered one after the other."""


class Speech:
    """A sink that passes everything on and notes which turns show text of a pass that is not committed yet."""

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._speaking: set[str] = set()

    def emit(self, event: LoopEvent) -> None:
        match event:
            case TextArrived(turn=turn, text=text) if not text.isspace():
                self._speaking.add(turn)
            case PassOpened(turn=turn) | Committed(turn=turn, record=PassFinished() | TurnEnded()):
                self._speaking.discard(turn)
            case _:
                pass
        self._sink.emit(event)

    async def settle(self, turn: str) -> None:
        await self._sink.settle(turn)

    def may_be_interrupted(self, state: LoopState) -> bool:
        """Whether a follow-up may end this turn: it is not ending already, and in no chain of tools. A chain goes from
        the first call to the first text after the last one."""
        in_chain = bool(state.calls) and (bool(state.open_calls) or state.turn not in self._speaking)
        return state.ending is None and state.stop is None and not in_chain


def is_cut_short(state: LoopState) -> bool:
    """Whether a turn ends, or is about to, for another reason than that its person wrote on. What they write then is a
    new beginning."""
    if state.stop is not None:
        return state.stop.reason is not Reason.FOLLOW_UP
    return state.ending is not None and state.ending.reason is not Reason.FOLLOW_UP


def joined(earlier: TurnStarted, images: Sequence[Image], newer: TurnStarted) -> TurnStarted | None:
    """`newer` with the words of `earlier`, and its `images`, before its own; None where that would be too much."""
    text = joined_text(earlier.text, newer.text)
    if len(text) > MAX_JOINED_CHARS:
        return None
    return replace(
        newer,
        text=text,
        quoted=newer.quoted or earlier.quoted,
        images=(*(earlier.images if len(images) == len(earlier.images) else ()), *newer.images),
        continues=earlier.turn,
    )


def joined_text(earlier: str, newer: str) -> str:
    return "\n".join(text for text in (earlier, newer) if text)
