"""Folders that no other user can open, for rows on their way to a file.

The folder of a killed process is found by its marker.

The process that makes a folder keeps the marker in it locked until it ends, however it ends: a folder whose marker
no process has locked is abandoned, and so is an empty one of such a name.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

MARKER = ".sqlanon-folder"
_UNLOCKED = f"{MARKER}-new"
_CONTENT = b"made by sqlanon; removed by its next run when no process uses it\n"
_NAME = re.compile(r"\.sqlanon-[0-9a-f]{8}\Z")
_TRIES = 10


class PrivateFolder:
    """A new folder ``<stem>.sqlanon-<random>`` with mode 0700; a context manager that removes it with all it holds.

    Args:
        stem: path beside which the folder is made. It need not exist.

    Raises:
        OSError: it cannot be made there.
    """

    def __init__(self, stem: Path) -> None:
        self._process = os.getpid()
        for tries_left in reversed(range(_TRIES)):
            self.path = stem.with_name(f"{stem.name}.sqlanon-{secrets.token_hex(4)}")
            self.path.mkdir(mode=0o700)
            try:
                self._marker = _mark(self.path)
                break
            except BaseException as error:
                shutil.rmtree(self.path, ignore_errors=True)
                # Before its marker is locked another process can take the folder for an abandoned one.
                if not (isinstance(error, FileNotFoundError) and tries_left):
                    raise

    def remove(self) -> None:
        """Remove the folder; a second call does nothing, nor does one in a process that was forked from its maker's."""
        if self._marker >= 0 and self._process == os.getpid():
            _remove(self.path)
            os.close(self._marker)
            self._marker = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def sweep(stem: Path) -> list[Path]:
    """Remove the folders for ``stem`` of processes that ended, and return them.

    Other folders with such a name are not ours and stay.
    """
    folders = sorted(stem.parent.glob(f"{glob.escape(stem.name)}.sqlanon-*"))
    return [folder for folder in folders if _remove_stale(folder)]


def _mark(folder: Path) -> int:
    """Make the locked marker in a new folder; returns its descriptor."""
    new = folder / _UNLOCKED
    marker = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        fcntl.flock(marker, fcntl.LOCK_EX)
        os.write(marker, _CONTENT)
        new.rename(folder / MARKER)  # never seen without its lock
    except BaseException:
        os.close(marker)
        raise
    return marker


def _remove(folder: Path) -> bool:
    """Remove a folder, its marker last, so that remains of a killed process are known for ours; whether it is gone.

    Another user may put a link in the folder's place meanwhile: only contents of the opened folder are removed.
    """
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            for name in [entry.name for entry in os.scandir(opened) if entry.name != MARKER]:
                shutil.rmtree(name, ignore_errors=True, dir_fd=opened)  # no file and no link
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=opened)
            if {entry.name for entry in os.scandir(opened)} - {MARKER}:
                return False
        finally:
            os.close(opened)
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _remove_stale(folder: Path) -> bool:
    """Remove a folder if `PrivateFolder` made it, and the process that made it is gone; whether it did."""
    try:
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return False
        with _hold_lock(folder / MARKER) as marker:
            return os.read(marker, len(_CONTENT) + 1) == _CONTENT and _remove(folder)
    except FileNotFoundError:
        return _remove_unmarked(folder)
    except OSError:
        return False


def _remove_unmarked(folder: Path) -> bool:
    """Remove remains of a process that was killed before its marker is in place, or after it is removed.

    That is an empty folder, except for the marker.
    """
    try:
        if not _NAME.search(folder.name) or folder.stat().st_uid != os.geteuid():
            return False
        with contextlib.suppress(FileNotFoundError), _hold_lock(folder / _UNLOCKED):
            (folder / _UNLOCKED).unlink()
        folder.rmdir()  # fails if there is anything else
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _hold_lock(path: Path) -> Iterator[int]:
    """The descriptor of a file that no other process has locked; an `OSError` if one has, or it is not to be opened."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)


def put_in_place(finished: Path, target: Path) -> None:
    """Flush a finished file and rename it to ``target``, with the mode and the group of the file that is there.

    A new target keeps the mode that ``finished`` has.

    Raises:
        OSError: ``target`` is no regular file, or cannot be written; it is as it was, unless only its folder could not
            be flushed.
    """
    with finished.open("rb") as file:
        with contextlib.suppress(FileNotFoundError):
            status = target.stat()
            if not stat.S_ISREG(status.st_mode):  # a device or a pipe would be gone for everybody
                raise OSError(errno.EINVAL, "there is something that is no regular file")
            with contextlib.suppress(PermissionError):  # only a member of a group may give it a file
                os.fchown(file.fileno(), -1, status.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
        os.fsync(file.fileno())
    os.replace(finished, target)
    folder = os.open(target.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
