"""The first use of the kernels on a machine compiles them; that is said, once, and kept on disk."""

from __future__ import annotations

from sqlanon.progress import Progress


def compiled(progress: Progress) -> None:
    """Load the compiled kernels, or compile them and say so."""
    import numpy as np

    from sqlanon.kernels.demands import Demands
    from sqlanon.kernels.extent import Geometry
    from sqlanon.kernels.mondrian import grow
    from sqlanon.methods import arrays

    if getattr(grow, "signatures", True):
        return
    cache = grow.stats.cache_path
    if not any(_indexes(cache)):
        progress.note("compiling kernels: only the first time on this machine, about half a minute")
    none, empty = np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.int32)
    geometry = Geometry(np.array([[0, 1, 0, 1, 0, 0, 0, 0, 0]], dtype=np.int64), np.zeros(1, dtype=np.int64))
    number = np.zeros(1, dtype=np.int32)
    grow(
        arrays.rows_of(number.reshape(1, 1), number, geometry),
        arrays.room(1, 1, geometry),
        np.zeros(1, dtype=np.bool_),
        geometry,
        Demands(1, none, none, none, empty, empty, 0, 0),
        np.ones(1, dtype=np.int64),
        False,
        False,
        0,
    )


def _indexes(cache: str | None) -> list[str]:
    from pathlib import Path

    return [str(path) for path in Path(cache).glob("mondrian.grow-*.nbi")] if cache else []
