"""Rows of the benchmark table: what was measured, against which aim."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure. `ratio` compares it with another figure of the same run; `aim` says what it should be."""

    part: str
    what: str
    value: str
    ratio: str = ""
    aim: str = ""


def print_table(rows: Iterable[Row]) -> None:
    """Print rows as a table in Markdown, so that it can be pasted."""
    cells = [("part", "what", "value", "ratio", "aim")]
    cells += [(row.part, row.what, row.value, row.ratio, row.aim) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    sys.stdout.write("\n".join(lines) + "\n")


def peak_memory_mib() -> float:
    """The most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.3f} ms"
