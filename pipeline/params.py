"""What one run of the loop is given: all of it frozen, none of it read from the environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipeline.approvals import seal_of
from pipeline.events import EventSink
from pipeline.messages import Message
from pipeline.policy import Policy, ToolPolicies
from pipeline.provider import Provider, ToolDefinition
from pipeline.stop import StopSignal
from tools.base import Tool, ToolContext
from tools.registry import ToolRegistry
from tools.schema import canonical_arguments, parse_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopLimits:
    """The numbers of the loop. An operator's values come from the settings; these are for a caller without."""

    max_iterations: int = 10
    soft_warn_iteration: int = 20
    max_consecutive_tool_errors: int = 5
    max_identical_tool_calls: int = 3
    idle_timeout_s: float = 120.0
    first_token_timeout_s: float = 300.0
    settle_timeout_s: float = 5.0
    tool_timeout_s: float = 300.0
    tool_result_max_bytes: int = 12288
    approval_timeout_s: float = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLoopParams:
    """One attempt at one turn.

    `prefix` is what the model is shown before anything of this turn's own: the system prompt, the window of the
    transcript, the person's message. `now` is the wall clock in epoch seconds.
    """

    provider: Provider
    model: str
    prefix: tuple[Message, ...]
    tools: ToolRegistry
    definitions: tuple[ToolDefinition, ...]
    policies: ToolPolicies
    context: ToolContext
    limits: LoopLimits
    stop: StopSignal
    sink: EventSink
    now: Callable[[], float]

    def tool(self, name: str) -> Tool[Any] | None:
        """The tool that may be dispatched under `name`: enforced here, not only where tools are listed."""
        tool = self.tools.get(name)
        return None if tool is None or self.policies.of(tool) is Policy.DENY else tool

    def asks_first(self, name: str) -> bool:
        tool = self.tool(name)
        return tool is not None and self.policies.of(tool) is Policy.ASK

    def seal(self, tool: Tool[Any], arguments: str, expires: float) -> str:
        """The seal over a call of `tool`. Raises `ToolError` when the arguments (JSON text) do not fit it."""
        scope = self.context.scope
        return seal_of(
            tool=tool.name,
            arguments=canonical_arguments(parse_arguments(tool, arguments)),
            schema=tool.schema,
            root="" if scope is None else str(scope.root),
            requester=self.context.user_id,
            channel=self.context.channel_id,
            expires=expires,
        )


def definitions_of(tools: ToolRegistry, policies: ToolPolicies) -> tuple[ToolDefinition, ...]:
    """The tools that a model is shown: all but the denied ones."""
    return tuple(
        ToolDefinition(name=tool.name, description=tool.description, schema=tool.schema)
        for tool in tools
        if policies.of(tool) is not Policy.DENY
    )
