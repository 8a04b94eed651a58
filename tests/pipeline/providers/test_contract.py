"""What every adapter has to keep, whatever its kind. A new adapter brings its wire fixtures in `tests/wire/<kind>/`.

A stream `x.sse` has beside it `x.json`: what a consumer has to see of it. An adapter without a wire has
`phrases.json`: the tool that it calls for each phrase.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipeline.messages import Usage, UserMessage
from pipeline.provider import CallRequest, Finish, Provider
from pipeline.providers import build, kinds
from tests.pipeline.providers.helpers import SHORT, Recorder, Seen, config_of, events_of, request_of, seen_in
from tests.pipeline.providers.test_demo import TOOLS

WIRE = Path(__file__).parents[2] / "wire"
STREAMS = sorted(WIRE.glob("*/*.sse"))


def provider_of(kind: str, recorder: Recorder | None = None) -> Provider:
    transport = httpx.MockTransport(recorder or Recorder([SHORT.get(kind, b"")]))
    return build(config_of(kind), httpx.AsyncClient(transport=transport))


def expected_of(stream: Path) -> Seen:
    data: dict[str, Any] = json.loads(stream.with_suffix(".json").read_text())
    calls = tuple(CallRequest(name=name, arguments=arguments) for name, arguments in data.pop("calls"))
    return Seen(calls=calls, finish=Finish(data.pop("finish")), usage=Usage(**data.pop("usage")), **data)


@pytest.mark.parametrize("kind", kinds())
def test_every_adapter_brings_a_wire_fixture(kind: str) -> None:
    fixtures = [path for path in STREAMS if path.parent.name == kind]
    assert fixtures or (WIRE / kind / "phrases.json").exists()


@pytest.mark.parametrize("split", [None, 1])
@pytest.mark.parametrize("stream", STREAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
async def test_a_recorded_stream_is_seen_as_written_beside_it(stream: Path, split: int | None) -> None:
    data = stream.read_bytes()
    parts = [data] if split is None else [data[start : start + split] for start in range(0, len(data), split)]
    seen = seen_in(await events_of(provider_of(stream.parent.name, Recorder(parts))))
    want = expected_of(stream)
    assert (seen.text, seen.thinking, seen.calls) == (want.text, want.thinking, want.calls)
    assert (seen.finish, seen.usage, seen.model) == (want.finish, want.usage, want.model)


@pytest.mark.parametrize("path", sorted(WIRE.glob("*/phrases.json")), ids=lambda path: path.parent.name)
async def test_a_phrase_calls_the_tool_written_beside_it(path: Path) -> None:
    for phrase, tool in json.loads(path.read_text()).items():
        seen = seen_in(await events_of(provider_of(path.parent.name), request_of([UserMessage(text=phrase)], TOOLS)))
        assert [call.name for call in seen.calls] == [tool]


@pytest.mark.parametrize("kind", kinds())
async def test_every_adapter_tells_its_name_and_model_and_ends_once(kind: str) -> None:
    provider = provider_of(kind)
    assert (provider.name, provider.model) == ("main", "model-1")
    seen = seen_in(await events_of(provider, request_of([UserMessage(text="jane: repeat")], TOOLS)))
    assert seen.text or seen.calls


@pytest.mark.parametrize("kind", kinds())
async def test_every_adapter_can_be_closed_at_its_first_event(kind: str) -> None:
    stream = provider_of(kind).stream(request_of())
    async with aclosing(stream):
        await anext(stream)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
