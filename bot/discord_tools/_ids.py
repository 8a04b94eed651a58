"""How a model names messages, attachments and people: by handle, id, link or mention."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

from tools.base import ToolContext, ToolError
from tools.output import visible

_LINK = re.compile(r"https?://(?:\w+\.)?discord(?:app)?\.com/channels/(?:[0-9]+|@me)/([0-9]+)/([0-9]+)/?")
_MENTION = re.compile(r"<@!?([0-9]+)>")
_LARGEST = (1 << 63) - 1


def _digits(value: object) -> object:
    """Ids fit no float, so models that write them as whole numbers are taken at their word, digit by digit."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Reference = Annotated[str, BeforeValidator(_digits)]
"""A field for a handle or an id. In JSON a string; a whole number is the string of its digits."""


def snowflake(ctx: ToolContext, name: str) -> int:
    """The id that `name` stands for. Raises ToolError for anything else, and for a link to another channel."""
    resolved = ctx.resolve(name)
    if link := _LINK.fullmatch(resolved):
        if link[1] != ctx.channel_id:
            raise ToolError("that message is in another channel; only this channel can be seen from here")
        resolved = link[2]
    elif mention := _MENTION.fullmatch(resolved):
        resolved = mention[1]
    if not re.fullmatch(r"[0-9]{1,19}", resolved) or not 0 < int(resolved) <= _LARGEST:
        known = "one that reveal_message_metadata gave" if ctx.handles else "from reveal_message_metadata"
        raise ToolError(f"{visible(name, 80)} is no id and no handle; use an id, or a handle {known}")
    return int(resolved)
