"""Opening a stream: what is tried again, how long that waits, and what people are told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from pipeline.errors import ProviderError, ProviderRejected, ProviderUnreachable, StreamCut
from pipeline.providers._sse import MAX_EVENT_BYTES
from tests.pipeline.providers.helpers import (
    KEY,
    SHORT,
    Naps,
    Parts,
    Recorder,
    adapter,
    config_of,
    delta,
    events_of,
    seen_in,
)

KINDS = ("openai_compat", "anthropic")


def refused(status: int, message: str = "no", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"type": "e", "message": message}}, headers=headers)


async def failure(recorder: Recorder, kind: str = "openai_compat", **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await events_of(adapter(kind, recorder, **options))
    return raised.value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "trouble",
    [
        *(refused(status) for status in (408, 429, 500, 502, 503, 529)),
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.RemoteProtocolError("Server disconnected without sending a response."),
    ],
    ids=str,
)
async def test_passing_trouble_is_tried_again(kind: str, trouble: httpx.Response | Exception) -> None:
    again = httpx.Response(trouble.status_code, json={}) if isinstance(trouble, httpx.Response) else trouble
    recorder = Recorder(again, again, [SHORT[kind]])
    naps = Naps()
    assert seen_in(await events_of(adapter(kind, recorder, naps=naps))).text == "ok"
    assert len(naps.slept) == 2
    assert 0.5 <= naps.slept[0] < naps.slept[1]


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 413, 422])
async def test_what_will_not_change_is_not_tried_again(status: int) -> None:
    recorder = Recorder(refused(status))
    error = await failure(recorder)
    assert isinstance(error, ProviderRejected)
    assert (error.status, error.transient, len(recorder.requests)) == (status, False, 1)


@pytest.mark.covers("limit PROVIDER_RETRY_ATTEMPTS")
@pytest.mark.parametrize("attempts", [1, 2, 5])
async def test_retry_attempts_is_the_number_of_tries(attempts: int) -> None:
    recorder = Recorder(*(refused(503) for _ in range(9)))
    error = await failure(recorder, retry_attempts=attempts)
    assert (error.status, error.transient, len(recorder.requests)) == (503, True, attempts)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "7"}, 7.0), ({"retry-after": "0.25"}, 0.25), ({"retry-after-ms": "1500"}, 1.5)],
)
async def test_the_wait_that_the_server_asks_for_is_kept(headers: dict[str, str], seconds: float) -> None:
    naps = Naps()
    await events_of(adapter("anthropic", Recorder(refused(429, **headers), [SHORT["anthropic"]]), naps=naps))
    assert naps.slept == [seconds]


async def test_a_wait_given_as_a_date_is_kept() -> None:
    naps = Naps()
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=8), usegmt=True)
    refusal = refused(429, **{"retry-after": then})
    await events_of(adapter("anthropic", Recorder(refusal, [SHORT["anthropic"]]), naps=naps))
    assert 0 < naps.slept[0] <= 8


@pytest.mark.parametrize("wait", ["11", "3600", format_datetime(datetime(2999, 1, 1, tzinfo=UTC), usegmt=True)])
async def test_a_wait_of_more_than_ten_seconds_is_left_to_the_caller(wait: str) -> None:
    naps = Naps()
    recorder = Recorder(refused(429, **{"retry-after": wait}))
    with pytest.raises(ProviderRejected):
        await events_of(adapter("openai_compat", recorder, naps=naps))
    assert naps.slept == []


async def test_a_wait_that_makes_no_sense_is_ours() -> None:
    naps = Naps()
    refusal = refused(429, **{"retry-after": "soon"})
    await events_of(adapter("anthropic", Recorder(refusal, [SHORT["anthropic"]]), naps=naps))
    assert 0.5 <= naps.slept[0] <= 1.5


async def test_nothing_is_tried_again_once_the_answer_has_begun() -> None:
    body = httpx.Response(200, stream=Parts([delta(content="Par")], httpx.ReadError("reset")))
    recorder = Recorder(body, [SHORT["openai_compat"]])
    error = await failure(recorder)
    assert isinstance(error, StreamCut)
    assert len(recorder.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_a_connection_that_breaks_before_the_first_event_is_unreachable(kind: str) -> None:
    error = await failure(Recorder(httpx.Response(200, stream=Parts([b": hi\n\n"], httpx.ReadError("reset")))), kind)
    assert isinstance(error, ProviderUnreachable)
    assert error.transient


async def test_an_endless_event_is_cut_off() -> None:
    flood = [b"data: "] + [b"x" * 65536] * (2 * MAX_EVENT_BYTES // 65536)
    error = await failure(Recorder(flood))
    assert isinstance(error, StreamCut)
    assert not error.transient


async def test_a_web_page_is_no_answer() -> None:
    error = await failure(Recorder(httpx.Response(200, html="<html>Welcome</html>")))
    assert isinstance(error, ProviderRejected)
    assert "base URL" in error.advice


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "API key of main in MAIN_KEY"),
        (402, "credit"),
        (403, "may not use this model"),
        (404, "model's name"),
        (400, "model's name"),
        (413, "/clear"),
        (429, "raise the plan"),
        (503, "Try again"),
        (301, "base URL"),
        (418, "model's name"),
    ],
)
async def test_the_advice_says_what_to_do(status: int, words: str) -> None:
    error = await failure(Recorder(refused(status)), retry_attempts=1, key_variable="MAIN_KEY")
    assert words in error.advice
    assert error.provider == "main"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error":{"message":"model not found"}}', "model not found"),
        (b'{"error":"model not found"}', "model not found"),
        (b'{"message":"model not found"}', "model not found"),
        (b'{"detail":"model not found"}', "model not found"),
        (b"model\n\tnot\x00found", "model not found"),
        (b"<html>nginx</html>", "error 404."),
        (b"", "error 404."),
    ],
)
async def test_the_providers_own_words_are_found(body: bytes, words: str) -> None:
    assert words in str(await failure(Recorder(httpx.Response(404, content=body))))


async def test_the_providers_words_are_short_and_hold_no_key() -> None:
    message = f"Incorrect key {KEY}, or Bearer abcdefghijk, or sk-ant-0123456789. " + "\u202e blah" * 100
    text = str(await failure(Recorder(refused(401, message))))
    assert "0123456789" not in text
    assert "abcdefghijk" not in text
    assert len(text) <= 200 + len("main answered with error 401: ")


@pytest.mark.parametrize("base_url", ["api.openai.com", "ftp://x.example", "https://", "file:///etc/passwd"])
def test_a_base_url_that_cannot_work_is_refused_in_a_sentence(base_url: str) -> None:
    with pytest.raises(ValueError, match="base URL of provider main"):
        config_of("openai_compat", base_url=base_url)


@pytest.mark.parametrize("key", ["sk-ä", "sk-a\nsk-b", "two words"])
def test_a_key_that_cannot_work_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ValueError, match="API key of provider main") as raised:
        config_of("openai_compat", api_key=_secret(key))
    assert key not in str(raised.value)


def test_white_space_round_a_key_is_forgiven() -> None:
    assert config_of("openai_compat", api_key=_secret(" sk-a\n")).key == "sk-a"


def _secret(text: str) -> Any:
    from pydantic import SecretStr

    return SecretStr(text)
