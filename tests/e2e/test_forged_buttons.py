"""A button counts only where its question was asked: the rights of a person are those of that place."""

from __future__ import annotations

import discord
from discord.ui import View

from bot.views.approval import DecisionButton, ReasonButton
from tests.support.minds import Mind
from tests.support.stage import MakeStage


async def test_a_button_in_another_channel_decides_nothing(make_stage: MakeStage, demo: Mind) -> None:
    stage = await make_stage(demo)
    await stage.mention("write hello to notes.txt")
    card = await stage.until_card()
    approval = card["components"][0]["components"][0]["custom_id"].partition(":")[2]
    ops = stage.app.client.get_channel(int(stage.channels["ops"]))
    assert isinstance(ops, discord.TextChannel)
    view = View(timeout=None).add_item(DecisionButton("approve", approval)).add_item(ReasonButton(approval))
    forged = await ops.send("press here", view=view)
    for label in ("Approve", "Deny with reason…"):
        answer = await stage.control.click(str(forged.id), "owner", label)
        assert "do not know this question here" in str(answer)
    assert not (stage.project / "notes.txt").exists()
    await stage.control.click(card, "owner", "Approve")
    await stage.until_reply("notes.txt")
    assert (stage.project / "notes.txt").exists()
