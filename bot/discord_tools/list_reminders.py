"""What the person who asks has waiting in this channel."""

from __future__ import annotations

from bot.discord_tools import DiscordDeps
from bot.render.text import one_line
from tools.base import Tool, ToolArguments, ToolContext, ToolResult, define_tool

_TEXT_UNITS = 200


class Arguments(ToolArguments):
    pass


def tools(deps: DiscordDeps) -> tuple[Tool[Arguments]]:
    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:  # noqa: ARG001
        waiting = [each for each in await deps.reminders.open(ctx.user_id) if each.channel == ctx.channel_id]
        lines = [f"{each.reminder}: <t:{each.due:.0f}:F>: {one_line(each.text, _TEXT_UNITS)}" for each in waiting]
        return ToolResult(content="\n".join(lines) or "This person has no reminders waiting in this channel.")

    return (
        define_tool(
            name="list_reminders",
            description="List the reminders that the person who asks has waiting in this channel.",
            arguments=Arguments,
            run=run,
            idempotent=True,
            subject="reminder",
        ),
    )
