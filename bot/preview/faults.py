"""Faults that a test asks for: they happen in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.preview.router import Route


class FaultError(ValueError):
    """What was asked for is not a fault; the message says why."""


@dataclass(slots=True, kw_only=True)
class Fault:
    """The next `times` calls that match are answered with `status` (None: as usual) after `delay_ms`.

    With `after` the call takes effect first and only its answer is lost; `cut` drops the connection, without an answer.
    """

    method: str
    route: str
    times: int = 1
    status: int | None = None
    retry_after: float | None = None
    body: Any = None
    delay_ms: float = 0.0
    after: bool = False
    cut: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    def matches(self, route: Route) -> bool:
        return self.times > 0 and self.method in ("*", route.method) and self.route in ("*", route.template)


class Faults:
    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def add(self, wanted: Mapping[str, Any]) -> None:
        """Take `{match: {method, route}, times, status, ...}`. Raises FaultError when nothing can be done with it."""
        match = wanted.get("match")
        if not isinstance(match, Mapping):
            msg = "a fault needs match: {method, route}, or gateway: close | op7 | op9 | refuse"
            raise FaultError(msg)
        names = {"times", "status", "retry_after", "body", "delay_ms", "after", "cut", "headers"}
        unknown = set(wanted) - names - {"match"}
        if unknown:
            msg = f"a fault has no {', '.join(sorted(unknown))}; it has {', '.join(sorted(names))}"
            raise FaultError(msg)
        if not names & set(wanted) - {"times", "after"}:
            msg = "a fault needs a status, a delay_ms or cut"
            raise FaultError(msg)
        method, route = str(match.get("method", "*")).upper(), str(match.get("route", "*"))
        self._faults.append(Fault(method=method, route=route, **{name: wanted[name] for name in names & set(wanted)}))

    def take(self, route: Route) -> Fault | None:
        """The fault of this call, if any."""
        for fault in self._faults:
            if fault.matches(route):
                fault.times -= 1
                if fault.times == 0:
                    self._faults.remove(fault)
                return fault
        return None

    def clear(self) -> None:
        self._faults.clear()
