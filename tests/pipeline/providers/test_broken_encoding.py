"""A server, or a proxy before it, that says its answer is compressed when it is not."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from pipeline.errors import ProviderUnreachable
from pipeline.providers import ProviderConfig, build, http_client
from tests.pipeline.providers.helpers import KEY, events_of
from tests.support.provider_server import Raw, ScriptedProvider


@pytest.mark.parametrize("kind", ["openai_compat", "anthropic"])
async def test_an_answer_that_cannot_be_decompressed_is_a_broken_connection(kind: str) -> None:
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    async with ScriptedProvider(kind=kind) as server, http_client() as client:
        server.script([Raw(frames=[b"data: plain text\n\n"], headers=headers)])
        config = ProviderConfig(
            name="p", kind=kind, base_url=server.base_url, api_key=SecretStr(KEY), model="m", retry_attempts=1
        )
        with pytest.raises(ProviderUnreachable, match="the connection broke"):
            await events_of(build(config, client))
