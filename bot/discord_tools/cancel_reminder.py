"""Take away a reminder that waits."""

from __future__ import annotations

from pydantic import Field

from bot.discord_tools import DiscordDeps
from bot.discord_tools._ids import Reference
from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.output import visible


class Arguments(ToolArguments):
    reminder: Reference = Field(
        min_length=1, max_length=40, description="The reminder's id, as set_reminder or list_reminders gave it."
    )


def tools(deps: DiscordDeps) -> tuple[Tool[Arguments]]:
    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        wanted = args.reminder.strip()
        mine = {each.reminder for each in await deps.reminders.open(ctx.user_id) if each.channel == ctx.channel_id}
        if wanted not in mine or not await deps.reminders.close(wanted):
            raise ToolError(f"this person has no reminder {visible(wanted, 40)} waiting here; see list_reminders")
        deps.wake()
        return ToolResult(content=f"Reminder {wanted} is cancelled.")

    return (
        define_tool(
            name="cancel_reminder",
            description="Cancel a reminder of the person who asks.",
            arguments=Arguments,
            run=run,
            idempotent=True,
            subject="reminder",
        ),
    )
