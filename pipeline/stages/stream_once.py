"""Stage 01: one provider pass, under a rolling timeout."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from pipeline.details import DetailsFilter
from pipeline.errors import ProviderError
from pipeline.events import PassOpened, TextArrived, ThinkingArrived
from pipeline.messages import Message, Usage
from pipeline.params import ToolLoopParams
from pipeline.provider import (
    Finish,
    PassEnded,
    Progress,
    ProviderRequest,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from pipeline.records import PassFinished
from pipeline.results import Failure, Reason, StreamStatus
from pipeline.rolling_timeout import RollingTimeout
from pipeline.state import LoopState
from tools.output import scrub

MAX_PASS_CHARS = 1_000_000
"""A model that goes in circles talks for ever where nobody set it a limit: there its answer is cut."""


async def stream_once(params: ToolLoopParams, state: LoopState) -> PassFinished:
    """Ask the provider once and tell the sink what arrives.

    The first event may take `first_token_timeout_s`, every further one `idle_timeout_s`; a stop cuts the wait short.
    Whatever happens, the text that people saw is in the record. Raises what the provider raises beside
    `ProviderError`; a hard cancel stays one.
    """
    limits, stop = params.limits, params.stop
    draft = _Draft(params, state)
    params.sink.emit(PassOpened(turn=state.turn, iteration=state.iteration))
    watch = RollingTimeout(first_s=limits.first_token_timeout_s, settle_s=limits.settle_timeout_s)
    try:
        async with watch:
            with stop.listening(watch.expire):
                if state.passes and state.passes[-1].status is StreamStatus.EMPTY_RESPONSE:
                    await asyncio.sleep(limits.empty_retry_delay_s)
                said = cast("tuple[Message, ...]", state.messages)
                shown = await params.pictures.resolve(state.messages) if state.contexts else said
                async with aclosing(params.provider.stream(_request(params, state, shown))) as events:
                    async for event in events:
                        draft.take(event)
                        if stop.requested or draft.chars > MAX_PASS_CHARS:
                            break
                        watch.allow(limits.idle_timeout_s)
    except TimeoutError:
        if not watch.expired:
            raise
    except ProviderError as error:
        if not stop.requested:
            return draft.failed(error)
    draft.flush()
    if stop.requested:
        interrupt = StreamStatus.FOLLOW_UP_INTERRUPT if stop.is_follow_up else StreamStatus.STOPPED_BY_USER
        return draft.finished(interrupt)
    if draft.ended is None and watch.expired:
        return draft.timed_out()
    return draft.complete()


def _request(params: ToolLoopParams, state: LoopState, said: Sequence[Message]) -> ProviderRequest:
    messages = (*params.prefix, *said)
    return ProviderRequest(model=params.model, messages=messages, tools=params.offered(state), key=params.key)


@dataclass(slots=True)
class _Draft:
    """A pass while it streams. While the turn is muted its text is kept from people, not from the model."""

    params: ToolLoopParams
    state: LoopState
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    ended: PassEnded | None = None
    heard: bool = False
    chars: int = 0
    details: DetailsFilter | None = None
    began: float = 0.0
    is_muted: bool = False

    def __post_init__(self) -> None:
        traits = self.params.provider.traits
        self.is_muted = self.state.muted and traits.hides_retries
        self.began = asyncio.get_running_loop().time()
        if traits.has_details:
            self.details = DetailsFilter()

    def take(self, event: StreamEvent) -> None:
        self.heard = True
        match event:
            case TextDelta(text=text):
                self.chars += len(text)
                text = scrub(text)
                self._show(text if self.details is None else self.details.feed(text))
            case ThinkingDelta(text=text):
                self.chars += len(text)
                text = scrub(text)
                self.thinking.append(text)
                self.params.sink.emit(ThinkingArrived(turn=self.state.turn, text=text))
            case UsageReported(usage=usage):
                self.usage = usage
            case PassEnded():
                self.ended = event
            case Progress():
                pass

    def _show(self, text: str) -> None:
        if text:
            self.text.append(text)
            if not self.is_muted:
                self.params.sink.emit(TextArrived(turn=self.state.turn, text=text))

    def flush(self) -> None:
        """The stream is over: what the filter held back is text."""
        if self.details is not None:
            self._show(self.details.finish())

    def complete(self) -> PassFinished:
        if self.ended is None and self.chars > MAX_PASS_CHARS:
            self.ended = PassEnded(finish=Finish.ENDLESS)
        if self.ended is None:
            detail = "The answer ended without saying that it is complete."
            return self.finished(StreamStatus.ERROR, Reason.PROVIDER, detail, Failure.TRANSIENT)
        if self.ended.calls:
            return self.finished(StreamStatus.FUNCTION_CALL)
        if self.ended.finish is Finish.REFUSED or "".join(self.text).strip():
            return self.finished(StreamStatus.COMPLETED)
        return self.finished(StreamStatus.EMPTY_RESPONSE)

    def failed(self, error: ProviderError) -> PassFinished:
        self.flush()
        self.ended = None
        words = str(error)
        detail = f"{words}{'' if words.endswith(('.', '!', '?', '…')) else '.'} {error.advice}".strip()
        return self.finished(StreamStatus.ERROR, Reason.PROVIDER, detail, _kind_of(error))

    def timed_out(self) -> PassFinished:
        limits = self.params.limits
        if self.heard:
            detail = f"Nothing came from the model for {limits.idle_timeout_s:g} s."
            return self.finished(StreamStatus.TIMEOUT, Reason.IDLE, detail)
        detail = f"The model did not begin to answer within {limits.first_token_timeout_s:g} s."
        return self.finished(StreamStatus.TIMEOUT, Reason.FIRST_TOKEN, detail)

    def finished(
        self,
        status: StreamStatus,
        reason: Reason = Reason.NONE,
        detail: str = "",
        failure: Failure = Failure.NONE,
    ) -> PassFinished:
        ended, text = self.ended, "".join(self.text)
        calls = ended.calls if ended is not None and status is StreamStatus.FUNCTION_CALL else ()
        replay = None if ended is None else ended.replay
        return PassFinished(
            iteration=self.state.iteration,
            status=status,
            finish=Finish.END if ended is None else ended.finish,
            reason=reason,
            text="" if self.is_muted else text,
            hidden=text if self.is_muted else "",
            details="" if self.details is None else "\n\n".join(self.details.bodies),
            thinking="".join(self.thinking),
            calls=tuple((scrub(call.name).strip(), scrub(call.arguments)) for call in calls),
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            cache_read_tokens=self.usage.cache_read_tokens,
            cache_write_tokens=self.usage.cache_write_tokens,
            provider=self.params.provider.name,
            model=self.params.model,
            replay_origin="" if replay is None else replay.origin,
            replay="" if replay is None else scrub(replay.data),
            detail=scrub(detail),
            failure=failure,
            duration_ms=round((asyncio.get_running_loop().time() - self.began) * 1000),
        )


def _kind_of(error: ProviderError) -> Failure:
    match error.status:
        case 429:
            return Failure.RATE_LIMITED
        case 401 | 402 | 403:
            return Failure.KEY
        case _:
            return Failure.TRANSIENT if error.transient else Failure.REQUEST
