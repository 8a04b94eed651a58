"""The demo model: what the preview answers with where no provider is set up.

It is no language model. It follows rules, says so, and answers from the results of the tools that it calls. Ask it:

* `what is in this folder`: lists the files
* `read X`: shows the file X
* `search X`: looks for X in all files
* `write TEXT to X`: writes TEXT into the file X, after an approval
* `fail`: calls a tool that fails
* `think`: thinks, then answers
* `long answer`: 30 deltas a second for 20 seconds
* `loop`: calls tools with ever new arguments, until the ceiling of a turn
* `repeat`: makes the same call again and again, until the guard stops it
* `keep failing`: calls tools that fail, until the limit of errors
* `fall back`: breaks, so that the next model of the chain answers (`demo-2`)
* `cut`: stops in the middle of an answer, and goes on when it is asked again
* `look at me`: looks at the person's picture, which a tool adds to what it sees
* `remind me`: sets a reminder for in five seconds
* `sticker`: chooses a sticker that goes with the answer
* `react`: puts a reaction on the message
* `thread`: opens a thread, after an approval
* `note TEXT`: answers, and remembers TEXT for the channel

Anything else is answered with this list.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence

import httpx

from pipeline.errors import ProviderUnreachable
from pipeline.messages import AssistantMessage, Message, SystemMessage, ToolMessage, Usage, UserMessage
from pipeline.provider import (
    CallRequest,
    Finish,
    PassEnded,
    Progress,
    Provider,
    ProviderRequest,
    ProviderTraits,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from pipeline.providers._config import ProviderConfig
from pipeline.providers._demo_rules import Break, Call, Say, decide
from pipeline.providers._http import Sleep

DEFAULT_MODELS = {"demo": "demo"}


def create(config: ProviderConfig, client: httpx.AsyncClient) -> Provider:
    """The demo model under the name of `config`. It needs no key and no network."""
    del client
    return Demo(config)


class Demo:
    """`sleep` waits, `clock` tells the time, both in seconds."""

    def __init__(
        self, config: ProviderConfig, *, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = config.name
        self.model = config.model or DEFAULT_MODELS["demo"]
        self.traits = ProviderTraits()
        self._sleep = sleep
        self._clock = clock

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent]:
        """See `Provider.stream`. Raises ProviderUnreachable where it is asked to break."""
        act = decide(request)
        yield Progress()
        match act:
            case Break():
                advice = "Nothing is wrong: it was asked to break."
                raise ProviderUnreachable("the demo model broke", provider=self.name, advice=advice, transient=True)
            case Call():
                if act.text:
                    yield TextDelta(text=act.text)
                yield UsageReported(usage=_usage(request.messages, len(act.json)))
                call = CallRequest(name=act.name, arguments=act.json)
                yield PassEnded(finish=Finish.TOOL_CALLS, calls=(call,), model=self.model)
            case Say():
                pieces: list[StreamEvent] = [ThinkingDelta(text=piece) for piece in act.thoughts]
                pieces += [TextDelta(text=piece) for piece in act.pieces]
                begun = self._clock()
                for number, piece in enumerate(pieces):
                    # From the beginning, not from the piece before: a late one does not delay all others.
                    if (early_s := begun + number / act.per_s - self._clock()) > 0:
                        await self._sleep(early_s)
                    yield piece
                said = sum(map(len, act.thoughts)) + sum(map(len, act.pieces))
                yield UsageReported(usage=_usage(request.messages, said))
                yield PassEnded(finish=act.finish, model=self.model)


def _usage(messages: Sequence[Message], said_chars: int) -> Usage:
    """About what a real model would report: a token for every four characters."""
    read = 0
    for message in messages:
        match message:
            case AssistantMessage(text=text, calls=calls):
                read += len(text) + sum(len(call.arguments) for call in calls)
            case SystemMessage(text=text) | UserMessage(text=text) | ToolMessage(content=text):
                read += len(text)
    return Usage(input_tokens=-(-read // 4), output_tokens=-(-said_chars // 4))
