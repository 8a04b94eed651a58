"""Holds every call against Discord's own OpenAPI description, where that is at hand."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from bot.preview.router import Answer, Call

SHARED = Path(os.environ.get("COUNTERSIGN_SHARED") or Path(__file__).resolve().parents[3] / "shared")
PATH = SHARED / "discord" / "openapi.json"

# Where the description and what runs in the world differ. (method, template) -> query parameters it does not know.
UNDESCRIBED_QUERY: dict[tuple[str, str], set[str]] = {
    # discord.py asks the original answer's thread too; Discord has taken it since threads exist.
    ("GET", "/webhooks/{webhook_id}/{webhook_token}/messages/@original"): {"thread_id"},
}
# Requests only: discord.py sends some snowflakes as integers (the ids of attachments), and Discord takes them.
INTEGER_SNOWFLAKES = {"type": ["string", "integer"], "pattern": "^(0|[1-9][0-9]*)$"}
# Answers: the description gives field errors integer codes, but Discord's reference shows names there, and sends them.
NAMED_CODES = {"type": "object", "properties": {"code": {"type": "string"}, "message": {"type": "string"}}}
NAMED_ERRORS = {
    "type": "object",
    "properties": {"_errors": {"type": "array", "items": {**NAMED_CODES, "required": ["code", "message"]}}},
    "additionalProperties": False,
    "required": ["_errors"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """What does not fit, and where."""

    where: str
    what: str


@dataclass(slots=True)
class Counts:
    """How many bodies were held against a schema."""

    requests: int = 0
    answers: int = 0


@dataclass(slots=True)
class OpenApiValidator:
    """The twin's validator: it only notes, the fixture fails the test."""

    description: Description
    counts: Counts
    mismatches: list[Mismatch] = field(default_factory=list)

    def request(self, method: str, template: str, call: Call) -> None:
        """Hold an accepted request against the description."""
        operation = self._operation(method, template)
        if operation is None:
            return
        self.counts.requests += 1
        known = UNDESCRIBED_QUERY.get((method, template), set()) | self.description.query_names(method, template)
        for name in set(call.query) - known:
            self._note(f"{method} {template} query", f"{name} is not described")
        content = operation.get("requestBody", {}).get("content", {})
        if call.body is None or "application/json" not in content:
            if call.body is not None:
                self._note(f"{method} {template} request", "a body where none is described")
            return
        pointer = f"/paths/{_escape(template)}/{method.lower()}/requestBody/content/application~1json/schema"
        self._check(f"{method} {template} request", self.description.validator(pointer, answer=False), call.body)

    def answer(self, method: str, template: str, answer: Answer) -> None:
        """Hold an answer against the description."""
        operation = self._operation(method, template)
        if operation is None or answer.status >= 500:
            return
        self.counts.answers += 1
        responses = operation["responses"]
        status = str(answer.status)
        name = status if status in responses else f"{status[0]}XX"
        where = f"{method} {template} answer {status}"
        if name not in responses:
            self._note(where, f"the description has only {', '.join(responses)}")
            return
        pointer = f"/paths/{_escape(template)}/{method.lower()}/responses/{name}"
        response = responses[name]
        if "$ref" in response:
            pointer = response["$ref"].removeprefix("#")
            response = self.description.at(pointer)
        if "application/json" in response.get("content", {}):
            schema = self.description.validator(f"{pointer}/content/application~1json/schema", answer=True)
            self._check(where, schema, answer.body)
        elif answer.body is not None:
            self._note(where, "a body where none is described")

    def crash(self, method: str, template: str, error: Exception) -> None:
        """A call that the twin could not serve is a mismatch too."""
        self._note(f"{method} {template}", f"the twin failed: {error!r}")

    def _operation(self, method: str, template: str) -> Mapping[str, Any] | None:
        operation = self.description.operation(method, template)
        if operation is None:
            self._note(f"{method} {template}", "Discord has no such call")
        return operation

    def _check(self, where: str, validator: jsonschema_rs.Draft202012Validator, body: Any) -> None:
        for problem in validator.iter_errors(body):
            at = "/".join(str(part) for part in problem.instance_path)
            self._note(where, f"{at or 'body'}: {problem.message[:400]}")

    def _note(self, where: str, what: str) -> None:
        self.mismatches.append(Mismatch(where=where, what=what))


class Description:
    """The parsed file, and a validator for each of its schemas, built once."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._registry = jsonschema_rs.Registry(
            [
                ("urn:answers", _with(document, InnerErrors=NAMED_ERRORS)),
                ("urn:requests", _with(document, SnowflakeType=INTEGER_SNOWFLAKES)),
            ]
        )
        self._validators: dict[tuple[str, bool], jsonschema_rs.Draft202012Validator] = {}

    def operation(self, method: str, template: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = self._document["paths"].get(template, {}).get(method.lower())
        return found

    def query_names(self, method: str, template: str) -> set[str]:
        path = self._document["paths"][template]
        parameters = [*path.get("parameters", ()), *path[method.lower()].get("parameters", ())]
        return {one["name"] for one in parameters if one.get("in") == "query"}

    def at(self, pointer: str) -> Mapping[str, Any]:
        node: Any = self._document
        for part in pointer.strip("/").split("/"):
            node = node[part.replace("~1", "/").replace("~0", "~")]
        found: Mapping[str, Any] = node
        return found

    def validator(self, pointer: str, *, answer: bool) -> jsonschema_rs.Draft202012Validator:
        """The validator of the schema at a JSON pointer; requests are read with the relaxed snowflakes."""
        key = (pointer, answer)
        if key not in self._validators:
            base = "urn:answers" if answer else "urn:requests"
            # Templates have braces, which a reference has to escape.
            quoted = pointer.replace("{", "%7B").replace("}", "%7D")
            self._validators[key] = jsonschema_rs.Draft202012Validator(
                {"$ref": f"{base}#{quoted}"}, registry=self._registry, validate_formats=True
            )
        return self._validators[key]


def _with(document: dict[str, Any], **schemas: Any) -> dict[str, Any]:
    """The document with some of its schemas replaced."""
    components = document["components"]
    return {**document, "components": {**components, "schemas": {**components["schemas"], **schemas}}}


@functools.cache
def description() -> Description | None:
    """The description, read once a process; None when it is not at hand."""
    return Description(orjson.loads(PATH.read_bytes())) if PATH.is_file() else None


def _escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
