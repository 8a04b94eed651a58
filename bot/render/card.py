"""The approval card: what exactly would run, who asked, why a person is asked, until when. Pure.

Everything that comes from a model, a tool or a person is shown so that it can neither hide nor pose as the bot's words.
"""

from __future__ import annotations

from dataclasses import dataclass

import discord

from bot.render.exact import boxed_json, exact_json, parse_box
from bot.render.text import boxed, clip, inline, units
from pipeline.calls import CallState
from pipeline.records import Ask, Decided, TurnStarted, Verdict
from pipeline.results import Outcome

EMBED_DESCRIPTION = 4096
EMBEDS_TOTAL = 6000
SEAL_SHOWN = 12

_OPEN = discord.Colour(0xF0B232)
_GOOD = discord.Colour(0x23A55A)
_BAD = discord.Colour(0xF23F43)
_QUIET = discord.Colour(0x80848E)


class DoesNotFit(Exception):
    """The arguments are too long to be shown whole, so nobody can approve them. The message is for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSubject:
    """A card's call in the turn that it belongs to.

    `deciders` says in words who may decide; `waiting` is how many messages queue behind this turn; `closed`: the turn
    has ended; `superseded`: a newer card asks about the same call; `waits`: an earlier call has to finish first.
    """

    started: TurnStarted
    call: CallState
    deciders: str
    waiting: int = 0
    closed: bool = False
    superseded: bool = False
    waits: bool = False

    @property
    def is_open(self) -> bool:
        return self.call.awaits_decision and not self.closed and not self.superseded


def card(subject: CardSubject) -> tuple[discord.Embed, ...]:
    """The embeds of a card in its present state. Raises DoesNotFit."""
    question = subject.call.question
    if question is None:
        raise ValueError("a card is about a question")
    name = inline(subject.call.call.name, 80)
    colour, status = _status(subject)
    embed = discord.Embed(colour=colour, title=_title(subject, name), description=_description(subject, status))
    asked = f"<@{subject.started.user}> ({inline(subject.started.author, 80)})"
    embed.add_field(name="Asked by", value=asked)
    if subject.is_open:
        embed.add_field(name="Expires", value=f"<t:{question.expires:.0f}:R>")
        embed.add_field(name="Who may decide", value=clip(subject.deciders, 600))
        if subject.waiting:
            one = subject.waiting == 1
            behind = "1 message waits" if one else f"{subject.waiting} messages wait"
            embed.add_field(name="Queue", value=f"{behind} behind this")
    embed.set_footer(text=f"seal {question.seal[:SEAL_SHOWN]}")
    if not (subject.is_open and question.preview):
        return (embed,)
    change = discord.Embed(colour=colour, title="What would change")
    change.description = _preview(question.preview, EMBEDS_TOTAL - len(embed) - len(change.title or "") - 64)
    return (embed, change)


def parse_card(embed: discord.Embed) -> str:
    """The arguments on a card, as JSON. Raises ValueError when it shows none."""
    return parse_box(embed.description or "")


def _title(subject: CardSubject, name: str) -> str:
    again = subject.call.question is not None and subject.call.question.ask is Ask.AGAIN
    if not subject.is_open:
        return f"{name} again" if again else name
    return f"Run {name} again?" if again else f"Approve {name}?"


def _description(subject: CardSubject, status: str) -> str:
    """`status` and the box. What fits while the card is open fits ever after: later words give way, not the box."""
    arguments = subject.call.call.arguments
    needed = units(_why(subject.call))
    for compact in (False, True):
        box = boxed_json(exact_json(arguments, compact=compact))
        room = EMBED_DESCRIPTION - units(box) - 1
        if room >= needed:
            return f"{clip(status, room)}\n{box}"
    raise DoesNotFit(
        f"the arguments are too long to be shown whole on an approval card ({len(arguments)} characters), and nobody "
        "may approve what they cannot read. Split the work into smaller calls, of at most about 3000 characters each."
    )


def _status(subject: CardSubject) -> tuple[discord.Colour, str]:
    """Colour and words for where the question stands; at most some 900 units."""
    call = subject.call
    if subject.is_open:
        return _OPEN, _why(call)
    if call.decision is not None:
        return _decided(subject, call.decision)
    if subject.superseded:
        return _QUIET, "Closed: a newer card asks about this call."
    return _QUIET, "Closed: the turn ended before anybody decided."


def _why(call: CallState) -> str:
    if call.question is not None and call.question.ask is Ask.AGAIN:
        return (
            "I was interrupted while this ran: **it may have taken effect already**. It runs again only if you say so."
        )
    return "This changes things, so a person decides first. Exactly this would run:"


def _decided(subject: CardSubject, decision: Decided) -> tuple[discord.Colour, str]:
    by = f"<@{decision.by}> ({inline(decision.name, 80)})" if decision.by else inline(decision.name, 80)
    match decision.verdict:
        case Verdict.APPROVE:
            colour, outcome = _outcome(subject)
            return colour, f"**Approved** by {by}{outcome}"
        case Verdict.DENY:
            return _BAD, f"**Denied** by {by}. It was not run."
        case Verdict.DENY_WITH_REASON:
            return _BAD, f"**Denied** by {by}: {inline(decision.note, 500)}"
        case Verdict.SKIP:
            return _QUIET, f"**Skipped** by {by}. It was not run again."
        case Verdict.EXPIRED:
            return _QUIET, "**Expired**: nobody decided in time. It was not run."
        case Verdict.UNDELIVERABLE:
            return _QUIET, "Closed: this question could not be asked."


def _outcome(subject: CardSubject) -> tuple[discord.Colour, str]:
    """What became of an approved call. That it runs is shown by the turn's activity: an edit less for a quick one."""
    finished = subject.call.finished
    if finished is None:
        return _GOOD, " · waits for an earlier call" if subject.waits else ""
    match finished.outcome:
        case Outcome.OK:
            return (
                _GOOD,
                f" · done in {finished.duration_ms / 1000:.1f} s" if finished.duration_ms >= 100 else " · done",
            )
        case Outcome.ERROR:
            lines = finished.content.strip().splitlines() or ["no message"]
            return _BAD, f" · failed: {inline(lines[0], 300)}"
        case Outcome.UNKNOWN:
            return _QUIET, " · its outcome is unknown"
        case Outcome.CANCELLED:
            return _QUIET, " · stopped while it ran"
        case Outcome.DENIED | Outcome.NOT_RUN:
            return _QUIET, " · not run: the turn ended first"


def _preview(diff: str, room: int) -> str:
    """As much of `diff` as there is room for, whole lines; it says how many are left out."""
    room = min(room, EMBED_DESCRIPTION)
    lines = diff.removesuffix("\n").split("\n")
    box = boxed("\n".join(lines), "diff")
    kept = len(lines)
    while units(box) > room and kept:
        kept -= max(1, (units(box) - room) // 80)
        kept = max(kept, 0)
        box = f"{boxed(chr(10).join(lines[:kept]), 'diff')}\n… {len(lines) - kept} more lines; all of it is above."
    return box if kept else "The change is too long to be drawn here; all of it is in the arguments above."
