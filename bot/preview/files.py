"""The bytes of attachments, in the data folder or in memory."""

from __future__ import annotations

import re
from pathlib import Path

MAX_FILE_BYTES = 10 * 1024 * 1024  # https://discord.com/developers/docs/reference#uploading-files


class Files:
    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._memory: dict[str, bytes] = {}

    def save(self, attachment_id: str, data: bytes) -> None:
        if self._folder is None:
            self._memory[attachment_id] = data
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / attachment_id).write_bytes(data)

    def load(self, attachment_id: str) -> bytes | None:
        """The bytes, or None when there are none. Only ids are names here, so no path can lead outside."""
        if self._folder is None:
            return self._memory.get(attachment_id)
        path = self._folder / attachment_id
        return path.read_bytes() if attachment_id.isdecimal() and path.is_file() else None


def safe_name(filename: str) -> str:
    """The name the way Discord stores it: letters, digits, `.`, `-` and `_`."""
    name = re.sub(r"[^\w.\-]+", "_", Path(filename.replace("\\", "/")).name)
    return name.strip(".") or "file"
