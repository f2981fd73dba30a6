"""Folders that no other user can open, for rows on their way to a file; what a killed process leaves is found by its marker.

The process that makes a folder keeps the marker in it locked until it ends, however it ends: a folder whose marker
no process has locked is abandoned.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import secrets
import shutil
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

MARKER = ".sqlanon-folder"
_CONTENT = b"made by sqlanon; removed by its next run when no process uses it\n"


class PrivateFolder:
    """A new folder ``<stem>.sqlanon-<random>`` with mode 0700; a context manager that removes it with all it holds.

    Args:
        stem: what the folder is for; the folder is made next to it. It need not exist.

    Raises:
        OSError: it cannot be made there.
    """

    def __init__(self, stem: Path) -> None:
        self.path = stem.with_name(f"{stem.name}.sqlanon-{secrets.token_hex(4)}")
        self._process = os.getpid()
        self.path.mkdir(mode=0o700)
        try:
            new = self.path / f"{MARKER}-new"
            self._marker = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            fcntl.flock(self._marker, fcntl.LOCK_EX)
            os.write(self._marker, _CONTENT)
            new.rename(self.path / MARKER)  # never seen without its lock
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Remove the folder; a second call does nothing, nor does one in a process that was forked from its maker's."""
        if self._marker >= 0 and self._process == os.getpid():
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._marker)
            self._marker = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def sweep(stem: Path) -> list[Path]:
    """Remove the folders for ``stem`` whose process is gone; other folders of such a name are not ours. Returns them."""
    found = sorted(stem.parent.glob(f"{glob.escape(stem.name)}.sqlanon-*"))
    removed = [folder for folder in found if _abandoned(folder)]
    for folder in removed:
        shutil.rmtree(folder, ignore_errors=True)
    return removed


def _abandoned(folder: Path) -> bool:
    """Whether it is a folder that `PrivateFolder` made, and the process that made it is gone."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return False
        marker = os.open(folder / MARKER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.read(marker, len(_CONTENT) + 1) == _CONTENT
    except OSError:
        return False
    finally:
        os.close(marker)


def put_in_place(written: Path, target: Path) -> None:
    """Flush a finished file and rename it to ``target``, with the mode and the group of the file that is there.

    A new target keeps the mode that ``written`` has.

    Raises:
        OSError: ``target`` is no regular file, or cannot be written; it is as it was, unless only its folder could not be flushed.
    """
    with written.open("rb") as file:
        with contextlib.suppress(FileNotFoundError):
            known = target.stat()
            if not stat.S_ISREG(known.st_mode):  # a device or a pipe would be gone for everybody
                raise OSError(errno.EINVAL, "there is something that is no regular file")
            with contextlib.suppress(PermissionError):  # only a member of a group may give it a file
                os.fchown(file.fileno(), -1, known.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(known.st_mode))
        os.fsync(file.fileno())
    os.replace(written, target)
    folder = os.open(target.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
