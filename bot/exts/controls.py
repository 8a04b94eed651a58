"""What the commands do, whether they come as a slash command or as text after a mention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import discord

from bot.exts import Parts
from bot.render.text import clip, inline
from bot.views.answering import Said
from pipeline.conversation import CommandName, TextCommand
from pipeline.messages import Usage
from pipeline.policy import Policy
from pipeline.results import PassUsage

MAX_SYSTEM_CHARS = 4000
_BUSY = "A turn is running here. Stop it first (`/stop`) or wait for its end."


class Controls:
    """The channel's conversation as people steer it. Each method returns what to say."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def run(self, command: TextCommand, channel: str) -> Said:
        """A command typed as text; all of the channel sees the answer."""
        match command.name:
            case CommandName.CLEAR:
                said = await self.clear(channel)
            case CommandName.MODEL:
                said = await self.model(channel, command.argument)
            case CommandName.SYSTEM:
                said = await self.system(channel, command.argument)
            case CommandName.COST:
                said = await self.cost(channel)
        return replace(said, public=True)

    async def clear(self, channel: str) -> Said:
        """Forget the conversation. Refuses while a turn runs or waits."""
        if self._parts.runtime.is_busy(channel):
            return Said(text=_BUSY)
        forgotten = await self._parts.conversations.clear(channel, self._parts.now())
        if not forgotten:
            return Said(text="There was nothing to forget: the conversation is empty.")
        turns = "1 turn" if forgotten == 1 else f"{forgotten} turns"
        return Said(text=f"Forgot {turns} of this channel. The messages stay, but I no longer know them.", public=True)

    async def model(self, channel: str, name: str) -> Said:
        """Show the channel's model, or set it for the next turn."""
        choices = "\n".join(f"- `{choice}`" for choice in self._parts.catalog.choices())
        if not name:
            default = self._parts.catalog.default
            current = (await self._parts.conversations.channel(channel)).model or f"{default.name}/{default.model}"
            return Said(text=clip(f"This channel talks to `{inline(current, 200)}`. Configured:\n{choices}", 2000))
        found = self._parts.catalog.find(name)
        if found is None:
            return Said(text=clip(f"I do not know a model {inline(name, 100)}. Configured:\n{choices}", 2000))
        provider, model = found
        await self._parts.conversations.set_model(channel, f"{provider.name}/{model}")
        return Said(text=f"From the next message on, this channel talks to `{provider.name}/{model}`.", public=True)

    async def system(self, channel: str, text: str) -> Said:
        """Show what the people of this channel ask of the model, or set it; `-` takes it away."""
        if not text:
            current = (await self._parts.conversations.channel(channel)).system
            if not current:
                return Said(text="This channel has no instructions of its own. Set them with `/system text`.")
            embed = discord.Embed(title="Instructions of this channel", description=clip(current, 4096))
            return Said(embeds=(embed,))
        if len(text) > MAX_SYSTEM_CHARS:
            return Said(text=f"That is too long: {len(text)} characters, and {MAX_SYSTEM_CHARS} are the most.")
        await self._parts.conversations.set_system(channel, "" if text == "-" else text)
        if text == "-":
            return Said(text="This channel has no instructions of its own any more.", public=True)
        return Said(
            text="Noted. From the next message on, the model is told that. `/system -` takes it away.", public=True
        )

    async def cost(self, channel: str) -> Said:
        """Tokens and money of this channel: since the last clear, and in all."""
        rows = await self._parts.conversations.usage(channel)
        embed = discord.Embed(title="Cost of this channel", colour=discord.Colour(0x5865F2))
        since = self._sum([row.usage for row in rows if row.since_clear], "since the last `/clear`" if rows else "yet")
        embed.add_field(name="This conversation", value=since, inline=False)
        embed.add_field(name="In all", value=self._sum([row.usage for row in rows], "yet"), inline=False)
        return Said(embeds=(embed,))

    def tools(self) -> Said:
        """What the model may call, and what asks first."""
        words = {Policy.AUTO: "runs by itself", Policy.ASK: "**asks first**", Policy.DENY: "switched off"}
        lines = [
            f"`{tool.name}` · {words[self._parts.policies.of(tool)]} · {inline(tool.description, 140)}"
            for tool in self._parts.tools
        ]
        text = "\n".join(lines) or "There are no tools."
        return Said(embeds=(discord.Embed(title="Tools", description=clip(text, 4096)),))

    def limits(self) -> Said:
        """Every limit that the operator can set."""
        text = "\n".join(f"`{name}` {inline(value, 60)}" for name, value in self._parts.limits.items())
        return Said(embeds=(discord.Embed(title="Limits", description=clip(text or "None.", 4096)),))

    def help(self) -> Said:
        """How to talk to the bot."""
        return Said(embeds=(discord.Embed(title="How this works", description=HELP),))

    def _sum(self, spent: Sequence[PassUsage], when: str) -> str:
        """What was spent; `when` ends the sentence that nothing was."""
        if not spent:
            return f"Nothing was spent {when}."
        tokens = sum((one.usage for one in spent), Usage())
        counted = f"{tokens.input_tokens:,} tokens read, {tokens.output_tokens:,} written"
        money = self._parts.price(spent)
        if not money.unpriced:
            return f"${money.usd:.4f}\n{counted}"
        unknown = ", ".join(f"`{inline(name, 60)}`" for name in money.unpriced[:5])
        known = f"At least ${money.usd:.4f}: no" if money.usd else "No"
        return clip(f"{known} price is known for {unknown}\n{counted}", 1024)


HELP = """\
Mention me, reply to me or write me a direct message. I answer, and I can use tools on the way.
A tool that changes something asks first: a card shows exactly what would run, and somebody who may decide presses \
**Approve**, **Deny**, or **Deny with reason…**, which I read.
One message is answered at a time in a channel; others wait, marked with ⏳, and can still be edited or deleted. Write \
on while I answer, and I turn to that. **Stop**, `/stop` or a message that says nothing but "stop" ends what is running.

`/clear` forget this conversation
`/model` show or choose the model · `/system` show or set instructions for this channel
`/cost` tokens and money · `/tools` what I can use · `/limits` what bounds me
`/stop` end what is running here"""
