"""The story of the README as a newcomer lives it: `python -m bot preview`, and nothing but the page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.support.preview_process import Preview, preview

pytest_plugins = ["tests.support.browser"]
pytestmark = pytest.mark.browser

SOON = 15_000  # ms


class Visitor:
    """A person at the page, who finds things by their names."""

    def __init__(self, page: Page, tried: Preview) -> None:
        self.page = page
        self.project = tried.project
        self._url = tried.url

    async def open(self) -> None:
        await self.page.goto(self._url)
        await expect(self.box("general")).to_be_visible()

    def box(self, channel: str) -> Locator:
        return self.page.get_by_role("textbox", name=f"Message #{channel}")

    async def say(self, text: str, channel: str = "general") -> None:
        await self.box(channel).fill(text)
        await self.box(channel).press("Enter")

    async def view_as(self, name: str) -> None:
        await self.page.get_by_label("Viewing as").select_option(name)

    async def go_to(self, channel: str) -> None:
        await self.page.get_by_role("navigation", name="Channels").get_by_role("link", name=channel).click()
        await expect(self.box(channel)).to_be_visible()

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    def message(self, text: str | re.Pattern[str]) -> Locator:
        """The newest message with this text in it."""
        return self.log.locator("article.message").filter(has_text=text).last

    def button(self, label: str) -> Locator:
        """The newest button of this label in the channel."""
        return self.log.get_by_role("button", name=label, exact=True).last


@pytest.fixture
async def visitor(tab: Page, tmp_path: Path) -> AsyncIterator[Visitor]:
    async with preview(tmp_path) as tried:
        there = Visitor(tab, tried)
        await there.open()
        yield there
        await tab.close()


async def test_a_newcomer_asks_sees_the_tool_approves_a_write_and_the_file_is_there(visitor: Visitor) -> None:
    await visitor.say("@Countersign what is in this folder?")
    await expect(visitor.message("list_dir")).to_be_visible(timeout=SOON)
    answer = visitor.message("In this folder I see 1 folder and 2 files")
    await expect(answer).to_contain_text("todo.txt", timeout=SOON)
    await expect(visitor.button("Stop")).to_have_count(0)

    await visitor.say("@Countersign write hello to notes.txt")
    card = visitor.message("Approve write_file?")
    await expect(card).to_contain_text('"path": "notes.txt"', timeout=SOON)
    await expect(card).to_contain_text('"content": "hello\\n"')
    await expect(card).to_contain_text("+hello")
    assert not (visitor.project / "notes.txt").exists()

    await visitor.view_as("Bob")
    await visitor.button("Approve").click()
    await expect(visitor.message("You may not decide about this")).to_contain_text("Only you can see this")

    await visitor.view_as("Alice")
    await visitor.button("Approve").click()
    await expect(visitor.message("Done: created notes.txt")).to_be_visible(timeout=SOON)
    await expect(visitor.message("Approved by")).to_contain_text("Alice", timeout=SOON)
    await expect(visitor.button("Approve")).to_have_count(0)
    assert (visitor.project / "notes.txt").read_text() == "hello\n"


async def test_a_denial_closes_the_card_and_ends_the_turn(visitor: Visitor) -> None:
    await visitor.say("@Countersign write hello to notes.txt")
    await expect(visitor.button("Deny")).to_be_visible(timeout=SOON)
    await visitor.button("Deny").click()
    await expect(visitor.message("Not approved")).to_contain_text("Owner denied", timeout=SOON)
    await expect(visitor.button("Approve")).to_have_count(0)
    assert not (visitor.project / "notes.txt").exists()


async def test_a_denial_with_a_reason_is_answered_by_the_model(visitor: Visitor) -> None:
    await visitor.say("@Countersign write hello to notes.txt")
    await expect(visitor.button("Deny with reason…")).to_be_visible(timeout=SOON)
    await visitor.button("Deny with reason…").click()
    dialog = visitor.page.get_by_role("dialog", name="Deny with a reason")
    await dialog.get_by_label("Reason").fill("the file is sacred")
    await dialog.get_by_role("button", name="Submit").click()
    await expect(dialog).to_have_count(0)
    await expect(visitor.message("I hear you")).to_contain_text("the file is sacred", timeout=SOON)
    await expect(visitor.button("Approve")).to_have_count(0)
    assert not (visitor.project / "notes.txt").exists()


async def test_stop_in_the_middle_of_a_long_answer_keeps_what_was_said(visitor: Visitor) -> None:
    await visitor.say("@Countersign long answer")
    answer = visitor.message("word 1,")
    await expect(answer).to_be_visible(timeout=SOON)
    await expect(answer).to_contain_text("word 40", timeout=SOON)
    await visitor.button("Stop").click()
    await expect(answer).to_contain_text("Stopped by Owner", timeout=SOON)
    await expect(answer).to_contain_text("word 40")
    await expect(answer).not_to_contain_text("word 600")
    await expect(visitor.button("Stop")).to_have_count(0)


async def test_an_answer_to_a_press_that_comes_late_does_not_undo_what_came_meanwhile(visitor: Visitor) -> None:
    await visitor.say("@Countersign write hello to notes.txt")
    await expect(visitor.button("Deny")).to_be_visible(timeout=SOON)

    async def late(route: Route) -> None:
        answer = await route.fetch()
        await expect(visitor.message("Denied by")).to_be_visible(timeout=SOON)
        await route.fulfill(response=answer)

    await visitor.page.route("**/control/click", late)
    async with visitor.page.expect_response("**/control/click") as answered:
        await visitor.button("Deny").click()
    await (await answered.value).finished()
    await expect(visitor.log.get_by_role("button", name="Deny")).to_have_count(0)
    await visitor.say("anything")  # the page has done all that the answer asked for
    await expect(visitor.message("anything")).to_be_visible()
    await expect(visitor.message("Denied by")).to_be_visible()


async def test_two_channels_are_answered_at_once(visitor: Visitor) -> None:
    await visitor.say("@Countersign long answer")
    await expect(visitor.message("word 1,")).to_be_visible(timeout=SOON)
    await visitor.go_to("ops")
    await visitor.say("@Countersign read todo.txt", channel="ops")
    await expect(visitor.message("water the plants")).to_be_visible(timeout=SOON)
    await visitor.go_to("general")
    await expect(visitor.button("Stop")).to_be_visible()
    await visitor.button("Stop").click()
    await expect(visitor.message("Stopped by Owner")).to_be_visible(timeout=SOON)


async def test_cost_is_told_to_the_person_who_asks(visitor: Visitor) -> None:
    await visitor.say("@Countersign think")
    await expect(visitor.message("two and two is four")).to_be_visible(timeout=SOON)
    await visitor.say("/cost")
    answer = visitor.message("Cost of this channel")
    await expect(answer).to_contain_text(re.compile(r"\d+ tokens read, \d+ written"), timeout=SOON)
    await expect(answer).to_contain_text("Only you can see this")
