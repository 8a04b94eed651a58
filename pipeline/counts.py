"""What a turn counts: tokens, failures in a row, repeated calls. Pure."""

from __future__ import annotations

from dataclasses import replace

from pipeline.calls import FAILURES
from pipeline.messages import Usage
from pipeline.records import PassFinished
from pipeline.results import Outcome, PassUsage

REPEATS_KEPT = 16  # the longest cycle of calls that the loop guard can see


def usage_added(totals: tuple[PassUsage, ...], record: PassFinished) -> tuple[PassUsage, ...]:
    if not (record.input_tokens or record.output_tokens):
        return totals
    spent = Usage(
        input_tokens=record.input_tokens,
        output_tokens=record.output_tokens,
        cache_read_tokens=record.cache_read_tokens,
        cache_write_tokens=record.cache_write_tokens,
    )
    same = next((t for t in totals if (t.provider, t.model) == (record.provider, record.model)), None)
    if same is None:
        return (*totals, PassUsage(provider=record.provider, model=record.model, usage=spent))
    return tuple(replace(t, usage=t.usage + spent) if t is same else t for t in totals)


def errors_counted(count: int, outcome: Outcome) -> int:
    """Failures count up, a success resets; a denial or a call that never ran says nothing about the tools."""
    if outcome in FAILURES:
        return count + 1
    return 0 if outcome is Outcome.OK else count


def repeat_counted(repeats: tuple[tuple[str, int], ...], fingerprint: str) -> tuple[tuple[str, int], ...]:
    """Counts by fingerprint since the last call that brought something new: that one starts them afresh."""
    if not fingerprint:
        return repeats
    counts = dict(repeats)
    if fingerprint not in counts:
        fresh = (fingerprint, 1)
        return (fresh,) if any(n > 1 for n in counts.values()) else (*repeats[1 - REPEATS_KEPT :], fresh)
    return tuple((known, n + 1 if known == fingerprint else n) for known, n in repeats)
