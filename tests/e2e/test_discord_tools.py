"""The tools that act on Discord, through the whole program: called over a wire, seen by people."""

from __future__ import annotations

import base64
import json
from typing import Any

from bot.preview.assets import square
from bot.preview.values import Sticker
from tests.support.minds import Mind
from tests.support.provider_server import Pass
from tests.support.stage import MakeStage, Stage, is_finished

PNG = square(0x3BA55C, 8)


def calling(tool: str, **arguments: Any) -> Pass:
    return Pass(calls=[(tool, json.dumps(arguments))])


async def attached(stage: Stage, name: str, data: bytes) -> dict[str, Any]:
    file = {"filename": name, "base64": base64.b64encode(data).decode()}
    return await stage.control.say("general", "bob", "", attachments=[file])


async def test_a_picture_of_the_channel_is_shown_to_the_model(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    message = await attached(stage, "cat.png", PNG)
    wire.script(calling("view_image", pictures=[message["id"]]), Pass(text=["A green square."]))
    await stage.mention("what did Bob post?")
    await stage.until_reply("A green square.")
    first, second = (json.dumps(body) for body in wire.server.requests)
    assert base64.b64encode(PNG).decode() in second and "image_url" not in first
    assert "view_image" in first
    assert "view_image" not in [tool["function"]["name"] for tool in wire.server.requests[1]["tools"]]


async def test_handles_that_were_revealed_are_taken_by_the_next_calls(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    message = await attached(stage, "plan.txt", b"the plan is simple")
    wire.script(
        calling("reveal_message_metadata"),
        Pass(calls=[("react", '{"emoji": "👍", "message": "ref_1"}'), ("read_attachment", '{"attachment": "file_1"}')]),
        Pass(text=["Simple, it says."]),
    )
    await stage.mention("read the plan")
    await stage.until_reply("Simple, it says.")
    shown = next(m for m in await stage.control.messages("general") if m["id"] == message["id"])
    assert [reaction["emoji"]["name"] for reaction in shown["reactions"]] == ["👍"]
    assert "file_1 plan.txt" in str(wire.server.requests[1]["messages"])
    assert "the plan is simple" in str(wire.server.requests[2]["messages"])


async def test_a_thread_is_opened_only_after_somebody_has_approved(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(calling("create_thread", title="Plans"), Pass(text=["It is open."]))
    asked = await stage.mention("open a thread")
    card = await stage.until_card("create_thread")
    assert "Plans" not in [channel["name"] for channel in (await stage.control.world())["guilds"][0]["channels"]]
    await stage.control.click(card, "alice", "Approve")
    await stage.until_reply("It is open.")
    assert "Plans" in [channel["name"] for channel in (await stage.control.world())["guilds"][0]["channels"]]
    assert asked["id"]


async def test_a_reminder_comes_by_itself_also_after_a_restart(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    wire.script(calling("set_reminder", text="tea is ready", in_seconds=600), Pass(text=["I will tell you."]))
    asked = await stage.mention("remind me of my tea")
    await stage.until_reply("I will tell you.")
    await stage.idle()
    await stage.restart()
    await stage.control.advance(500)
    assert not any("tea is ready" in message["content"] for message in await stage.replies())
    await stage.control.advance(101)
    reminder = await stage.until_reply("tea is ready")
    assert reminder["message_reference"]["message_id"] == asked["id"]
    assert [user["username"] for user in reminder["mentions"]] == ["alice"]
    await stage.restart()
    await stage.control.advance(86_400)
    assert sum("tea is ready" in message["content"] for message in await stage.replies()) == 1


async def test_what_was_noted_is_known_in_the_next_turn_until_clear(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    note = ("update_short_term_memory", '{"text": "Alice likes tea"}')
    wire.script(Pass(text=["Good to know."], calls=[note]))
    await stage.mention("I like tea")
    await stage.until_reply("Good to know.")
    await stage.idle()
    assert len(wire.requests) == 1, "nobody sees the note, so nothing is left to say"
    await stage.restart()
    await stage.mention("hello")
    await stage.until_reply("You said: hello")
    await stage.idle()
    assert "Alice likes tea" in wire.requests[-1].system
    await stage.control.command("general", "alice", "clear")
    await stage.mention("again")
    await stage.until_reply("You said: again")
    assert "Alice likes tea" not in wire.requests[-1].system


async def test_a_sticker_of_the_server_follows_the_answer(make_stage: MakeStage, wire: Mind) -> None:
    stage = await make_stage(wire)
    guild = (await stage.control.world())["guilds"][0]["id"]
    backend = stage.twin.backend
    sticker = backend.world.stickers.put(Sticker(id=backend.ids.next(), guild_id=guild, name="Bow"))
    wire.script(calling("select_sticker", sticker="bow"), Pass(text=["Hello there."]))
    await stage.mention("say hello with a sticker")
    await stage.until_reply("Hello there.")
    posted = await stage.until(lambda message: message.get("sticker_items") and is_finished(message))
    assert [item["id"] for item in posted["sticker_items"]] == [sticker.id]
