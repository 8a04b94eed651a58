"""Which tools a message calls for, and why."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from pipeline.context import user_message
from pipeline.deliberate import DeliberateMode, own_words
from pipeline.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from pipeline.records import TurnStarted, dump_record, load_record
from pipeline.stores.engine import open_store
from pipeline.stores.store import Store
from pipeline.triggers import Trigger
from tests.pipeline.stores.samples import finish_turn, output
from tests.support.scripts import NOW, Workbench, started
from tools.base import Tool
from tools.builtin import Deps, builtin_tools

FILE_TOOLS = {"edit_file", "list_dir", "read_file", "write_file"}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(f"sqlite:///{tmp_path}/db", clock=lambda: NOW) as opened:
        yield opened


def mode(store: Store, *triggers: tuple[str, str], context_turns: int = 4) -> DeliberateMode:
    tools: list[Tool[Any]] = [*builtin_tools(Deps()), *Workbench().registry()]
    return DeliberateMode(
        tools=tools,
        store=store.affordances,
        conversations=store.conversations,
        context_turns=context_turns,
        triggers=[Trigger(pattern=pattern, target=target) for pattern, target in triggers],
    )


async def admitted(mode: DeliberateMode, text: str, turn: str = "9") -> set[str]:
    return set((await mode.admit(started(turn, text=text))).names)


async def said(store: Store, turn: str, text: str, *more: Message) -> None:
    """An earlier turn of the channel."""
    await finish_turn(store.journal, turn, output(UserMessage(text=f"alice: {text}"), *more))


def used(tool: str, *, is_error: bool = False) -> tuple[Message, ...]:
    return (
        AssistantMessage(text="", calls=(ToolCall(id="c1", name=tool, arguments="{}"),)),
        ToolMessage(call_id="c1", name=tool, content="x", is_error=is_error),
    )


async def test_small_talk_gets_no_tools(store: Store) -> None:
    found = await mode(store).admit(started(text="Tell me a joke"))
    assert (found.names, found.triggers) == ((), ())


async def test_a_subject_brings_its_tools_with_the_words_that_called_for_them(store: Store) -> None:
    found = await mode(store).admit(started(text="What is in `src/app.py`?"))
    assert set(found.names) == FILE_TOOLS
    assert set(found.triggers) == {(name, "src/app.py", "built-in") for name in FILE_TOOLS}
    assert load_record(dump_record(found)) == found


async def test_the_names_are_in_the_order_of_the_tools_and_each_has_one_reason(store: Store) -> None:
    found = await mode(store).admit(started(text="now read_file, the file README.md"))
    assert found.names == ("edit_file", "list_dir", "now", "read_file", "write_file")
    assert [tool for tool, *_ in found.triggers] == list(found.names)
    assert ("read_file", "read_file", "built-in") in found.triggers


@pytest.mark.parametrize("text", ["use look_once", "please Look Once", "look-once!"])
async def test_a_tool_without_a_subject_comes_by_its_name_only(store: Store, text: str) -> None:
    assert "look_once" in await admitted(mode(store), text)
    assert "look_once" not in await admitted(mode(store), "look twice")


async def test_who_asks_what_the_bot_can_do_gets_an_answer_from_a_model_that_sees_all_tools(store: Store) -> None:
    assert {"now", "echo", "search_files", *FILE_TOOLS} <= await admitted(mode(store), "what can you do?")


@pytest.mark.covers("limit DELIBERATE_TOOL_TRIGGERS")
async def test_custom_triggers_name_a_tool_or_a_subject(store: Store) -> None:
    custom = mode(store, ("deploy*", "echo"), ("/ship (it|now)/", "time"))
    found = await custom.admit(started(text="Deploying: ship it"))
    assert found.triggers == (("now", "/ship (it|now)/", "custom"), ("echo", "deploy*", "custom"))
    assert await admitted(custom, "tell me a joke") == set()


async def test_a_trigger_may_stand_for_every_message(store: Store) -> None:
    assert await admitted(mode(store, ("^", "note")), "") == {"note"}


async def test_triggers_that_cannot_be_used_are_left_out_with_a_warning(store: Store) -> None:
    with capture_logs() as logs:
        custom = mode(store, ("/(/", "echo"), ("", "echo"), ("hello", "no_such_thing"), ("hello", "note"))
    assert [(log["log_level"], log["event"], log["trigger"]) for log in logs] == [
        ("warning", "trigger_ignored", "/(/"),
        ("warning", "trigger_ignored", ""),
        ("warning", "trigger_ignored", "hello"),
    ]
    assert "no_such_thing" in logs[2]["reason"]
    assert await admitted(custom, "hello") == {"note"}


async def test_reasons_are_told_once_and_without_back_ticks(store: Store) -> None:
    twice = mode(store, ("`go`", "echo"), ("`go`", "echo"))
    assert await twice.matches(started(text="`go`")) == (("echo", "'go'", "custom"),)


async def test_what_people_wrote_in_the_last_turns_still_counts(store: Store) -> None:
    await said(store, "1", "what time is it?")
    await said(store, "2", "I see")
    found = await mode(store, context_turns=2).admit(started("9", text="and in Lima?"))
    assert found.triggers == (("now", "recent message: what time", "follow-up"),)
    await said(store, "3", "thanks")
    assert await admitted(mode(store, context_turns=2), "and in Lima?") == set()


async def test_what_people_wrote_elsewhere_does_not_count(store: Store) -> None:
    await finish_turn(store.journal, "1", output(UserMessage(text="alice: what time is it?"), channel="11"))
    assert await admitted(mode(store), "and in Lima?") == set()


async def test_what_the_model_wrote_does_not_count(store: Store) -> None:
    await said(store, "1", "hello", AssistantMessage(text="Shall I read the file?"))
    assert await admitted(mode(store), "thanks") == set()


async def test_notes_between_the_turns_are_no_turns(store: Store) -> None:
    await store.conversations.add_note("10", "a note", NOW)
    await said(store, "1", "what time is it?")
    await store.conversations.add_note("10", "a note", NOW)
    assert await admitted(mode(store, context_turns=1), "and in Lima?") == {"now"}


async def test_do_that_again_reaches_back_to_the_newest_turn_that_was_about_a_tool(store: Store) -> None:
    await said(store, "1", "where is the parser?", *used("search_files"))
    await said(store, "2", "run it", *used("echo"))
    await said(store, "3", "oh", *used("note", is_error=True))
    await said(store, "4", "nice")
    found = await mode(store, context_turns=0).admit(started("9", text="Do that again"))
    assert found.triggers == (("echo", "do that again", "follow-up"),)


async def test_do_that_again_reaches_eight_turns_back_and_no_further(store: Store) -> None:
    await said(store, "1", "what time is it?")
    for turn in range(2, 9):
        await said(store, str(turn), "nice")
    assert await admitted(mode(store, context_turns=0), "once more") == {"now"}
    await said(store, "9", "nice")
    assert await admitted(mode(store, context_turns=0), "once more", turn="10") == set()


async def test_a_turn_that_goes_on_with_another_has_what_that_one_was_about(store: Store) -> None:
    await said(store, "1", "hmm", *used("echo"))
    goes_on = TurnStarted(turn="2", channel="10", guild="1", user="7", author="alice", text="", at=NOW, continues="1")
    assert (await mode(store, context_turns=0).admit(goes_on)).names == ("echo",)


@pytest.mark.covers("limit DELIBERATE_TOOL_CONTEXT_TURNS")
async def test_a_tool_that_was_used_stays_for_as_many_turns_as_configured(store: Store) -> None:
    used_before = mode(store, context_turns=2)
    await store.affordances.keep("10", "1", ["echo"], 2)
    first = await used_before.admit(started("2", text="hm"))
    assert first.triggers == (("echo", "recent successful tool", "follow-up"),)
    assert await admitted(used_before, "hm", turn="3") == {"echo"}
    assert await admitted(used_before, "hm", turn="4") == set()


async def test_a_turn_that_is_asked_about_again_gets_the_same_and_takes_nothing_more(store: Store) -> None:
    used_before = mode(store, context_turns=1)
    await store.affordances.keep("10", "1", ["echo"], 1)
    answers = [await used_before.admit(started("2", text="hm")) for _ in range(3)]
    assert [answer.names for answer in answers] == [("echo",)] * 3
    assert await admitted(used_before, "hm", turn="3") == set()


async def test_without_context_turns_nothing_stays(store: Store) -> None:
    await said(store, "1", "what time is it?")
    await store.affordances.keep("10", "1", ["echo"], 2)
    assert await admitted(mode(store, context_turns=0), "hm") == set()


async def test_a_kept_tool_that_the_bot_no_longer_has_is_not_offered(store: Store) -> None:
    await store.affordances.keep("10", "1", ["gone", "echo"], 2)
    assert await admitted(mode(store), "hm") == {"echo"}


@pytest.mark.parametrize("quoted", ["", "what time is it?"])
def test_a_person_is_read_without_their_name_and_without_what_they_quote(quoted: str) -> None:
    wrote = TurnStarted(turn="1", channel="10", guild="1", user="7", author="file", text="a: b", quoted=quoted, at=NOW)
    assert own_words(user_message(wrote)) == "a: b"
