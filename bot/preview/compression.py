"""How gateway frames are packed: one context for the life of a connection, one flushed block a message."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import zstandard

Pack = Callable[[bytes], bytes]


def packer(name: str) -> Pack | None:
    """The packer of a `compress=` value; None stands for plain text frames. Raises KeyError for an unknown one."""
    return {"": _plain, "zlib-stream": _zlib_stream, "zstd-stream": _zstd_stream}[name]()


def _plain() -> None:
    return None


def _zlib_stream() -> Pack:
    context = zlib.compressobj()
    return lambda data: context.compress(data) + context.flush(zlib.Z_SYNC_FLUSH)


def _zstd_stream() -> Pack:
    context = zstandard.ZstdCompressor(level=1).compressobj()
    return lambda data: context.compress(data) + context.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
