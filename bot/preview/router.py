"""REST routes by Discord's own templates, and what a handler takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

from bot.preview.backend import Backend
from bot.preview.errors import Problems, method_not_allowed, not_found
from bot.preview.values import Json

Auth = Literal["bot", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One file of a multipart request: the index in `files[n]`, its name and its bytes."""

    index: int
    filename: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A REST request that has passed the door: parameters of the path, query, JSON body, files."""

    params: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    files: Sequence[Upload] = ()

    @property
    def fields(self) -> Json:
        """The body's fields; none when it is no JSON object."""
        return self.body if isinstance(self.body, dict) else {}

    def number(self, name: str, default: int, high: int) -> int:
        """A query parameter from 0 to `high`. Raises DiscordError 50035."""
        value = self.query.get(name, str(default))
        if not (value.isdecimal() and value.isascii() and int(value) <= high):
            problems = Problems()
            problems.add((name,), "NUMBER_TYPE_MAX", f"int value should be between 0 and {high}.")
            problems.raise_any()
        return int(value)

    def __getitem__(self, name: str) -> str:
        return self.params[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A status and a JSON body; None is an empty one."""

    status: int = 200
    body: Any = None


NO_CONTENT = Answer(status=204)

# Handlers do not wait for anything, so each is one step that nothing else can come between.
Handler = Callable[[Backend, Call], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`template` is the path as Discord documents it, such as `/channels/{channel_id}/messages`."""

    method: str
    template: str
    handler: Handler
    auth: Auth = "bot"

    @property
    def segments(self) -> list[str]:
        return self.template.strip("/").split("/")


class Router:
    """Finds the route of a path; literal segments win over parameters."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes: dict[tuple[int, str], list[Route]] = {}
        for route in sorted(routes, key=lambda route: route.template.count("{")):
            self._routes.setdefault((len(route.segments), route.segments[0]), []).append(route)
        self._split = {route.template: route.segments for route in routes}

    def find(self, method: str, raw_path: str) -> tuple[Route, dict[str, str]]:
        """The route and the parameters of its path.

        Raises DiscordError: 404 for an unknown path, 405 for an unknown method of a known one, 50035 for a
        parameter that should be a snowflake and is not.
        """
        path = [unquote(segment) for segment in raw_path.strip("/").split("/")]
        known_path = False
        for route in self._routes.get((len(path), path[0]), ()):
            params = _match(self._split[route.template], path)
            if params is None:
                continue
            if route.method == method:
                _check_snowflakes(params)
                return route, params
            known_path = True
        raise method_not_allowed() if known_path else not_found()


def _match(template: Sequence[str], path: Sequence[str]) -> dict[str, str] | None:
    params = {}
    for pattern, segment in zip(template, path, strict=True):
        if pattern.startswith("{"):
            params[pattern[1:-1]] = segment
        elif pattern != segment:
            return None
    return params


def _check_snowflakes(params: Mapping[str, str]) -> None:
    problems = Problems()
    for name, value in params.items():
        if name.endswith("_id") and not (value.isdecimal() and value.isascii() and len(value) <= 20):
            problems.add((name,), "NUMBER_TYPE_COERCE", f'Value "{value[:100]}" is not snowflake.')
    problems.raise_any()
