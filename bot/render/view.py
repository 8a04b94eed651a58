"""One turn as its people see it: the fold of its records, and the text of the pass that is not committed yet."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.events import Committed, LoopEvent, PassOpened, TextArrived, ThinkingArrived
from pipeline.records import ApprovalAsked, Ask, PassFinished, ToolStarted, TurnStarted
from pipeline.state import CallState, LoopState, apply

PROGRESS_CHARS = 250


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
        """Nothing more will be said: the attempt has ended."""
        return self.state.ending is not None

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
        for finished in self.state.passes:
            if text := finished.text.strip():
                sections[-1].append(text)
            if finished.iteration in self._carded_passes:
                sections.append([])
        if live := self.live.lstrip():
            sections[-1].append(live)
        return tuple("\n\n".join(texts) for texts in sections)
