"""The buttons of an approval card, and the modal that asks for a reason. They hold only the question's id."""

from __future__ import annotations

import re
from typing import Any

import discord
from discord.ui import Button, DynamicItem, Modal, TextInput, View

from bot.desk import desk_of
from bot.render.outbox import NO_PINGS
from bot.views.answering import answered
from pipeline.records import ApprovalAsked, Ask, Verdict

REASON_MODAL = re.compile(r"deny:(?P<approval>[0-9a-f]{8,64})")
_REASON = "reason"
_STYLES = {
    "approve": ("Approve", discord.ButtonStyle.success, Verdict.APPROVE),
    "again": ("Run again", discord.ButtonStyle.danger, Verdict.APPROVE),
    "skip": ("Skip", discord.ButtonStyle.secondary, Verdict.SKIP),
    "refuse": ("Deny", discord.ButtonStyle.danger, Verdict.DENY),
}


class DecisionButton(
    DynamicItem[Button[View]], template=r"(?P<word>approve|again|skip|refuse):(?P<approval>[0-9a-f]{8,64})"
):
    """Decides at once."""

    def __init__(self, word: str, approval: str) -> None:
        label, style, self.verdict = _STYLES[word]
        super().__init__(Button(label=label, style=style, custom_id=f"{word}:{approval}"))
        self.approval = approval

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> DecisionButton:
        del interaction, item
        return cls(match["word"], match["approval"])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        await answered(interaction, desk_of(interaction).decide(interaction, self.approval, self.verdict))


class ReasonButton(DynamicItem[Button[View]], template=r"reason:(?P<approval>[0-9a-f]{8,64})"):
    """Asks for a reason; its modal decides."""

    def __init__(self, approval: str) -> None:
        style = discord.ButtonStyle.secondary
        super().__init__(Button(label="Deny with reason…", style=style, custom_id=f"reason:{approval}"))
        self.approval = approval

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> ReasonButton:
        del interaction, item
        return cls(match["approval"])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        refusal = desk_of(interaction).refusal(interaction, self.approval)
        if refusal is None:
            await interaction.response.send_modal(reason_modal(self.approval))
        else:
            await interaction.response.send_message(refusal, ephemeral=True, allowed_mentions=NO_PINGS)


def approval_view(question: ApprovalAsked) -> View:
    """The buttons that answer `question`."""
    view = View(timeout=None)
    if question.ask is Ask.AGAIN:
        return view.add_item(DecisionButton("again", question.approval)).add_item(
            DecisionButton("skip", question.approval)
        )
    view.add_item(DecisionButton("approve", question.approval)).add_item(DecisionButton("refuse", question.approval))
    return view.add_item(ReasonButton(question.approval))


def reason_modal(approval: str) -> Modal:
    """The modal. Its submit is handled by custom id (`reason_of`): what discord.py keeps in memory dies with it."""
    modal = Modal(title="Deny with a reason", custom_id=f"deny:{approval}", timeout=900)
    reason: TextInput[Any] = TextInput(
        label="Reason",
        style=discord.TextStyle.paragraph,
        placeholder="The model reads this and goes on.",
        custom_id=_REASON,
        max_length=1000,
    )
    modal.add_item(reason)
    return modal


def reason_of(interaction: discord.Interaction[Any]) -> tuple[str, str] | None:
    """(approval, reason) when `interaction` submits that modal."""
    data: Any = interaction.data
    if interaction.type is not discord.InteractionType.modal_submit or data is None:
        return None
    match = REASON_MODAL.fullmatch(data.get("custom_id", ""))
    if match is None:
        return None
    for row in data.get("components", ()):
        for field in row.get("components") or (row.get("component") or {},):
            if field.get("custom_id") == _REASON:
                return match["approval"], str(field.get("value", "")).strip()
    return match["approval"], ""
