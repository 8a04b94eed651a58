"""The tool loop over the NovelAI adapter: answers that the output limit cuts become whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import pytest
from pydantic import SecretStr

from pipeline.params import LoopLimits
from pipeline.providers import ProviderConfig, build, http_client
from pipeline.results import Reason, StreamStatus
from tests.support.novelai_server import TOKEN, NovelAIServer
from tests.support.provider_wire import Pass
from tests.support.turns import TurnInMemory

CALL = "<tool_call>echo\n<arg_key>text</arg_key>\n<arg_value>hi</arg_value>\n</tool_call>"


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with http_client() as client:
        yield client


def turn_at(server: NovelAIServer, client: httpx.AsyncClient, model: str) -> TurnInMemory:
    config = ProviderConfig(name="nai", kind="novelai", base_url=server.base_url, api_key=SecretStr(TOKEN), model=model)
    limits = LoopLimits(max_iterations=100, empty_retry_delay_s=0)
    return TurnInMemory(model=cast("Any", build(config, client)), limits=limits)


def cut(*texts: str) -> list[Pass]:
    return [Pass(text=[text], finish="length") for text in texts]


@pytest.mark.parametrize("model", ["glm-4-6", "kayra-v1"])
async def test_a_turn_shows_a_cut_answer_as_one(model: str, client: httpx.AsyncClient) -> None:
    async with NovelAIServer(split=3) as server:
        server.script([*cut(" One. Tw", "o. Thr"), Pass(text=["ee. Four"])])
        result = await turn_at(server, client, model).run()
        assert (result.text, result.reason) == ("One. Two. Three. Four", Reason.END)


@pytest.mark.parametrize("model", ["glm-4-6", "kayra-v1"])
async def test_a_turn_that_stays_cut_ends_with_a_whole_sentence(model: str, client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script(cut(" One. Tw", "o. Thr", "ee. Fo"))
        result = await turn_at(server, client, model).run()
        assert (result.text, result.reason, len(server.requests)) == ("One. Two. Three.", Reason.LENGTH, 3)


async def test_an_answer_cut_before_it_says_anything_is_asked_for_again(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([*cut("One tw"), Pass(text=["o three."])])
        result = await turn_at(server, client, "glm-4-6").run()
        assert (result.text, result.statuses[0]) == ("One two three.", StreamStatus.EMPTY_RESPONSE)


async def test_a_cut_call_runs_once_it_is_whole(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([*cut(CALL[:30]), Pass(text=[CALL[30:]]), Pass(text=["Done."])])
        turn = turn_at(server, client, "glm-4-6")
        result = await turn.run()
        assert (result.text, turn.bench.runs) == ("Done.", [("echo", "hi")])
