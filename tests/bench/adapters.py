"""Events per second through each adapter: a prepared stream, handed over in memory, so only the adapter is measured."""

from __future__ import annotations

import time
from contextlib import aclosing

import httpx
from pydantic import SecretStr

from pipeline.messages import UserMessage
from pipeline.provider import ProviderRequest
from pipeline.providers import ProviderConfig, build
from tests.bench.table import Row
from tests.support.provider_server import Pass
from tests.support.provider_wire import render

EVENTS = 20_000


async def _seconds(kind: str) -> tuple[float, int]:
    body = b"".join(frame for frame in render(kind, Pass(text=["word "] * EVENTS)) if isinstance(frame, bytes))

    async def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        config = ProviderConfig(name="bench", kind=kind, model="m", api_key=SecretStr("k"))
        request = ProviderRequest(model="m", messages=(UserMessage(text="hi"),))
        provider = build(config, client)
        begun = time.perf_counter()
        async with aclosing(provider.stream(request)) as events:
            count = 0
            async for _ in events:
                count += 1
        return time.perf_counter() - begun, count


async def measure() -> list[Row]:
    rows = []
    for kind in ("openai_compat", "anthropic"):
        best = max([count / spent for spent, count in [await _seconds(kind) for _ in range(3)]])
        rows.append(Row(part="adapters", what=f"{kind}, events a second", value=f"{best:,.0f}"))
    return rows
