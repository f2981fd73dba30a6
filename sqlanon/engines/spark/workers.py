"""Functions of arrays on Spark's executors, by Arrow: sqlanon must be installed where they run.

Compiled functions of numba are kept on the disk of each machine, so that a worker compiles only functions that no
worker there has compiled before.
"""

from __future__ import annotations

import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.engines.spark.open_session import is_connect

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from sqlanon.engines.base import Work

_TOGETHER, _SENT = 1 << 19, 1 << 16
"""Rows that a function gets at a time, at least where there are as many; rows that are sent back at a time."""
_MOST_GROUPS = 16
"""Groups that a worker has at a time, on average."""
_CONNECT = "SPARK_CONNECT_MODE_ENABLED"
_TYPES = {"integer": "int", "bigint": "bigint"}


def map_rows(
    rows: DataFrame, work: Work, columns: Sequence[tuple[str, str]], by: str | None, groups: int, tasks: int
) -> DataFrame:
    """Results of a function for rows; see `Workers.map_arrays`.

    Groups are sorted in the workers: Spark sorts the rows of groups itself, and sends each group for itself, which
    takes longer than the function. To begin a task takes as long as to send half a million rows.

    Args:
        rows: of integers.
        work: the function.
        columns: of its results.
        by: see `Workers.map_arrays`.
        groups: see `Workers.map_arrays`.
        tasks: in which the groups are divided, at least, where there are as many groups.
    """
    schema = ", ".join(f"`{name}` {_TYPES[kind]}" for name, kind in columns)
    table_work = _OfTable(work, tuple(columns))
    with _mode_of(rows):
        if by is None:
            return rows.mapInArrow(_OfBatches(table_work), schema)
        parts = min(max(tasks, groups // _MOST_GROUPS), max(groups, 1))
        return rows.repartition(parts, by).mapInArrow(_OfGroups(table_work, rows.columns.index(by)), schema)


@contextmanager
def _mode_of(rows: DataFrame) -> Iterator[None]:
    """Remove the variable by which pyspark makes functions for Spark Connect, in classic sessions too.

    A process that has opened a session of Spark Connect has it.
    """
    setting = None if is_connect(rows) else os.environ.pop(_CONNECT, None)
    try:
        yield
    finally:
        if setting is not None:
            os.environ[_CONNECT] = setting


class _OfTable:
    """Adapter of a function of columns to Arrow tables.

    It gives numba a writable cache folder before the worker loads the function.
    """

    def __init__(self, work: Work, columns: Sequence[tuple[str, str]]) -> None:
        self._work, self._columns = work, columns

    def __reduce__(self) -> tuple[Callable[[bytes], _OfTable], tuple[bytes]]:
        from pyspark import cloudpickle

        return _receive_table, (cloudpickle.dumps((self._work, self._columns)),)

    def __call__(self, arrays: Sequence[npt.NDArray[np.generic]]) -> list[pa.RecordBatch]:
        import pyarrow as pa

        types = {"integer": pa.int32(), "bigint": pa.int64()}
        table = pa.table(
            {
                name: pa.array(array, types[kind])
                for (name, kind), array in zip(self._columns, self._work(arrays), strict=True)
            }
        )
        batches: list[pa.RecordBatch] = table.to_batches(_SENT)
        return batches


def _receive_table(sent: bytes) -> _OfTable:
    keep_compiled()
    return _OfTable(*pickle.loads(sent))  # noqa: S301 - Spark has brought it here by the same means


def keep_compiled() -> None:
    """Set a cache folder for numba if neither the kernels' folder nor the user's home is writable.

    Without a folder numba refuses to be imported.

    It is a folder of this user's that no other can write, as numba runs the files that it finds there.
    """
    if "NUMBA_CACHE_DIR" in os.environ or "numba" in sys.modules:
        return
    kernels = find_spec("sqlanon.kernels")
    places = [Path(str(kernels.origin)).parent] if kernels else []
    places += [Path.home(), Path.home() / ".cache"]
    if any(os.access(place, os.W_OK | os.X_OK) for place in places):
        return
    folder = Path(tempfile.gettempdir()) / f"sqlanon-compiled-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        folder = Path(tempfile.mkdtemp(prefix="sqlanon-compiled-"))
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


class _OfBatches:
    """The function for a stream of batches.

    A batch has many rows, so that the counts are small beside it.
    """

    def __init__(self, per_table: _OfTable) -> None:
        self._one = per_table

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        batches_held: list[pa.RecordBatch] = []
        rows = 0
        for batch in batches:
            batches_held.append(batch)
            rows += batch.num_rows
            if rows >= _TOGETHER:
                yield from self._one(_join_batches(batches_held))
                batches_held, rows = [], 0
        if rows:
            yield from self._one(_join_batches(batches_held))


class _OfGroups:
    """The function for each group of the rows in a stream of batches, which has all rows of its groups."""

    def __init__(self, per_table: _OfTable, by: int) -> None:
        """Prepare the function.

        Args:
            per_table: of the rows of a group.
            by: place of the column with the number of the group.
        """
        self._one, self._by = per_table, by

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        batches_held = list(batches)
        if not any(batch.num_rows for batch in batches_held):
            return
        arrays = _join_batches(batches_held)
        del batches_held
        order = np.argsort(arrays[self._by], kind="stable")
        arrays = [array[order] for array in arrays]
        begins = np.flatnonzero(np.diff(arrays[self._by])) + 1
        for begin, end in zip([0, *begins.tolist()], [*begins.tolist(), len(order)], strict=True):
            yield from self._one([array[begin:end] for array in arrays])


def _join_batches(batches: Sequence[pa.RecordBatch]) -> list[npt.NDArray[np.generic]]:
    import pyarrow as pa

    return [column.to_numpy() for column in pa.Table.from_batches(batches).columns]
