"""Writing a conversation for the messages API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from pipeline.messages import AssistantMessage, Message, NoteMessage, SystemMessage, ToolMessage, UserMessage
from pipeline.provider import ToolDefinition
from pipeline.providers._json import JsonObject, arguments_on_wire, count_of, dump, object_of, text_of
from pipeline.providers._wire import GO_ON, NO_IMAGES, RenderCache, name_on_wire

_MARK = b',"cache_control":{"type":"ephemeral"}}'
_EMPTY_RESULT = "(no output)"
_EMPTY_START = "(The beginning of this conversation is left out.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rendered:
    """The content blocks of one message; `results` go before all others of their turn."""

    role: str
    results: tuple[bytes, ...] = ()
    blocks: tuple[bytes, ...] = ()
    has_thinking: bool = False


@dataclass(slots=True, kw_only=True)
class _Turn:
    role: str
    results: list[bytes]
    blocks: list[bytes]
    has_thinking: bool = False

    def write(self, *, marked: bool) -> bytes:
        blocks = self.results + self.blocks
        if marked:
            blocks[-1] = mark(blocks[-1])
        return b'{"role":"%s","content":[%s]}' % (self.role.encode(), b",".join(blocks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """`system` and `messages` are JSON lists, `system` empty where there is none.

    `allows_thinking` is False where the newest answer's calls are being answered and it has no thinking of this
    server: with a fixed budget, thinking may not begin in the middle of such an exchange.
    """

    system: bytes
    messages: bytes
    allows_thinking: bool


def mark(block: bytes) -> bytes:
    """`block` with the mark up to which the server keeps what it has read."""
    return block[:-1] + _MARK


class ConversationWriter:
    """Renders messages for the server marked by `origin`, each once."""

    def __init__(self, *, origin: str, sees_images: bool, prompt_cache: bool) -> None:
        self._origin = origin
        self._sees_images = sees_images
        self._prompt_cache = prompt_cache
        self._rendered = RenderCache(self._render)

    def write(self, messages: Sequence[Message]) -> Conversation:
        head = 0
        while head < len(messages) and isinstance(messages[head], (SystemMessage, NoteMessage)):
            head += 1
        system = "\n\n".join(one.text for one in messages[:head] if isinstance(one, SystemMessage))
        turns = self._turns(messages[head:])
        # The end of the newest request and of the one before it: what was written to the cache is found again.
        asked = [number for number, turn in enumerate(turns) if turn.role == "user"][-2:]
        marked = set(asked) if self._prompt_cache else set()
        written = b",".join(turn.write(marked=number in marked) for number, turn in enumerate(turns))
        newest = next((turn for turn in reversed(turns) if turn.role == "assistant"), None)
        answers_calls = bool(turns) and bool(turns[-1].results)
        return Conversation(
            system=self._system(system),
            messages=b"[" + written + b"]",
            allows_thinking=not answers_calls or (newest is not None and newest.has_thinking),
        )

    def _system(self, text: str) -> bytes:
        if not text.strip():
            return b""
        block = _text_block(text)
        return b"[" + (mark(block) if self._prompt_cache else block) + b"]"

    def _turns(self, messages: Sequence[Message]) -> list[_Turn]:
        """The messages as turns that alternate, from the person's to the person's."""
        turns: list[_Turn] = []
        for message in messages:
            part = self._rendered(message)
            if not (part.results or part.blocks):
                continue
            if not turns or turns[-1].role != part.role:
                turns.append(_Turn(role=part.role, results=[], blocks=[], has_thinking=part.has_thinking))
            turns[-1].results += part.results
            turns[-1].blocks += part.blocks
        if turns and turns[0].role == "assistant":
            turns.insert(0, _Turn(role="user", results=[], blocks=[_text_block(_EMPTY_START)]))
        if turns and turns[-1].role == "assistant":
            turns.append(_Turn(role="user", results=[], blocks=[_text_block(GO_ON)]))
        return turns

    def _render(self, message: Message) -> _Rendered:
        match message:
            case SystemMessage(text=text):
                return _Rendered(role="user", blocks=_text_blocks(text))
            case UserMessage():
                return _Rendered(role="user", blocks=tuple(self._asked(message)))
            case AssistantMessage():
                return self._answer(message)
            case ToolMessage(call_id=call_id, content=content, is_error=is_error):
                result: dict[str, JsonValue] = {
                    "type": "tool_result",
                    "tool_use_id": call_id,
                    "content": content if content.strip() else _EMPTY_RESULT,
                }
                if is_error:
                    result["is_error"] = True
                return _Rendered(role="user", results=(dump(result),))
            case NoteMessage():
                return _Rendered(role="user")

    def _asked(self, message: UserMessage) -> Iterator[bytes]:
        for image in message.images:
            if self._sees_images:
                source: JsonValue = {"type": "base64", "media_type": image.media_type, "data": image.data}
                yield dump({"type": "image", "source": source})
        unseen = f"\n{NO_IMAGES}" if message.images and not self._sees_images else ""
        yield from _text_blocks(message.text + unseen)

    def _answer(self, message: AssistantMessage) -> _Rendered:
        calls = [
            b'{"type":"tool_use","id":%s,"name":%s,"input":%s}'
            % (dump(call.id), dump(name_on_wire(call.name)), arguments_on_wire(call.arguments).encode())
            for call in message.calls
        ]
        layout = self._layout(message)
        texts = [count_of(block.get("length")) for block in layout if block.get("type") == "text"]
        uses = sum(block.get("type") == "tool_use" for block in layout)
        thinking = [block for block in layout if text_of(block.get("type")).endswith("thinking")]
        if sum(texts) != len(message.text) or uses != len(calls):
            # The message was changed since: the thinking still comes first.
            layout = [*thinking, {"type": "text", "length": len(message.text)}, *[{"type": "tool_use"}] * len(calls)]
        blocks: list[bytes] = []
        start = 0
        remaining = iter(calls)
        for block in layout:
            match block.get("type"):
                case "text":
                    end = start + count_of(block.get("length"))
                    blocks += _text_blocks(message.text[start:end])
                    start = end
                case "tool_use":
                    blocks.append(next(remaining))
                case _:
                    blocks.append(dump(block))
        if not calls and not message.text.strip():
            # Thinking that led to nothing is no answer.
            return _Rendered(role="assistant")
        return _Rendered(role="assistant", blocks=tuple(blocks), has_thinking=bool(thinking))

    def _layout(self, message: AssistantMessage) -> list[JsonObject]:
        if message.replay is None or message.replay.origin != self._origin:
            return []
        # Not the strict parser: what was kept may hold halves of characters, and has to stay as it is.
        layout = json.loads(message.replay.data)
        return [object_of(block) for block in layout] if isinstance(layout, list) else []


def tools_on_wire(tools: Sequence[ToolDefinition], *, prompt_cache: bool) -> bytes:
    written = [
        dump({"name": tool.name, "description": tool.description, "input_schema": tool.schema}) for tool in tools
    ]
    if prompt_cache and written:
        written[-1] = mark(written[-1])
    return b"[" + b",".join(written) + b"]"


def _text_block(text: str) -> bytes:
    return b'{"type":"text","text":%s}' % dump(text)


def _text_blocks(text: str) -> tuple[bytes, ...]:
    """No block where nothing would be seen: the API refuses those."""
    return (_text_block(text),) if text.strip() else ()
