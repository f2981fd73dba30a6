"""Forget compiled kernels once any kernel has changed.

numba looks at the file of a kernel alone: what was compiled stays in use after a change of a function or type that the kernel
takes from another file, and cannot be read any more once that file has moved.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

_FOLDER = Path(__file__).parent
_STAMP = "compiled-from"


def forget_stale(folder: Path = _FOLDER) -> None:
    """Delete what numba has compiled of other sources than those in a folder. Cost: one stat a file.

    Where the folder cannot be written, numba keeps its files elsewhere, by the path of the source.
    """
    known = sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in folder.glob("*.py"))
    digest = hashlib.sha256(repr(known).encode()).hexdigest()
    compiled = folder / "__pycache__"
    stamp = compiled / _STAMP
    with contextlib.suppress(OSError):
        if stamp.is_file() and stamp.read_text(encoding="ascii") == digest:
            return
        for path in compiled.glob("*.nb[ic]"):
            path.unlink(missing_ok=True)
        compiled.mkdir(exist_ok=True)
        stamp.write_text(digest, encoding="ascii")
