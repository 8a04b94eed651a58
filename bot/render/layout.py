"""Which messages a turn should consist of at this moment. Pure but for what the splitter remembers."""

from __future__ import annotations

from dataclasses import dataclass

import discord

from bot.render.activity import activity
from bot.render.chunks import Piece, Splitter
from bot.render.embeds import notice, stopped
from bot.render.view import TurnView
from pipeline.results import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message: what stands in it, and its name in the list of what was delivered.

    `stop`: it carries the Stop button; `rest` is attached as a file.
    """

    slot: str
    content: str = ""
    embeds: tuple[discord.Embed, ...] = ()
    stop: bool = False
    rest: str = ""


class Layout:
    """Lays out one turn in at most `max_messages` messages; the text beyond them is one file."""

    def __init__(self, max_messages: int) -> None:
        self._max = max_messages
        self._splitters: list[Splitter] = []

    def posts(self, view: TurnView) -> tuple[Post, ...]:
        """The messages that `view` should be. Text and slots of all but the last stay as they are while it grows."""
        pieces: list[tuple[str, Piece]] = []
        sections = view.sections
        for number, text in enumerate(sections):
            if number == len(self._splitters):
                self._splitters.append(Splitter())
            shown = (piece for piece in self._splitters[number].split(text) if not piece.is_blank)
            pieces += [(f"reply:{number}.{at}", piece) for at, piece in enumerate(shown)]
        kept, beyond = pieces[: self._max], pieces[self._max :]
        texts = [Post(slot=slot, content=piece.content) for slot, piece in kept]
        rest = beyond[0][1].opening + "".join(piece.body for _, piece in beyond) if beyond and view.is_over else ""
        return _with_rider(texts, view, rest, alone=f"reply:{len(sections) - 1}.0")


def _with_rider(texts: list[Post], view: TurnView, rest: str, *, alone: str) -> tuple[Post, ...]:
    """The notices, the activity and the Stop button ride on the newest message; without any text on one of their own,
    in the slot `alone`, but not for calls that only wait: their cards say so."""
    embeds = _embeds(view)
    only_waits = view.waits_for_people and not view.state.notices
    if not texts and (not embeds or only_waits):
        return ()
    last = texts[-1] if texts else Post(slot=alone)
    rider = Post(slot=last.slot, content=last.content, embeds=embeds, stop=not view.is_over, rest=rest)
    return (*texts[:-1], rider)


def _embeds(view: TurnView) -> tuple[discord.Embed, ...]:
    state = view.state
    embeds = [notice(one.notice, one.detail, ended=view.is_over) for one in state.notices]
    if state.ending is None:
        doing = activity(state, view.started_at)
        return (*embeds, doing) if doing is not None else tuple(embeds)
    if state.stop is not None and state.ending.reason is Reason.PERSON:
        embeds.append(stopped(state.stop.name))
    return tuple(embeds)
