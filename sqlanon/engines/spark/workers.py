"""Functions of arrays on Spark's executors, by Arrow: sqlanon must be installed where they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from sqlanon.engines.base import Work

_TYPES = {"integer": "int", "bigint": "bigint"}


def mapped(rows: DataFrame, work: Work, columns: Sequence[tuple[str, str]], by: str | None) -> DataFrame:
    """What a function makes of rows; see `Workers.map_arrays`."""
    schema = ", ".join(f"`{name}` {_TYPES[kind]}" for name, kind in columns)
    one = _OfTable(work, tuple(columns))
    if by is None:
        return rows.mapInArrow(_OfBatches(one), schema)
    grouped: Any = rows.groupBy(by)
    made: DataFrame = grouped.applyInArrow(one.whole(), schema)
    return made


class _OfTable:
    """A function of columns as one of an Arrow table."""

    def __init__(self, work: Work, columns: Sequence[tuple[str, str]]) -> None:
        self._work, self._columns = work, columns

    def __call__(self, table: pa.Table | pa.RecordBatch) -> pa.Table:
        import pyarrow as pa

        types = {"integer": pa.int32(), "bigint": pa.int64()}
        found = self._work([column.to_numpy(zero_copy_only=False) for column in table.columns])
        return pa.table(
            {
                name: pa.array(array, types[kind])
                for (name, kind), array in zip(self._columns, found, strict=True)
            }
        )

    def whole(self) -> Callable[[pa.Table], pa.Table]:
        """The same as a plain function, whose arguments Spark counts."""

        def work(table: pa.Table) -> pa.Table:
            # A column of a table is in chunks, which have no `to_numpy` of this kind.
            return self(table.combine_chunks().to_batches()[0])

        return work


class _OfBatches:
    """The same for a stream of batches."""

    def __init__(self, one: _OfTable) -> None:
        self._one = one

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from self._one(batch).to_batches()


__all__ = ["mapped"]
