"""Pictures: stored once, under the id they came with, and found again by what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from sqlalchemy import Connection, insert, select

from pipeline.messages import Image
from pipeline.stores.schema import blobs


def keep(connection: Connection, images: Mapping[str, Image]) -> None:
    """Store `images` under their ids; an id that is known already keeps its picture."""
    if not images:
        return
    known = set(connection.scalars(select(blobs.c.id).where(blobs.c.id.in_(images))))
    rows = [
        {"id": blob, "digest": _digest(image), "media_type": image.media_type, "data": image.data}
        for blob, image in images.items()
        if blob not in known
    ]
    if rows:
        connection.execute(insert(blobs), rows)


def id_of(connection: Connection, image: Image) -> str:
    """The id of a blob that equals `image`, which is stored under its digest if there is none."""
    digest = _digest(image)
    found = connection.scalar(select(blobs.c.id).where(blobs.c.digest == digest).limit(1))
    if found is not None:
        return str(found)
    keep(connection, {digest: image})
    return digest


def fetch(connection: Connection, ids: Sequence[str]) -> dict[str, Image]:
    """The images with these ids; unknown ids are left out."""
    if not ids:
        return {}
    rows = connection.execute(select(blobs.c.id, blobs.c.media_type, blobs.c.data).where(blobs.c.id.in_(set(ids))))
    return {row.id: Image(media_type=row.media_type, data=row.data) for row in rows}


def _digest(image: Image) -> str:
    return sha256(f"{image.media_type}\0{image.data}".encode()).hexdigest()
