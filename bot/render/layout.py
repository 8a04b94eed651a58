"""Which messages a turn should consist of at this moment. Pure but for what the splitter remembers."""

from __future__ import annotations

from dataclasses import dataclass

import discord

from bot.render.activity import activity
from bot.render.chunks import Piece, Splitter
from bot.render.embeds import notice, stopped
from bot.render.offers import Offer, offers
from bot.render.view import TurnView
from pipeline.results import Reason

STARTS_OVER = "-# Trying again…"
"""What stands where the text of a failed attempt was, until the next attempt says something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message: what stands in it, and its name in the list of what was delivered.

    `stop`: it carries the Stop button; `offers` are the buttons of a turn that has ended, `rest` is attached as a file.
    """

    slot: str
    content: str = ""
    embeds: tuple[discord.Embed, ...] = ()
    stop: bool = False
    offers: tuple[Offer, ...] = ()
    rest: str = ""


class Layout:
    """Lays out one turn in at most `max_messages` messages; the text beyond them is one file. `max_iterations` is how
    far a turn that ended early may go on."""

    def __init__(self, max_messages: int, max_iterations: int) -> None:
        self._max = max_messages
        self._max_iterations = max_iterations
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
        alone = f"reply:{len(sections) - 1}.0"
        if view.starts_over and not view.is_over:
            texts.append(Post(slot=alone, content=STARTS_OVER))
        elif not texts and not self._rides_alone(view):
            return ()
        return self._with_rider(texts, view, rest, alone)

    def _rides_alone(self, view: TurnView) -> bool:
        """Whether embeds need a message of their own; not for calls that only wait: their cards say so."""
        only_waits = view.waits_for_people and not view.state.notices
        return bool(_embeds(view)) and not only_waits

    def _with_rider(self, texts: list[Post], view: TurnView, rest: str, alone: str) -> tuple[Post, ...]:
        """The notices, the activity and the buttons ride on the newest message; without any text on one of their own,
        in the slot `alone`."""
        last = texts[-1] if texts else Post(slot=alone)
        rider = Post(
            slot=last.slot,
            content=last.content,
            embeds=_embeds(view),
            stop=not view.is_over,
            offers=offers(view.state, self._max_iterations) if view.is_over else (),
            rest=rest,
        )
        return (*texts[:-1], rider)


def _embeds(view: TurnView) -> tuple[discord.Embed, ...]:
    state = view.state
    embeds = [notice(one.notice, one.detail, ended=view.is_over) for one in state.notices]
    if not view.is_over:
        doing = activity(state, view.started_at)
        return (*embeds, doing) if doing is not None else tuple(embeds)
    if state.stop is not None and state.ending is not None and state.ending.reason is Reason.PERSON:
        embeds.append(stopped(state.stop.name))
    return tuple(embeds)
