"""What the model notes for itself about this channel."""

from __future__ import annotations

from pydantic import Field

from bot.discord_tools import DiscordDeps
from tools.base import Tool, ToolArguments, ToolContext, ToolResult, define_tool

MAX_CHARS = 1000


class Arguments(ToolArguments):
    text: str = Field(max_length=MAX_CHARS, description="The whole note, instead of the one before; empty forgets it.")


def tools(deps: DiscordDeps) -> tuple[Tool[Arguments]]:
    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        text = args.text.strip()
        await deps.memory.note(ctx.channel_id, text)
        return ToolResult(content="Noted." if text else "Forgotten.")

    return (
        define_tool(
            name="update_short_term_memory",
            description=(
                "Keep a short note about this channel (what goes on, what people want) that you are shown in later "
                "turns, for seven days. Nobody sees it. Never note secrets."
            ),
            arguments=Arguments,
            run=run,
            idempotent=True,
            requires_follow_up=False,
            is_silent=True,
            once_a_turn=True,
            subject="memory",
        ),
    )
