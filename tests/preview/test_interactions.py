"""Buttons, selects and modals, answered by a real discord.py client."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import aiohttp
import discord
import pytest

from bot.preview.server import Twin
from tests.support.control import ControlClient, Refused
from tests.support.discord_bot import Bot, running

Press = discord.Interaction[Bot]


def buttons(*labels: str, disabled: bool = False) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for label in labels:
        view.add_item(discord.ui.Button(label=label, custom_id=f"id-{label}", disabled=disabled))
    return view


async def ask(bot: Bot, view: discord.ui.View) -> discord.Message:
    return await bot.channel("general").send("choose", view=view)


async def test_a_press_is_answered_for_one_person_only(bot: Bot, control: ControlClient) -> None:
    async def pressed(press: Press) -> None:
        await press.response.send_message(f"hello {press.user.name}", ephemeral=True)

    bot.pressed = pressed
    message = await ask(bot, buttons("Go"))
    answer = await control.click({"id": str(message.id)}, "alice", "Go")
    assert (answer["kind"], answer["message"]["content"]) == ("message", "hello alice")
    assert len(await control.messages("general", "alice")) == 2
    assert len(await control.messages("general", "bob")) == 1
    assert len(await control.messages("general")) == 1
    with pytest.raises(discord.NotFound):
        await bot.channel("general").fetch_message(int(answer["message"]["id"]))


async def test_a_press_carries_the_member_with_roles_and_computed_permissions(bot: Bot, control: ControlClient) -> None:
    seen: list[Press] = []

    async def pressed(press: Press) -> None:
        seen.append(press)
        await press.response.defer()

    bot.pressed = pressed
    message = await ask(bot, buttons("Go"))
    for person in ("alice", "owner", "bob"):
        await control.click(str(message.id), person, custom_id="id-Go")
    alice, owner, bob = seen
    assert isinstance(alice.user, discord.Member)
    assert [role.name for role in alice.user.roles] == ["@everyone", "Approver"]
    assert [press.permissions.manage_guild for press in (alice, owner, bob)] == [False, True, False]
    assert alice.app_permissions.manage_messages
    assert alice.message is not None
    assert alice.message.id == message.id


async def test_a_press_can_change_the_message(bot: Bot, control: ControlClient) -> None:
    async def pressed(press: Press) -> None:
        await press.response.edit_message(content="done", view=None)

    bot.pressed = pressed
    message = await ask(bot, buttons("Go"))
    answer = await control.click(str(message.id), "alice", "Go")
    assert answer["kind"] == "update"
    [shown] = await control.messages("general")
    assert (shown["content"], shown["components"]) == ("done", [])


async def test_a_deferred_answer_is_filled_in_later(bot: Bot, control: ControlClient) -> None:
    go_on = asyncio.Event()

    async def pressed(press: Press) -> None:
        await press.response.defer(thinking=True, ephemeral=True)
        await go_on.wait()
        await press.followup.send("the rest", ephemeral=True)
        await press.edit_original_response(content="all of it")
        original = await press.original_response()
        await press.followup.send(f"after {original.content}", ephemeral=True)

    bot.pressed = pressed
    message = await ask(bot, buttons("Go"))
    answer = await control.click(str(message.id), "alice", "Go")
    assert answer["kind"] == "deferred"
    assert answer["message"]["flags"] & 128
    async with control.expect(lambda event: "after" in str(event.get("message", {}).get("content"))) as told:
        go_on.set()
    await told
    assert [m["content"] for m in await control.messages("general", "alice")] == [
        "choose",
        "all of it",
        "after all of it",
    ]


async def test_a_second_acknowledgement_is_refused(bot: Bot, control: ControlClient) -> None:
    codes: asyncio.Queue[int] = asyncio.Queue()

    async def pressed(press: Press) -> None:
        await press.response.defer()
        press.response._response_type = None  # as another process would that knows nothing of the first
        try:
            await press.response.send_message("again")
        except discord.HTTPException as problem:
            codes.put_nowait(problem.code)

    bot.pressed = pressed
    message = await ask(bot, buttons("Go"))
    answer = await control.click(str(message.id), "alice", "Go")
    assert answer["kind"] == "deferred_update"
    assert await asyncio.wait_for(codes.get(), 10) == 40060


async def test_three_seconds_without_an_answer_fail_and_a_late_one_is_unknown(
    bot: Bot, twin: Twin, control: ControlClient
) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()
    codes: asyncio.Queue[int] = asyncio.Queue()

    async def pressed(press: Press) -> None:
        arrived.set()
        await go_on.wait()
        try:
            await press.response.send_message("late")
        except discord.NotFound as problem:
            codes.put_nowait(problem.code)

    bot.pressed = pressed
    message = await ask(bot, buttons("Go"))
    click = asyncio.create_task(control.click(str(message.id), "alice", "Go"))
    await arrived.wait()
    await control.advance(2.9)
    assert not click.done()
    await control.advance(0.2)
    assert (await click)["kind"] == "failed"
    go_on.set()
    assert await asyncio.wait_for(codes.get(), 10) == 10062


async def test_the_token_lives_for_fifteen_minutes(bot: Bot, twin: Twin, control: ControlClient) -> None:
    seen: list[Press] = []

    async def pressed(press: Press) -> None:
        seen.append(press)
        await press.response.defer()

    bot.pressed = pressed
    message = await ask(bot, buttons("Go"))
    await control.click(str(message.id), "alice", "Go")
    await control.advance(14 * 60)
    await seen[0].followup.send("in time")
    await control.advance(61)
    with pytest.raises(discord.HTTPException) as caught:
        await seen[0].followup.send("too late")
    assert caught.value.code == 50027


async def test_a_token_that_nobody_has_is_an_unknown_webhook(bot: Bot) -> None:
    async with aiohttp.ClientSession() as session:
        hook = discord.Webhook.partial(bot.application_id or 0, "made-up", session=session)
        with pytest.raises(discord.NotFound) as caught:
            await hook.send("x")
    assert caught.value.code == 10015


async def test_what_a_person_cannot_press_is_refused(bot: Bot, control: ControlClient) -> None:
    message = await ask(bot, buttons("Go", disabled=True))
    with pytest.raises(Refused, match="disabled"):
        await control.click(str(message.id), "alice", "Go")
    with pytest.raises(Refused, match="nothing called Stop"):
        await control.click(str(message.id), "alice", "Stop")
    with pytest.raises(Refused, match="no message"):
        await control.click("1", "alice", "Go")


async def test_a_pick_gives_values_or_resolved_people(bot: Bot, control: ControlClient) -> None:
    picked: list[dict[str, Any]] = []

    async def pressed(press: Press) -> None:
        picked.append(dict(press.data or {}))
        await press.response.defer()

    bot.pressed = pressed
    view = discord.ui.View(timeout=None)
    options = [discord.SelectOption(label="One", value="1"), discord.SelectOption(label="Two", value="2")]
    view.add_item(discord.ui.Select(custom_id="s", options=options, placeholder="Number"))
    view.add_item(discord.ui.UserSelect(custom_id="u"))
    message = await ask(bot, view)
    await control.click(str(message.id), "alice", "Number", values=["Two"])
    await control.click(str(message.id), "alice", custom_id="u", values=["bob"])
    assert picked[0]["values"] == ["2"]
    assert [user["username"] for user in picked[1]["resolved"]["users"].values()] == ["bob"]
    with pytest.raises(Refused, match="no option"):
        await control.click(str(message.id), "alice", custom_id="s", values=["Three"])
    with pytest.raises(Refused, match="pick 1 to 1"):
        await control.click(str(message.id), "alice", custom_id="s", values=[])


class Reason(discord.ui.Modal, title="Why?"):
    reason: discord.ui.TextInput[Reason] = discord.ui.TextInput(label="Reason", custom_id="reason", max_length=20)
    more: discord.ui.Label[Reason] = discord.ui.Label(
        text="More", component=discord.ui.TextInput(custom_id="more", required=False, default="nothing")
    )

    async def on_submit(self, interaction: discord.Interaction[Any]) -> None:
        assert isinstance(self.more.component, discord.ui.TextInput)
        await interaction.response.edit_message(content=f"{self.reason.value}, {self.more.component.value}")


async def test_a_modal_is_shown_checked_and_submitted(bot: Bot, control: ControlClient) -> None:
    async def pressed(press: Press) -> None:
        if press.type is discord.InteractionType.component:
            await press.response.send_modal(Reason(custom_id="why"))

    bot.pressed = pressed
    message = await ask(bot, buttons("Deny"))
    opened = await control.click(str(message.id), "alice", "Deny")
    assert (opened["kind"], opened["modal"]["title"]) == ("modal", "Why?")
    with pytest.raises(Refused, match="Reason needs"):
        await control.modal(opened, "alice", {})
    with pytest.raises(Refused, match="at most 20"):
        await control.modal(opened, "alice", {"Reason": "x" * 21})
    with pytest.raises(Refused, match="no field Other"):
        await control.modal(opened, "alice", {"Reason": "x", "Other": "y"})
    with pytest.raises(Refused, match="no open modal"):
        await control.modal(opened, "bob", {"Reason": "x"})
    answer = await control.modal(opened, "alice", {"Reason": "too risky"})
    assert (answer["kind"], answer["message"]["content"]) == ("update", "too risky, nothing")


async def test_an_answer_may_carry_embeds_files_and_buttons(bot: Bot, control: ControlClient) -> None:
    async def pressed(press: Press) -> None:
        file = discord.File(io.BytesIO(b"diff"), filename="a.diff")
        await press.response.send_message(
            embed=discord.Embed(title="t"), file=file, view=buttons("Next"), ephemeral=True
        )

    bot.pressed = pressed
    message = await ask(bot, buttons("Go"))
    first = (await control.click(str(message.id), "alice", "Go"))["message"]
    assert (first["attachments"][0]["filename"], first["embeds"][0]["title"]) == ("a.diff", "t")
    assert (await control.click(first, "alice", "Next"))["kind"] == "message"
    with pytest.raises(Refused, match="no message"):
        await control.click(first, "bob", "Next")


async def test_a_press_while_the_bot_resumes_is_not_lost(
    twin: Twin, control: ControlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def pressed(press: Press) -> None:
        await press.response.send_message("here", ephemeral=True)

    async with running(twin, monkeypatch) as bot:
        bot.pressed = pressed
        message = await ask(bot, buttons("Go"))
        async with control.expect(lambda event: event["type"] == "bot" and not event["online"]):
            await control.gateway_fault("close", code=4000)
        assert (await control.click(str(message.id), "alice", "Go"))["kind"] == "message"


async def test_components_v2_are_kept_and_can_be_pressed(bot: Bot, control: ControlClient) -> None:
    async def pressed(press: Press) -> None:
        await press.response.defer()

    bot.pressed = pressed
    view = discord.ui.LayoutView(timeout=None)
    row: discord.ui.ActionRow[discord.ui.LayoutView] = discord.ui.ActionRow(
        discord.ui.Button(label="Go", custom_id="go")
    )
    thumbnail = discord.ui.Thumbnail[discord.ui.LayoutView]("https://example.org/a.png")
    section = discord.ui.Section[discord.ui.LayoutView]("text", accessory=thumbnail)
    view.add_item(discord.ui.Container(discord.ui.TextDisplay("# title"), section, discord.ui.Separator(), row))
    message = await bot.channel("general").send(view=view)
    assert message.flags.components_v2
    assert (await control.click(str(message.id), "alice", "Go"))["kind"] == "deferred_update"
    with pytest.raises(discord.HTTPException) as caught:
        await message.edit(content="no", view=view)
    assert caught.value.code == 50035
