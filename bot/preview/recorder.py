"""The bot's REST calls, for every test that asks how many there were."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from bot.preview.values import Json

KEPT = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One call. `t_ms` is monotonic like the events', `took_ms` is from the request's head to its answer."""

    seq: int
    t_ms: float
    took_ms: float
    method: str
    route: str | None
    path: str
    query: dict[str, str]
    body: Any
    files: list[str]
    status: int
    code: int | None
    bucket: str | None


class Recorder:
    def __init__(self) -> None:
        self._records: deque[Record] = deque(maxlen=KEPT)
        self._count = 0

    def add(self, **fields: Any) -> None:
        self._count += 1
        self._records.append(Record(seq=self._count, **fields))

    def since(self, seq: int) -> list[Record]:
        """What came after number `seq`, oldest first."""
        return [record for record in self._records if record.seq > seq]

    def counts(self) -> Json:
        """How many calls there were of each `METHOD route`."""
        counts: dict[str, int] = {}
        for record in self._records:
            key = f"{record.method} {record.route}"
            counts[key] = counts.get(key, 0) + 1
        return counts
