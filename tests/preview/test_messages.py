"""Messages, as discord.py writes and reads them."""

from __future__ import annotations

import asyncio
import base64
import io

import discord
import pytest

from bot.preview.seed import DEFAULT
from bot.preview.server import Twin
from tests.support.control import ControlClient
from tests.support.discord_bot import Bot, running
from tests.support.twin import MakeTwin

MESSAGES, MESSAGE = "/channels/{channel_id}/messages", "/channels/{channel_id}/messages/{message_id}"


async def test_a_person_is_heard_and_gets_a_reply(bot: Bot, control: ControlClient) -> None:
    await control.say("general", "alice", "hello there")
    message = await bot.hear()
    assert (message.content, message.author.name) == ("hello there", "alice")
    assert isinstance(message.author, discord.Member)
    await message.reply("hi")
    told, reply = await control.messages("general")
    assert reply["type"] == 19
    assert reply["referenced_message"]["id"] == told["id"]
    assert [user["username"] for user in reply["mentions"]] == ["alice"]


async def test_an_edit_shows_and_is_marked(bot: Bot, control: ControlClient) -> None:
    message = await bot.channel("general").send("one")
    await message.edit(content="two")
    [shown] = await control.messages("general")
    assert shown["content"] == "two"
    assert shown["edited_timestamp"] is not None


async def test_a_deleted_message_is_gone(bot: Bot, control: ControlClient) -> None:
    message = await bot.channel("general").send("one")
    await message.delete()
    assert await control.messages("general") == []
    with pytest.raises(discord.NotFound) as caught:
        await message.edit(content="two")
    assert caught.value.code == 10008


async def test_what_people_edit_and_delete_is_told(bot: Bot, control: ControlClient) -> None:
    told = await control.say("general", "alice", "draft")
    await control.edit(told, content="final")
    edited = await bot.next("edit")
    assert edited.data["content"] == "final"
    assert edited.data["edited_timestamp"]
    await control.delete(told)
    assert (await bot.next("delete")).message_id == int(told["id"])


async def test_an_unfurled_link_is_an_update_without_an_edited_mark(bot: Bot, control: ControlClient) -> None:
    told = await control.say("general", "alice", "https://example.org")
    await control.edit(told, embeds=[{"title": "Example", "url": "https://example.org"}])
    update = await bot.next("edit")
    assert update.data["edited_timestamp"] is None
    assert update.data["embeds"][0]["title"] == "Example"


async def test_history_goes_backwards_forwards_and_around(bot: Bot, control: ControlClient) -> None:
    told = [await control.say("general", "alice", f"m{number}") for number in range(7)]
    channel = bot.channel("general")
    middle = discord.Object(int(told[3]["id"]))
    assert [m.content async for m in channel.history(limit=3)] == ["m6", "m5", "m4"]
    assert [m.content async for m in channel.history(limit=2, before=middle)] == ["m2", "m1"]
    assert [m.content async for m in channel.history(limit=2, after=middle)] == ["m4", "m5"]
    assert [m.content async for m in channel.history(limit=3, around=middle)] == ["m4", "m3", "m2"]


async def test_an_attachment_can_be_read_back_by_both_sides(bot: Bot, control: ControlClient) -> None:
    data = base64.b64encode(b"from alice").decode()
    sent = {"filename": "a note.txt", "content_type": "text/plain", "base64": data}
    await control.say("general", "alice", "look", attachments=[sent])
    [received] = (await bot.hear()).attachments
    assert (received.filename, received.content_type) == ("a_note.txt", "text/plain; charset=utf-8")
    assert await received.read() == b"from alice"
    answer = discord.File(io.BytesIO(b"from the bot"), filename="answer.md", description="the rest")
    message = await bot.channel("general").send("here", file=answer)
    [attached] = message.attachments
    assert (attached.size, attached.description) == (12, "the rest")
    async with control.session.get(attached.url) as response:
        assert await response.read() == b"from the bot"
        assert response.headers["Content-Security-Policy"].startswith("sandbox")


async def test_an_edit_keeps_the_attachments_that_it_lists(bot: Bot, control: ControlClient) -> None:
    files = [discord.File(io.BytesIO(b"x"), filename=f"{name}.txt") for name in "ab"]
    message = await bot.channel("general").send("two files", files=files)
    fresh = discord.File(io.BytesIO(b"y"), filename="c.txt")
    message = await message.edit(attachments=[message.attachments[1], fresh])
    assert [attachment.filename for attachment in message.attachments] == ["b.txt", "c.txt"]


async def test_an_embed_comes_back_whole(bot: Bot, control: ControlClient) -> None:
    embed = discord.Embed(title="t", description="d", color=0xFF0000, timestamp=discord.utils.utcnow())
    embed.add_field(name="n", value="v", inline=False).set_footer(text="f").set_author(name="a")
    embed.set_image(url="https://example.org/a.png")
    message = await bot.channel("general").send(embed=embed)
    [shown] = (await bot.channel("general").fetch_message(message.id)).embeds
    assert (shown.title, shown.fields[0].value, shown.footer.text) == ("t", "v", "f")
    assert shown.timestamp == embed.timestamp


async def test_emojis_of_a_button_and_of_an_option_come_back(bot: Bot) -> None:
    view = discord.ui.View().add_item(discord.ui.Button(label="Stop", emoji="⏹️", custom_id="s"))
    picked = discord.ui.Select(custom_id="p", options=[discord.SelectOption(label="a", emoji="🅰️")])  # type: ignore[var-annotated]
    sent = await bot.channel("general").send("run", view=view.add_item(picked))
    first, second = sent.components
    assert isinstance(first, discord.ActionRow) and isinstance(second, discord.ActionRow)
    [stop], [choice] = first.children, second.children
    assert isinstance(stop, discord.Button) and str(stop.emoji) == "⏹️"
    assert isinstance(choice, discord.SelectMenu) and str(choice.options[0].emoji) == "🅰️"


async def test_the_same_nonce_makes_one_message_for_a_while(bot: Bot, twin: Twin, control: ControlClient) -> None:
    channel = bot.channel("general")
    first = await channel.send("once", nonce="n-1")
    again = await channel.send("once", nonce="n-1")
    assert again.id == first.id
    assert len(await control.messages("general")) == 1
    twin.advance(301)
    later = await channel.send("once", nonce="n-1")
    assert later.id != first.id


async def test_parallel_creates_with_one_nonce_make_one_message(bot: Bot, control: ControlClient) -> None:
    channel = bot.channel("general")
    sent = await asyncio.gather(*(channel.send("once", nonce="n-2") for _ in range(5)))
    assert len({message.id for message in sent}) == 1


async def test_nobody_is_pinged_without_allowed_mentions(bot: Bot, control: ControlClient) -> None:
    world = await control.world()
    alice = next(m["user"]["id"] for m in world["guilds"][0]["members"] if m["user"]["username"] == "alice")
    text = f"<@{alice}> @everyone"
    await bot.channel("general").send(text, allowed_mentions=discord.AllowedMentions.none())
    await bot.channel("general").send(text)
    silent, loud = await control.messages("general")
    assert (silent["mentions"], silent["mention_everyone"]) == ([], False)
    assert [user["id"] for user in loud["mentions"]] == [alice]
    assert loud["mention_everyone"] is False, "the bot lacks the permission to mention everyone"


async def test_typing_is_seen_by_both_sides(bot: Bot, control: ControlClient) -> None:
    async with control.expect(lambda event: event["type"] == "typing") as typed:
        await bot.channel("general").typing()
    assert (await typed)["user_id"] == str(bot.application_id)
    world = await control.world()
    await control.post("/typing", {"channel": "general", "user": "bob"})
    bob = next(m["user"]["id"] for m in world["guilds"][0]["members"] if m["user"]["username"] == "bob")
    while (await bot.next("typing")).user_id != int(bob):
        pass


async def test_reactions_go_both_ways(bot: Bot, control: ControlClient) -> None:
    told = await control.say("general", "alice", "queue me")
    message = await bot.hear()
    await message.add_reaction("👀")
    await control.react(told, "bob", "👀")
    [shown] = await control.messages("general", "bob")
    assert [(one["emoji"]["name"], one["count"], one["me"]) for one in shown["reactions"]] == [("👀", 2, True)]
    assert bot.user is not None
    await message.remove_reaction("👀", bot.user)
    await control.react(told, "bob", "👀", remove=True)
    [shown] = await control.messages("general")
    assert "reactions" not in shown
    with pytest.raises(discord.HTTPException) as caught:
        await message.add_reaction("eyes")
    assert caught.value.code == 10014


async def test_stickers_and_custom_emojis_are_those_of_the_guild(
    make_twin: MakeTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    guild = {**DEFAULT["guilds"][0], "stickers": [{"name": "wave", "tags": "👋"}], "emojis": [{"name": "party"}]}
    twin = await make_twin(rate_limits=False, seed={"guilds": [guild]})
    intents = discord.Intents(guilds=True, messages=True, expressions=True)
    async with running(twin, monkeypatch, intents=intents) as bot, ControlClient(twin.url) as control:
        [sticker], [emoji] = bot.guilds[0].stickers, bot.guilds[0].emojis
        message = await bot.channel("general").send(stickers=[sticker])
        await message.add_reaction(emoji)
        [shown] = await control.messages("general")
        assert [one["name"] for one in shown["sticker_items"]] == ["wave"]
        assert shown["reactions"][0]["emoji"] == {"id": str(emoji.id), "name": "party"}
        assert (await bot.guilds[0].fetch_sticker(sticker.id)).name == "wave"
        with pytest.raises(discord.HTTPException) as caught:
            await bot.channel("general").send(stickers=[discord.Object(1)])  # type: ignore[list-item]
        assert caught.value.code == 50081
        with pytest.raises(discord.HTTPException) as caught:
            await message.add_reaction("<:other:123456>")
        assert caught.value.code == 10014


async def test_a_webhook_speaks_under_its_own_name(bot: Bot, control: ControlClient) -> None:
    await control.say("general", "", "deployed", webhook="CI")
    heard = await bot.hear()
    assert (heard.author.name, heard.author.bot) == ("CI", True)
    assert heard.webhook_id is not None
    hook = await bot.channel("general").create_webhook(name="mirror")
    message = await hook.send("hello", username="Someone", wait=True)
    await hook.edit_message(message.id, content="hello again")
    assert [m["author"]["username"] for m in await control.messages("general")] == ["CI", "Someone"]
    assert (await control.messages("general"))[1]["content"] == "hello again"


async def test_bulk_delete_is_one_event(bot: Bot, control: ControlClient) -> None:
    for number in range(3):
        await control.say("general", "alice", f"m{number}")
    channel = bot.channel("general")
    await channel.delete_messages([message async for message in channel.history()])
    assert len((await bot.next("bulk delete")).message_ids) == 3
    assert await control.messages("general") == []


async def test_pins_are_listed(bot: Bot, control: ControlClient) -> None:
    message = await bot.channel("general").send("rules")
    await message.pin()
    assert [pinned.id async for pinned in bot.channel("general").pins()] == [message.id]
    await message.unpin()
    assert [pinned.id async for pinned in bot.channel("general").pins()] == []


async def test_a_thread_takes_messages_until_it_is_locked(bot: Bot, control: ControlClient) -> None:
    message = await bot.channel("general").send("topic")
    thread = await message.create_thread(name="details", auto_archive_duration=60)
    assert (thread.id, (await bot.next("thread")).id) == (message.id, message.id)
    inside = await thread.send("inside")
    await control.set_channel("details", archived=True)
    with pytest.raises(discord.HTTPException) as caught:
        await inside.edit(content="no")
    assert caught.value.code == 50083
    await thread.send("opens it again")
    await control.set_channel("details", archived=True, locked=True)
    with pytest.raises(discord.HTTPException) as caught:
        await thread.send("no")
    assert caught.value.code == 50083


async def test_a_system_message_cannot_be_edited(bot: Bot) -> None:
    channel = bot.channel("general")
    await channel.create_thread(name="alone", type=discord.ChannelType.public_thread)
    note = await anext(channel.history(limit=1))
    assert note.type is discord.MessageType.thread_created
    with pytest.raises(discord.HTTPException) as caught:
        await note.edit(content="no")
    assert caught.value.code == 50021


async def test_a_direct_message_has_no_guild(bot: Bot, control: ControlClient) -> None:
    await control.say("@alice", "alice", "psst")
    message = await bot.hear()
    assert message.guild is None
    assert isinstance(message.channel, discord.DMChannel)
    await message.channel.send("yes?")
    assert [m["content"] for m in await control.messages("@alice", "alice")] == ["psst", "yes?"]


async def test_a_bot_can_open_a_direct_message(bot: Bot, control: ControlClient) -> None:
    world = await control.world()
    bob = next(m["user"]["id"] for m in world["guilds"][0]["members"] if m["user"]["username"] == "bob")
    user = await bot.fetch_user(int(bob))
    await user.send("hello bob")
    assert [m["content"] for m in await control.messages("@bob", "bob")] == ["hello bob"]


async def test_every_call_is_recorded_with_route_body_and_status(bot: Bot, control: ControlClient) -> None:
    message = await bot.channel("general").send("one")
    since = (await control.requests())[-1]["seq"]
    await message.edit(content="two")
    with pytest.raises(discord.NotFound):
        await bot.channel("general").fetch_message(1)
    edit, fetch = await control.requests(since)
    assert (edit["method"], edit["route"], edit["status"]) == ("PATCH", MESSAGE, 200)
    assert edit["body"]["content"] == "two"
    assert (fetch["status"], fetch["code"]) == (404, 10008)
