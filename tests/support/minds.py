"""Who answers in an end-to-end test: the demo model, or a model behind a real wire that writes byte by byte.

async with mind("anthropic") as model:
    ...                        # settings: model.environment()
    model.requests[0].text     # what the person asked, read back from the wire
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.provider_server import Answer, Pass, Piece, ScriptedProvider

Json = dict[str, Any]

KEY = "sk-test-0123456789-not-to-be-seen"
WIRES = ("openai_compat", "anthropic")
KINDS = ("demo", *WIRES)
LONG_WORDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as its server reads it, whichever wire it came on.

    `text` is the newest message of a person, `results` what came of the calls since; `all_results` is what came of any
    call. `calls` and `answered` are the ids of all calls and of all results, in order; `spoken` is every text of a
    person or of the model.
    """

    model: str
    system: str
    text: str
    results: Sequence[str]
    all_results: Sequence[str]
    calls: Sequence[str]
    answered: Sequence[str]
    spoken: Sequence[str]


class Mind:
    """A model and, unless it is the demo, the server that it is behind."""

    def __init__(self, kind: str, server: ScriptedProvider | None) -> None:
        self.kind = kind
        self._server = server

    @property
    def server(self) -> ScriptedProvider:
        assert self._server is not None, "the demo model has no server"
        return self._server

    @property
    def is_demo(self) -> bool:
        return self._server is None

    def environment(self) -> dict[str, str]:
        """The settings that make the bot ask this model."""
        if self._server is None:
            return {"PROVIDERS__DEMO__KIND": "demo"}
        return {
            "PROVIDERS__MIND__KIND": self.kind,
            "PROVIDERS__MIND__BASE_URL": self._server.base_url,
            "PROVIDERS__MIND__API_KEY": KEY,
            "PROVIDERS__MIND__MODEL": "scripted-1",
        }

    @property
    def requests(self) -> list[Asked]:
        """What came in so far."""
        return [read(self.kind, body) for body in self.server.requests]

    def script(self, *answers: Answer) -> None:
        """Answers for the requests to come; after the last one the phrases of `phrases` count."""
        self.server.script(answers)

    def assert_valid(self) -> None:
        """In every request each call has exactly one result, and no result is without its call."""
        for number, asked in enumerate([] if self.is_demo else self.requests):
            assert sorted(asked.calls) == sorted(asked.answered), f"request {number}: {self.server.requests[number]}"
            assert len(set(asked.calls)) == len(asked.calls), f"request {number} has two calls of one id"


@asynccontextmanager
async def mind(kind: str) -> AsyncIterator[Mind]:
    """A model of `KINDS` until the end of the block; then all that it was asked must have been valid."""
    if kind == "demo":
        yield Mind(kind, None)
        return
    async with ScriptedProvider(kind=kind, split=1) as server:
        server.respond(phrases(kind))
        model = Mind(kind, server)
        yield model
    model.assert_valid()


def phrases(kind: str) -> Callable[[Json], Answer]:
    """A model that follows some of the demo's phrases, from what the request says only."""

    def answer(body: Json) -> Answer:
        asked = read(kind, body)
        if asked.results:
            return Pass(text=_pieces(_about(asked.results[-1])))
        text = asked.text.rpartition(": ")[2].strip()
        if match := re.fullmatch(r"write (.+) to (\S+)", text, re.DOTALL):
            return Pass(calls=[("write_file", json.dumps({"path": match[2], "content": match[1] + "\n"}))])
        match text.rstrip("?"):
            case "what is in this folder":
                return Pass(calls=[("list_dir", "{}")])
            case "long answer":
                return Pass(text=long_answer())
            case _:
                return Pass(text=_pieces(f"You said: {text}"))

    return answer


def long_answer(words: int = LONG_WORDS) -> list[Piece]:
    """Numbered words with a pause after each, as the demo says them."""
    pieces: list[Piece] = []
    for number in range(1, words + 1):
        pieces += [f"word {number}" + (".\n" if number % 10 == 0 else ", "), 1 / 30]
    return pieces


def read(kind: str, body: Json) -> Asked:
    """A request's body on the wire of `kind`."""
    system, messages = (_anthropic if kind == "anthropic" else _openai)(body)
    said = [number for number, (role, text, *_) in enumerate(messages) if role == "user" and text]
    newest = said[-1] if said else 0
    return Asked(
        model=body["model"],
        system=system,
        text=messages[newest][1] if said else "",
        results=[text for role, text, _, results in messages[newest + 1 :] for text in results.values()],
        all_results=[text for *_, results in messages for text in results.values()],
        calls=[call for _, _, calls, _ in messages for call in calls],
        answered=[call for _, _, _, results in messages for call in results],
        spoken=[text for _, text, _, _ in messages if text],
    )


_Message = tuple[str, str, list[str], dict[str, str]]
"""Role, text, ids of calls, results by id."""


def _openai(body: Json) -> tuple[str, list[_Message]]:
    system, messages = "", []
    for message in body["messages"]:
        text = _joined(message.get("content"))
        calls = [call["id"] for call in message.get("tool_calls") or ()]
        match message["role"]:
            case "system" | "developer":
                system = text
            case "tool":
                messages.append(("tool", "", calls, {message["tool_call_id"]: text}))
            case role:
                messages.append((role, text, calls, {}))
    return system, messages


def _anthropic(body: Json) -> tuple[str, list[_Message]]:
    messages: list[_Message] = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = {b["tool_use_id"]: _joined(b.get("content")) for b in blocks if b["type"] == "tool_result"}
        if results:
            messages.append(("tool", "", [], results))
        text, calls = _joined(blocks), [b["id"] for b in blocks if b["type"] == "tool_use"]
        if text or calls:
            messages.append((message["role"], text, calls, {}))
    return _joined(body.get("system")), messages


def _joined(content: Any) -> str:
    if not isinstance(content, list):
        return content or ""
    return "".join(block.get("text", "") for block in content if block.get("type") == "text")


def _pieces(text: str) -> list[Piece]:
    return list(re.findall(r"\S+\s*", text))


def _about(result: str) -> str:
    if result.lower().startswith("not run"):
        return f"I hear you: {result.rpartition(' says: ')[2]}"
    return f"Done: {result}"
