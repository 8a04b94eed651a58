"""The one way by which a tool fetches bytes: from Discord only, no more than it asked for, wherever it is led."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import httpx

from tools.base import ToolError

CDN = ("https://cdn.discordapp.com", "https://media.discordapp.net")
TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloads:
    """Fetches from Discord's CDN and from the host of the API (`api_base`), where that is another."""

    http: httpx.AsyncClient
    api_base: str

    async def get(self, url: str, *, max_bytes: int) -> bytes:
        """What lies at `url`. Raises ToolError for another host, a redirect, an error, or more than `max_bytes`."""
        allowed = {_origin(base) for base in (*CDN, self.api_base)}
        if _origin(url) is None or _origin(url) not in allowed:
            raise ToolError("that is not stored by Discord, so it is not fetched")
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                self.http.stream("GET", url, headers={"accept-encoding": "identity"}, follow_redirects=False) as answer,
            ):
                if answer.status_code != 200:
                    raise ToolError(f"Discord does not give out that file (status {answer.status_code})")
                return await _read(answer, max_bytes)
        except TimeoutError as error:
            raise ToolError(f"Discord did not give out that file within {TIMEOUT_S:g} s; try again later") from error
        except httpx.HTTPError as error:
            raise ToolError("Discord's files cannot be reached now; try again in a moment") from error


async def _read(answer: httpx.Response, max_bytes: int) -> bytes:
    data = bytearray()
    async for block in answer.aiter_bytes():
        data += block
        if len(data) > max_bytes:
            raise ToolError(f"that file is larger than {max_bytes // 1024} KiB; ask for a smaller one")
    return bytes(data)


def _origin(url: str) -> tuple[str, str, int | None] | None:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        return None
    port = parsed.port or {"http": 80, "https": 443}.get(parsed.scheme)
    return (parsed.scheme, parsed.host, port) if parsed.scheme in ("http", "https") and parsed.host else None
