"""NovelAI's text API on loopback, both sides, answering by script.

What is a `Pass` elsewhere is one here: thinking becomes tags inside the content, calls are not known. Where the API
refuses a request this server does too, whatever the script says.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from tests.support.provider_server import ScriptedProvider
from tests.support.provider_wire import Answer, Frame, Pass, Raw, sse

TOKEN = "pst-0123456789abcdef"
CHAT, SCRIPT = "/oa/v1/chat/completions", "/ai/generate-stream"
NEWER = ("glm-4-6", "xialong-v1")
LEGACY = ("kayra-v1", "clio-v1", "llama-3-erato-v1")


def novelai_error(status: int, message: str = "no", *, retry_after: str | None = None) -> Raw:
    headers = {"content-type": "application/json"} | ({"retry-after": retry_after} if retry_after else {})
    return Raw(status=status, headers=headers, frames=[json.dumps({"statusCode": status, "message": message}).encode()])


class NovelAIServer(ScriptedProvider):
    """`split` as in `ScriptedProvider`. `finish="length"` ends an answer at the limit that the request set."""

    def __init__(self, *, split: int | None = None) -> None:
        super().__init__(kind="novelai", split=split)

    def _next(self, body: dict[str, Any]) -> Answer:
        refused = _refusal(self.paths[-1], self.headers[-1], body)
        if refused is not None:
            return refused
        answer = super()._next(body)
        if isinstance(answer, Raw):
            return answer
        frames = chat_frames(answer, body) if self.paths[-1] == CHAT else script_frames(answer, body)
        return Raw(frames=list(frames), hang_up=answer.hang_up)


def _refusal(path: str, headers: dict[str, str], body: dict[str, Any]) -> Raw | None:
    if headers.get("authorization") != f"Bearer {TOKEN}":
        return novelai_error(401, "Invalid accessToken.")
    if path == SCRIPT:
        if body["model"] in NEWER:
            return novelai_error(403, "model is not available on this endpoint")
        return None if body["model"] in LEGACY else novelai_error(400, "unknown model")
    if path != CHAT:
        return novelai_error(404, "Not Found")
    if body["model"] in LEGACY:
        return novelai_error(400, "unknown model")
    if any(not isinstance(message["content"], str) for message in body["messages"]):
        return novelai_error(
            400, "json: cannot unmarshal array into Go struct field Message.messages.content of type string"
        )
    return None


def chat_frames(answer: Pass, body: dict[str, Any]) -> Iterator[Frame]:
    """The stream of the chat side. Without `stream` one object comes, without anything that could be read."""

    def chunk(content: str, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": {"content": content, "tool_calls": None}, "finish_reason": finish}
        return sse({"id": "c", "object": "chat.completion.chunk", "model": body["model"], "choices": [choice]})

    if not body.get("stream"):
        choice = {"index": 0, "text": "", "token_ids": [1, 2, 3], "finish_reason": "stop"}
        yield json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}).encode()
        return
    thinking = ["<think>", *answer.thinking, "</think>"] if answer.thinking else []
    for piece in (*thinking, *answer.text):
        yield chunk(piece) if isinstance(piece, str) else piece
    if not answer.cut:
        yield chunk("", answer.finish or "stop")
        yield sse("[DONE]")


def script_frames(answer: Pass, body: dict[str, Any]) -> Iterator[Frame]:
    """The stream of the script side: text only where it was asked for, and no reason for the end."""
    parameters = body["parameters"]
    texts = [piece for piece in answer.text if isinstance(piece, str)]
    ptr = parameters["max_length"] - len(texts) if answer.finish == "length" else 0
    for piece in answer.text:
        if not isinstance(piece, str):
            yield piece
            continue
        token = piece if parameters.get("use_string") else base64.b64encode(piece.encode()).decode()
        texts.pop()
        yield sse({"token": token, "ptr": ptr, "final": not texts and not answer.cut}, "newToken")
        ptr += 1
