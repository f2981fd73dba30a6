"""Cells: the table grouped once by codes, in SQL; rows are touched again only to attach their classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.methods.base import Context
from sqlanon.privacy.base import beyond_rows
from sqlanon.table.domain import Domain
from sqlanon.table.encode import by_code

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs


def columns_of(context: Context) -> tuple[Domain, ...]:
    """The columns of a cell: the quasi columns, and counted columns where requirements look at more than rows."""
    encoded = context.encoded
    return encoded.quasi + (encoded.counted if beyond_rows(context.requirements) else ())


@dataclass(frozen=True, slots=True)
class Cells:
    """Combinations of codes, ascending.

    Attributes:
        codes: int32[d, m], of the quasi columns.
        sensitive: int32[m] each, of the counted columns (sensitive columns and persons); none where requirements look
            at rows alone.
        rows: int64[m], rows of each.
    """

    codes: Ints
    sensitive: list[Ints]
    rows: Longs

    def some(self, records: npt.NDArray[np.intp]) -> Cells:
        """Those of these numbers."""
        return Cells(
            np.ascontiguousarray(self.codes[:, records]),
            [column[records] for column in self.sensitive],
            self.rows[records],
        )


def read_cells(context: Context) -> Cells:
    """The cells of the work table. Cost: a GROUP BY and a sort of the cells."""
    columns = columns_of(context)
    statement = context.scratch.sql(
        "fulldomain/count", work=context.encoded.work, columns=[column.code for column in columns], cells=None
    )
    *codes, rows = context.scratch.fetch_arrays(statement, [*(column.code_array for column in columns), "int64"])
    return arrange_cells(codes, rows, len(context.encoded.quasi))


def arrange_cells(codes: list[npt.NDArray[np.generic]], rows: npt.NDArray[np.generic], quasi: int) -> Cells:
    """Cells of fetched columns, the first ``quasi`` of them quasi columns."""
    return Cells(
        np.array(codes[:quasi], np.int32).reshape(quasi, len(rows)),
        [code.astype(np.int32, copy=False) for code in codes[quasi:]],
        rows.astype(np.int64, copy=False),
    )


def count_values(context: Context) -> list[Longs]:
    """Rows of every code of every quasi column."""
    quasi, columns_found = context.encoded.quasi, []
    for domain, (code, rows) in zip(
        quasi, by_code(context.scratch, "table/domain_counts", quasi, "int64"), strict=True
    ):
        counts = np.zeros(domain.codes, np.int64)
        counts[code] = rows
        columns_found.append(counts)
    return columns_found


def attach(context: Context, cells: Cells, record: Ints, label: Ints, rows: Longs) -> tuple[TableRef, bool]:
    """The assignment of classes that are made of parts of cells.

    Args:
        context: the run.
        cells: all cells, or some.
        record: the cell of each part.
        label: the class of each part.
        rows: how many of the cell's rows.

    Returns:
        the scratch table (rid, class); whether rows of a cell are in several classes. Rows in no part are not in it.
    """
    scratch, columns = context.scratch, columns_of(context)
    order = np.lexsort((label, record))
    record, label, rows = record[order], label[order], rows[order]
    begins = np.append(True, record[1:] != record[:-1]) if len(record) else np.zeros(0, np.bool_)
    first = np.cumsum(rows) - rows
    first -= np.maximum.accumulate(np.where(begins, first, 0)) - 1
    divided = bool((~begins).any() or (rows != cells.rows[record]).any())
    loaded: dict[str, npt.NDArray[np.generic]] = {}
    for column, codes in zip(columns, [*cells.codes, *cells.sensitive], strict=True):
        loaded[column.code] = codes[record].astype(column.code_array)
    loaded["class"] = label.astype(np.int32)
    if divided:
        loaded |= {"first": first, "past": first + rows}
    pieces, assign = scratch.table("pieces"), scratch.table("assign")
    scratch.engine.load_arrays(pieces, loaded)
    scratch.execute(
        "fulldomain/assign",
        assign=assign,
        work=context.encoded.work,
        pieces=pieces,
        columns=[column.code for column in columns],
        divided=divided,
    )
    scratch.drop(pieces)
    return assign, divided
