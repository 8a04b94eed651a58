"""Pressing things on the page: buttons, ephemeral answers, select menus, modals, and what fails."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.support.page_stage import Stage
from tests.support.raw_bot import MODAL, UPDATE, Json, button, row, says

pytestmark = pytest.mark.browser

EPHEMERAL = 64


def modal(_: Json) -> Json:
    arguments = {"type": 4, "custom_id": "arguments", "label": "Arguments", "style": 2, "value": "{}"}
    reason = {"type": 4, "custom_id": "reason", "label": "Reason", "style": 1, "required": True}
    return {
        "type": MODAL,
        "data": {"title": "Edit the call", "custom_id": "edited", "components": [row(arguments), row(reason)]},
    }


async def test_a_button_is_pressed_by_the_viewer_and_the_message_changes(stage: Stage) -> None:
    done = row(button("Approved", "approve", style=3, disabled=True))
    stage.bot.answers["approve"] = says("decided", kind=UPDATE, components=[done])
    card = await stage.post("may I?", components=[row(button("Approve", "approve", style=3))])
    await stage.show("alice")
    await stage.message(card).get_by_role("button", name="Approve").click()
    pressed = await stage.bot.interactions.get()
    assert pressed["member"]["user"]["username"] == "alice"
    await expect(stage.content(card)).to_contain_text("decided")
    await expect(stage.message(card).get_by_role("button", name="Approved")).to_be_disabled()


async def test_an_ephemeral_answer_is_seen_by_one_person_and_can_be_dismissed(stage: Stage) -> None:
    stage.bot.answers["approve"] = says("You may not approve this.", flags=EPHEMERAL)
    card = await stage.post("may I?", components=[row(button("Approve", "approve"))])
    await stage.show("bob")
    await stage.message(card).get_by_role("button", name="Approve").click()
    answer = stage.message("You may not approve this.")
    await expect(answer.locator(".notice")).to_contain_text("Only you can see this")
    await stage.tab.get_by_label("Viewing as").select_option("Alice")
    await expect(answer).to_have_count(0)
    await stage.tab.get_by_label("Viewing as").select_option("Bob")
    await answer.get_by_role("button", name="Dismiss message").first.click()
    await expect(answer).to_have_count(0)


async def test_an_interaction_that_nobody_answers_says_so_under_its_message(stage: Stage) -> None:
    card = await stage.post("may I?", components=[row(button("Approve", "approve"))])
    await stage.show()
    await stage.message(card).get_by_role("button", name="Approve").click()
    await stage.bot.interactions.get()
    await stage.control("POST", "/clock", {"advance_s": 4})
    await expect(stage.message(card).get_by_role("alert")).to_have_text("This interaction failed")
    await expect(stage.message(card).get_by_role("button", name="Approve")).to_be_enabled()


async def test_a_modal_is_a_dialog_whose_fields_are_sent(stage: Stage) -> None:
    stage.bot.answers["edit"] = modal
    stage.bot.answers["edited"] = says("edited")
    card = await stage.post("may I?", components=[row(button("Edit…", "edit"))])
    await stage.show()
    await stage.message(card).get_by_role("button", name="Edit…").click()
    dialog = stage.tab.get_by_role("dialog", name="Edit the call")
    await expect(dialog.get_by_label("Arguments")).to_have_value("{}")
    await dialog.get_by_role("button", name="Submit").click()
    await expect(dialog.get_by_role("alert")).to_have_text("Reason: this is required.")
    await dialog.get_by_label("Arguments").fill('{"path": "a.txt"}')
    await dialog.get_by_label("Reason").fill("shorter")
    await dialog.get_by_role("button", name="Submit").click()
    await expect(dialog).to_have_count(0)
    await expect(stage.content("edited").last).to_be_visible()
    await stage.bot.interactions.get()
    sent = (await stage.bot.interactions.get())["data"]
    inputs = [(line.get("component") or line["components"][0]) for line in sent["components"]]
    assert {one["custom_id"]: one["value"] for one in inputs} == {"arguments": '{"path": "a.txt"}', "reason": "shorter"}


async def test_a_modal_can_be_left_and_opened_again(stage: Stage) -> None:
    stage.bot.answers["edit"] = modal
    card = await stage.post("may I?", components=[row(button("Edit…", "edit"))])
    await stage.show()
    dialog = stage.tab.get_by_role("dialog", name="Edit the call")
    for leave in ("Cancel", "Close"):
        await stage.message(card).get_by_role("button", name="Edit…").click()
        await dialog.get_by_role("button", name=leave).click()
        await expect(dialog).to_have_count(0)


async def test_a_select_menu_sends_what_was_picked(stage: Stage) -> None:
    options = [{"label": "Small", "value": "s"}, {"label": "Large", "value": "l", "description": "slower"}]
    select = {"type": 3, "custom_id": "size", "placeholder": "Choose a size", "options": options}
    stage.bot.answers["size"] = says("picked", flags=EPHEMERAL)
    card = await stage.post("which?", components=[row(select)])
    await stage.show()
    await stage.message(card).get_by_role("button", name="Choose a size").click()
    await stage.tab.get_by_role("option", name="Large").click()
    assert (await stage.bot.interactions.get())["data"]["values"] == ["l"]
    await expect(stage.content("picked")).to_be_visible()


async def test_a_disabled_button_cannot_be_pressed(stage: Stage) -> None:
    card = await stage.post("over", components=[row(button("Approve", "approve", disabled=True))])
    await stage.show()
    await expect(stage.message(card).get_by_role("button", name="Approve")).to_be_disabled()


async def test_a_deferred_answer_is_shown_as_thinking_first(stage: Stage) -> None:
    await stage.bot.register({"name": "cost", "description": "What it cost"})
    stage.bot.answers["cost"] = lambda _: {"type": 5}
    await stage.show()
    await stage.box().fill("/cost")
    await stage.box().press("Enter")
    interaction = await stage.bot.interactions.get()
    await expect(stage.tab.get_by_text("Countersign is thinking…")).to_be_visible()
    path = f"/webhooks/{interaction['application_id']}/{interaction['token']}/messages/@original"
    await stage.bot.rest("PATCH", path, {"content": "1 cent"})
    await expect(stage.content("1 cent")).to_be_visible()
    await expect(stage.tab.get_by_text("Countersign is thinking…")).to_have_count(0)


async def test_a_refusal_of_the_server_is_told_in_its_own_words(stage: Stage) -> None:
    card = await stage.post("gone soon", components=[row(button("Approve", "approve"))])
    await stage.show()
    await stage.tab.route("**/control/click", lambda route: route.fulfill(status=409, json={"error": "It is gone."}))
    await stage.message(card).get_by_role("button", name="Approve").click()
    await expect(stage.message(card).get_by_role("alert")).to_have_text("It is gone.")
