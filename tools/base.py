"""What a tool is: its arguments, what it is given, what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from tools.errors import ToolError
from tools.schema import schema_of
from tools.scope import ProjectScope

__all__ = [
    "ContextItem",
    "ContextRestart",
    "Picture",
    "Tool",
    "ToolArguments",
    "ToolContext",
    "ToolError",
    "ToolResult",
    "define_tool",
]


class ToolArguments(BaseModel):
    """The base of every arguments model: unknown fields are refused, so a misspelt one is never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture for models that see: its media type and its bytes in base64."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """What the model is shown from the next pass on, beside the tool's result.

    `handles` are short names (`ref_1`) with the ids they stand for; from then on tools resolve them.
    """

    text: str = ""
    pictures: tuple[Picture, ...] = ()
    handles: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRestart:
    """Asks that the next pass sees more: `item` itself, or what was put into the stash under `key`, which works once.

    `kind` is a short word (`image`, `attachment`, `message_metadata`); each kind works once in a turn.
    """

    kind: str
    item: ContextItem | None = None
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model is told. `end_turn` asks for no further pass; `response_delivered` says people have the answer.

    `sticker` is the id of a sticker to post after the answer; empty takes back an earlier one, None says nothing.
    """

    content: str
    is_error: bool = False
    end_turn: bool = False
    response_delivered: bool = False
    sticker: str | None = None
    restart: ContextRestart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where a call happens. `turn` is the id of the message that it answers, `now` the wall clock in epoch seconds,
    `scope` the folder of the channel's project, `handles` the short names that the model was given for ids."""

    scope: ProjectScope | None
    turn: str
    user_id: str
    channel_id: str
    guild_id: str | None
    now: Callable[[], float]
    max_result_bytes: int
    handles: Mapping[str, str] = field(default_factory=dict)

    def resolve(self, name: str) -> str:
        """The id behind a handle; anything else stays as it is."""
        return self.handles.get(name.strip(), name.strip())

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
    * `requires_follow_up`: its result is for the model, which has to be asked again to say something about it.
    * `is_silent`: nobody sees what it does; after visible text the turn needs no further pass.
    * `once_a_turn`: after a success it is not to be had again in the same turn.
    * `needs_sight`: of use only to models that see pictures.
    * `subject`: a word for what it does (`image`, `memory`, `reminder`, ...); deliberate mode offers tools by these.
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
    requires_follow_up: bool = True
    is_silent: bool = False
    once_a_turn: bool = False
    needs_sight: bool = False
    subject: str = ""


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
    requires_follow_up: bool = True,
    is_silent: bool = False,
    once_a_turn: bool = False,
    needs_sight: bool = False,
    subject: str = "",
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
        requires_follow_up=requires_follow_up,
        is_silent=is_silent,
        once_a_turn=once_a_turn,
        needs_sight=needs_sight,
        subject=subject,
    )
