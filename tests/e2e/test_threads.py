"""A thread is a conversation of its own, in the folder of its channel."""

from __future__ import annotations

from pathlib import Path

import discord

from tests.support.minds import Mind
from tests.support.stage import MakeStage


async def test_a_thread_sees_the_folder_of_its_channel(make_stage: MakeStage, demo: Mind, tmp_path: Path) -> None:
    stage = await make_stage(demo)
    secret = tmp_path / "operations"
    secret.mkdir()
    (secret / "runbook.md").write_text("turn it off and on\n")
    await stage.restart(PROJECTS__OPS__PATH=str(secret), PROJECTS__OPS__CHANNELS=stage.channels["ops"])
    ops = stage.app.client.get_channel(int(stage.channels["ops"]))
    assert isinstance(ops, discord.TextChannel)
    thread = await ops.create_thread(name="an outage", type=discord.ChannelType.public_thread)
    await stage.mention("what is in this folder?", author="owner", channel=str(thread.id))
    await stage.until_reply("runbook.md", channel=str(thread.id))
    await stage.mention("what is in this folder?", author="owner")
    await stage.until_reply("todo.txt")
