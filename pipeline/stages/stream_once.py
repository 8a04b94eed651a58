"""Stage 01: one provider pass, under a rolling timeout."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field

from pipeline.errors import ProviderError
from pipeline.events import PassOpened, TextArrived, ThinkingArrived
from pipeline.messages import Usage
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
from pipeline.results import Reason, StreamStatus
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
    request = ProviderRequest(model=params.model, messages=(*params.prefix, *state.messages), tools=params.definitions)
    draft = _Draft(params, state)
    params.sink.emit(PassOpened(turn=state.turn, iteration=state.iteration))
    watch = RollingTimeout(first_s=limits.first_token_timeout_s, settle_s=limits.settle_timeout_s)
    try:
        async with watch:
            with stop.listening(watch.expire):
                async with aclosing(params.provider.stream(request)) as events:
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
    if stop.requested:
        return draft.finished(StreamStatus.STOPPED_BY_USER)
    if draft.ended is None and watch.expired:
        return draft.timed_out()
    return draft.complete()


@dataclass(slots=True)
class _Draft:
    """A pass while it streams."""

    params: ToolLoopParams
    state: LoopState
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    ended: PassEnded | None = None
    heard: bool = False
    chars: int = 0

    def take(self, event: StreamEvent) -> None:
        self.heard = True
        match event:
            case TextDelta(text=text):
                self.chars += len(text)
                text = scrub(text)
                self.text.append(text)
                self.params.sink.emit(TextArrived(turn=self.state.turn, text=text))
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

    @property
    def is_endless(self) -> bool:
        return self.chars > MAX_PASS_CHARS

    def complete(self) -> PassFinished:
        if self.ended is None and self.is_endless:
            self.ended = PassEnded(finish=Finish.LENGTH)
        if self.ended is None:
            return self.finished(StreamStatus.ERROR, detail="The answer ended without saying that it is complete.")
        if self.ended.calls:
            return self.finished(StreamStatus.FUNCTION_CALL)
        if self.ended.finish is Finish.REFUSED or "".join(self.text).strip():
            return self.finished(StreamStatus.COMPLETED)
        return self.finished(StreamStatus.EMPTY_RESPONSE)

    def failed(self, error: ProviderError) -> PassFinished:
        self.ended = None
        return self.finished(StreamStatus.ERROR, Reason.PROVIDER, f"{error} {error.advice}".strip())

    def timed_out(self) -> PassFinished:
        limits = self.params.limits
        if self.heard:
            detail = f"Nothing came from the model for {limits.idle_timeout_s:g} s."
            return self.finished(StreamStatus.TIMEOUT, Reason.IDLE, detail)
        detail = f"The model did not begin to answer within {limits.first_token_timeout_s:g} s."
        return self.finished(StreamStatus.TIMEOUT, Reason.FIRST_TOKEN, detail)

    def finished(self, status: StreamStatus, reason: Reason = Reason.NONE, detail: str = "") -> PassFinished:
        ended = self.ended
        calls = ended.calls if ended is not None and status is StreamStatus.FUNCTION_CALL else ()
        replay = None if ended is None else ended.replay
        return PassFinished(
            iteration=self.state.iteration,
            status=status,
            finish=Finish.END if ended is None else ended.finish,
            reason=reason,
            text="".join(self.text),
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
        )
