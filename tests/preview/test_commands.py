"""Slash commands: registered by a real discord.py client, used by people."""

from __future__ import annotations

from typing import Any

import aiohttp
import discord
import pytest
from discord import app_commands

from bot.preview.server import Twin
from tests.support.control import ControlClient, Refused
from tests.support.discord_bot import Bot

Press = discord.Interaction[Bot]
Json = dict[str, Any]


async def with_commands(bot: Bot) -> None:
    @bot.tree.command(description="Greets somebody")
    async def greet(press: Press, who: discord.Member, times: app_commands.Range[int, 1, 3] = 1) -> None:
        await press.response.send_message("hi " * times + who.name)

    group = app_commands.Group(name="audit", description="The log")

    @group.command(description="Shows it")
    async def show(press: Press, kind: str = "all") -> None:
        await press.response.defer(ephemeral=True)
        await press.edit_original_response(content=f"audit of {kind}")

    @bot.tree.command(description="For managers")
    @app_commands.default_permissions(manage_guild=True)
    @app_commands.guild_only()
    async def secret(press: Press) -> None:
        await press.response.send_message("secret", ephemeral=True)

    bot.tree.add_command(group)
    await bot.tree.sync()


async def test_a_command_takes_typed_options(bot: Bot, control: ControlClient) -> None:
    await with_commands(bot)
    answer = await control.command("general", "alice", "greet", who="bob", times=2)
    assert answer["message"]["content"] == "hi hi bob"
    assert answer["message"]["interaction_metadata"]["user"]["username"] == "alice"
    for options, why in (
        ({}, "required"),
        ({"who": "bob", "times": 4}, "between"),
        ({"who": "bob", "x": 1}, "no option"),
    ):
        with pytest.raises(Refused, match=why):
            await control.command("general", "alice", "greet", **options)


async def test_a_subcommand_has_spaces_in_its_name(bot: Bot, control: ControlClient) -> None:
    await with_commands(bot)
    async with control.expect(lambda event: event["type"] == "ephemeral_update") as filled:
        assert (await control.command("ops", "alice", "audit show", kind="mine"))["kind"] == "deferred"
    assert (await filled)["message"]["content"] == "audit of mine"
    with pytest.raises(Refused, match="no command"):
        await control.command("ops", "alice", "nothing")


async def test_a_command_is_offered_only_to_those_who_may_use_it(bot: Bot, control: ControlClient) -> None:
    await with_commands(bot)
    assert (await control.command("ops", "owner", "secret"))["kind"] == "message"
    with pytest.raises(Refused, match="bob may not use"):
        await control.command("ops", "bob", "secret")
    with pytest.raises(Refused, match="not offered here"):
        await control.command("@owner", "owner", "secret")


async def test_commands_keep_their_ids_when_they_are_synced_again(bot: Bot, control: ControlClient) -> None:
    await with_commands(bot)
    before = {command.name: command.id for command in await bot.tree.fetch_commands()}
    bot.tree.remove_command("secret")
    await bot.tree.sync()
    after = {command.name: command.id for command in await bot.tree.fetch_commands()}
    assert after == {name: before[name] for name in ("greet", "audit")}
    assert {command["name"] for command in (await control.world())["commands"]} == set(after)


async def test_a_command_takes_every_kind_of_option(bot: Bot, control: ControlClient) -> None:
    seen: list[Any] = []

    @bot.tree.command(description="Takes all")
    @app_commands.choices(pick=[app_commands.Choice(name="First", value="1")])
    async def everything(
        press: Press,
        text: str,
        yes: bool,
        number: float,
        channel: discord.TextChannel,
        role: discord.Role,
        file: discord.Attachment,
        pick: app_commands.Choice[str],
    ) -> None:
        seen.extend([text, yes, number, channel.name, role.name, await file.read(), pick.name])
        await press.response.defer()

    await bot.tree.sync()
    file = {"filename": "a.txt", "content_type": "text/plain", "base64": "aGk="}
    options = {"text": "t", "yes": True, "number": 1.5, "channel": "ops", "role": "Approver", "file": file}
    await control.command("general", "alice", "everything", **options, pick="First")
    assert seen == ["t", True, 1.5, "ops", "Approver", b"hi", "First"]
    with pytest.raises(Refused, match="one of First"):
        await control.command("general", "alice", "everything", **options, pick="Second")


def body(**fields: Any) -> Json:
    return {"name": "c", "description": "d", **fields}


def option(**fields: Any) -> Json:
    return {"type": 3, "name": "o", "description": "d", **fields}


CHOICE = {"name": "n", "value": "v"}


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (body(name="Upper"), "name"),
        (body(name="with space"), "name"),
        (body(name="n" * 33), "name"),
        (body(description=""), "description"),
        (body(description="d" * 101), "description"),
        (body(options=[option(name=f"o{number}") for number in range(26)]), "options"),
        (body(options=[option(), option()]), "options.1.name"),
        (body(options=[option(name="a"), option(name="b", required=True)]), "options.1"),
        (body(options=[option(choices=[CHOICE] * 26)]), "options.0.choices"),
        (body(options=[option(choices=[{"name": "n" * 101, "value": "v"}])]), "options.0.choices.0.name"),
        (body(options=[option(type=99)]), "options.0.type"),
        (body(options=[option(name=f"o{n}", choices=[{"name": "n" * 90, "value": "v"}] * 25) for n in range(4)]), ""),
        (body(options=[option(type=1, options=[option(type=2)])]), "options.0.options.0.type"),
        ({"name": "c", "description": "d", "options": 3}, "options"),
    ],
)
async def test_a_command_above_a_limit_is_refused_with_its_path(command: Json, path: str, twin: Twin) -> None:
    url = f"{twin.api_base}/applications/{twin.backend.world.bot_id}/commands"
    headers = {"Authorization": f"Bot {twin.token}"}
    async with aiohttp.ClientSession(headers=headers) as http, http.post(url, json=command) as response:
        answer = await response.json()
    assert (response.status, answer["code"]) == (400, 50035)
    node = answer["errors"]
    for part in filter(None, path.split(".")):
        node = node[part]
    assert node["_errors"]


async def test_a_guild_command_can_be_made_changed_and_deleted(bot: Bot, control: ControlClient) -> None:
    @bot.tree.command(description="For one guild", guild=bot.guilds[0])
    async def local(press: Press) -> None:
        await press.response.send_message("local")

    [synced] = await bot.tree.sync(guild=bot.guilds[0])
    assert (await control.command("general", "alice", "local"))["message"]["content"] == "local"
    with pytest.raises(Refused, match="no command"):
        await control.command("@alice", "alice", "local")
    changed = await synced.edit(description="Changed")
    assert (changed.id, changed.description) == (synced.id, "Changed")
    await synced.delete()
    with pytest.raises(Refused, match="no command"):
        await control.command("general", "alice", "local")
