"""Have the bot say something later, also after a restart."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from bot.discord_tools import DiscordDeps
from bot.discord_tools._channel import open_channel
from pipeline.reminders import MAX_OPEN_REMINDERS, Reminder, reminder_id
from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.output import visible

MAX_TEXT_CHARS = 900  # twice as many units at worst, and a message holds 2000
MAX_AHEAD_S = 365 * 24 * 3600


class Arguments(ToolArguments):
    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS, description="What to remind the person of.")
    in_seconds: int | None = Field(
        default=None, ge=1, le=MAX_AHEAD_S, description="How many seconds from now; give this or `at`."
    )
    at: str = Field(
        default="",
        max_length=64,
        description='The moment in ISO 8601 with its offset, like "2026-05-01T09:00:00+02:00"; or give `in_seconds`.',
    )
    words: str = Field(
        default="",
        max_length=200,
        description='How the person said when, such as "tomorrow at nine".',
    )


def tools(deps: DiscordDeps) -> tuple[Tool[Arguments]]:
    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        due = moment(args, ctx.now())
        if not args.text.strip():
            raise ToolError("the text is blank; say what the reminder is about")
        await open_channel(deps.client, ctx, bot=("send_messages", "read_message_history"))
        when = str(args.in_seconds) if args.in_seconds is not None else args.at
        reminder = Reminder(
            reminder=reminder_id(ctx.turn, args.text, when),
            user=ctx.user_id,
            channel=ctx.channel_id,
            guild=ctx.guild_id or "",
            message=ctx.turn,
            text=args.text.strip(),
            due=due,
        )
        if not await deps.reminders.add(reminder):
            raise ToolError(
                f"this person has {MAX_OPEN_REMINDERS} reminders waiting, which is the most; "
                "list_reminders shows those of this channel, cancel_reminder takes one away"
            )
        deps.wake()
        said = f' ("{visible(args.words.strip())}")' if args.words.strip() else ""
        return ToolResult(
            content=f"Reminder {reminder.reminder} is set for <t:{due:.0f}:F>, <t:{due:.0f}:R>{said}. Tell the person "
            "with these <t:...> as they stand: Discord shows them in everybody's own time."
        )

    return (
        define_tool(
            name="set_reminder",
            description=(
                "Remind the person who asks of something at a later time, at most a year ahead, in this channel. Call "
                "`now` first if the time depends on what time it is."
            ),
            arguments=Arguments,
            run=run,
            idempotent=True,
            subject="reminder",
        ),
    )


def moment(args: Arguments, now: float) -> float:
    """The epoch second that is asked for. Raises ToolError when there is none, or two, or none of the coming year."""
    if (args.in_seconds is None) == (not args.at.strip()):
        raise ToolError("give either in_seconds or at")
    if args.in_seconds is not None:
        return now + args.in_seconds
    try:
        parsed = datetime.fromisoformat(args.at.strip())
    except ValueError:
        raise ToolError(f"{visible(args.at)} is no ISO 8601 time such as 2026-05-01T09:00:00+02:00") from None
    if parsed.utcoffset() is None:
        raise ToolError(f"{visible(args.at)} has no offset; write one, such as +02:00, or Z for UTC")
    try:
        due = parsed.timestamp()
    except (OverflowError, ValueError):
        raise ToolError(f"{visible(args.at)} is out of reach") from None
    if not now < due <= now + MAX_AHEAD_S:
        when = "in the past" if due <= now else "more than a year ahead"
        raise ToolError(f"{visible(args.at)} is {when}; call `now` to see what time it is")
    return due
