"""The kernels of the demonstration that its second process compiles: those that the first one needs last.

A first run spends most of its time on compiling, which one process does on one core. Compiled code is kept on disk
(`sqlanon.kernels.cache`), where the first process finds it. The two share nothing else, and neither waits for the
other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction


def compile_last() -> None:
    """Call kernels with a few rows: cuts of large partitions, divisions into runs, and steps for diverse classes.

    Cost: about 10 s.
    """
    import numpy as np

    from sqlanon.kernels.boxes import measure_widths
    from sqlanon.kernels.counted_cuts import cut_counted, find_range, make_slots
    from sqlanon.kernels.extent import WORD_END, Geometry
    from sqlanon.kernels.lanes import WIDTH
    from sqlanon.kernels.requirements import demands_of, make_counters
    from sqlanon.kernels.rows import Rows, TreeRows
    from sqlanon.methods.onedim.direct import group_diverse
    from sqlanon.methods.onedim.parallel_runs import row_runs
    from sqlanon.methods.onedim.row_orders import OrderedRows
    from sqlanon.methods.shared.kernel_input import LoadedTable

    number = np.arange(4, dtype=np.int32)
    codes, sets = np.zeros((4, WIDTH), np.int32), np.zeros((4, 1), np.uint64)
    geometry = Geometry(np.zeros((1, WORD_END + 1), np.int64), np.zeros(2, np.int64))  # a line of one value
    bare, demands = TreeRows(codes, number, number[:0]), demands_of(1, [])
    slots = make_slots(bare, geometry, np.ones(1, np.int64), False)
    find_range(bare, 0, 4, 1, slots)
    cut_counted(bare, 0, 4, 0, 1, geometry, demands, slots, make_counters(demands, 4))
    rows = Rows(codes[:0], codes, sets, number)
    row_runs(rows, geometry, 2, 1)
    loaded = LoadedTable(number, codes.T, [number % 2], geometry)
    group_diverse(loaded, OrderedRows(rows, None, 0), number % 2, Fraction(2), 3, fast=False)
    measure_widths(codes, codes, sets, geometry, np.empty(4, np.int64))


@contextmanager
def second_process() -> Iterator[None]:
    """Compile in another process for as long as this lasts, if it is needed and there is a core for it."""
    from sqlanon.kernels.cache import find_folder
    from sqlanon.kernels.callees import find_missing
    from sqlanon.methods.onedim.kernels.diverse_groups import make_diverse_groups

    if (os.cpu_count() or 1) < 2 or find_folder() is None or not find_missing(make_diverse_groups):
        yield
        return
    process = subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-P", "-m", __name__],  # -P: nothing is imported from the working folder
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    compile_last()
