"""Replace a file in one step: other programs see the old content or the new, never half of it."""

from __future__ import annotations

import os
from contextlib import suppress
from secrets import token_hex

from tools.paths import TEMPORARY

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_file(directory: int, name: str, data: bytes, old: os.stat_result | None) -> None:
    """Make `data` the content of `name` in the open `directory`, durably. Raises OSError, and then nothing changed.

    Permissions and owner of the file that was there (`old`) are kept as far as the process may set them. Whatever
    stands at `name` by now is replaced, not followed.
    """
    temporary = TEMPORARY.replace("*", token_hex(8))
    descriptor = os.open(temporary, _CREATE, 0o666, dir_fd=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if old is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, old.st_uid, old.st_gid)
                os.fchmod(descriptor, old.st_mode & 0o777)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=directory)
        raise
    os.fsync(directory)
