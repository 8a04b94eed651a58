"""A streaming reply on the twin: what people see, and how many requests it took."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.preview.server import Twin
from pipeline.records import StopRequested
from pipeline.results import Reason, TurnStatus
from tests.bot.stage import Stage, staged
from tests.bot.turns import ended, finished, running, said

MESSAGES = "/channels/{channel_id}/messages"
MESSAGE = "/channels/{channel_id}/messages/{message_id}"


@pytest.fixture
async def stage(twin: Twin, tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(twin, tmp_path) as opened:
        yield opened


async def test_a_streamed_answer_is_one_message_that_replies_to_the_person(stage: Stage) -> None:
    script = await stage.ask()
    script.stream("Hel", "lo", " there")
    script.commit(said("Hello there"), ended())
    await stage.finish(script)
    (reply,) = await stage.replies()
    assert reply["content"] == "Hello there"
    assert reply["message_reference"]["message_id"] == script.turn
    assert reply["embeds"] == [] and reply["components"] == []


async def test_the_first_text_is_shown_before_the_stream_ends(stage: Stage) -> None:
    script = await stage.ask()
    script.stream("Once")
    await stage.settled(script)
    (reply,) = await stage.replies()
    assert reply["content"] == "Once"
    assert reply["components"][0]["components"][0]["label"] == "Stop"


async def test_edits_take_the_newest_text_and_are_few(stage: Stage) -> None:
    script = await stage.ask()
    script.stream("0")
    for n in range(1, 200):
        script.type(f" {n}")
    text = " ".join(str(n) for n in range(200))
    script.commit(said(text), ended())
    await stage.finish(script)
    assert await stage.contents() == [text]
    edits = [r for r in await stage.control.requests() if r["method"] == "PATCH"]
    assert len(edits) <= 1


async def test_the_running_tool_is_shown_and_goes_at_the_end(stage: Stage) -> None:
    script = await stage.ask()
    script.commit(said("Looking.", calls=(("list_dir", "{}"),)), running())
    await stage.settled(script)
    (reply,) = await stage.replies()
    assert "list_dir" in reply["embeds"][0]["description"] and "running" in reply["embeds"][0]["description"]
    script.commit(finished(), said("Three files.", iteration=1), ended())
    await stage.finish(script)
    (reply,) = await stage.replies()
    assert (reply["content"], reply["embeds"], reply["components"]) == ("Looking.\n\nThree files.", [], [])


async def test_text_over_the_limit_goes_on_in_further_messages_once(stage: Stage) -> None:
    text = "\n".join(f"line {n} of the long answer" for n in range(300))
    script = await stage.ask()
    script.stream()
    for at in range(0, len(text), 500):
        script.type(text[at : at + 500])
    script.commit(said(text), ended())
    await stage.finish(script)
    contents = await stage.contents()
    assert "\n".join(contents).split() == text.split() and len(contents) == 5
    assert all(len(content) <= 2000 for content in contents)


async def test_what_is_over_the_most_messages_is_one_attached_file(stage: Stage) -> None:
    script = await stage.ask()
    script.commit(said("la " * 20_000), ended())
    await stage.finish(script)
    replies = await stage.replies()
    assert len(replies) == 5
    assert [len(reply["attachments"]) for reply in replies] == [0, 0, 0, 0, 1]
    assert replies[-1]["attachments"][0]["filename"].endswith(".md")


async def test_without_the_right_to_attach_files_the_text_is_still_there(stage: Stage) -> None:
    script = await stage.ask()
    script.stream("la " * 3400)
    await stage.settled(script)
    before = await stage.contents()
    await stage.control.fault("PATCH", MESSAGE, status=403, body={"code": 50013, "message": "Missing Permissions"})
    script.commit(said("la " * 3800), ended())
    await stage.finish(script)
    assert len(before) == len(await stage.contents()) == 5
    assert (await stage.replies())[-1]["components"] == []


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_nothing_to_say_sends_nothing_empty(stage: Stage, text: str) -> None:
    script = await stage.ask()
    script.stream(text)
    script.commit(said(text), ended(TurnStatus.EMPTY_RESPONSE, Reason.NONE))
    await stage.finish(script)
    assert await stage.replies() == []


async def test_a_stopped_turn_keeps_the_partial_text(stage: Stage) -> None:
    script = await stage.ask()
    script.stream("Part of")
    await stage.settled(script)
    script.commit(said("Part of"), StopRequested(reason=Reason.PERSON, by="7", name="alice"))
    script.commit(ended(TurnStatus.STOPPED_BY_USER, Reason.PERSON))
    await stage.finish(script)
    (reply,) = await stage.replies()
    assert reply["content"] == "Part of" and reply["embeds"][0]["title"] == "Stopped by alice"


async def test_nobody_but_the_person_who_asked_can_be_pinged(stage: Stage) -> None:
    hostile = "@everyone @here <@&1> <@2>"
    script = await stage.ask()
    script.stream(hostile)
    await stage.settled(script)
    script.commit(said(hostile * 200), ended())
    await stage.finish(script)
    bodies = [r["body"] for r in await stage.control.requests() if r["method"] in ("POST", "PATCH") and r["body"]]
    about = [body["allowed_mentions"] for body in bodies if "content" in body]
    assert about and all(one["parse"] == [] and "users" not in one and "roles" not in one for one in about)
    assert [one.get("replied_user", False) for one in about].count(True) == 1


async def test_a_deleted_reply_is_posted_afresh(stage: Stage) -> None:
    script = await stage.ask()
    script.stream("One")
    await stage.settled(script)
    (reply,) = await stage.replies()
    await stage.control.delete(reply["id"])
    script.commit(said("One two"), ended())
    await stage.finish(script)
    assert await stage.contents() == ["One two"]


@pytest.mark.parametrize(("status", "code"), [(404, 10008), (403, 50001), (400, 30046)])
async def test_a_reply_that_cannot_be_edited_is_posted_afresh(stage: Stage, status: int, code: int) -> None:
    script = await stage.ask()
    script.stream("One")
    await stage.settled(script)
    await stage.control.fault("PATCH", MESSAGE, status=status, body={"code": code, "message": "no"})
    script.commit(said("One two"), ended())
    await stage.finish(script)
    assert (await stage.contents())[-1] == "One two"


async def test_a_rate_limit_neither_loses_nor_doubles_text(stage: Stage) -> None:
    await stage.control.fault("POST", MESSAGES, status=429, retry_after=0.2)
    await stage.control.fault("PATCH", MESSAGE, status=429, retry_after=0.2)
    text = "\n".join(f"line {n} of the long answer" for n in range(220))
    script = await stage.ask()
    script.stream(text[:100])
    script.type(text[100:])
    script.commit(said(text), ended())
    await stage.finish(script)
    contents = await stage.contents()
    assert "\n".join(contents).split() == text.split() and len(contents) == 4


async def test_a_server_error_is_tried_again(stage: Stage) -> None:
    await stage.control.fault("POST", MESSAGES, status=503)
    script = await stage.ask()
    script.commit(said("Hello"), ended())
    await stage.finish(script)
    assert await stage.contents() == ["Hello"]


@pytest.mark.parametrize("lost", [{"status": 500}, {"cut": True}])
async def test_a_message_whose_answer_was_lost_is_not_posted_twice(stage: Stage, lost: dict[str, int]) -> None:
    await stage.control.fault("POST", MESSAGES, after=True, **lost)
    script = await stage.ask()
    script.commit(said("Hello"), ended())
    await stage.finish(script)
    assert await stage.contents() == ["Hello"]


async def test_a_closed_channel_ends_the_turn_and_delivery(stage: Stage) -> None:
    script = await stage.ask()
    await stage.control.fault("POST", MESSAGES, status=403, body={"code": 50001, "message": "Missing Access"})
    script.stream("Hello")
    await stage.settled(script)
    assert stage.runtime.gone == [script.turn]
    script.commit(said("Hello"), ended(TurnStatus.ERROR, Reason.UNDELIVERABLE))
    await stage.finish(script)
    assert await stage.replies() == []


async def test_an_embed_that_discord_refuses_does_not_take_the_text_with_it(stage: Stage) -> None:
    await stage.control.fault("POST", MESSAGES, status=400, body={"code": 50035, "message": "Invalid Form Body"})
    script = await stage.ask()
    script.commit(said("Looking.", calls=(("list_dir", "{}"),)), running())
    await stage.settled(script)
    assert await stage.contents() == ["Looking."]


async def test_a_restart_goes_on_in_the_same_message(stage: Stage) -> None:
    script = await stage.ask()
    script.stream("Half of")
    await stage.settled(script)
    await stage.close()
    await stage.open()
    again = script.replay(stage.emit)
    again.stream("Half of it all")
    again.commit(said("Half of it all"), ended())
    await stage.finish(again)
    assert await stage.contents() == ["Half of it all"]


async def test_a_pass_that_is_shorter_the_second_time_leaves_no_message_behind(stage: Stage) -> None:
    script = await stage.ask()
    script.stream("word " * 600)
    await stage.settled(script)
    before = await stage.contents()
    await stage.close()
    await stage.open()
    again = script.replay(stage.emit)
    again.stream("One word")
    again.commit(said("One word"), ended())
    await stage.finish(again)
    assert len(before) == 2 and await stage.contents() == ["One word"]


async def test_a_message_whose_id_was_lost_in_a_crash_is_found_again(stage: Stage) -> None:
    script = await stage.ask()
    script.commit(said("Looking.", calls=(("list_dir", "{}"),)), running())
    await stage.settled(script)
    await stage.close()
    stage.deliveries.rows.clear()
    await stage.open()
    again = script.replay(stage.emit)
    again.commit(finished(), said("Found.", iteration=1), ended())
    await stage.finish(again)
    assert await stage.contents() == ["Looking.\n\nFound."]


async def test_typing_shows_until_the_first_text(stage: Stage) -> None:
    async with stage.control.expect(lambda event: event["type"] == "typing") as typing:
        script = await stage.ask()
    assert (await typing)["type"] == "typing"
    script.commit(said("Hello"), ended())
    await stage.finish(script)
    assert await stage.contents() == ["Hello"]
