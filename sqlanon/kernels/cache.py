"""What was compiled is found again, and it is what was asked for: whatever changed, whichever processes compile at the same time.

numba looks at the file of a kernel alone: what was compiled stays in use after a change of a function or type that the kernel
takes from another file, and cannot be read any more once that file has moved. And it numbers the variants of a function, one for
each types of arguments, by what its index lists: two processes that save a variant each at the same time would both call theirs the
first, and one would be run for the other from then on.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

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


def name_variants() -> None:
    """Have numba name the file of a variant after what it was compiled of and for, in this process.

    Processes need not wait for each other: each file is put in place as a whole, and none is ever used for another variant. An index that
    was read before another process wrote it lacks that one's variant, which is compiled again.
    """
    IndexDataCacheFile.save = _save


def _save(self: Any, key: Any, data: Any) -> None:  # noqa: ANN401 - numba's own
    """See `IndexDataCacheFile.save`: the file first, so that no index lists one that is not there."""
    digest = hashlib.sha256(self._dump((self._source_stamp, key))).digest()
    name = self._data_name(int.from_bytes(digest[:8], "big"))
    self._save_data(name, data)
    self._save_index(self._load_index() | {key: name})


__all__ = ["forget_stale", "name_variants"]
