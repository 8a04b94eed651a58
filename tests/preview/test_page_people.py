"""What people do on the page: write, mention, reply, react, attach, edit, delete, call commands, change who looks."""

from __future__ import annotations

import re
from base64 import b64encode

import pytest
from playwright.async_api import FilePayload, expect

from bot.preview.assets import square
from tests.support.page_stage import Stage
from tests.support.raw_bot import Json, says

pytestmark = pytest.mark.browser

TEXT = 3
INTEGER = 4
SUBCOMMAND = 1


DROP = """([bytes, name, type]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
    document.querySelector("[role=log]").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
}"""


def option(name: str, kind: int = TEXT, *, required: bool = False) -> Json:
    return {"type": kind, "name": name, "description": f"The {name}", "required": required}


async def test_enter_sends_and_shift_enter_makes_a_line(stage: Stage) -> None:
    await stage.show()
    await stage.box().fill("one")
    await stage.box().press("Shift+Enter")
    await stage.box().press_sequentially("two")
    await stage.box().press("Enter")
    await expect(stage.content("one")).to_have_text("one\ntwo")
    await expect(stage.box()).to_have_value("")
    sent = (await stage.control("GET", f"/messages?channel=general&viewer={stage.people['owner']}"))[-1]
    assert (sent["content"], sent["author"]["username"]) == ("one\ntwo", "owner")


async def test_a_typed_name_of_the_bot_is_a_mention_except_in_code(stage: Stage) -> None:
    await stage.show()
    await stage.box().fill("@Countersign run `@Countersign`")
    await stage.box().press("Enter")
    await expect(stage.message("run").locator(".mention")).to_have_text("@Countersign")
    sent = (await stage.control("GET", f"/messages?channel=general&viewer={stage.people['owner']}"))[-1]
    assert sent["content"] == f"<@{stage.bot.user_id}> run `@Countersign`"
    assert [user["id"] for user in sent["mentions"]] == [stage.bot.user_id]


async def test_a_mention_is_picked_from_the_list(stage: Stage) -> None:
    await stage.show()
    await stage.box().press_sequentially("hi @bo")
    await expect(stage.tab.get_by_role("listbox", name="Members").get_by_role("option", name="Bob")).to_have_attribute(
        "aria-selected", "true"
    )
    await stage.box().press("Tab")
    await expect(stage.box()).to_have_value("hi @Bob ")
    await stage.box().press("Enter")
    await expect(stage.message("hi").locator(".mention")).to_have_text("@Bob")


async def test_a_message_that_mentions_the_viewer_stands_out(stage: Stage) -> None:
    message = await stage.say("alice", f"<@{stage.people['bob']}> look")
    await stage.show("bob")
    await expect(stage.message(message)).to_have_class(re.compile("mentions-viewer"))
    await stage.tab.get_by_label("Viewing as").select_option("Alice")
    await expect(stage.message(message)).not_to_have_class(re.compile("mentions-viewer"))


async def test_the_viewer_who_is_picked_is_the_one_who_writes(stage: Stage) -> None:
    await stage.show()
    await stage.tab.get_by_label("Viewing as").select_option("Bob")
    await stage.box().fill("from bob")
    await stage.box().press("Enter")
    await expect(stage.message("from bob").locator(".author")).to_have_text("Bob")


async def test_a_reply_shows_what_it_answers(stage: Stage) -> None:
    question = await stage.say("alice", "what time is it?")
    await stage.show()
    await stage.message(question).hover()
    await stage.message(question).get_by_role("button", name="Reply", exact=True).click()
    await expect(stage.tab.get_by_text("Replying to Alice")).to_be_visible()
    await stage.box().fill("nine")
    await stage.box().press("Enter")
    reply = stage.message("nine")
    await expect(reply.locator(".reply-bar")).to_have_text(re.compile("@Alice.*what time is it"))
    await expect(stage.tab.get_by_text("Replying to Alice")).to_be_hidden()
    sent = (await stage.control("GET", f"/messages?channel=general&viewer={stage.people['owner']}"))[-1]
    assert sent["message_reference"]["message_id"] == question["id"]


async def test_people_edit_and_delete_only_their_own_messages(stage: Stage) -> None:
    other, own = await stage.say("alice", "alice's"), await stage.say("bob", "drafft")
    await stage.show("bob")
    await stage.message(other).hover()
    await expect(stage.message(other).get_by_role("button", name="Reply", exact=True)).to_be_visible()
    for name in ("Edit", "Delete"):
        await expect(stage.message(other).get_by_role("button", name=name)).to_have_count(0)
    await stage.message(own).hover()
    await stage.message(own).get_by_role("button", name="Edit").click()
    await stage.box("Edit message").fill("draft")
    await stage.box("Edit message").press("Enter")
    await expect(stage.content(own)).to_have_text("draft (edited)")
    await stage.message(own).hover()
    await stage.message(own).get_by_role("button", name="Delete").click()
    await stage.tab.get_by_role("dialog", name="Delete Message").get_by_role("button", name="Delete").click()
    await expect(stage.message(own)).to_have_count(0)
    await expect(stage.message(other)).to_be_visible()


async def test_the_owner_may_delete_what_others_wrote(stage: Stage) -> None:
    message = await stage.post("in the way")
    await stage.show("owner")
    await stage.message(message).hover()
    await stage.message(message).get_by_role("button", name="Delete").click()
    await stage.tab.get_by_role("dialog", name="Delete Message").get_by_role("button", name="Cancel").click()
    await expect(stage.message(message)).to_be_visible()
    await stage.message(message).hover()
    await stage.message(message).get_by_role("button", name="Delete").click()
    await stage.tab.get_by_role("dialog", name="Delete Message").get_by_role("button", name="Delete").click()
    await expect(stage.message(message)).to_have_count(0)


async def test_escape_leaves_a_message_as_it_was(stage: Stage) -> None:
    own = await stage.say("owner", "as it was")
    await stage.show()
    await stage.box().press("ArrowUp")
    await stage.box("Edit message").fill("changed")
    await stage.box("Edit message").press("Escape")
    await expect(stage.content(own)).to_have_text("as it was")


async def test_a_click_on_a_reaction_adds_and_takes_back_the_viewers_own(stage: Stage) -> None:
    message = await stage.say("alice", "vote")
    await stage.show()
    await stage.message(message).hover()
    await stage.message(message).get_by_role("button", name="Add reaction").click()
    await stage.tab.get_by_role("button", name="React with 👍").click()
    reaction = stage.message(message).locator(".reactions").get_by_role("button")
    await expect(reaction).to_have_attribute("aria-label", "👍, 1 reaction")
    await expect(reaction).to_have_attribute("aria-pressed", "true")
    path = f"/channels/{message['channel_id']}/messages/{message['id']}/reactions/%F0%9F%91%8D/@me"
    await stage.bot.rest("PUT", path)
    await expect(reaction).to_have_attribute("aria-label", "👍, 2 reactions")
    await reaction.click()
    await expect(reaction).to_have_attribute("aria-label", "👍, 1 reaction")
    await expect(reaction).to_have_attribute("aria-pressed", "false")


async def test_a_file_goes_along_and_text_is_previewed(stage: Stage) -> None:
    await stage.show()
    file: FilePayload = {"name": "notes.py", "mimeType": "text/x-python", "buffer": b"print('hi')\n"}
    await stage.tab.get_by_label("Upload files").set_input_files([file])
    await expect(stage.tab.get_by_role("list", name="Files to send")).to_contain_text("notes.py")
    await stage.box().fill("see file")
    await stage.box().press("Enter")
    card = stage.message("see file").get_by_role("group", name="notes.py")
    await expect(card.locator(".file-size")).to_have_text("12 bytes")
    await expect(card.get_by_label("Contents of notes.py")).to_contain_text("print('hi')")
    async with stage.tab.expect_download() as download:
        await card.get_by_role("link", name="Download notes.py").click()
    assert (await (await download.value).path()).read_bytes() == b"print('hi')\n"


async def test_a_dropped_picture_is_sent_and_shown_inline(stage: Stage) -> None:
    await stage.show()
    await stage.tab.evaluate(DROP, [list(square(0x5865F2, 8)), "dot.png", "image/png"])
    await expect(stage.tab.get_by_role("list", name="Files to send")).to_contain_text("dot.png")
    await stage.box().press("Enter")
    picture = stage.log.get_by_role("img", name="dot.png")
    await expect(picture).to_have_js_property("naturalWidth", 8)
    await expect(stage.tab.get_by_role("list", name="Files to send")).to_be_hidden()


async def test_a_drawing_that_could_hold_a_script_is_a_file_to_download(stage: Stage) -> None:
    file = {"filename": "x.svg", "content_type": "image/svg+xml", "base64": b64encode(b"<svg/>").decode()}
    await stage.say("alice", "look", attachments=[file])
    await stage.show()
    await expect(stage.message("look").get_by_role("link", name="Download x.svg")).to_have_attribute(
        "download", "x.svg"
    )
    await expect(stage.message("look").locator("img")).to_have_count(0)


async def test_a_slash_offers_the_commands_and_the_picked_one_runs_with_its_options(stage: Stage) -> None:
    show = {
        "type": SUBCOMMAND,
        "name": "show",
        "description": "Rows",
        "options": [option("count", INTEGER, required=True)],
    }
    await stage.bot.register(
        {"name": "audit", "description": "What happened", "options": [show]}, {"name": "help", "description": "Help"}
    )
    stage.bot.answers["audit"] = says("three rows")
    await stage.show()
    await stage.box().fill("/")
    offered = stage.tab.get_by_role("listbox", name="Commands").get_by_role("option")
    await expect(offered).to_have_count(2)
    await expect(offered.first).to_have_attribute("aria-label", "/audit show")
    await expect(offered.first).to_have_attribute("aria-selected", "true")
    await stage.box().press("Enter")
    form = stage.tab.get_by_role("form", name="Command /audit show")
    await form.get_by_role("textbox", name="count").press("Enter")
    await expect(form.get_by_role("alert")).to_have_text("count is required.")
    await form.get_by_role("textbox", name="count").fill("3")
    await form.get_by_role("textbox", name="count").press("Enter")
    called = (await stage.bot.interactions.get())["data"]
    assert called["options"][0]["options"][0] | {"type": 0} == {"name": "count", "type": 0, "value": 3}
    await expect(stage.message("three rows").locator(".command-bar")).to_have_text("OOwner used /audit show")
    await expect(stage.box()).to_have_value("")


async def test_a_command_typed_whole_runs_with_its_named_values(stage: Stage) -> None:
    await stage.bot.register({"name": "model", "description": "Choose", "options": [option("name"), option("why")]})
    stage.bot.answers["model"] = says("chosen")
    await stage.show()
    await stage.box().fill("/model name: big one why:speed")
    await stage.box().press("Enter")
    called = (await stage.bot.interactions.get())["data"]
    assert {one["name"]: one["value"] for one in called["options"]} == {"name": "big one", "why": "speed"}
    await expect(stage.content("chosen")).to_be_visible()


async def test_direct_messages_are_the_viewers_own(stage: Stage) -> None:
    await stage.show("alice")
    await stage.tab.get_by_role("navigation").get_by_role("link", name="Countersign").click()
    await stage.box("Message @Countersign").fill("in private")
    await stage.box("Message @Countersign").press("Enter")
    await expect(stage.content("in private")).to_be_visible()
    channel = (await stage.control("GET", "/messages?channel=@alice&viewer=alice"))[-1]["channel_id"]
    await stage.bot.post(channel, "an answer")
    await expect(stage.content("an answer")).to_be_visible()
    await stage.tab.get_by_label("Viewing as").select_option("Bob")
    await expect(stage.content("in private")).to_have_count(0)
    await expect(stage.box("Message @Countersign")).to_be_visible()


async def test_on_a_phone_the_channels_open_over_the_chat(stage: Stage) -> None:
    await stage.tab.set_viewport_size({"width": 390, "height": 800})
    await stage.show()
    link = stage.tab.get_by_role("link", name="ops")
    await expect(link).to_be_hidden()
    await stage.tab.get_by_role("button", name="Channels").click()
    await link.click()
    await expect(stage.box("Message #ops")).to_be_visible()
    await expect(link).to_be_hidden()
    assert await stage.tab.evaluate("document.documentElement.scrollWidth") <= 390
