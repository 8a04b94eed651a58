"""The NovelAI adapter against a server on a real socket that behaves like its API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from pipeline.errors import ProviderRejected, StreamCut
from pipeline.messages import AssistantMessage, Image, SystemMessage, ToolCall, ToolMessage, Usage, UserMessage
from pipeline.provider import Finish, ProviderRequest, TextDelta
from pipeline.providers import ProviderConfig, http_client
from pipeline.providers._novelai_models import MODELS, ModelFacts, Sampling, Side
from pipeline.providers.novelai import NovelAI, api_url
from tests.pipeline.providers.helpers import ASKED, READ_FILE, Naps, Seen, events_of, request_of, seen_in
from tests.support.novelai_server import CHAT, SCRIPT, TOKEN, NovelAIServer, novelai_error
from tests.support.provider_wire import Pass, Raw, sse

CALL = "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>ä.txt</arg_value>\n</tool_call>"
GLM, KAYRA, ERATO = "glm-4-6", "kayra-v1", "llama-3-erato-v1"


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with http_client() as client:
        yield client


def provider_at(server: NovelAIServer, client: httpx.AsyncClient, **options: Any) -> NovelAI:
    models = options.pop("models", MODELS)
    given = {"api_key": SecretStr(TOKEN), "model": GLM, **options}
    config = ProviderConfig(name="nai", kind="novelai", base_url=server.base_url, **given)
    return NovelAI(config, client, sleep=Naps(), models=models)


async def seen(provider: NovelAI, *messages: Any, **options: Any) -> Seen:
    return seen_in(await events_of(provider, request_of(messages or ASKED, options.get("tools", ()))))


@pytest.mark.parametrize("split", [None, 1])
async def test_a_chat_turn_with_a_tool_goes_through(split: int | None, client: httpx.AsyncClient) -> None:
    async with NovelAIServer(split=split) as server:
        server.script([Pass(thinking=["hm"], text=["I look. ", CALL]), Pass(text=["It is ", "empty 😀."])])
        provider = provider_at(server, client)
        first = await seen(provider, tools=[READ_FILE])
        assert (first.thinking, first.text.strip(), first.finish) == ("hm", "I look.", Finish.TOOL_CALLS)
        (call,) = first.calls
        assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "ä.txt"})
        called = ToolCall(id="id0", name=call.name, arguments=call.arguments)
        answer = AssistantMessage(text=first.text, calls=(called,), replay=first.replay)
        result = ToolMessage(call_id="id0", name="read_file", content="(empty)")
        second = await seen(provider, *ASKED, answer, result, tools=[READ_FILE])
        assert (second.text, second.finish, second.usage) == ("It is empty 😀.", Finish.END, Usage())
        assert server.paths == [CHAT, CHAT]
        roles = [message["role"] for message in server.requests[1]["messages"]]
        assert roles == ["system", "user", "assistant", "user"]
        assert CALL in server.requests[1]["messages"][2]["content"]
        assert "<tool_response>\n(empty)\n</tool_response>" in server.requests[1]["messages"][3]["content"]


async def test_a_chat_request_has_only_what_the_api_knows(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([Pass(text=["ok"])])
        await seen(provider_at(server, client), tools=[READ_FILE])
        assert set(server.requests[0]) == {"model", "messages", "stream", "max_tokens", "enable_thinking"}
        assert (server.requests[0]["stream"], server.requests[0]["max_tokens"]) == (True, 150)
        assert server.requests[0]["enable_thinking"] is False


@pytest.mark.parametrize(("option", "limit"), [({"effort": "low"}, 150), ({"thinking_budget_tokens": 1024}, 1174)])
async def test_thinking_is_on_where_it_is_asked_for(
    option: dict[str, Any], limit: int, client: httpx.AsyncClient
) -> None:
    async with NovelAIServer() as server:
        server.script([Pass(text=["ok"])])
        await seen(provider_at(server, client, **option))
        assert "enable_thinking" not in server.requests[0]
        assert server.requests[0]["max_tokens"] == limit


async def test_a_zero_that_means_off_is_left_out(client: httpx.AsyncClient) -> None:
    facts = ModelFacts(
        side=Side.CHAT, context_tokens=9, chars_per_token=1, sampling=Sampling(temperature=0, top_k=0, min_p=0.1)
    )
    async with NovelAIServer() as server:
        server.script([Pass(text=["ok"])])
        await seen(provider_at(server, client, models={GLM: facts}))
        assert (server.requests[0]["temperature"], server.requests[0]["min_p"]) == (0, 0.1)
        assert "top_k" not in server.requests[0]


async def test_contents_are_strings_even_with_an_image(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([Pass(text=["ok"])])
        asked = UserMessage(text="jane: see", images=(Image(media_type="image/png", data="aGk="),))
        assert (await seen(provider_at(server, client), asked)).text == "ok"
        assert "cannot see images" in server.requests[0]["messages"][0]["content"]


async def test_the_server_refuses_contents_in_parts(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        body = {"model": GLM, "stream": True, "messages": [{"role": "user", "content": [{"type": "text"}]}]}
        answer = await client.post(server.base_url + CHAT, json=body, headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 400
        assert "cannot unmarshal array" in answer.json()["message"]


@pytest.mark.parametrize("split", [None, 1])
async def test_a_script_is_written_and_cut_at_the_next_speaker(split: int | None, client: httpx.AsyncClient) -> None:
    async with NovelAIServer(split=split) as server:
        server.script([Pass(text=[" Hello", " jane.", " How are", " you?\nja", "ne", ": fine", asyncio.Event()])])
        system, asked = SystemMessage(text="Be kind."), UserMessage(text="jane: hello")
        provider = provider_at(server, client, model=KAYRA)
        heard = await seen(provider, system, asked, tools=[READ_FILE])
        assert (heard.text, heard.finish, heard.calls) == ("Hello jane. How are you?", Finish.END, ())
        assert server.paths == [SCRIPT]
        assert server.requests[0]["input"] == "Be kind.\n***\njane: hello\nAssistant:"
        parameters = server.requests[0]["parameters"]
        assert (parameters["use_string"], parameters["max_length"], parameters["prefix"]) == (True, 150, "vanilla")
        assert not provider.traits.has_tools


async def test_erato_is_given_its_preamble(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([Pass(text=[" ok"])])
        await seen(provider_at(server, client, model=ERATO))
        assert server.requests[0]["input"].startswith("<|startoftext|><|reserved_special_token81|>jane: hello\n")


@pytest.mark.parametrize("model", [GLM, KAYRA])
@pytest.mark.parametrize("split", [None, 1])
async def test_a_cut_answer_goes_on_where_it_was_cut(model: str, split: int | None, client: httpx.AsyncClient) -> None:
    async with NovelAIServer(split=split) as server:
        server.script([Pass(text=["One. Tw"], finish="length"), Pass(text=["o. Th", "ree."]), Pass(text=["ok"])])
        provider = provider_at(server, client, model=model)
        first = await seen(provider)
        assert (first.text, first.finish) == ("One.", Finish.LENGTH)
        begun = AssistantMessage(text=first.text, replay=first.replay)
        second = await seen(provider, *ASKED, begun)
        assert (second.text, second.finish, second.replay) == (" Two. Three.", Finish.END, None)
        ended = AssistantMessage(text=second.text, replay=second.replay)
        await seen(provider, *ASKED, begun, ended, UserMessage(text="jane: more"))
        sent = [body.get("input") or body["messages"] for body in server.requests]
        if model == GLM:
            assert sent[1][-1] == {"role": "assistant", "content": "One. Tw"}
            assert sent[2][-2] == {"role": "assistant", "content": "One. Two. Three."}
        else:
            assert sent[1].endswith("\nAssistant: One. Tw")
            assert sent[2].endswith("\nAssistant: One. Two. Three.\njane: more\nAssistant:")


async def test_an_answer_cut_before_its_first_sentence_ends_goes_on(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([Pass(text=[text], finish="length") for text in ("On", "e two")])
        server.script([Pass(text=[" three."])])
        provider = provider_at(server, client)
        messages: list[Any] = [*ASKED]
        for expected in ("", "", "One two three."):
            heard = await seen(provider, *messages)
            assert heard.text == expected
            messages.append(AssistantMessage(text=heard.text, replay=heard.replay))
        assert server.requests[2]["messages"][-1]["content"] == "One two"


async def test_a_cut_call_goes_on_and_is_made_once(client: httpx.AsyncClient) -> None:
    half = len(CALL) // 2
    async with NovelAIServer() as server:
        server.script([Pass(text=["I look. " + CALL[:half]], finish="length"), Pass(text=[CALL[half:]])])
        provider = provider_at(server, client)
        first = await seen(provider, tools=[READ_FILE])
        assert (first.text.strip(), first.calls, first.finish) == ("I look.", (), Finish.LENGTH)
        begun = AssistantMessage(text=first.text, replay=first.replay)
        second = await seen(provider, *ASKED, begun, tools=[READ_FILE])
        assert (second.text.strip(), [call.name for call in second.calls]) == ("", ["read_file"])
        assert server.requests[1]["messages"][-1]["content"] == "I look. " + CALL[:half]


async def test_cut_thinking_goes_on_as_thinking(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([Pass(text=["<think>first "], finish="length"), Pass(text=["second</think>Hi."])])
        provider = provider_at(server, client, effort="low")
        first = await seen(provider)
        assert (first.thinking, first.text, first.finish) == ("first ", "", Finish.LENGTH)
        second = await seen(provider, *ASKED, AssistantMessage(text="", replay=first.replay))
        assert (second.thinking, second.text) == ("second", "Hi.")
        assert server.requests[1]["messages"][-1]["content"] == "<think>first "


async def test_the_unfinished_sentence_is_held_back_while_it_streams(client: httpx.AsyncClient) -> None:
    gate = asyncio.Event()
    async with NovelAIServer() as server:
        server.script([Pass(text=["One. Tw", gate, "o"])])
        texts = []
        async with aclosing(provider_at(server, client).stream(request_of())) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    texts.append((event.text, gate.is_set()))
                    gate.set()
        assert texts == [("One.", False), (" Two", True)]


@pytest.mark.parametrize("model", [GLM, KAYRA])
async def test_a_stream_without_its_end_was_cut(model: str, client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([Pass(text=["One. Tw"], cut=True)])
        with pytest.raises(StreamCut):
            await seen(provider_at(server, client, model=model))


@pytest.mark.parametrize(
    ("status", "advice"),
    [(400, "options"), (401, "API key of nai in NAI_KEY"), (402, "subscription"), (403, "tier"), (429, "wait")],
)
@pytest.mark.parametrize("model", [GLM, KAYRA])
async def test_a_refusal_says_what_to_do(model: str, status: int, advice: str, client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.respond(lambda _: novelai_error(status, f"because of {TOKEN}"))
        with pytest.raises(ProviderRejected) as raised:
            await seen(provider_at(server, client, model=model, key_variable="NAI_KEY"))
        assert advice in raised.value.advice
        assert str(raised.value) == f"nai answered with error {status}: because of [key]"
        assert (raised.value.status, raised.value.transient) == (status, status == 429)


@pytest.mark.parametrize("model", [GLM, KAYRA])
async def test_passing_trouble_is_tried_again(model: str, client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([novelai_error(429), novelai_error(503), Pass(text=[" ok"])])
        assert (await seen(provider_at(server, client, model=model))).text == "ok"


@pytest.mark.parametrize("model", [GLM, KAYRA])
async def test_an_error_inside_the_stream_is_an_error(model: str, client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([Raw(frames=[sse({"statusCode": 402, "message": "no Anlas"})])])
        with pytest.raises(ProviderRejected, match="no Anlas") as raised:
            await seen(provider_at(server, client, model=model))
        assert (raised.value.status, "subscription" in raised.value.advice) == (402, True)


async def test_a_newer_model_on_the_script_side_is_refused(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        with pytest.raises(ProviderRejected, match="not available on this endpoint") as raised:
            await seen(provider_at(server, client, models={GLM: MODELS[KAYRA]}))
        assert (raised.value.status, "tier" in raised.value.advice) == (403, True)


async def test_the_key_of_the_request_is_used(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        server.script([Pass(text=["ok"])])
        provider = provider_at(server, client, api_key=SecretStr("pst-old"), more_keys=(SecretStr(TOKEN),))
        assert provider.traits.keys == 2
        request = ProviderRequest(model="", messages=ASKED, key=1)
        assert seen_in(await events_of(provider, request)).text == "ok"


async def test_a_wrong_token_is_refused(client: httpx.AsyncClient) -> None:
    async with NovelAIServer() as server:
        with pytest.raises(ProviderRejected) as raised:
            await seen(provider_at(server, client, api_key=SecretStr("pst-wrong")))
        assert raised.value.status == 401


@pytest.mark.parametrize(
    "base", ["", "https://text.novelai.net/", "https://text.novelai.net/oa/v1", f"https://text.novelai.net{CHAT}"]
)
def test_the_address_is_found_from_any_of_its_parts(base: str) -> None:
    assert api_url(base, CHAT) == f"https://text.novelai.net{CHAT}"
    assert api_url(base, SCRIPT) == f"https://text.novelai.net{SCRIPT}"
