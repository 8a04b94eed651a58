"""The adapters against a real server on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from pipeline.errors import ProviderUnreachable, StreamCut
from pipeline.messages import AssistantMessage, ToolCall, ToolMessage, Usage
from pipeline.provider import CallRequest, Finish, Progress, Provider, TextDelta
from pipeline.providers import ProviderConfig, build, http_client
from tests.pipeline.providers.helpers import ASKED, READ_FILE, events_of, request_of, seen_in
from tests.support.provider_server import Pass, Raw, ScriptedProvider, refusal, sse

KINDS = ("openai_compat", "anthropic")
READ = ("read_file", '{"path": "ä.txt"}')


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with http_client() as client:
        yield client


def provider_at(server: ScriptedProvider, client: httpx.AsyncClient) -> Provider:
    return build(ProviderConfig(name="main", kind=server.kind, base_url=server.base_url, model="m"), client)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_turn_with_a_tool_goes_through_byte_by_byte(kind: str, client: httpx.AsyncClient) -> None:
    async with ScriptedProvider(kind=kind, split=1) as server:
        server.script([Pass(thinking=["hm"], calls=[READ, READ]), Pass(text=["Two ", "files 😀."])])
        provider = provider_at(server, client)
        first = seen_in(await events_of(provider, request_of(tools=[READ_FILE])))
        assert first.calls == (CallRequest(name=READ[0], arguments=READ[1]),) * 2
        assert (first.thinking, first.finish) == ("hm", Finish.TOOL_CALLS)
        calls = tuple(
            ToolCall(id=f"id{n}", name=call.name, arguments=call.arguments) for n, call in enumerate(first.calls)
        )
        results = [ToolMessage(call_id=call.id, name=call.name, content="text") for call in calls]
        answer = AssistantMessage(text=first.text, calls=calls, replay=first.replay)
        second = seen_in(await events_of(provider, request_of([*ASKED, answer, *results])))
        assert (second.text, second.usage) == ("Two files 😀.", Usage(input_tokens=12, output_tokens=7))
        assert len(server.requests[1]["messages"]) == (4 if kind == "openai_compat" else 3)


@pytest.mark.parametrize("kind", KINDS)
async def test_each_delta_arrives_before_the_next_is_sent(kind: str, client: httpx.AsyncClient) -> None:
    gate = asyncio.Event()
    async with ScriptedProvider(kind=kind) as server:
        server.script([Pass(text=["first", gate, "second"])])
        texts = []
        async with aclosing(provider_at(server, client).stream(request_of())) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    texts.append((event.text, gate.is_set()))
                    gate.set()
        assert texts == [("first", False), ("second", True)]


@pytest.mark.parametrize("kind", KINDS)
async def test_closing_the_stream_hangs_up(kind: str, client: httpx.AsyncClient) -> None:
    async with ScriptedProvider(kind=kind) as server:
        server.script([Pass(text=["first", asyncio.Event(), "never"])])
        async with aclosing(provider_at(server, client).stream(request_of())) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    break
        await asyncio.wait_for(server.abandoned.wait(), 10)


@pytest.mark.parametrize("kind", KINDS)
async def test_cancelling_the_reader_hangs_up(kind: str, client: httpx.AsyncClient) -> None:
    begun = asyncio.Event()

    async def read(provider: Provider) -> None:
        async with aclosing(provider.stream(request_of())) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    begun.set()

    async with ScriptedProvider(kind=kind) as server:
        server.script([Pass(text=["first", asyncio.Event(), "never"])])
        task = asyncio.create_task(read(provider_at(server, client)))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.abandoned.wait(), 10)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_keep_alive_is_a_heartbeat_while_the_model_thinks(kind: str, client: httpx.AsyncClient) -> None:
    gate = asyncio.Event()
    async with ScriptedProvider(kind=kind) as server:
        server.script([Raw(frames=[b": ping\n\n", gate, sse("[DONE]"), sse({"type": "message_stop"})])])
        async with aclosing(provider_at(server, client).stream(request_of())) as stream:
            assert await anext(stream) == Progress()
            gate.set()
            assert seen_in([event async for event in stream]).finish is Finish.END


@pytest.mark.parametrize("kind", KINDS)
async def test_passes_share_a_connection(kind: str, client: httpx.AsyncClient) -> None:
    async with ScriptedProvider(kind=kind) as server:
        server.script([Pass(text=["ok"])] * 4)
        for _ in range(4):
            await events_of(provider_at(server, client))
        assert len(server.connections) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_never_hangs_up_does_not_hold_the_answer_back(kind: str, client: httpx.AsyncClient) -> None:
    async with ScriptedProvider(kind=kind) as server:
        server.script([Raw(frames=[sse("[DONE]"), sse({"type": "message_stop"}), asyncio.Event()])])
        assert seen_in(await events_of(provider_at(server, client))).finish is Finish.END


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hang_up", [True, False])
async def test_a_cut_call_never_comes_out(kind: str, hang_up: bool, client: httpx.AsyncClient) -> None:
    async with ScriptedProvider(kind=kind) as server:
        server.script([Pass(text=["I write."], calls=[READ], cut=True, hang_up=hang_up)])
        with pytest.raises(StreamCut):
            await events_of(provider_at(server, client))


async def test_a_refused_request_is_tried_again_over_the_same_connection(client: httpx.AsyncClient) -> None:
    async with ScriptedProvider() as server:
        server.script([refusal(429, retry_after="0"), refusal(503, retry_after="0"), Pass(text=["ok"])])
        assert seen_in(await events_of(provider_at(server, client))).text == "ok"
        assert (len(server.requests), len(server.connections)) == (3, 1)


async def test_nobody_listening_is_unreachable(client: httpx.AsyncClient) -> None:
    async with ScriptedProvider() as server:
        gone = server.base_url
    config = ProviderConfig(name="main", kind="openai_compat", base_url=gone, model="m", retry_attempts=1)
    with pytest.raises(ProviderUnreachable) as raised:
        await events_of(build(config, client))
    assert "base URL" in raised.value.advice


async def test_two_hundred_streams_run_at_once(client: httpx.AsyncClient) -> None:
    gate = asyncio.Event()
    async with ScriptedProvider() as server:
        server.respond(lambda _: Pass(text=["a", gate, "b"]))
        provider = provider_at(server, client)
        tasks = [asyncio.create_task(events_of(provider)) for _ in range(200)]
        await server.arrived(200)
        gate.set()
        assert {seen_in(events).text for events in await asyncio.gather(*tasks)} == {"ab"}
