"""Writing conversations for both sides of NovelAI's API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import JsonValue

from pipeline.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from pipeline.provider import ToolDefinition
from pipeline.providers._json import dump, parse_object
from pipeline.providers._novelai_history import History, newest
from pipeline.providers._novelai_text import THINK
from pipeline.providers._wire import GO_ON, NO_IMAGES, RenderCache, name_on_wire

SPEAKER = "Assistant"
"""Who answers in a script."""
LEFT_OUT = "(This result is left out: the conversation is too long for this model.)"

_RESULT, _END_OF_RESULT = "<tool_response>", "</tool_response>"
_HOW_TO_CALL = """\
# Tools
You may use these tools, each described by a line of JSON:
{tools}

To use one, end your message with a call of this form, an arg_key and an arg_value for each argument:
<tool_call>tool_name
<arg_key>argument_name</arg_key>
<arg_value>its value, as JSON where it is not a string</arg_value>
</tool_call>
Then stop: what the tool answers comes in the next message, between tool_response tags."""
_AUTHOR = re.compile(r"(?:\[in reply to .*?\]\n)?([^\n:]{1,80}): ", re.DOTALL)


class Entry(NamedTuple):
    role: str
    text: str
    is_result: bool = False


class ChatWriter:
    """Conversations as chat messages, whose contents are plain strings. The server ignores declared tools, so these
    are described in the system text, and calls and their results are text as well."""

    def __init__(self) -> None:
        self._entry = RenderCache(_entry)

    def write(self, history: History, tools: Sequence[ToolDefinition], chars: int) -> list[JsonValue]:
        """The messages, with no more than `chars` characters as far as the newest exchange allows that. An answer that
        was cut is the last of them."""
        system = "\n\n".join(filter(None, (history.system, _described(tools))))
        begun = history.shown + history.rest.tail
        if history.rest.thinking is not None:
            begun += THINK + history.rest.thinking
        chars -= len(system) + len(begun)
        exchanges = [tuple(map(self._entry, exchange)) for exchange in history.exchanges]
        kept = newest(exchanges, chars, _size)
        if len(kept) == 1:
            kept = [_shortened(kept[0], chars)]
        entries = [Entry("system", system), *(entry for exchange in kept for entry in exchange)]
        if entries[-1].role == "assistant" and not begun:
            entries.append(Entry("user", GO_ON))
        return [{"role": role, "content": text} for role, text in _merged([*entries, Entry("assistant", begun)])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """`names` are those who speak in it."""

    text: str
    names: tuple[str, ...]


class ScriptWriter:
    """Conversations as a script that a completion model goes on with. There are no tools in it."""

    def __init__(self) -> None:
        self._entry = RenderCache(_spoken)

    def write(self, history: History, preamble: str, chars: int) -> Script:
        """The script, with no more than `chars` characters as far as the newest exchange allows that."""
        head = f"{preamble}{history.system}\n***\n" if history.system else preamble
        shown = history.shown + history.rest.tail
        # Where nothing is said yet the space is left to the model: its words begin with theirs.
        begun = f"{SPEAKER}: {shown}" if shown else f"{SPEAKER}:"
        exchanges = ["".join(_lines(map(self._entry, exchange))) for exchange in history.exchanges]
        lines = newest(exchanges, chars - len(head) - len(begun), len)
        names = (SPEAKER, *(name for exchange in history.exchanges for name in _authors(exchange)))
        return Script(text=head + "".join(lines) + begun, names=tuple(dict.fromkeys(names)))


def _described(tools: Sequence[ToolDefinition]) -> str:
    described = (
        dump({"name": tool.name, "description": tool.description, "parameters": tool.schema}).decode() for tool in tools
    )
    return _HOW_TO_CALL.format(tools="\n".join(described)) if tools else ""


def _entry(message: Message) -> Entry:
    match message:
        case AssistantMessage(text=text, calls=calls):
            return Entry("assistant", "\n".join(filter(None, (text, *map(_call, calls)))))
        case ToolMessage(content=content):
            # A result cannot end itself and go on as the person.
            safe = content.replace(_END_OF_RESULT, "<\\/tool_response>")
            return Entry("user", f"{_RESULT}\n{safe}\n{_END_OF_RESULT}", is_result=True)
        case UserMessage(text=text, images=images):
            return Entry("user", f"{text}\n{NO_IMAGES}" if images else text)
        case _:
            return Entry("user", message.text)


def _call(call: ToolCall) -> str:
    arguments = parse_object(call.arguments) or {}
    lines = [f"<tool_call>{name_on_wire(call.name)}"]
    for key, value in arguments.items():
        text = value if isinstance(value, str) else dump(value).decode()
        lines += [f"<arg_key>{key}</arg_key>", f"<arg_value>{text}</arg_value>"]
    return "\n".join([*lines, "</tool_call>"])


def _size(exchange: Sequence[Entry]) -> int:
    return sum(len(entry.text) for entry in exchange)


def _shortened(exchange: Sequence[Entry], chars: int) -> tuple[Entry, ...]:
    """`exchange` without the oldest results of tools, as many as are too much for `chars`; the newest is cut."""
    entries = list(exchange)
    excess = _size(entries) - chars
    results = [number for number, entry in enumerate(entries) if entry.is_result]
    for number in results:
        text = entries[number].text
        if excess <= 0 or len(text) <= 2 * len(LEFT_OUT):
            continue
        room = max(0, len(text) - excess - 2 * len(LEFT_OUT)) if number == results[-1] else 0
        head = text[len(_RESULT) + 1 :][:room]
        shorter = "\n".join(filter(None, (_RESULT, head, LEFT_OUT, _END_OF_RESULT)))
        entries[number] = Entry("user", shorter, is_result=True)
        excess -= len(text) - len(shorter)
    return tuple(entries)


def _merged(entries: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    """Entries of one role behind one another as one message; answers are joined as they are, for one goes on with the
    other."""
    role, texts = "", list[str]()
    for entry in (entry for entry in entries if entry.text.strip()):
        if entry.role != role and texts:
            yield role, ("" if role == "assistant" else "\n").join(texts)
            texts = []
        role = entry.role
        texts.append(entry.text)
    if texts:
        yield role, ("" if role == "assistant" else "\n").join(texts)


def _spoken(message: Message) -> Entry:
    match message:
        case AssistantMessage(text=text):
            return Entry("assistant", text)
        case ToolMessage():
            return Entry("user", "")
        case _:
            return _entry(message)


def _lines(entries: Iterable[Entry]) -> Iterator[str]:
    for role, text in _merged(entries):
        yield f"{SPEAKER}: {text.strip()}\n" if role == "assistant" else f"{text}\n"


def _authors(exchange: Sequence[Message]) -> Iterator[str]:
    for message in exchange:
        if isinstance(message, UserMessage) and (found := _AUTHOR.match(message.text)):
            yield found.group(1)
