"""What the bot says about a turn in plain words: one embed for each kind of notice, each a pure function.

Discord allows a title of 256, a description of 4096 and 6000 in all embeds of a message; a notice stays far below,
since it shares its message with the activity of the turn.
"""

from __future__ import annotations

from collections.abc import Callable

import discord

from bot.render.offers import span
from bot.render.text import clip, inline, one_line, units
from pipeline.results import NoticeKind, ThoughtLog

DETAIL_UNITS = 900
FAILED_SHOWN = 5  # a field each: more than five would not fit into an embed
THOUGHT_UNITS = 4000

_INFO = discord.Colour(0x5865F2)
_WARNING = discord.Colour(0xF0B232)
_ERROR = discord.Colour(0xF23F43)
_QUIET = discord.Colour(0x80848E)


def notice(kind: NoticeKind, detail: str, *, ended: bool) -> discord.Embed:
    """The embed for a notice. `detail` is the part that only this turn knows; `ended`: the turn is over."""
    if kind is NoticeKind.STILL_WORKING:
        return still_working(detail, ended=ended)
    if kind is NoticeKind.FALLBACK:  # the first line says who answered; the reasons are behind a button
        detail = detail.strip().partition("\n")[0]
    return NOTICES[kind](inline(detail, DETAIL_UNITS))


def stopped(name: str) -> discord.Embed:
    """A person ended the turn; `name` is how they are shown."""
    who = f" by {inline(name, 80)}" if name else ""
    return _embed(_QUIET, f"Stopped{who}", "What was written until then stays.")


def still_working(detail: str, *, ended: bool) -> discord.Embed:
    if ended:
        return _embed(_QUIET, "This one took many steps", "I was still working after the usual number of steps.")
    text = "This takes more steps than usual. I go on by myself; press **Stop** or use `/stop` to end it."
    return _embed(_INFO, "Still working", _with(inline(detail, DETAIL_UNITS), text))


def _iteration_limit(detail: str) -> discord.Embed:
    count = f" of {detail} steps" if detail else ""
    text = (
        f"I reached the limit{count} for one message and stopped here. What I did so far stays.\n"
        "Press **Go on** for as many again; the operator sets the limit with `BOT_MAX_FUNCTION_CALL_ITERATIONS`."
    )
    return _embed(_WARNING, "Iteration limit reached", text)


def _tool_errors(detail: str) -> discord.Embed:
    text = "My tools kept failing, so I stopped instead of trying for ever.\nTell me what to do differently, or fix it."
    return _embed(_ERROR, "Too many tool errors", _with(detail, text))


def _loop_guard(detail: str) -> discord.Embed:
    what = f"The same call again and again: {detail}" if detail else ""
    text = "I learned nothing new from it, so I stopped.\nAsk in another way, or press **Go on** to let me try more."
    return _embed(_WARNING, "Going in circles", _with(what, text))


def _stream_timeout(detail: str) -> discord.Embed:
    text = "The model went silent, so I gave up waiting. What it had said stays.\nTry again in a moment."
    return _embed(_ERROR, "The model timed out", _with(detail, text))


def _provider_error(detail: str) -> discord.Embed:
    text = "Try again in a moment, or choose another model with `/model`."
    return _embed(_ERROR, "The model could not answer", _with(detail or "The provider reported an error.", text))


def _refused(detail: str) -> discord.Embed:
    text = "The model declined to answer this.\nTry to put it differently, or choose another model with `/model`."
    return _embed(_WARNING, "The model refused", _with(detail, text))


def _empty_response(detail: str) -> discord.Embed:
    text = "The model ended its answer without saying anything.\nTry again, or put the question differently."
    return _embed(_WARNING, "Empty answer", _with(detail, text))


def _cut_at_length(detail: str) -> discord.Embed:
    text = "The answer reached the model's length limit and ends here.\nWrite “go on” for the rest."
    return _embed(_WARNING, "Cut short", _with(detail, text))


def _interrupted(detail: str) -> discord.Embed:
    text = "I was interrupted and could not finish this.\nPlease ask again; nothing that needed approval was repeated."
    return _embed(_ERROR, "Interrupted", _with(detail, text))


def _denied(detail: str) -> discord.Embed:
    text = "Nothing was run. Write again if you want something else."
    return _embed(_QUIET, "Not approved", _with(detail, text))


def _fallback(detail: str) -> discord.Embed:
    who = f"**{detail}**" if detail else "Another model"
    return discord.Embed(colour=_QUIET, description=f"🔁 {who} answered, since the first choice could not.")


def fallback_reasons(detail: str) -> discord.Embed:
    """Why other models did not answer. The first line of `detail` says who did, each further one `model: reason`."""
    who, *lines = (detail.strip() or "Another model").splitlines()
    failed = (line.partition(": ") for line in lines[:FAILED_SHOWN])
    fields = [(inline(model, 200), inline(why, DETAIL_UNITS) or "No reason was given.") for model, _, why in failed]
    embed = discord.Embed(colour=_QUIET, title="Why another model answered", description=f"**{inline(who, 200)}** did.")
    for model, why in fields:
        embed.add_field(name=model, value=why, inline=False)
    if len(lines) > FAILED_SHOWN:
        embed.set_footer(text=f"and {len(lines) - FAILED_SHOWN} more")
    return embed


def thoughts(log: ThoughtLog) -> tuple[discord.Embed, bool]:
    """What the models thought, and whether that is all of it."""
    is_whole = units(log.text) <= THOUGHT_UNITS
    embed = discord.Embed(colour=_QUIET, description=clip(log.text, THOUGHT_UNITS))
    embed.set_author(name=clip(f"💭 {one_line(log.owner, 200) or 'The model'} · {span(log.duration_ms)}", 256))
    if not is_whole:
        embed.set_footer(text="This is the beginning; all of it is in the file.")
    return embed, is_whole


def _retry_exhausted(detail: str) -> discord.Embed:
    text = "The answer had begun by then, so it ends with what is written above.\nAsk again to let me try once more."
    return _embed(_WARNING, "The tool did not work", _with(detail, text))


NOTICES: dict[NoticeKind, Callable[[str], discord.Embed]] = {
    NoticeKind.STILL_WORKING: lambda detail: still_working(detail, ended=False),
    NoticeKind.ITERATION_LIMIT: _iteration_limit,
    NoticeKind.TOOL_ERRORS: _tool_errors,
    NoticeKind.LOOP_GUARD: _loop_guard,
    NoticeKind.STREAM_TIMEOUT: _stream_timeout,
    NoticeKind.PROVIDER_ERROR: _provider_error,
    NoticeKind.REFUSED: _refused,
    NoticeKind.EMPTY_RESPONSE: _empty_response,
    NoticeKind.CUT_AT_LENGTH: _cut_at_length,
    NoticeKind.INTERRUPTED: _interrupted,
    NoticeKind.DENIED: _denied,
    NoticeKind.FALLBACK: _fallback,
    NoticeKind.RETRY_EXHAUSTED: _retry_exhausted,
}


def _with(detail: str, text: str) -> str:
    return f"{detail}\n{text}" if detail else text


def _embed(colour: discord.Colour, title: str, text: str) -> discord.Embed:
    return discord.Embed(colour=colour, title=title, description=clip(text, DETAIL_UNITS + 300))
