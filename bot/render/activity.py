"""The embed that says what a running turn is doing: one line for each tool call. Pure."""

from __future__ import annotations

import json

import discord

from bot.render.text import clip, inline
from pipeline.calls import CallState
from pipeline.records import Verdict
from pipeline.results import Outcome
from pipeline.state import LoopState

MAX_LINES = 12
ARGUMENT_UNITS = 80

_MARKS = {
    Outcome.OK: ("✅", "done"),
    Outcome.ERROR: ("❌", "failed"),
    Outcome.DENIED: ("🚫", "denied"),
    Outcome.NOT_RUN: ("▫️", "not run"),
    Outcome.CANCELLED: ("⏹️", "stopped"),
    Outcome.UNKNOWN: ("❔", "outcome unknown"),
}


def activity(state: LoopState, started_at: dict[tuple[int, int], float]) -> discord.Embed | None:
    """The embed for `state`, or None when no call has begun yet (one that waits for a person has its card).

    `started_at` maps (iteration, index) of a running call to epoch seconds; Discord's own clock counts from there, so
    the seconds need no edits.
    """
    if not state.history and not any(call.run for call in state.calls):
        return None
    open_lines = [_open_line(call, started_at) for call in state.open_calls]
    room = max(MAX_LINES - len(open_lines), 1)
    lines = [
        _line(*_MARKS[entry.outcome], entry.name, entry.arguments, _seconds(entry.duration_ms))
        for entry in state.history[-room:]
    ]
    lines += open_lines[:MAX_LINES]
    left_out = len(state.history) + len(open_lines) - len(lines)
    if left_out:
        lines.insert(0, f"… and {left_out} more")
    return discord.Embed(colour=discord.Colour(0x5865F2), description="\n".join(lines))


def _open_line(call: CallState, started_at: dict[tuple[int, int], float]) -> str:
    if call.is_running:
        since = started_at.get((call.iteration, call.index))
        when = "" if since is None else f"<t:{since:.0f}:R>"
        return _line("⚙️", "running", call.call.name, call.call.arguments, when)
    if call.awaits_decision:
        return _line("🔐", "waits for approval", call.call.name, call.call.arguments, "")
    if call.decision is not None and call.decision.verdict is Verdict.APPROVE:
        return _line("🔓", "approved, waits", call.call.name, call.call.arguments, "")
    return _line("▫️", "waits", call.call.name, call.call.arguments, "")


def _line(mark: str, word: str, name: str, arguments: str, when: str) -> str:
    parts = [f"{mark} **{inline(name, 60)}** {short_arguments(arguments)}".rstrip(), word]
    return " · ".join([*parts, when] if when else parts)


def short_arguments(arguments: str) -> str:
    """The arguments in a few words, for people who follow along; never what a decision is based on."""
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return inline(arguments, ARGUMENT_UNITS)
    if not isinstance(values, dict):
        return inline(arguments, ARGUMENT_UNITS)
    shown = (f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in values.items())
    return inline(", ".join(clip(pair, ARGUMENT_UNITS) for pair in shown), ARGUMENT_UNITS)


def _seconds(duration_ms: int) -> str:
    return f"{duration_ms / 1000:.1f} s" if duration_ms >= 100 else ""
