"""Putting the fragments of tool calls together, as every OpenAI-like server understands it differently.

Servers leave out the index, give each call the same index, repeat or forget ids, repeat names with every fragment,
send arguments as null, as an object, or a placeholder `{}` first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue

from pipeline.provider import CallRequest
from pipeline.providers._json import JsonObject, dump, object_of, parse_object, text_of
from pipeline.providers._wire import NAMELESS
from tools.output import scrub


@dataclass(slots=True, kw_only=True)
class _Open:
    id: str
    name: str
    arguments: list[str] = field(default_factory=list)
    extra: JsonValue = None
    named_again: bool = False
    """Its name came once more after its arguments were whole: a repetition, or the head of another such call."""

    @property
    def is_complete(self) -> bool:
        return parse_object("".join(self.arguments)) is not None


class CallAssembler:
    """Feed it the fragments in their order; `calls` are the calls in the order in which they were opened."""

    def __init__(self) -> None:
        self._all: list[_Open] = []
        self._by_index: dict[int, _Open] = {}

    @property
    def is_empty(self) -> bool:
        return not self._all

    def feed(self, fragment: JsonObject) -> None:
        function = object_of(fragment.get("function"))
        index = _index_of(fragment.get("index"))
        call_id, name = text_of(fragment.get("id")), text_of(function.get("name"))
        arguments = _arguments_of(function.get("arguments"))
        call = self._continued(index, call_id, name, arguments)
        if call is None:
            call = _Open(id=call_id, name=name or self._named_last(index))
            self._all.append(call)
        else:
            call.id = call.id or call_id
            call.name = _joined_name(call, name, has_index=index is not None)
            if not name and arguments.startswith("{") and "".join(call.arguments) == "{}":
                call.arguments.clear()
        if index is not None:
            self._by_index[index] = call
        if arguments:
            call.arguments.append(arguments)
        if (extra := fragment.get("extra_content")) is not None:
            call.extra = extra

    def calls(self) -> tuple[CallRequest, ...]:
        return tuple(
            CallRequest(name=scrub(call.name) or NAMELESS, arguments=_whole("".join(call.arguments)))
            for call in self._all
        )

    def extras(self) -> list[JsonValue]:
        """What each call carried that has to be sent back with it (None where nothing)."""
        return [call.extra for call in self._all]

    def _named_last(self, index: int | None) -> str:
        """The name of the call whose head was repeated without arguments, before these came."""
        last = self._by_index.get(index) if index is not None else self._all[-1] if self._all else None
        return last.name if last is not None and last.named_again else ""

    def _continued(self, index: int | None, call_id: str, name: str, arguments: str) -> _Open | None:
        """The open call that a fragment belongs to; None where it opens one."""
        if index is not None:
            call = self._by_index.get(index)
        elif call_id:
            call = next((one for one in reversed(self._all) if one.id == call_id), None)
        else:
            call = self._all[-1] if self._all else None
        if call is None:
            return None
        if call_id and call.id and call_id != call.id:
            return None
        if not name and not call.named_again:
            return call
        if name and name != call.name and (index is None or call.is_complete):
            return None
        if call.is_complete:
            # Its name and the beginning of an object after a whole one: another call, even under the same id.
            if arguments.lstrip().startswith("{"):
                return None
            call.named_again = True
        return call


def _joined_name(call: _Open, name: str, *, has_index: bool) -> str:
    """The name after one more piece: repeated, grown, or the rest of one that came in two pieces."""
    if not name or name == call.name:
        return call.name
    if name.startswith(call.name):
        return name
    return call.name + name if has_index and not call.arguments else call.name


def _index_of(value: JsonValue) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _arguments_of(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dump(value).decode()


def _whole(arguments: str) -> str:
    return scrub(arguments) if arguments.strip() not in {"", "null"} else "{}"
