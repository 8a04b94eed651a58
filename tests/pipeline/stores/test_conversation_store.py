"""Transcripts of channels: written with the end of a turn, read as a window, cleared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.conversation import size_bytes
from pipeline.errors import Conflict
from pipeline.journal import ChannelState, UsageRow
from pipeline.messages import (
    AssistantMessage,
    Image,
    NoteMessage,
    Replay,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pipeline.stores.store import Store
from tests.pipeline.stores.samples import ENDED, RawSql, exchange, finish_turn, output, spent
from tests.support.scripts import NOW, started

PLENTY = 1_000_000


async def test_a_turn_of_every_kind_of_message_comes_back_equal(store: Store) -> None:
    call = ToolCall(id="ABCDEFGHI", name="read", arguments='{"n": 12345678901234567890}')
    turn = (
        SystemMessage(text="s"),
        UserMessage(text="u"),
        AssistantMessage(text="", calls=(call,), replay=Replay(origin="p", data="{}")),
        ToolMessage(call_id=call.id, name="read", content="no", is_error=True),
        NoteMessage(text="n"),
    )
    await finish_turn(store.journal, "1", output(*turn))
    assert await store.conversations.turns("10", PLENTY) == [list(turn)]


async def test_turns_come_oldest_first_and_by_channel(store: Store) -> None:
    await finish_turn(store.journal, "2", output(*exchange("a")))
    await finish_turn(store.journal, "1", output(*exchange("b")))
    await finish_turn(store.journal, "3", output(*exchange("c"), channel="11"))
    assert await store.conversations.turns("10", PLENTY) == [[*exchange("a")], [*exchange("b")]]
    assert await store.conversations.turns("12", PLENTY) == []


async def test_only_whole_turns_that_fit_are_read(store: Store) -> None:
    turns = [exchange(text * 40) for text in "abc"]
    for number, turn in enumerate(turns):
        await finish_turn(store.journal, str(number), output(*turn))
    size = sum(map(size_bytes, turns[0]))
    assert await store.conversations.turns("10", 2 * size) == [[*turns[1]], [*turns[2]]]
    assert await store.conversations.turns("10", 2 * size - 1) == [[*turns[2]]]


async def test_the_newest_turn_is_read_however_large(store: Store) -> None:
    await finish_turn(store.journal, "1", output(*exchange("a")))
    await finish_turn(store.journal, "2", output(*exchange("b" * 5000)))
    assert await store.conversations.turns("10", 10) == [[*exchange("b" * 5000)]]


async def test_a_picture_is_stored_once_and_comes_back_in_its_message(store: Store, raw_sql: RawSql) -> None:
    cat = Image(media_type="image/png", data="Y2F0" * 1000)
    await store.journal.create(replace(started(), images=("c",)), images=(cat,), queued=False)
    asked = UserMessage(text="look", images=(cat,))
    await store.journal.append("1", 1, [ENDED], output(asked))
    assert await store.conversations.turns("10", PLENTY) == [[asked]]
    assert raw_sql("SELECT id FROM blobs") == [("c",)]
    assert raw_sql("SELECT length(json) < 200, bytes < 200 FROM messages") == [(1, 1)]


async def test_a_picture_without_an_id_is_stored_too(store: Store) -> None:
    asked = UserMessage(text="look", images=(Image(media_type="image/png", data="ZG9n"),) * 2)
    await finish_turn(store.journal, "1", output(asked))
    assert await store.conversations.turns("10", PLENTY) == [[asked]]


async def test_an_output_is_written_only_with_its_records(store: Store) -> None:
    await store.journal.create(started(), images=(), queued=False)
    with pytest.raises(Conflict):
        await store.journal.append("1", 0, [ENDED], output(*exchange("a"), usage=(spent(1),)))
    assert await store.conversations.turns("10", PLENTY) == []
    assert await store.conversations.usage("10") == []


async def test_a_note_follows_the_newest_turn_and_takes_no_room(store: Store) -> None:
    turn = exchange("a")
    await finish_turn(store.journal, "1", output(*turn))
    await store.conversations.add_note("10", "n" * 5000, NOW)
    note = NoteMessage(text="n" * 5000)
    assert await store.conversations.turns("10", sum(map(size_bytes, turn))) == [[*turn, note]]


async def test_a_note_may_come_before_the_first_turn(store: Store) -> None:
    await store.conversations.add_note("10", "first", NOW)
    await finish_turn(store.journal, "1", output(*exchange("a")))
    assert await store.conversations.turns("10", PLENTY) == [[NoteMessage(text="first")], [*exchange("a")]]
    assert await store.conversations.clear("10", NOW) == 1


async def test_clear_forgets_the_transcript_of_one_channel_and_keeps_usage(store: Store) -> None:
    await finish_turn(store.journal, "1", output(*exchange("a"), usage=(spent(10),)))
    await finish_turn(store.journal, "2", output(*exchange("b")))
    await finish_turn(store.journal, "3", output(*exchange("c"), channel="11", usage=(spent(5),)))
    assert await store.conversations.clear("10", NOW) == 2
    assert await store.conversations.turns("10", PLENTY) == []
    assert await store.conversations.turns("11", PLENTY) == [[*exchange("c")]]
    assert await store.conversations.usage("10") == [UsageRow(user="100", usage=spent(10), since_clear=False)]
    assert await store.conversations.usage("11") == [UsageRow(user="100", usage=spent(5), since_clear=True)]
    assert await store.conversations.clear("10", NOW) == 0


async def test_usage_is_summed_by_person_model_and_clear(store: Store) -> None:
    await finish_turn(store.journal, "1", output(usage=(spent(1), spent(10, "other"))))
    await store.conversations.clear("10", NOW)
    await finish_turn(store.journal, "2", output(usage=(spent(100),)))
    await finish_turn(store.journal, "3", output(usage=(spent(1000),)))
    await finish_turn(store.journal, "4", output(user="200", usage=(spent(5),)))
    rows = await store.conversations.usage("10")
    assert [(r.user, r.usage.model, r.usage.usage.input_tokens, r.since_clear) for r in rows] == [
        ("100", "m", 1, False),
        ("100", "other", 10, False),
        ("100", "m", 1100, True),
        ("200", "m", 5, True),
    ]
    assert rows[2].usage.usage == spent(1).usage + spent(1099).usage


async def test_a_channel_remembers_its_model_and_its_system_prompt(store: Store) -> None:
    assert await store.conversations.channel("10") == ChannelState(channel="10")
    await store.conversations.set_model("10", "p/m")
    await store.conversations.set_system("10", "be brief\n🙂")
    await store.conversations.clear("10", NOW)
    assert await store.conversations.channel("10") == ChannelState(channel="10", model="p/m", system="be brief\n🙂")
    await store.conversations.set_model("10", "")
    assert (await store.conversations.channel("10")).model == ""
    assert await store.conversations.channel("11") == ChannelState(channel="11")
