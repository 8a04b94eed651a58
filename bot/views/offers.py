"""The buttons on the newest message of a turn: Stop while it runs, and what it offers when it has ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import discord
from discord.ui import Button, DynamicItem, View

from bot.desk import desk_of
from bot.render.offers import Offer, OfferKind
from bot.views.answering import answered
from bot.views.stop import StopButton
from pipeline.records import TurnStarted

_STYLES = {
    OfferKind.GO_ON: ("▶️", discord.ButtonStyle.primary),
    OfferKind.DETAILS: (None, discord.ButtonStyle.secondary),
    OfferKind.THOUGHTS: ("💭", discord.ButtonStyle.secondary),
}


class OfferButton(DynamicItem[Button[View]], template=r"(?P<kind>go_on|details|thoughts):(?P<turn>[0-9]{1,20})"):
    """Holds only the turn's id: what it shows is read from the journal when it is pressed."""

    def __init__(self, offer: Offer, turn: str) -> None:
        emoji, style = _STYLES[offer.kind]
        custom_id = f"{offer.kind.value}:{turn}"
        super().__init__(Button(label=offer.label, emoji=emoji, style=style, custom_id=custom_id))
        self.kind = offer.kind
        self.turn = turn

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> OfferButton:
        del interaction
        label = item.label if isinstance(item, Button) else None
        return cls(Offer(kind=OfferKind(match["kind"]), label=label or ""), match["turn"])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        desk = desk_of(interaction)
        match self.kind:
            case OfferKind.GO_ON:
                work = desk.go_on(interaction, self.turn)
            case OfferKind.DETAILS:
                work = desk.details(interaction, self.turn)
            case OfferKind.THOUGHTS:
                work = desk.thoughts(interaction, self.turn)
        await answered(interaction, work)


def turn_view(started: TurnStarted, offers: Iterable[Offer], *, stop: bool) -> View | None:
    """The buttons of a turn; None where there are none."""
    view = View(timeout=None)
    if stop:
        view.add_item(StopButton(started.turn, started.user))
    for offer in offers:
        view.add_item(OfferButton(offer, started.turn))
    return view if view.children else None
