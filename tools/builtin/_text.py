"""What counts as text, for the tools that show or change it."""

from __future__ import annotations

from typing import BinaryIO

from tools.errors import ToolError
from tools.output import visible
from tools.scope import MissingError, OpenFile, ProjectScope

MAX_TEXT_BYTES = 1024 * 1024
"""The largest file that is written, edited or compared."""

_SNIFFED_BYTES = 8 * 1024
# fmt: off
_IMAGES = frozenset({"png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "ico"})
_BINARIES = frozenset({
    "zip", "gz", "tgz", "bz2", "xz", "7z", "rar", "pdf", "exe", "dll", "so", "dylib", "wasm", "bin",
    "woff", "woff2", "ttf", "otf", "mp3", "mp4", "webm", "ogg", "wav",
})
# fmt: on


def refuse_by_name(path: str) -> None:
    """Raise ToolError for a path whose ending says that it is a picture or another binary file."""
    name = path.strip().rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending in _IMAGES:
        raise ToolError(f"image file ({visible(path)}): it has no text to read")
    if ending in _BINARIES:
        raise ToolError(f"binary file ({visible(path)}): it has no text to read")


def is_binary(file: BinaryIO) -> bool:
    """Whether there is a NUL in the first 8 KiB; the file is at its start afterwards."""
    file.seek(0)
    head = file.read(_SNIFFED_BYTES)
    file.seek(0)
    return b"\0" in head


def refuse_by_content(opened: OpenFile, path: str) -> None:
    """Raise ToolError for a file that is not text."""
    if is_binary(opened.file):
        raise ToolError(f"binary file ({visible(path)}): it has no text to read")


def read_whole(opened: OpenFile, path: str) -> str:
    """The text of a file that is to be changed: strict UTF-8, newlines as they are. Raises ToolError."""
    refuse_by_content(opened, path)
    data = opened.file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise ToolError(
            f"{visible(path)} is too large to change ({opened.stat.st_size} bytes, {MAX_TEXT_BYTES} are the most)"
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{visible(path)} is not UTF-8, so changing it could destroy what is in it") from None


def current_text(scope: ProjectScope, path: str) -> str | None:
    """The text that a write to `path` would replace; None if there is no file. Raises ToolError if it is not text."""
    try:
        with scope.open_read(path) as opened:
            return read_whole(opened, path)
    except MissingError:
        return None
