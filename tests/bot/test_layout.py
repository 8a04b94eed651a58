"""Which messages a turn consists of, from its events alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.layout import Layout, Post
from bot.render.view import TurnView
from pipeline.records import Noticed, StopRequested
from pipeline.results import NoticeKind, Reason, TurnStatus
from tests.bot.turns import NOW, Script, asked, decided, ended, finished, running, said, started

CALL = (("write_file", '{"path": "a"}'),)


class Shown:
    """A turn and the messages that it should be."""

    def __init__(self, max_messages: int = 5) -> None:
        self.view = TurnView(started(), lambda: NOW)
        self.layout = Layout(max_messages, 100)
        self.script = Script(self.view.take, started())

    @property
    def posts(self) -> tuple[Post, ...]:
        return self.layout.posts(self.view)

    @property
    def contents(self) -> list[tuple[str, str]]:
        return [(post.slot, post.content) for post in self.posts]


def test_nothing_is_shown_before_there_is_anything_to_see() -> None:
    shown = Shown()
    shown.script.stream("  \n")
    assert shown.posts == ()


def test_a_streaming_text_is_one_message_with_a_stop_button() -> None:
    shown = Shown()
    shown.script.stream("Hel", "lo")
    assert shown.posts == (Post(slot="reply:0.0", content="Hello", stop=True),)


def test_a_finished_text_has_no_button_and_no_embed() -> None:
    shown = Shown()
    shown.script.commit(said("Looking.", calls=(("list_dir", "{}"),)), running(), finished())
    shown.script.commit(said("Done.", iteration=1), ended())
    assert shown.posts == (Post(slot="reply:0.0", content="Looking.\n\nDone."),)


def test_a_pass_that_is_streamed_again_replaces_what_was_shown_of_it() -> None:
    shown = Shown()
    shown.script.stream("Hello wor")
    shown.script.stream("Hello")
    assert shown.contents == [("reply:0.0", "Hello")]


def test_a_running_tool_is_shown_on_a_message_of_its_own_until_there_is_text() -> None:
    shown = Shown()
    shown.script.commit(said("", calls=CALL), running())
    (post,) = shown.posts
    assert (post.slot, post.content, post.stop, len(post.embeds)) == ("reply:0.0", "", True, 1)
    shown.script.commit(finished())
    shown.script.stream("Now", iteration=1)
    assert shown.contents == [("reply:0.0", "Now")]


def test_text_after_a_card_stands_below_it() -> None:
    shown, question = Shown(), asked()
    shown.script.commit(said("I will write.", calls=CALL), question, decided(question), running(), finished())
    shown.script.commit(said("Written.", iteration=1), ended())
    assert shown.contents == [("reply:0.0", "I will write."), ("reply:1.0", "Written.")]


def test_a_call_that_only_waits_for_its_card_needs_no_message() -> None:
    shown, question = Shown(), asked()
    shown.script.commit(said("", calls=CALL), question)
    assert shown.contents == []
    shown.script.commit(decided(question), running())
    assert shown.contents == [("reply:1.0", "")]


def test_the_activity_and_the_button_ride_on_the_newest_message() -> None:
    shown = Shown()
    shown.script.commit(said("x" * 2500, calls=(("now", "{}"),)), running())
    first, second = shown.posts
    assert (first.stop, first.embeds) == (False, ())
    assert second.stop and len(second.embeds) == 1


def test_a_stopped_turn_keeps_its_text_and_says_who_stopped_it() -> None:
    shown = Shown()
    shown.script.commit(said("Part"), StopRequested(reason=Reason.PERSON, by="7", name="alice"))
    shown.script.commit(ended(TurnStatus.STOPPED_BY_USER, Reason.PERSON))
    (post,) = shown.posts
    assert (post.content, post.stop, post.embeds[0].title) == ("Part", False, "Stopped by alice")


def test_a_notice_without_any_text_is_a_message_of_its_own() -> None:
    shown = Shown()
    shown.script.commit(
        said(""), Noticed(notice=NoticeKind.EMPTY_RESPONSE), ended(TurnStatus.EMPTY_RESPONSE, Reason.NONE)
    )
    post = shown.posts[0]
    assert post.content == "" and post.embeds[0].title == "Empty answer"


@pytest.mark.covers("limit MAX_REPLY_MESSAGES")
def test_what_is_over_the_most_messages_is_one_file_at_the_end() -> None:
    text = "la " * 20_000
    shown = Shown(max_messages=3)
    shown.script.stream(text)
    assert "".join(post.rest for post in shown.posts) == ""
    shown.script.commit(said(text), ended())
    posts = shown.posts
    assert len(posts) == 3 and posts[0].rest == posts[1].rest == ""
    assert "".join(post.content for post in posts) + posts[2].rest == text.strip()


def test_a_file_that_begins_inside_a_code_block_opens_it_again() -> None:
    shown = Shown(max_messages=1)
    shown.script.commit(said("```py\n" + "x = 1\n" * 600 + "```"), ended())
    post = shown.posts[0]
    assert post.content.endswith("```") and post.rest.startswith("```py\nx = 1")


@given(st.lists(st.text(max_size=900), max_size=12))
def test_all_messages_but_the_last_stay_as_they_are_while_text_streams(deltas: list[str]) -> None:
    shown = Shown(max_messages=100)
    shown.script.stream()
    before: list[tuple[str, str]] = []
    for delta in deltas:
        shown.script.type(delta)
        after = shown.contents
        assert after[: len(before[:-1])] == before[:-1]
        before = after


def test_all_embeds_of_a_message_together_keep_to_the_limit() -> None:
    shown = Shown()
    calls = tuple((f"tool_{n}" * 20, '{"a": "' + "x" * 500 + '"}') for n in range(30))
    shown.script.commit(Noticed(notice=NoticeKind.STILL_WORKING, detail="y" * 3000))
    shown.script.commit(Noticed(notice=NoticeKind.TOOL_ERRORS, detail="y" * 3000), said("", calls=calls), running())
    assert sum(len(embed) for embed in shown.posts[-1].embeds) <= 6000
