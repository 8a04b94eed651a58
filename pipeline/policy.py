"""Whether a tool runs by itself, asks first, or never runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tools.base import Tool


class Policy(StrEnum):
    AUTO = "auto"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicies:
    """The operator's word by tool name; where they said nothing, the tool's own `needs_approval` counts."""

    by_name: Mapping[str, Policy] = field(default_factory=dict)

    def of(self, tool: Tool[Any]) -> Policy:
        default = Policy.ASK if tool.needs_approval else Policy.AUTO
        return self.by_name.get(tool.name, default)
