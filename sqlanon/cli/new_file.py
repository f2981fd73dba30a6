"""Files that a command makes where there is none yet: ``--output``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sqlanon.errors import PolicyError


def ensure_new(path: Path) -> None:
    """Check before the work that a file can be made there.

    Raises:
        PolicyError: it exists, or the folder does not.
    """
    if path.exists() or path.is_symlink():
        raise PolicyError(f"--output {path} exists, and is not overwritten; name another file or move it away")
    if not path.absolute().parent.is_dir():
        raise PolicyError(f"--output {path}: there is no such folder")


def write_new(path: Path, text: str | bytes, *, private: bool = False) -> None:
    """Write a file that is whole, or not there; another that came meanwhile stays.

    Args:
        path: the file.
        text: the content.
        private: nobody but the owner may read it.

    Raises:
        PolicyError: another file came meanwhile, or it cannot be written.
    """
    beside: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.sqlanon-", dir=path.absolute().parent)
        beside = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
            file.flush()
            if not private:
                mask = os.umask(0)
                os.umask(mask)
                os.fchmod(file.fileno(), 0o666 & ~mask)
            os.fsync(file.fileno())
        _place(beside, path)
    except FileExistsError:
        ensure_new(path)
    except OSError as error:
        raise PolicyError(f"--output {path}: cannot be written ({error.strerror})") from error
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def _place(finished: Path, path: Path) -> None:
    """Give a finished file the final name, by a link where the file system has them.

    Unlike a rename, a link replaces nothing.
    """
    try:
        os.link(finished, path)
    except FileExistsError:
        raise
    except OSError:
        ensure_new(path)
        finished.rename(path)
