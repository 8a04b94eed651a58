"""Opening a stream over HTTP, with retries, and reading its events. Only this module talks to httpx."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from pipeline.errors import ProviderError
from pipeline.providers import _errors
from pipeline.providers._config import ProviderConfig
from pipeline.providers._sse import MAX_EVENT_BYTES, EventDecoder, EventTooLarge, ServerSentEvent

MAX_RETRY_AFTER_S = 10.0
_ERROR_BODY_BYTES = 64 * 1024
_DRAIN_S = 0.05
# Reading has no timeout of its own: the loop's rolling timeouts bound it.
_TIMEOUT = httpx.Timeout(connect=10.0, write=60.0, read=None, pool=None)
_BACKOFF = wait_exponential_jitter(multiplier=0.5, max=8.0, jitter=0.5)
_log = structlog.get_logger()

Sleep = Callable[[float], Awaitable[None]]


def http_client() -> httpx.AsyncClient:
    """The one client that all providers share: as many connections as there are channels, kept for the next pass."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=100))


class _NotOpened(Exception):
    """One try to open a stream failed with `error`; the server asks to wait `retry_after_s`."""

    def __init__(self, error: ProviderError, retry_after_s: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.retry_after_s = retry_after_s


class Endpoint:
    """Where a provider listens. `key_header` is the name of the header that an API key goes into and what stands before
    it there; `sleep` waits between tries, in seconds."""

    def __init__(
        self,
        config: ProviderConfig,
        client: httpx.AsyncClient,
        *,
        url: str,
        headers: Mapping[str, str],
        key_header: tuple[str, str] | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.config = config
        self._client = client
        self._url = url
        self._sleep = sleep
        self._key_header = key_header
        self._headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "user-agent": "countersign",
            **headers,
        }

    def _with_key(self, number: int) -> Mapping[str, str]:
        keys = self.config.keys
        key = keys[number] if number < len(keys) else keys[0]  # the operator may have taken one away
        if self._key_header is None or not key:
            return self._headers
        name, before = self._key_header
        return {**self._headers, name: before + key}

    async def events(self, body: bytes, key: int = 0) -> AsyncGenerator[ServerSentEvent | None]:
        """Post `body` with the API key number `key` and yield the events of the answer, None for a heartbeat.

        It ends where the answer ends, even where the connection broke: whether that was the end, the events say.
        Raises ProviderUnreachable where it broke before the first event, ProviderRejected for an error status,
        StreamCut for an event that is too large.
        """
        response = await self._open(body, self._with_key(key))
        decoder = EventDecoder()
        whole = bytearray() if "json" in response.headers.get("content-type", "") else None
        begun = False
        reason = "the connection ended before the answer began"
        try:
            try:
                async for data in response.aiter_bytes():
                    events = decoder.feed(data)
                    begun = begun or bool(events)
                    if whole is not None and not begun and len(whole) < MAX_EVENT_BYTES:
                        whole += data
                    for event in events:
                        yield event
                    if not events:
                        yield None
            except httpx.RequestError as error:  # a broken encoding too, not only a broken connection
                reason = f"the connection broke ({type(error).__name__})"
                _log.info("provider_stream_broke", provider=self.config.name, error=repr(error))
            for event in decoder.end():
                begun = True
                yield event
            if whole and not begun:
                # A server that does not stream answers with one object, as does one that reports an error with 200.
                begun = True
                yield ServerSentEvent(event="", data=whole.decode("utf-8", "replace"))
        except EventTooLarge as error:
            raise _errors.cut(self.config, str(error), transient=False) from error
        finally:
            await response.aclose()
        if not begun:
            raise _errors.unreachable(self.config, reason)

    async def _open(self, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=stop_after_attempt(self.config.retry_attempts),
            wait=_wait,
            retry=retry_if_exception(_is_worth_retrying),
            reraise=True,
        )
        try:
            return await retrying(self._open_once, body, headers)
        except _NotOpened as failed:
            raise failed.error from failed

    async def _open_once(self, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        request = self._client.build_request("POST", self._url, content=body, headers=headers, timeout=_TIMEOUT)
        try:
            response = await self._client.send(request, stream=True, follow_redirects=False)
        except httpx.TransportError as error:
            # No byte of an answer was seen, so this is still the opening, also on a connection the server had left.
            reason = str(error) or type(error).__name__
            transient = not isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError))
            raise _NotOpened(_errors.unreachable(self.config, reason, transient=transient)) from error
        if response.is_success and "html" not in response.headers.get("content-type", ""):
            return response
        try:
            words = _errors.message_in(await _read_some(response))
        finally:
            await response.aclose()
        if response.is_success:
            raise _NotOpened(_errors.not_a_stream(self.config, response.headers.get("content-type", "")))
        refusal = _errors.rejected(self.config, response.status_code, words)
        raise _NotOpened(refusal, _retry_after_s(response.headers))


async def drain(events: AsyncGenerator[ServerSentEvent | None]) -> None:
    """Read to the end of an answer that has said everything, so that its connection serves the next pass too.

    A server that leaves the connection open costs at most 50 ms.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            async for _ in events:
                pass


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    if isinstance(error, _NotOpened) and error.retry_after_s is not None:
        return error.retry_after_s
    return _BACKOFF(state)


def _is_worth_retrying(error: BaseException) -> bool:
    return (
        isinstance(error, _NotOpened)
        and error.error.transient
        and (error.retry_after_s is None or error.retry_after_s <= MAX_RETRY_AFTER_S)
    )


def _retry_after_s(headers: httpx.Headers) -> float | None:
    """How long the server asks to wait: seconds, milliseconds in the header some vendors add, or a date."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after", "").strip()
        if not value:
            return None
        if value[0].isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


async def _read_some(response: httpx.Response) -> str:
    body = bytearray()
    with suppress(httpx.HTTPError):
        async for data in response.aiter_bytes():
            body += data
            if len(body) > _ERROR_BODY_BYTES:
                break
    return body[:_ERROR_BODY_BYTES].decode("utf-8", "replace")
