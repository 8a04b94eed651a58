"""Deliberate mode: a turn is offered only the tools that its message calls for.

A tool is called for by its name or its subject in the message (`built-in`), by an operator's trigger (`custom`), or by
what went on before (`follow-up`): what people wrote in the last turns, and the tools that succeeded in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import structlog

from pipeline.intents import CAPABILITIES, PHRASES, follow_up_in, intents_of
from pipeline.journal import Conversations
from pipeline.messages import Message, ToolMessage, UserMessage
from pipeline.records import ToolsAdmitted, TurnStarted
from pipeline.results import Outcome
from pipeline.state import LoopState
from pipeline.triggers import Trigger, compile_pattern, fold, label, literal
from tools.base import Tool

_log = structlog.get_logger()

BUILT_IN, CUSTOM, FOLLOW_UP = "built-in", "custom", "follow-up"
RECENT_SUCCESS = "recent successful tool"
LOOK_BACK_TURNS = 8  # how far "do that again" reaches
LOOK_BACK_BYTES = 204_800

_RAN = frozenset({Outcome.OK, Outcome.ERROR, Outcome.CANCELLED, Outcome.UNKNOWN})


class Match(NamedTuple):
    """Why a tool is offered: `trigger` is what called for it, `source` where that is known from."""

    tool: str
    trigger: str
    source: str


class Affordances(Protocol):
    """The tools that stay on offer in a channel because they were used there."""

    async def take(self, channel: str, turn: str) -> Sequence[str]:
        """The names on offer in `turn`, each of which then has one turn less. Asked again for the same turn, it answers
        the same and takes nothing."""
        ...

    async def keep(self, channel: str, turn: str, tools: Iterable[str], turns: int) -> None:
        """Have `tools`, used in `turn`, on offer for the next `turns` turns of the channel."""
        ...


class DeliberateMode:
    """The port `ToolAdmission`. `tools` are those that may run at all; with `context_turns` 0 nothing stays on offer.

    A trigger that cannot be used is left out with a warning, and so never keeps the bot from starting.
    """

    def __init__(
        self,
        *,
        tools: Iterable[Tool[Any]],
        store: Affordances,
        conversations: Conversations,
        context_turns: int = 4,
        triggers: Iterable[Trigger] = (),
    ) -> None:
        self._tools = tuple(tools)
        self._names = [(tool.name, re.compile(_name_pattern(tool.name))) for tool in self._tools]
        self._store = store
        self._conversations = conversations
        self._context_turns = context_turns
        self._triggers = list(self._usable(triggers))

    async def admit(self, started: TurnStarted) -> ToolsAdmitted:
        """The tools of a turn that begins, and the first reason for each. The same turn gets the same again."""
        first: dict[str, Match] = {}
        for match in await self.matches(started):
            first.setdefault(match.tool, match)
        names = tuple(tool.name for tool in self._tools if tool.name in first)
        return ToolsAdmitted(names=names, triggers=tuple(first[name] for name in names))

    async def matches(self, started: TurnStarted) -> Sequence[Match]:
        """Every reason to offer a tool in this turn, the strongest first, each once."""
        found = [*self._wanted(started.text)]
        past = await self._past(started.channel)
        if self._context_turns:
            for turn in past[: self._context_turns]:
                found += _recent(self._wanted_in(turn))
            kept = await self._store.take(started.channel, started.turn)
            found += self._of_names(kept, RECENT_SUCCESS, FOLLOW_UP)
        if phrase := follow_up_in(started.text) or ("go on" if started.continues else ""):
            found += self._referred_to(past, phrase)
        return tuple(dict.fromkeys(found))

    async def retain(self, state: LoopState) -> None:
        """A turn ended: what succeeded stays on offer, what ran because of a trigger is logged."""
        succeeded = dict.fromkeys(entry.name for entry in state.history if entry.outcome is Outcome.OK)
        if self._context_turns and succeeded:
            await self._store.keep(state.started.channel, state.turn, succeeded, self._context_turns)
        ran = {entry.name for entry in state.history if entry.outcome in _RAN}
        for tool, trigger, source in state.admitted.triggers if state.admitted is not None else ():
            if tool in ran:
                _log.info("tool_triggered", turn=state.turn, tool=tool, trigger=trigger, source=source)

    def _wanted(self, text: str) -> Iterator[Match]:
        """The tools that a text names, those of its subjects, those of the operator's triggers."""
        folded = fold(text)
        for name, pattern in self._names:
            if pattern.search(folded):
                yield Match(name, name, BUILT_IN)
        for subject, words in intents_of(text):
            yield from self._of_target(subject, words, BUILT_IN)
        for trigger, fits in self._triggers:
            if fits(text):
                yield from self._of_target(trigger.target, label(trigger.pattern), CUSTOM)

    def _of_target(self, target: str, trigger: str, source: str) -> Iterator[Match]:
        for tool in self._tools:
            if target in (tool.name, tool.subject, CAPABILITIES):
                yield Match(tool.name, trigger, source)

    def _of_names(self, names: Iterable[str], trigger: str, source: str) -> Iterator[Match]:
        known = set(names)
        return (Match(tool.name, trigger, source) for tool in self._tools if tool.name in known)

    def _wanted_in(self, turn: Sequence[Message]) -> Iterator[Match]:
        for message in turn:
            if isinstance(message, UserMessage):
                yield from self._wanted(own_words(message))

    def _referred_to(self, past: Sequence[Sequence[Message]], phrase: str) -> Iterator[Match]:
        """What the newest turn that was about any tool was about."""
        for turn in past[:LOOK_BACK_TURNS]:
            used = [message.name for message in turn if isinstance(message, ToolMessage) and not message.is_error]
            names = [*used, *(match.tool for match in self._wanted_in(turn) if match.source == BUILT_IN)]
            if found := [*self._of_names(names, phrase, FOLLOW_UP)]:
                yield from found
                return

    async def _past(self, channel: str) -> Sequence[Sequence[Message]]:
        """The turns of a channel that people wrote in, newest first."""
        turns = await self._conversations.turns(channel, LOOK_BACK_BYTES)
        return [turn for turn in reversed(turns) if any(isinstance(message, UserMessage) for message in turn)]

    def _usable(self, triggers: Iterable[Trigger]) -> Iterator[tuple[Trigger, Callable[[str], bool]]]:
        known = {*PHRASES, *(tool.name for tool in self._tools), *(tool.subject for tool in self._tools)} - {""}
        for trigger in triggers:
            try:
                fits = compile_pattern(trigger.pattern)
                if trigger.target not in known:
                    raise ValueError(f"{trigger.target!r} is neither a tool nor one of {', '.join(sorted(PHRASES))}")
            except ValueError as error:
                _log.warning("trigger_ignored", trigger=trigger.pattern, reason=str(error))
            else:
                yield trigger, fits


def own_words(message: UserMessage) -> str:
    """What the person wrote, without the quote and the name that `user_message` puts before it."""
    text = message.text
    if text.startswith("[in reply to "):
        text = text.partition("]\n")[2]
    return text.partition(": ")[2]


def _recent(matches: Iterable[Match]) -> Iterator[Match]:
    for match in matches:
        yield Match(match.tool, f"recent message: {match.trigger}", FOLLOW_UP)


def _name_pattern(name: str) -> str:
    """Finds the name of a tool in a folded text, also with spaces or hyphens for its underscores."""
    return literal(name).replace("_", "[_ -]")
