"""The page shows a channel as Discord does: messages, their parts, and what changes live."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.support.page_stage import Stage
from tests.support.raw_bot import button, row

pytestmark = pytest.mark.browser


async def test_an_empty_channel_says_what_to_try(stage: Stage) -> None:
    await stage.show()
    hint = stage.tab.get_by_role("region", name="Things to try")
    await hint.get_by_role("button", name=re.compile("what is in this folder")).click()
    await expect(stage.box()).to_have_value("@Countersign what is in this folder?")
    await hint.get_by_role("button", name="Close hint").click()
    await expect(hint).to_have_count(0)
    await stage.tab.reload()
    await stage.tab.locator("body[data-live]").wait_for()
    await expect(hint).to_have_count(0)


async def test_a_message_shows_name_app_tag_and_text_as_it_comes(stage: Stage) -> None:
    await stage.show()
    told = await stage.say("alice", "good morning")
    answer = await stage.post("hello **there**")
    await expect(stage.message(told).locator(".author")).to_have_text("Alice")
    await expect(stage.message(told).locator(".app-tag")).to_have_count(0)
    await expect(stage.message(answer).locator(".app-tag")).to_have_text("APP")
    await expect(stage.content(answer).locator("strong")).to_have_text("there")


async def test_messages_of_one_author_are_grouped_under_one_name(stage: Stage) -> None:
    await stage.show()
    first, second = await stage.say("bob", "one"), await stage.say("bob", "two")
    third = await stage.say("alice", "three")
    await expect(stage.message(third)).to_be_visible()
    await expect(stage.message(first).locator(".avatar")).to_have_count(1)
    await expect(stage.message(second)).to_have_class(re.compile("grouped"))
    await expect(stage.message(third).locator(".avatar")).to_have_count(1)


async def test_hostile_text_appears_as_text(stage: Stage) -> None:
    hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script> javascript:alert(1) &lt;b&gt;'
    embed = {"title": hostile, "description": hostile, "fields": [{"name": hostile, "value": hostile}]}
    footer = {"footer": {"text": hostile}, "author": {"name": hostile}}
    message = await stage.post(hostile, embeds=[embed | footer], components=[row(button("<b>bold</b>", "x"))])
    await stage.show()
    await expect(stage.content(message)).to_have_text(hostile)
    node = stage.message(message)
    for part in (".embed-title", ".embed-description", ".embed-field-name", ".embed-field-value", ".embed-footer"):
        await expect(node.locator(part)).to_have_text(hostile)
    await expect(node.get_by_role("button", name="<b>bold</b>")).to_be_visible()
    await expect(node.locator("img, script, b")).to_have_count(0)
    assert re.search("Countersign preview$", await stage.tab.title())


async def test_an_edit_patches_only_its_message_and_leaves_focus_and_selection_alone(stage: Stage) -> None:
    kept = await stage.say("alice", "select me please")
    streamed = await stage.post("The answer", components=[row(button("Stop", "stop", style=4))])
    await stage.show()
    await stage.tab.evaluate(
        """([kept, streamed]) => {
            const node = (id) => document.querySelector(`[data-id='${id}']`);
            getSelection().selectAllChildren(node(kept).querySelector(".content"));
            window.before = [node(kept), node(streamed), node(streamed).querySelector("button")];
            window.changes = [];
            new MutationObserver((list) => window.changes.push(...list.map((one) => one.target)))
                .observe(document.querySelector("[role=log]"), {subtree: true, childList: true, characterData: true});
        }""",
        [kept["id"], streamed["id"]],
    )
    await stage.message(streamed).get_by_role("button", name="Stop").focus()
    await stage.bot.edit(streamed, content="The answer is growing")
    await expect(stage.content(streamed)).to_contain_text("is growing")
    assert await stage.tab.evaluate("getSelection().toString().trim()") == "select me please"
    assert await stage.tab.evaluate("document.activeElement === before[2]")
    assert await stage.tab.evaluate("before.every((node) => node.isConnected)")
    assert await stage.tab.evaluate("changes.every((node) => before[1].contains(node))")


async def test_an_edited_message_says_so_and_a_deleted_one_goes(stage: Stage) -> None:
    message = await stage.post("draft")
    await stage.show()
    await stage.bot.edit(message, content="final")
    await expect(stage.content(message)).to_have_text("final (edited)")
    await stage.bot.delete(message)
    await expect(stage.message(message)).to_have_count(0)


async def test_the_mark_of_an_edit_stands_behind_the_last_word_of_a_list(stage: Stage) -> None:
    message = await stage.post("draft")
    await stage.show()
    await stage.bot.edit(message, content="- one\n- two")
    await expect(stage.content(message).locator("li").last).to_have_text("two (edited)")


async def test_times_that_count_follow_the_clock_of_the_server(stage: Stage) -> None:
    await stage.control("POST", "/clock", {"advance_s": 3600})
    soon = round(stage.twin.clock.time()) + 1800
    message = await stage.post(f"Expires <t:{soon}:R>")
    await stage.show()
    await expect(stage.content(message)).to_have_text("Expires in 30 minutes")
    await stage.control("POST", "/clock", {"advance_s": 600})
    await expect(stage.content(message)).to_have_text("Expires in 20 minutes")


async def test_people_of_the_first_world_are_told_apart_by_the_colour_of_their_role(stage: Stage) -> None:
    for author in ("owner", "alice", "bob"):
        await stage.say(author, f"I am {author}")
    await stage.show()
    names = [stage.message(f"I am {author}").locator(".author") for author in ("owner", "alice", "bob")]
    colours = {await name.evaluate("node => getComputedStyle(node).color") for name in names}
    assert len(colours) == 3


async def test_embeds_show_their_parts_in_discords_layout(stage: Stage) -> None:
    fields = [{"name": f"n{i}", "value": f"v{i}", "inline": i < 2} for i in range(3)]
    embed = {"title": "Done", "url": "https://example.org/", "description": "all `good`", "color": 0x248046}
    message = await stage.post(embeds=[embed | {"fields": fields, "footer": {"text": "2 tools"}}])
    await stage.show()
    card = stage.message(message).get_by_role("article", name="Embed: Done")
    await expect(card).to_have_css("border-left-color", "rgb(36, 128, 70)")
    await expect(card.get_by_role("link", name="Done")).to_have_attribute("href", "https://example.org/")
    await expect(card.locator(".embed-description code")).to_have_text("good")
    await expect(card.locator(".embed-field").nth(1)).to_have_css("grid-column-start", "span 6")
    await expect(card.locator(".embed-field").nth(2)).to_have_css("grid-column-start", "span 12")
    await expect(card.locator(".embed-footer")).to_have_text("2 tools")


async def test_layout_components_show_and_their_buttons_are_named(stage: Stage) -> None:
    section = {"type": 9, "components": [{"type": 10, "content": "### Result"}], "accessory": button("More", "more")}
    parts = [{"type": 10, "content": "**Text**"}, {"type": 14}, section, row(button("Go", "go", style=1))]
    box = {"type": 17, "accent_color": 0x5865F2, "components": parts}
    message = await stage.post(flags=1 << 15, components=[box])
    await stage.show()
    node = stage.message(message).locator(".container")
    await expect(node).to_have_css("border-left-color", "rgb(88, 101, 242)")
    await expect(node.locator("strong")).to_have_text("Text")
    await expect(node.get_by_role("separator")).to_be_visible()
    await expect(node.get_by_role("heading", name="Result")).to_be_visible()
    for name in ("More", "Go"):
        await expect(node.get_by_role("button", name=name)).to_be_enabled()


async def test_typing_shows_until_the_message_comes(stage: Stage) -> None:
    await stage.show()
    await stage.bot.rest("POST", f"/channels/{stage.channels['general']}/typing")
    await expect(stage.tab.get_by_role("status", name="Typing")).to_have_text("Countersign is typing…")
    await stage.post("here")
    await expect(stage.tab.get_by_role("status", name="Typing")).to_have_text("")


async def test_another_channel_is_marked_unread_until_it_is_opened(stage: Stage) -> None:
    await stage.show()
    await stage.post("over here", channel="ops")
    link = stage.tab.get_by_role("navigation", name="Channels").get_by_role("link", name="ops")
    await expect(link).to_have_class(re.compile("unread"))
    await link.click()
    await expect(stage.content("over here")).to_be_visible()
    await expect(link).not_to_have_class(re.compile("unread"))
    await expect(stage.box("Message #ops")).to_be_visible()


async def test_a_thread_is_linked_from_its_message_and_listed_under_its_channel(stage: Stage) -> None:
    message = await stage.say("alice", "a long story")
    await stage.show()
    path = f"/channels/{message['channel_id']}/messages/{message['id']}/threads"
    thread = await stage.bot.rest("POST", path, {"name": "details"})
    await stage.bot.post(thread["id"], "inside")
    await stage.message(message).get_by_role("link", name="details").click()
    await expect(stage.content("inside")).to_be_visible()
    listed = stage.tab.get_by_role("navigation", name="Channels").get_by_role("link", name="details")
    await expect(listed).to_have_attribute("aria-current", "page")


async def test_a_direct_message_of_the_bot_counts_as_unread_for_its_person_only(stage: Stage) -> None:
    await stage.show("alice")
    channel = await stage.bot.rest("POST", "/users/@me/channels", {"recipient_id": stage.people["alice"]})
    await stage.bot.post(channel["id"], "psst")
    link = stage.tab.get_by_role("navigation", name="Channels").get_by_role("link", name="Countersign")
    await expect(link.locator(".badge")).to_have_text("1")
    await link.click()
    await expect(stage.content("psst")).to_be_visible()
    await expect(link.locator(".badge")).to_have_count(0)


async def test_typing_anywhere_goes_to_the_box(stage: Stage) -> None:
    await stage.show()
    await stage.tab.get_by_role("heading", name="general", exact=True).click()
    await stage.tab.keyboard.type("abc")
    await expect(stage.box()).to_have_value("abc")


async def test_the_log_follows_the_end_only_for_a_reader_who_is_there(stage: Stage) -> None:
    for number in range(3):
        await stage.say("alice", f"line {number}\n" * 40)
    await stage.show()
    await stage.say("bob", "first news")
    await expect(stage.message("first news")).to_be_in_viewport()
    await stage.message("line 0").hover()
    await stage.tab.mouse.wheel(0, -100_000)
    pill = stage.tab.get_by_role("button", name="Jump to present")
    await expect(pill).to_be_visible()
    await stage.say("bob", "second news")
    await expect(stage.message("second news")).not_to_be_in_viewport()
    await stage.tab.get_by_role("button", name="New messages").click()
    await expect(stage.message("second news")).to_be_in_viewport()
    await expect(stage.tab.locator(".present-pill")).to_be_hidden()


async def test_a_stream_that_breaks_is_taken_up_again_with_all_that_was_missed(stage: Stage) -> None:
    await stage.show()
    await stage.tab.route("**/control/events", lambda route: route.abort())
    await stage.restart()
    banner = stage.tab.get_by_text("Reconnecting…")
    await expect(banner).to_be_visible()
    missed = await stage.say("alice", "while you were away")
    await stage.tab.unroute("**/control/events")
    await expect(stage.content(missed)).to_have_text("while you were away")
    await expect(banner).to_be_hidden()
    live = await stage.say("alice", "and live again")
    await expect(stage.content(live)).to_be_visible()
