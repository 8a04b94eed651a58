"""Writing a conversation as chat-completion messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from pipeline.messages import (
    AssistantMessage,
    Image,
    Message,
    NoteMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pipeline.provider import ToolDefinition
from pipeline.providers._json import arguments_on_wire, dump
from pipeline.providers._openai_stream import Reasoning
from pipeline.providers._wire import GO_ON, NO_IMAGES, RenderCache, name_on_wire


class MessageWriter:
    """Renders messages for the server marked by `origin`, each once. `calls_as_text`: for a model that knows only text,
    its calls and their results are written out as it was told to write them."""

    def __init__(self, *, origin: str, sees_images: bool, calls_as_text: bool = False) -> None:
        self._calls_as_text = calls_as_text
        self._origin = origin
        self._sees_images = sees_images
        self._rendered = RenderCache(self._render)

    def write(self, messages: Sequence[Message], instructions: str = "") -> bytes:
        """The JSON list of `messages`: the system text at its head, `instructions` behind it, never ending in an
        answer."""
        return b"[" + b",".join(self._parts(messages, instructions)) + b"]"

    def _parts(self, messages: Sequence[Message], instructions: str) -> Iterator[bytes]:
        head = 0
        while head < len(messages) and isinstance(messages[head], (SystemMessage, NoteMessage)):
            head += 1
        # Later system messages go in as the user's: many servers take only one, and only in front.
        systems = [one.text for one in messages[:head] if isinstance(one, SystemMessage)]
        if system := "\n\n".join(filter(None, [*systems, instructions])):
            yield dump({"role": "system", "content": system})
        last: Message | None = None
        for message in messages[head:]:
            if rendered := self._rendered(message):
                yield rendered
                last = message
        if isinstance(last, AssistantMessage):
            yield dump({"role": "user", "content": GO_ON})

    def _render(self, message: Message) -> bytes:
        match message:
            case SystemMessage(text=text):
                return dump({"role": "user", "content": text}) if text.strip() else b""
            case UserMessage(text=text, images=images):
                return dump({"role": "user", "content": self._content(text, images)})
            case AssistantMessage():
                return self._answer(message)
            case ToolMessage(name=name, content=content) if self._calls_as_text:
                return dump({"role": "user", "content": f"[result of {name_on_wire(name)}]\n{content}"})
            case ToolMessage(call_id=call_id, content=content):
                return dump({"role": "tool", "tool_call_id": call_id, "content": content})
            case NoteMessage():
                return b""

    def _content(self, text: str, images: tuple[Image, ...]) -> JsonValue:
        if not images:
            return text
        if not self._sees_images:
            return f"{text}\n{NO_IMAGES}"
        parts: list[JsonValue] = [{"type": "text", "text": text}] if text else []
        for image in images:
            url = f"data:{image.media_type};base64,{image.data}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
        return parts

    def _answer(self, message: AssistantMessage) -> bytes:
        reasoning = Reasoning()
        if message.replay is not None and message.replay.origin == self._origin:
            reasoning = Reasoning.from_json(message.replay.data)
        if not message.text.strip() and not message.calls:
            return b""
        if self._calls_as_text:
            calls = [f"`{name_on_wire(call.name)}({call.arguments})`" for call in message.calls]
            return dump({"role": "assistant", "content": "\n".join(filter(None, [message.text.rstrip(), *calls]))})
        answer: dict[str, JsonValue] = {"role": "assistant", "content": message.text}
        if reasoning.field and reasoning.text:
            answer[reasoning.field] = reasoning.text
        if reasoning.details:
            answer["reasoning_details"] = list(reasoning.details)
        if message.calls:
            extras = reasoning.extras if len(reasoning.extras) == len(message.calls) else (None,) * len(message.calls)
            answer["tool_calls"] = [_call_on_wire(*pair) for pair in zip(message.calls, extras, strict=True)]
        return dump(answer)


def _call_on_wire(call: ToolCall, extra: JsonValue) -> JsonValue:
    function: JsonValue = {"name": name_on_wire(call.name), "arguments": arguments_on_wire(call.arguments)}
    rendered: dict[str, JsonValue] = {"id": call.id, "type": "function", "function": function}
    return rendered if extra is None else {**rendered, "extra_content": extra}


def tools_on_wire(tools: Sequence[ToolDefinition]) -> bytes:
    return dump(
        [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in tools
        ]
    )
