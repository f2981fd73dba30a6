"""Small files that a policy names, read whole: no device, no pipe, and never more than fits in memory."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST = 32 * 1024 * 1024
"""Bytes of such a file, at most."""


def read_bounded(path: str | os.PathLike[str], most: int = MOST) -> bytes:
    """The content of a regular file.

    Args:
        path: the file.
        most: its bytes, at most.

    Raises:
        OSError: it cannot be read, is a folder, a pipe or a device, or is larger.
    """
    # A pipe without a writer would be waited for, and a device may have no end.
    with open(os.open(Path(path), os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - of a descriptor
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "no regular file, but a device or a pipe")
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most:,} bytes")
    return content
