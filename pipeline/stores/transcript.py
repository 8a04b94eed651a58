"""What an ended turn leaves: its messages and what it used. Written with `TurnEnded`, in its transaction."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from pipeline.conversation import size_bytes
from pipeline.journal import TurnOutput
from pipeline.messages import Message, NoteMessage
from pipeline.stores import blobs
from pipeline.stores.message_json import blob_ids, dump_message, load_message, with_images
from pipeline.stores.schema import messages, usage


def write_output(connection: Connection, turn: str, output: TurnOutput, now: float) -> None:
    """Add the messages and the usage of `turn`. `now` is epoch seconds."""
    write_messages(connection, output.channel, turn, output.messages, now)
    used = [
        {
            "turn": turn,
            "channel": output.channel,
            "user": output.user,
            "provider": spent.provider,
            "model": spent.model,
            "input_tokens": spent.usage.input_tokens,
            "output_tokens": spent.usage.output_tokens,
            "cache_read_tokens": spent.usage.cache_read_tokens,
            "cache_write_tokens": spent.usage.cache_write_tokens,
            "at": now,
        }
        for spent in output.usage
    ]
    if used:
        connection.execute(insert(usage), used)


def write_messages(connection: Connection, channel: str, turn: str, written: Sequence[Message], now: float) -> None:
    """Add messages to the end of a channel. `bytes` is what they take of a model's window: notes take nothing."""
    rows = [
        {
            "channel": channel,
            "turn": turn,
            "json": dump_message(message, lambda image: blobs.id_of(connection, image)),
            "bytes": 0 if isinstance(message, NoteMessage) else size_bytes(message),
            "at": now,
        }
        for message in written
    ]
    if rows:
        connection.execute(insert(messages), rows)


def newest_turns(connection: Connection, channel: str, max_bytes: int) -> list[list[Message]]:
    """The newest whole turns that fit into `max_bytes`, oldest first; the newest always."""
    query = select(messages).where(messages.c.channel == channel).order_by(messages.c.n.desc())
    found: list[list[Message]] = []
    turn: str | None = None
    left, size = max_bytes, 0
    with connection.execute(query, execution_options={"yield_per": 50}) as rows:  # reads no further than it has to
        for row in rows:
            if row.turn != turn:
                left -= size
                turn, size = row.turn, 0
                found.append([])
            size += row.bytes
            if size > left and len(found) > 1:
                found.pop()
                break
            found[-1].append(load_message(row.json))
    images = blobs.fetch(connection, [blob for group in found for message in group for blob in blob_ids(message)])
    return [[with_images(message, images) for message in reversed(group)] for group in reversed(found)]
