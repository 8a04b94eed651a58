"""What one run of the loop is given: all of it frozen, none of it read from the environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.approvals import seal_of
from pipeline.events import EventSink
from pipeline.messages import Message
from pipeline.pictures import Pictures
from pipeline.policy import Policy, ToolPolicies
from pipeline.provider import Provider, ToolDefinition
from pipeline.state import LoopState
from pipeline.stop import StopSignal
from tools.base import Tool, ToolContext
from tools.registry import ToolRegistry
from tools.schema import canonical_arguments, parse_arguments
from tools.stash import ContextStash


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
    max_restarts: int = 3
    max_failures_after_text: int = 3
    max_empty_retries: int = 2
    empty_retry_delay_s: float = 0.0
    max_continuations: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLoopParams:
    """One attempt at one turn.

    `prefix` is what the model is shown before anything of this turn's own: the system prompt, the window of the
    transcript, the person's message. `now` is the wall clock in epoch seconds, `key` the number of the provider's key;
    `falls_back` says whether another attempt follows one that ended like this.
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
    pictures: Pictures
    stash: ContextStash
    key: int = 0
    falls_back: Callable[[LoopState], bool] = lambda _: False

    def tool(self, name: str) -> Tool[Any] | None:
        """The tool that may be dispatched under `name`: enforced here, not only where tools are listed."""
        tool = self.tools.get(name)
        return None if tool is None or self.policies.of(tool) is Policy.DENY else tool

    def unavailable(self, state: LoopState, tool: Tool[Any]) -> str | None:
        """Why `tool` cannot be had (again) in this turn, in words for the model."""
        if state.admitted is not None and tool.name not in state.admitted.names:
            return blocked_message(tool.name, state.admitted.names)
        if tool.needs_sight and not self.provider.traits.sees_images:
            return f"{tool.name} shows pictures, and this model cannot see any"
        if tool.once_a_turn and tool.name in state.succeeded:
            return f"{tool.name} has already run in this turn; do not call it again, use what it brought"
        return None

    def offered(self, state: LoopState) -> tuple[ToolDefinition, ...]:
        """The tools that the next pass is shown."""
        concerned = self.tools.restricted if state.admitted is None else self.tools
        hidden = {tool.name for tool in concerned if self.unavailable(state, tool) is not None}
        return tuple(d for d in self.definitions if d.name not in hidden) if hidden else self.definitions

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


def blocked_message(name: str, allowed: tuple[str, ...]) -> str:
    """The result of a call that deliberate mode does not allow: JSON, which models tell apart from a tool's words."""
    words = {
        "status": "blocked_by_deliberate_tool_mode",
        "reason": f"{name} is not exposed in this turn: nothing in the message asked for it",
        "allowedToolNames": list(allowed),
    }
    return orjson.dumps(words).decode()


def definitions_of(tools: ToolRegistry, policies: ToolPolicies) -> tuple[ToolDefinition, ...]:
    """The tools that a model is shown: all but the denied ones."""
    return tuple(
        ToolDefinition(name=tool.name, description=tool.description, schema=tool.schema)
        for tool in tools
        if policies.of(tool) is not Policy.DENY
    )
