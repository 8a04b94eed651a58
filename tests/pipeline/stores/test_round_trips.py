"""Whatever text a person, a model or a tool wrote comes back as it was."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.messages import Image, Message
from pipeline.records import LoopRecord, TurnStarted
from pipeline.stores.engine import open_store
from pipeline.stores.message_json import dump_message, load_message, with_images
from tests.pipeline.stores.samples import ENDED, output, records_of
from tests.support.scripts import NOW, started

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def any_record(kind: type[LoopRecord]) -> st.SearchStrategy[LoopRecord]:
    return st.builds(kind, **{field.name: FLOATS for field in fields(kind) if field.type == "float"})


# The rows of questions have rules of their own; here only their JSON is looked at.
RECORDS = st.one_of([any_record(kind) for kind in get_args(LoopRecord) if "approval" not in kind.__slots__])
MESSAGES: st.SearchStrategy[Message] = st.one_of([st.from_type(kind) for kind in get_args(Message)])


@settings(max_examples=30, deadline=None)
@given(records=st.lists(RECORDS, min_size=1, max_size=6), messages=st.lists(MESSAGES, min_size=1, max_size=6))
def test_records_and_messages_come_back_equal(records: list[LoopRecord], messages: list[Message]) -> None:
    async def write_and_read(url: str) -> None:
        async with open_store(url, clock=lambda: NOW) as store:
            await store.journal.create(started(), images=(), queued=False)
            await store.journal.append("1", 1, [*records, ENDED], output(*messages))
        async with open_store(url, clock=lambda: NOW) as store:
            assert await records_of(store.journal, "1") == [started(), *records, ENDED]
            assert await store.conversations.turns("10", 1) == [messages]

    with TemporaryDirectory() as folder:
        asyncio.run(write_and_read(f"sqlite:///{Path(folder) / 'db'}"))


@settings(max_examples=30, deadline=None)
@given(first=any_record(TurnStarted))
def test_the_first_record_comes_back_equal(first: TurnStarted) -> None:
    images = [Image(media_type="image/png", data=blob) for blob in first.images]

    async def write_and_read(url: str) -> None:
        async with open_store(url, clock=lambda: NOW) as store:
            await store.journal.create(first, images=images, queued=False)
            assert await records_of(store.journal, first.turn) == [first]
            assert await store.journal.images(first.images) == images

    with TemporaryDirectory() as folder:
        asyncio.run(write_and_read(f"sqlite:///{Path(folder) / 'db'}"))


@settings(deadline=None)
@given(message=MESSAGES)
def test_a_message_survives_its_json(message: Message) -> None:
    kept: dict[str, Image] = {}

    def blob_of(image: Image) -> str:
        kept[str(len(kept))] = image
        return str(len(kept) - 1)

    assert with_images(load_message(dump_message(message, blob_of)), kept) == message
