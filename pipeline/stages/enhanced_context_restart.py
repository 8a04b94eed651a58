"""Stage 03: a tool asks that the next pass sees more. Its result stays an ordinary, short one."""

from __future__ import annotations

from hashlib import sha256

import structlog

from pipeline.calls import CallState
from pipeline.messages import Image
from pipeline.params import ToolLoopParams
from pipeline.records import ContextAdded
from pipeline.state import LoopState
from tools.base import ContextItem, ContextRestart
from tools.output import cap, scrub

_log = structlog.get_logger()

MAX_PICTURES = 10


async def enhanced_context_restart(
    params: ToolLoopParams, state: LoopState, call: CallState, asked: ContextRestart
) -> ContextAdded | None:
    """The record of what `call` brought, its pictures stored; None once the turn has used up its restarts.

    A key that is unknown (used already, too old) falls back to the item that came with it, or to nothing: the turn goes
    on without.
    """
    if len(state.contexts) >= params.limits.max_restarts:
        _log.warning("too_many_restarts", turn=state.turn, tool=call.call.name)
        return None
    item = params.stash.take(asked.key) if asked.key else None
    if asked.key and item is None:
        _log.warning("stash_key_unknown", turn=state.turn, tool=call.call.name)
    item = item or asked.item or ContextItem()
    pictures = [Image(media_type=each.media_type, data=each.data) for each in item.pictures[:MAX_PICTURES]]
    images = {sha256(f"{image.media_type}\0{image.data}".encode()).hexdigest(): image for image in pictures}
    await params.pictures.keep(images)
    return ContextAdded(
        iteration=call.iteration,
        index=call.index,
        context=asked.kind,
        text=cap(scrub(item.text), params.limits.tool_result_max_bytes),
        images=tuple(images),
        handles=item.handles,
    )
