"""Meaning of the codes of a sensitive column, for the few requirements that read it: texts and ranks by value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.privacy.base import Values
from sqlanon.table.domain import Domain
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

MOST = 10_000_000
"""Different values, at most."""


def values_of(scratch: Scratch, domain: Domain) -> Values:
    """The values of a domain by code. They are in this process only as long as it needs them, and in no message."""
    rows = scratch.engine.fetch(scratch.sql("privacy/values", domain=domain.table), max_rows=MOST)
    texts: list[str | None] = [None] * len(rows)
    ranks = [0] * len(rows)
    for code, rank, text in rows:
        texts[read_integer(code)], ranks[read_integer(code)] = None if text is None else str(text), read_integer(rank)
    ordered = domain.reading.column.kind not in ("text", "enum") or domain.reading.spec.ordered == "declared"
    return Values(texts, ranks, ordered)


def rows_of_codes(scratch: Scratch, table: TableRef, domain: Domain) -> Longs:
    """int64[codes]: rows of each code of a sensitive column in a table that has the column of its codes."""
    import numpy as np

    query = scratch.sql("anatomy/counts", work=table, value=domain.code)
    code, rows = scratch.fetch_arrays(query, ["int32", "int64"])
    totals = np.zeros(domain.codes, np.int64)
    totals[code] = rows
    return totals


def of_numbers(values: Values, rows: Longs) -> Values:
    """Meaning of the numbers 0, 1, .. of the codes with rows, ascending."""
    codes = [code for code, n in enumerate(rows) if n]
    return Values([values.texts[code] for code in codes], [values.ranks[code] for code in codes], values.ordered)
