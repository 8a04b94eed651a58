"""What day and time it is: a model does not know."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.builtin import Deps
from tools.output import visible


class Arguments(ToolArguments):
    timezone: str = Field(default="UTC", description='An IANA name such as "Europe/Berlin"; UTC when left out.')


async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
    zone = _zone(args.timezone)
    moment = datetime.fromtimestamp(ctx.now(), zone)
    return ToolResult(content=f"{moment.isoformat(timespec='seconds')} ({moment:%A}, {zone})")


def _zone(name: str) -> tzinfo:
    name = name.strip()
    if name.upper() in ("", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder of zones and "../x" raise the latter two
        raise ToolError(f'unknown timezone {visible(name)}; use an IANA name such as "Europe/Berlin"') from None


def tools(deps: Deps) -> tuple[Tool[Arguments]]:
    del deps
    return (
        define_tool(
            name="now",
            description="Tell the current date, time and weekday.",
            arguments=Arguments,
            subject="time",
            run=run,
            idempotent=True,
        ),
    )
