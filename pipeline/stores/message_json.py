"""The JSON of a message in the transcript: `["role", {...}]`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Discriminator, Tag, TypeAdapter

from pipeline.messages import AssistantMessage, Image, Message, NoteMessage, SystemMessage, ToolMessage, UserMessage

_Stored = (
    Annotated[tuple[Literal["system"], SystemMessage], Tag("system")]
    | Annotated[tuple[Literal["user"], UserMessage], Tag("user")]
    | Annotated[tuple[Literal["assistant"], AssistantMessage], Tag("assistant")]
    | Annotated[tuple[Literal["tool"], ToolMessage], Tag("tool")]
    | Annotated[tuple[Literal["note"], NoteMessage], Tag("note")]
)


def _role(stored: tuple[object, ...] | list[object]) -> object:
    return stored[0]


_ADAPTER: TypeAdapter[_Stored] = TypeAdapter(Annotated[_Stored, Discriminator(_role)])


def dump_message(message: Message, blob_of: Callable[[Image], str]) -> str:
    """`message` as JSON, its images by the ids that `blob_of` gives for them.

    Raises `pydantic_core.PydanticSerializationError` for text with a lone surrogate.
    """
    match message:
        case SystemMessage():
            stored: _Stored = ("system", message)
        case UserMessage():
            images = tuple(replace(image, data=blob_of(image)) for image in message.images)
            stored = ("user", replace(message, images=images))
        case AssistantMessage():
            stored = ("assistant", message)
        case ToolMessage():
            stored = ("tool", message)
        case NoteMessage():
            stored = ("note", message)
    return _ADAPTER.dump_json(stored).decode()


def load_message(data: str) -> Message:
    """The message in `data`; the `data` of its images is still the id of a blob (see `with_images`)."""
    return _ADAPTER.validate_json(data)[1]


def blob_ids(message: Message) -> tuple[str, ...]:
    """The ids in a message as `load_message` returns it."""
    return tuple(image.data for image in message.images) if isinstance(message, UserMessage) else ()


def with_images(message: Message, images: dict[str, Image]) -> Message:
    """`message` with its images in place of their ids; one that is gone is left out."""
    ids = blob_ids(message)
    if not isinstance(message, UserMessage) or not ids:
        return message
    return replace(message, images=tuple(images[blob] for blob in ids if blob in images))
