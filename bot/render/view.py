"""One turn as its people see it: the fold of its records, and the text of the pass that is not committed yet."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.calls import CallState
from pipeline.events import Committed, LoopEvent, PassOpened, TextArrived, ThinkingArrived
from pipeline.records import ApprovalAsked, Ask, PassFinished, ToolStarted, TurnStarted
from pipeline.results import NoticeKind, TurnStatus, is_retryable
from pipeline.state import LoopState, apply

PROGRESS_CHARS = 250
_ERRORS = (NoticeKind.PROVIDER_ERROR, NoticeKind.STREAM_TIMEOUT)


class TurnView:
    """Takes the events of one turn. `sections` of its text are what stands between two groups of approval cards."""

    def __init__(self, started: TurnStarted, now: Callable[[], float]) -> None:
        self.state: LoopState = apply(None, started)
        self.seq = 1
        self.replayed = 0  # the last record that was read from the journal, 0 while it is being read
        self.started_at: dict[tuple[int, int], float] = {}
        self.cards: dict[str, CallState] = {}
        self._now = now
        self._live: list[str] = []
        self._live_chars = 0
        self._carded_passes: set[int] = set()

    def take(self, event: LoopEvent) -> bool:
        """Note `event`; False when it was known already."""
        match event:
            case Committed():
                if event.seq <= self.seq:
                    return False
                self._commit(event)
            case PassOpened():
                self._live, self._live_chars = [], 0
            case TextArrived(text=text):
                self._live.append(text)
                self._live_chars += len(text)
            case ThinkingArrived():
                return False
        return True

    def _commit(self, event: Committed) -> None:
        self.seq = event.seq
        self.state = apply(self.state, event.record)
        match event.record:
            case PassFinished():
                self._live, self._live_chars = [], 0
            case ToolStarted(iteration=iteration, index=index):
                self.started_at[iteration, index] = self._now()
            case ApprovalAsked(iteration=iteration, ask=ask):
                if ask is Ask.RUN:
                    self._carded_passes.add(iteration)
            case _:
                pass
        for call in self.state.calls:
            if call.question is not None:
                self.cards[call.question.approval] = call

    @property
    def is_over(self) -> bool:
        """Nothing more will be said. A failed attempt that people are told nothing of is followed by another one."""
        ending = self.state.ending
        if ending is None or self.state.ended or not is_retryable(ending.status, ending.reason):
            return ending is not None
        return any(self.state.noticed(kind) for kind in _ERRORS)

    @property
    def taken_back(self) -> int:
        """How many failed attempts had said something, which is shown no more."""
        return sum(1 for one in self.state.failures if one.text.strip())

    @property
    def sticker(self) -> str:
        """The id of the sticker to post; empty: none, or not yet."""
        ending = self.state.ending
        return self.state.sticker if ending is not None and ending.status is TurnStatus.COMPLETED else ""

    @property
    def waits_for_people(self) -> bool:
        return not self.is_over and any(call.awaits_decision for call in self.state.open_calls[:1])

    def waits_behind(self, approved: CallState) -> bool:
        """Whether an earlier call of the same pass has to finish first."""
        before = (call for call in self.state.open_calls if call.iteration == approved.iteration)
        return any(call.index < approved.index for call in before)

    def is_superseded(self, asked: CallState) -> bool:
        """Whether a newer card asks about the same call."""
        key = (asked.iteration, asked.index)
        return any((call.iteration, call.index) == key and call.asked > asked.asked for call in self.cards.values())

    @property
    def speaks(self) -> bool:
        """The pass that is not committed yet has visible text."""
        return any(not text.isspace() for text in self._live)

    @property
    def progress(self) -> tuple[int, bool, int]:
        """Another value whenever what waits to be shown may have become more urgent: a record, the first text, or so
        much text that it may need another message."""
        return self.seq, self.speaks, self._live_chars // PROGRESS_CHARS

    @property
    def has_text(self) -> bool:
        return self.speaks or any(finished.text.strip() for finished in self.state.passes)

    @property
    def live(self) -> str:
        if len(self._live) > 1:
            self._live = ["".join(self._live)]
        return self._live[0] if self._live else ""

    @property
    def sections(self) -> tuple[str, ...]:
        """The visible text. A pass whose calls were put on cards ends a section: what follows stands below them."""
        sections: list[list[str]] = [[]]
        goes_on = False
        for finished in self.state.passes:
            _add(sections[-1], finished.text if finished.is_cut else finished.text.rstrip(), goes_on=goes_on)
            goes_on = finished.is_cut
            if finished.iteration in self._carded_passes:
                sections.append([])
        _add(sections[-1], self.live, goes_on=goes_on)
        return tuple("".join(texts) for texts in sections)

    @property
    def starts_over(self) -> bool:
        """The newest section holds nothing since the text of a failed attempt was taken out of it."""
        failed = {one.iteration for one in self.state.failures if one.text.strip()}
        begins = max((number + 1 for number in self._carded_passes), default=0)
        return any(number >= begins for number in failed) and not self.sections[-1]


def _add(section: list[str], text: str, *, goes_on: bool) -> None:
    """Put the text of a pass below what stands there; one that `goes_on` with a cut one continues it."""
    if goes_on and section:
        section.append(text)
    elif text := text.lstrip():
        section.append(f"\n\n{text}" if section else text)
