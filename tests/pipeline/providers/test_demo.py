"""The demo model: every phrase of its docstring, and answers out of the results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ProviderUnreachable
from pipeline.messages import (
    CONTEXT_HEAD,
    AssistantMessage,
    Image,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pipeline.provider import Finish, TextDelta, ThinkingDelta, ToolDefinition
from pipeline.providers import _demo_rules, demo
from pipeline.providers.demo import Demo
from tests.pipeline.providers.helpers import Seen, config_of, events_of, request_of, seen_in

TOOLS = tuple(
    ToolDefinition(name=name, description=name, schema={"type": "object"})
    for name in (
        "list_dir",
        "read_file",
        "search_files",
        "write_file",
        "edit_file",
        "now",
        "view_image",
        "set_reminder",
        "select_sticker",
        "react",
        "create_thread",
        "update_short_term_memory",
    )
)


class Clock:
    """A clock that moves by being slept on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


async def play(messages: Sequence[Message], tools: Sequence[ToolDefinition] = TOOLS) -> Seen:
    clock = Clock()
    model = Demo(config_of("demo", base_url="", model=""), sleep=clock.sleep, clock=clock)
    return seen_in(await events_of(model, request_of(messages, tools)))


async def reply(text: str) -> Seen:
    return await play([SystemMessage(text="S"), UserMessage(text=text)])


async def called(text: str) -> tuple[str, Any]:
    (call,) = (await reply(text)).calls
    return call.name, orjson.loads(call.arguments)


def turn(text: str, name: str, content: str, *, is_error: bool = False, **arguments: str) -> list[Message]:
    """What the model sees after it made one call."""
    call = ToolCall(id="aaaaaaaaa", name=name, arguments=orjson.dumps(arguments).decode())
    return [
        UserMessage(text=text),
        AssistantMessage(text="", calls=(call,)),
        ToolMessage(call_id=call.id, name=name, content=content, is_error=is_error),
    ]


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("jane: what is in this folder", "list_dir", {}),
        ("jane: What is in this folder?", "list_dir", {}),
        ("jane: <@123> what's in this folder?", "list_dir", {}),
        ("@Countersign what is in this folder?", "list_dir", {}),
        ("[in reply to joe: read secret.txt]\njane: what is in this folder?", "list_dir", {}),
        ("jane: read notes.txt", "read_file", {"path": "notes.txt"}),
        ("jane: please read `my notes.txt`.", "read_file", {"path": "my notes.txt"}),
        ("Jane Doe (she/her): READ “a.txt”!", "read_file", {"path": "a.txt"}),
        ("jane: read .gitignore", "read_file", {"path": ".gitignore"}),
        ("jane: search TODO", "search_files", {"query": "TODO"}),
        ("jane: search for 'a b'", "search_files", {"query": "a b"}),
        ("jane: write hello to notes.txt", "write_file", {"path": "notes.txt", "content": "hello\n"}),
        ("jane: write go to bed to a/b.txt.", "write_file", {"path": "a/b.txt", "content": "go to bed\n"}),
        ("jane: write 'x: y\nz' to `c.txt`", "write_file", {"path": "c.txt", "content": "x: y\nz\n"}),
        ("jane: fail", "read_file", {"path": "no-such-file.txt"}),
        ("jane: keep failing", "read_file", {"path": "no-such-file-1.txt"}),
        ("jane: look at me", "view_image", {"pictures": ["avatar of jane"]}),
        ("jane: remind me", "set_reminder", {"text": "This is your reminder.", "in_seconds": 5}),
        ("jane: sticker", "select_sticker", {"sticker": "Wave"}),
        ("jane: react", "react", {"emoji": "👍"}),
        ("jane: thread", "create_thread", {"title": "A thread of the demo"}),
        ("jane: note tea at five", "update_short_term_memory", {"text": "tea at five"}),
        ("jane: loop", "search_files", {"query": "step 1"}),
        ("jane: Repeat!", "list_dir", {}),
    ],
)
async def test_a_phrase_becomes_a_call(text: str, name: str, arguments: dict[str, object]) -> None:
    assert await called(text) == (name, arguments)


async def test_it_breaks_where_it_is_asked_to_and_its_second_model_answers() -> None:
    with pytest.raises(ProviderUnreachable):
        await reply("jane: fall back")
    model = Demo(config_of("demo", base_url="", model=""))
    request = replace(request_of([UserMessage(text="jane: fall back")], TOOLS), model="demo-2")
    assert "second demo model" in seen_in(await events_of(model, request)).text


async def test_an_answer_that_it_cuts_goes_on_when_it_is_asked_again() -> None:
    first = await reply("jane: cut")
    assert first.finish is Finish.LENGTH
    second = await play([UserMessage(text="jane: cut"), AssistantMessage(text=first.text)])
    assert second.finish is Finish.END
    assert f"{first.text}{second.text}".startswith("This answer is cut in the middle of its sentence")


async def test_go_on_means_what_was_asked_for_before() -> None:
    seen = await play([*turn("jane: repeat", "list_dir", "(empty)"), UserMessage(text="jane: Go on.")])
    assert [call.name for call in seen.calls] == ["list_dir"]


async def test_it_says_what_pictures_it_was_shown() -> None:
    picture = Image(media_type="image/png", data="aGk=")
    shown = UserMessage(text=f"{CONTEXT_HEAD}\n[pictures]", images=(picture,))
    seen = await play([*turn("jane: look at me", "view_image", "You see from now on: 1."), shown])
    assert "1 picture (image/png)" in seen.text


def test_every_documented_phrase_has_a_rule_and_is_in_the_help() -> None:
    phrases = re.findall(r"^\* `(.+?)`", demo.__doc__ or "", re.MULTILINE)
    assert phrases == [
        "what is in this folder",
        "read X",
        "search X",
        "write TEXT to X",
        "fail",
        "think",
        "long answer",
        "loop",
        "repeat",
        "keep failing",
        "fall back",
        "cut",
        "look at me",
        "remind me",
        "sticker",
        "react",
        "thread",
        "note TEXT",
    ]
    assert re.findall(r"^- `(.+?)`", _demo_rules.HELP, re.MULTILINE) == phrases


@pytest.mark.parametrize("text", ["jane: hello", "", "jane: I think therefore", "jane: reading is fun", "x" * 5000])
async def test_anything_else_is_answered_with_the_phrases(text: str) -> None:
    seen = await reply(text)
    assert seen.text.strip() == _demo_rules.HELP
    assert "demo model" in seen.text


@given(st.text())
def test_no_text_confuses_it(text: str) -> None:
    assert _demo_rules.decide(request_of([UserMessage(text=text)], TOOLS))


async def test_the_folder_is_told_from_the_result() -> None:
    text = (await play(turn("jane: what is in this folder?", "list_dir", "d src\nd docs\nf a b.txt"))).text
    assert text == "In this folder I see 2 folders and 1 file:\n- `src/`\n- `docs/`\n- `a b.txt`"


async def test_an_empty_folder_is_told() -> None:
    assert "empty" in (await play(turn("jane: what is in this folder?", "list_dir", "(empty)"))).text


@pytest.mark.parametrize("content", ["one\n```\ntwo", "x" * 9000, "a  b\n\n  c"])
async def test_a_file_is_shown_in_a_block_it_cannot_close(content: str) -> None:
    text = (await play(turn("jane: read a.txt", "read_file", content, path="a.txt"))).text
    head, fence, *body, end = text.split("\n")
    assert head == "`a.txt` says:"
    assert fence == end
    assert fence not in "\n".join(body)
    assert content.startswith("\n".join(body).removesuffix("\n…"))
    assert len(text) < 1800


async def test_after_a_write_it_says_what_the_result_says() -> None:
    messages = turn("jane: write x to a.txt", "write_file", "wrote 2 bytes to a.txt", path="a.txt")
    assert (await play(messages)).text == "Done: wrote 2 bytes to a.txt"


async def test_a_failure_is_told_and_not_tried_again() -> None:
    seen = await play(turn("jane: fail", "read_file", "file not found: no-such-file.txt", is_error=True))
    assert "did not work" in seen.text
    assert "file not found" in seen.text
    assert seen.calls == ()


async def test_the_reason_of_a_denial_is_heard_and_nothing_is_done() -> None:
    why = "Not run: joe denied this call and says: not in my garden"
    seen = await play(turn("jane: write x to a.txt", "write_file", why, is_error=True))
    assert "not in my garden" in seen.text
    assert "Done" not in seen.text
    assert seen.calls == ()


async def test_a_call_that_was_not_run_is_not_claimed_to_be_done() -> None:
    seen = await play(turn("jane: write x to a.txt", "write_file", "Not run: it was not approved.", is_error=True))
    assert "nothing was changed" in seen.text


async def test_loop_varies_its_arguments_and_repeat_does_not() -> None:
    for phrase, varies in (("loop", True), ("repeat", False)):
        messages: list[Message] = [UserMessage(text=f"jane: {phrase}")]
        asked = []
        for number in range(5):
            (call,) = (await play(messages)).calls
            asked.append((call.name, call.arguments))
            made = ToolCall(id=f"id{number}", name=call.name, arguments=call.arguments)
            result = ToolMessage(call_id=made.id, name=made.name, content="f a")
            messages += [AssistantMessage(text="", calls=(made,)), result]
        assert len(set(asked)) == (5 if varies else 1)


async def test_an_earlier_turn_is_over() -> None:
    earlier = turn("jane: loop", "search_files", "nothing found")
    seen = await play([*earlier, AssistantMessage(text="stopped"), UserMessage(text="jane: hello")])
    assert seen.text.strip() == _demo_rules.HELP


async def test_a_missing_tool_is_named() -> None:
    seen = await play([UserMessage(text="jane: read a.txt")], tools=())
    assert "`read_file`" in seen.text
    assert seen.calls == ()


async def test_think_thinks_before_it_answers() -> None:
    clock = Clock()
    model = Demo(config_of("demo", base_url=""), sleep=clock.sleep, clock=clock)
    events = await events_of(model, request_of([UserMessage(text="jane: think")]))
    kinds = [type(event) for event in events if isinstance(event, (TextDelta, ThinkingDelta))]
    assert kinds == sorted(kinds, key=lambda kind: kind is TextDelta)
    assert len(set(kinds)) == 2


async def test_the_long_answer_is_thirty_deltas_a_second_for_twenty_seconds() -> None:
    clock = Clock()
    model = Demo(config_of("demo", base_url=""), sleep=clock.sleep, clock=clock)
    events = await events_of(model, request_of([UserMessage(text="jane: long answer")]))
    assert sum(isinstance(event, TextDelta) for event in events) == 600
    assert clock.now - 100 == pytest.approx(20, abs=0.1)


async def test_words_come_at_a_pleasant_pace_and_a_long_text_faster() -> None:
    for text, most in (("jane: hi", 6.0), ("jane: write", 6.0)):
        clock = Clock()
        model = Demo(config_of("demo", base_url=""), sleep=clock.sleep, clock=clock)
        await events_of(model, request_of([UserMessage(text=text)]))
        assert 1 < clock.now - 100 < most


async def test_usage_is_a_quarter_of_the_characters() -> None:
    seen = await play([UserMessage(text="x" * 400)])
    assert (seen.usage.input_tokens, seen.usage.output_tokens) == (100, -(-len(seen.text) // 4))
    assert (seen.finish, seen.model) == (Finish.END, "demo")
