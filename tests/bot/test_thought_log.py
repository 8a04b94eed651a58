"""What a model thought: a quiet button under the answer, shown to the one who presses it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.preview.server import Twin
from bot.render.embeds import thoughts
from bot.render.offers import span
from pipeline.records import AttemptEnded, PassFinished
from pipeline.results import Reason, StreamStatus, ThoughtLog, TurnStatus
from tests.bot.stage import Stage, staged
from tests.bot.test_layout import Shown
from tests.bot.turns import Script, ended, finished, running, said


def thought(text: str, iteration: int = 0, *, duration_ms: int = 6000, said_text: str = "Answer") -> PassFinished:
    made = said(said_text, iteration=iteration)
    return replace(made, thinking=text, duration_ms=duration_ms, provider="first", model="deep-1")


@pytest.fixture
async def stage(twin: Twin, tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(twin, tmp_path) as opened:
        yield opened


def labels(message: dict[str, Any]) -> list[str]:
    return [button["label"] for row in message["components"] for button in row["components"]]


async def answered(stage: Stage, *passes: PassFinished) -> tuple[Script, dict[str, Any]]:
    """An ended turn, and its newest message."""
    script = await stage.ask()
    script.commit(*passes, ended())
    await stage.finish(script)
    return script, (await stage.replies())[-1]


async def test_the_answer_carries_the_button_and_a_press_shows_the_thoughts(stage: Stage) -> None:
    first = replace(thought("I should look."), status=StreamStatus.FUNCTION_CALL, calls=(("list_dir", "{}"),))
    script = await stage.ask()
    script.commit(first, running())
    await stage.settled(script)
    assert labels((await stage.replies())[-1]) == ["Stop"]
    script.commit(finished(), thought("Now I know.", 1), ended())
    await stage.finish(script)
    (reply,) = await stage.replies()
    assert labels(reply) == ["Thoughts · 12 s"]
    told = await stage.control.click(reply["id"], "bob", label="Thoughts · 12 s")
    embed = told["message"]["embeds"][0]
    assert told["message"]["flags"] & 64 and embed["description"] == "I should look.\n\nNow I know."
    assert embed["author"]["name"] == "💭 deep-1 · 12 s"


async def test_long_thoughts_are_attached_as_a_file(stage: Stage) -> None:
    text = "Let me think. " * 1000
    _, reply = await answered(stage, thought(text))
    told = await stage.control.click(reply["id"], "alice", label="Thoughts · 6 s")
    (file,) = told["message"]["attachments"]
    assert file["filename"] == "thoughts.md" and file["size"] == len(text.strip())
    assert told["message"]["embeds"][0]["description"].startswith("Let me think.")


async def test_the_thoughts_are_shown_after_a_restart_too(stage: Stage) -> None:
    _, reply = await answered(stage, thought("Hmm."))
    await stage.close()
    await stage.open()
    told = await stage.control.click(reply["id"], "alice", label="Thoughts · 6 s")
    assert told["message"]["embeds"][0]["description"] == "Hmm."


async def test_a_turn_of_another_channel_shows_nothing_here(stage: Stage) -> None:
    script, reply = await answered(stage, thought("Hmm."))
    script.records[0] = replace(script.start, channel="1")
    told = await stage.control.click(reply["id"], "alice", label="Thoughts · 6 s")
    assert told["message"]["embeds"] == [] and "do not know" in told["message"]["content"]


def test_without_thoughts_there_is_no_button() -> None:
    shown = Shown()
    shown.script.commit(thought("  "), ended())
    assert shown.posts[0].offers == ()


def test_thoughts_alone_post_no_message() -> None:
    shown = Shown()
    stopped = AttemptEnded(status=TurnStatus.STOPPED_BY_USER, reason=Reason.PHRASE)
    shown.script.commit(thought("Hmm.", said_text=""), stopped)
    assert shown.posts == ()


@given(st.text(max_size=9000), st.text(max_size=300), st.integers(min_value=0, max_value=10**8))
def test_the_embed_keeps_to_discord_s_limits(text: str, owner: str, duration_ms: int) -> None:
    embed, is_whole = thoughts(ThoughtLog(text=text, duration_ms=duration_ms, owner=owner))
    assert len(embed.description or "") <= 4096 and len(embed.author.name or "") <= 256 and len(embed) <= 6000
    assert is_whole == (embed.description == text or text == "")


@pytest.mark.parametrize(("ms", "words"), [(0, "1 s"), (400, "1 s"), (12_400, "12 s"), (61_000, "1 min 1 s")])
def test_a_duration_is_said_in_whole_seconds(ms: int, words: str) -> None:
    assert span(ms) == words
