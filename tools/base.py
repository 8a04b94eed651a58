"""What a tool is: its arguments, what it is given, what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from tools.errors import ToolError
from tools.schema import schema_of
from tools.scope import ProjectScope

__all__ = ["Tool", "ToolArguments", "ToolContext", "ToolError", "ToolResult", "define_tool"]


class ToolArguments(BaseModel):
    """The base of every arguments model: unknown fields are refused, so a misspelt one is never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model is told. `end_turn` asks for no further pass; `response_delivered` says people have the answer."""

    content: str
    is_error: bool = False
    end_turn: bool = False
    response_delivered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where a call happens. `now` is the wall clock in epoch seconds, `scope` the folder of the channel's project."""

    scope: ProjectScope | None
    user_id: str
    channel_id: str
    guild_id: str | None
    now: Callable[[], float]
    max_result_bytes: int

    def project(self) -> ProjectScope:
        """The scope, for a tool that cannot work without one. Raises ToolError where there is none."""
        if self.scope is None:
            raise ToolError("this channel has no project folder; the operator can give it one")
        return self.scope


A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """A tool and everything that is known about it. Make one with `define_tool`.

    * `idempotent`: running it twice is as good as once, so it is run again after a crash without asking.
    * `preview`: what the call would change, as a bounded unified diff for the approval card. Raises ToolError when
      the call cannot work: then there is nothing to approve.
    * `touches`: the files that the call would change, as project-relative paths (spelling only, links not followed).
    """

    name: str
    description: str
    arguments: type[A]
    schema: Mapping[str, JsonValue]
    run: Callable[[A, ToolContext], Awaitable[ToolResult]]
    needs_approval: bool
    idempotent: bool
    preview: Callable[[A, ToolContext], Awaitable[str]] | None
    touches: Callable[[A], tuple[str, ...]]


def _touches_nothing(_: BaseModel) -> tuple[str, ...]:
    return ()


def define_tool(
    *,
    name: str,
    description: str,
    arguments: type[A],
    run: Callable[[A, ToolContext], Awaitable[ToolResult]],
    needs_approval: bool = False,
    idempotent: bool = False,
    preview: Callable[[A, ToolContext], Awaitable[str]] | None = None,
    touches: Callable[[A], tuple[str, ...]] = _touches_nothing,
) -> Tool[A]:
    """A tool whose schema comes from `arguments`.

    Raises ValueError for an arguments model that lets unknown fields pass or leaves a property undescribed.
    """
    if arguments.model_config.get("extra") != "forbid":
        raise ValueError(f"{arguments.__name__} must forbid extra fields: derive it from ToolArguments")
    return Tool(
        name=name,
        description=description,
        arguments=arguments,
        schema=schema_of(arguments),
        run=run,
        needs_approval=needs_approval,
        idempotent=idempotent,
        preview=preview,
        touches=touches,
    )
