"""The tools that act on Discord: what they do, for whom, and what they refuse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import discord
import pytest

import bot.discord_tools as package
from bot.discord_tools import discord_tools, names
from bot.preview.permissions import BOT, P
from tests.bot.tool_stage import ToolStage, seed, tool_stage
from tests.support.twin import MakeTwin
from tools.base import Tool
from tools.builtin import Deps, builtin_tools
from tools.registry import ToolRegistry

MESSAGES = "/channels/{channel_id}/messages"
THREAD_MEMBER = "/channels/{channel_id}/thread-members/{user_id}"


@pytest.fixture
async def stage(make_twin: MakeTwin, tmp_path: Path) -> AsyncIterator[ToolStage]:
    twin = await make_twin(rate_limits=False, seed=seed(bot_permissions=BOT | P.CREATE_PRIVATE_THREADS))
    async with tool_stage(twin, tmp_path) as made:
        yield made


def reactions(message: dict[str, Any]) -> list[str]:
    return [reaction["emoji"]["name"] for reaction in message.get("reactions") or ()]


def test_the_tools_of_both_folders_have_different_names() -> None:
    registry = ToolRegistry([*builtin_tools(Deps()), *discord_tools(Mock())])
    assert set(registry.names) >= set(names())


@pytest.mark.parametrize("name", names())
def test_a_module_keeps_the_rules_of_the_house(name: str) -> None:
    made: tuple[Tool[Any], ...] = import_module(f"{package.__name__}.{name}").tools(Mock())
    assert [tool.name for tool in made] == [name]
    for tool in made:
        assert tool.description.endswith(".") and tool.subject
        assert tool.schema["additionalProperties"] is False
        properties = tool.schema["properties"]
        assert isinstance(properties, dict)
        assert all(isinstance(p, dict) and p["description"] for p in properties.values())
        assert tool.idempotent != tool.needs_approval, "what may be repeated is not asked about"


async def test_a_reaction_goes_to_the_message_that_asked(stage: ToolStage) -> None:
    ctx = await stage.ask()
    for _ in range(2):
        await stage.ok(ctx, "react", emoji="👍")
    (message,) = await stage.control.messages("general")
    assert reactions(message) == ["👍"] and message["reactions"][0]["count"] == 1


async def test_a_reaction_goes_to_a_message_named_by_handle_id_number_or_link(stage: ToolStage) -> None:
    target = await stage.control.say("general", "bob", "look")
    stage.handles["ref_1"] = target["id"]
    ctx = await stage.ask()
    link = f"https://discord.com/channels/{ctx.guild_id}/{ctx.channel_id}/{target['id']}"
    for emoji, name in (("🔥", "ref_1"), ("👀", target["id"]), ("🎉", int(target["id"])), ("✅", link)):
        await stage.ok(ctx, "react", emoji=emoji, message=name)
    assert reactions((await stage.control.messages("general"))[0]) == ["🔥", "👀", "🎉", "✅"]


@pytest.mark.parametrize("written", ["blobcat", ":BlobCat:"])
async def test_a_custom_emoji_of_the_server_goes_by_its_name(stage: ToolStage, written: str) -> None:
    await stage.ok(await stage.ask(), "react", emoji=written)
    assert reactions((await stage.control.messages("general"))[0]) == ["blobcat"]


@pytest.mark.parametrize("written", ["nosuch", ":nosuch:", "two words", "<:gone:123>"])
async def test_what_is_no_emoji_is_refused(stage: ToolStage, written: str) -> None:
    assert "emoji" in await stage.refused(await stage.ask(), "react", emoji=written)
    assert reactions((await stage.control.messages("general"))[0]) == []


async def test_a_message_of_another_channel_cannot_be_reached(stage: ToolStage) -> None:
    elsewhere = await stage.control.say("ops", "bob", "a secret of ops")
    ctx = await stage.ask()
    link = f"https://discord.com/channels/{ctx.guild_id}/{elsewhere['channel_id']}/{elsewhere['id']}"
    assert "another channel" in await stage.refused(ctx, "react", emoji="👍", message=link)
    for tool, more in (("react", {"emoji": "👍"}), ("create_thread", {"title": "t"})):
        assert "in this channel" in await stage.refused(ctx, tool, message=elsewhere["id"], **more)
    assert "in this channel" in await stage.refused(ctx, "read_attachment", attachment=elsewhere["id"])
    assert reactions((await stage.control.messages("ops"))[0]) == []


@pytest.mark.parametrize("name", ["ref_9", "0", "-1", "9" * 25, "1.5", "../../users/@me"])
async def test_what_is_neither_a_handle_nor_an_id_is_refused_before_discord_is_asked(
    stage: ToolStage, name: str
) -> None:
    ctx = await stage.ask()
    assert "is no id and no handle" in await stage.refused(ctx, "react", emoji="👍", message=name)


async def test_an_id_written_as_a_float_is_refused(stage: ToolStage) -> None:
    ctx = await stage.ask()
    assert "lost digits" in await stage.refused(ctx, "react", emoji="👍", message=1.2e17)
    assert "message" in await stage.refused(ctx, "react", emoji="👍", message=1.5)


@pytest.mark.parametrize(
    ("tool", "arguments", "right", "bit"),
    [
        ("react", {"emoji": "👍"}, "Add Reactions", P.ADD_REACTIONS),
        ("react", {"emoji": "👍"}, "Read Message History", P.READ_MESSAGE_HISTORY),
        ("reveal_message_metadata", {}, "Read Message History", P.READ_MESSAGE_HISTORY),
        ("view_image", {"pictures": ["1"]}, "Read Message History", P.READ_MESSAGE_HISTORY),
        ("read_attachment", {"attachment": "1"}, "Read Message History", P.READ_MESSAGE_HISTORY),
        ("create_thread", {"title": "t"}, "Create Public Threads", P.CREATE_PUBLIC_THREADS),
    ],
)
@pytest.mark.parametrize("who", ["the bot", "the person who asked"])
async def test_a_right_that_is_missing_is_named(
    stage: ToolStage, who: str, tool: str, arguments: dict[str, Any], right: str, bit: int
) -> None:
    ctx = await stage.ask()
    member = "Countersign" if who == "the bot" else "alice"
    await stage.deny(member, bit)
    refusal = await stage.refused(ctx, tool, **arguments)
    assert who in refusal and right in refusal
    if who == "the bot":
        assert "somebody who manages this server can give it" in refusal


async def test_somebody_who_lost_sight_of_the_channel_gets_nothing_from_it(stage: ToolStage) -> None:
    ctx = await stage.ask("before")
    await stage.deny("alice", P.VIEW_CHANNEL)
    for tool, arguments in (("reveal_message_metadata", {}), ("view_image", {"pictures": [ctx.turn]})):
        assert "does not see this channel any more" in await stage.refused(ctx, tool, **arguments)


async def test_in_a_private_thread_only_those_in_it_are_served(stage: ToolStage) -> None:
    general = next(c for c in stage.client.get_all_channels() if c.name == "general")
    assert isinstance(general, discord.TextChannel)
    thread = await general.create_thread(name="quiet", type=discord.ChannelType.private_thread)
    ctx = await stage.ask(channel=str(thread.id))
    await stage.ok(ctx, "reveal_message_metadata")
    await stage.control.fault("GET", THREAD_MEMBER, status=404, body={"code": 10007, "message": "Unknown Member"})
    assert "does not see this channel" in await stage.refused(ctx, "reveal_message_metadata")


async def test_a_thread_begins_with_a_message_or_stands_alone(stage: ToolStage) -> None:
    target = await stage.control.say("general", "bob", "an idea")
    ctx = await stage.ask()
    result = await stage.ok(ctx, "create_thread", title="About the idea", message=target["id"])
    assert result.content == f"The thread is open: <#{target['id']}>"
    await stage.ok(ctx, "create_thread", title="On its own")
    shown = (await stage.control.world())["guilds"][0]["channels"]
    assert [c["name"] for c in shown if c["type"] == 11] == ["About the idea", "On its own"]
    again = await stage.refused(ctx, "create_thread", title="Again", message=target["id"])
    assert "already been created" in again


async def test_a_thread_is_asked_about_but_not_where_it_cannot_be(stage: ToolStage) -> None:
    tool = stage.registry.get("create_thread")
    assert tool is not None and tool.needs_approval and tool.preview is not None
    arguments = tool.arguments(title="t")
    assert await tool.preview(arguments, await stage.ask()) == ""
    with pytest.raises(Exception, match="neither in threads nor in direct messages"):
        await tool.preview(arguments, await stage.ask(channel="@alice"))


async def test_a_title_mentions_nobody(stage: ToolStage) -> None:
    ctx = await stage.ask()
    await stage.ok(ctx, "create_thread", title=f"@everyone\n@here <@{ctx.user_id}> <@&{ctx.guild_id}>")
    note = (await stage.said_by_bot())[-1]
    assert "\n" not in note["content"] and "everyone" in note["content"]
    for mention in ("@everyone", "@here", f"<@{ctx.user_id}>", f"<@&{ctx.guild_id}>"):
        assert mention not in note["content"]
    assert (note["mentions"], note["mention_roles"], note["mention_everyone"]) == ([], [], False)
    assert "title is blank" in await stage.refused(ctx, "create_thread", title=" \u200b\n ")


async def test_a_sticker_goes_by_name_or_id_and_is_looked_up_once(stage: ToolStage) -> None:
    ctx = await stage.ask()
    by_name = await stage.ok(ctx, "select_sticker", sticker=" PARTY CAT ")
    assert by_name.sticker is not None and by_name.sticker.isdecimal()
    by_id = await stage.ok(ctx, "select_sticker", sticker=int(by_name.sticker))
    assert by_id.sticker == by_name.sticker
    route = "/guilds/{guild_id}/stickers"
    assert len(await stage.control.requests(method="GET", route=route)) == 1
    stage.twin.advance(301)
    await stage.ok(await stage.ask(), "select_sticker", sticker="Wave")
    assert len(await stage.control.requests(method="GET", route=route)) == 2


async def test_a_sticker_that_does_not_exist_takes_back_an_earlier_one_and_lists_the_others(stage: ToolStage) -> None:
    result = await stage.call(await stage.ask(), "select_sticker", sticker="nosuch")
    assert result.is_error and result.sticker == ""
    assert "it has: Wave, party cat" in result.content


async def test_direct_messages_have_no_stickers_and_other_tools_work_there(stage: ToolStage) -> None:
    ctx = await stage.ask("just us", channel="@alice")
    result = await stage.call(ctx, "select_sticker", sticker="Wave")
    assert result.is_error and result.sticker == "" and "direct messages" in result.content
    await stage.ok(ctx, "react", emoji="👍")
    listed = stage.brought(await stage.ok(ctx, "reveal_message_metadata"))
    assert "text: just us" in listed.text
    seen = stage.brought(await stage.ok(ctx, "view_image", pictures=[f"avatar of <@{ctx.user_id}>"]))
    assert len(seen.pictures) == 1
    assert "nobody called" in await stage.refused(ctx, "view_image", pictures=[f"avatar of {stage.user('bob')}"])


async def test_a_note_replaces_the_one_before_and_empty_forgets_it(stage: ToolStage) -> None:
    ctx = await stage.ask()
    for text in ("likes tea", "likes coffee"):
        await stage.ok(ctx, "update_short_term_memory", text=text)
    assert await stage.store.memory.recall(ctx.channel_id) == "likes coffee"
    assert await stage.store.memory.recall("1") == ""
    assert "1000" in await stage.refused(ctx, "update_short_term_memory", text="x" * 1001)
    await stage.ok(ctx, "update_short_term_memory", text=" ")
    assert await stage.store.memory.recall(ctx.channel_id) == ""


async def test_a_failure_of_discord_is_said_and_leaves_the_tool_usable(stage: ToolStage) -> None:
    ctx = await stage.ask()
    await stage.control.fault("GET", MESSAGES, status=403, body={"code": 50001, "message": "Missing Access"})
    assert "Discord does not let the bot do this" in await stage.refused(ctx, "reveal_message_metadata")
    await stage.ok(ctx, "reveal_message_metadata")
