"""Coverage of a release's cells in codes of the source: an interval of codes, or whether a cell has each code.

Read from the published table by the words of the format; nothing here knows how the cells were made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.formats.base import Format
from sqlanon.formats.cover import Claim, claim_of
from sqlanon.formats.layout import Names
from sqlanon.table.domain import Domain
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlanon.arrays import Flags, Ints, Longs
    from sqlanon.engines.base import TableRef


MOST_BITS = 1 << 30
"""Values that all published sets have together, at most."""


class TooWideError(Exception):
    """Sets with more values than are kept."""


@dataclass(frozen=True, slots=True)
class CoveredCodes:
    """Cells as codes.

    Attributes:
        low: int32, of all columns' ordered cells in turn: the least code that a cell covers.
        high: int32, the greatest.
        null: bool, as long as these: NULL, code 0, is covered beside them.
        start: int64[d], first cell of a column in ``low``, or first bit in ``bits``.
        size: int64[d], number of codes of a column with sets of codes as cells; 0 for an ordered column.
        bits: whether a cell has a code, of each column of sets cell by cell.
        unknown: ordered cells with an end that the source does not have; they cover nothing.
    """

    low: Ints
    high: Ints
    null: Flags
    start: Longs
    size: Longs
    bits: Flags
    unknown: int


def count_tuples(scratch: Scratch, table: TableRef, quasi: Sequence[Domain], prefix: str = "") -> tuple[Ints, Longs]:
    """Each tuple of a table once, int32[d, m], and how many rows have it; ``prefix`` is that of the columns."""
    import numpy as np

    names = [domain.code for domain in quasi]
    statement = scratch.sql("regular/tuples", source=table, columns=names, prefix=prefix)
    *columns, n = scratch.fetch_arrays(statement, [*["int32"] * len(names), "int64"])
    return np.array(columns, np.int32).reshape(len(names), len(n)), n.astype(np.int64)


def find_covered_codes(
    scratch: Scratch, form: Format, quasi: Sequence[Domain], names: Mapping[str, Names], cells: TableRef
) -> CoveredCodes:
    """Codes that every cell covers.

    Args:
        scratch: the run.
        form: the format of the release. A cell of one value covers that alone; a cell without a value covers every
            value, unless the release shows the source's own values.
        quasi: the columns, of which codes are those of the source.
        names: by code the name of a column in the release.
        cells: table of the published columns, and per quasi column, called ``_sqlanon_`` and the name of the code, the
            number of the cell, 0, 1, ..

    Raises:
        TooWideError: the sets have more than `MOST_BITS` values.

    Cost: for every column a join of the cells with the domain.
    """
    import numpy as np

    lows, highs, nulls, bits = [], [], [], []
    start, size = np.zeros(len(quasi), np.int64), np.zeros(len(quasi), np.int64)
    begun, unknown = [0, 0], 0
    one_value = form.facts.single or form.facts.exact
    for place, domain in enumerate(quasi):
        column_names = names[domain.code]
        cell = scratch.table(f"{domain.code}_cell")
        scratch.execute("regular/cell", cell=cell, cells=cells, code=domain.code, names=column_names.list_columns())
        claim = claim_of(form, scratch, domain, cell, column_names)
        states = scratch.sql(
            "regular/states",
            cell=cell,
            value=column_names.value,
            null=column_names.null,
            lo=column_names.lo,
            hi=column_names.hi,
            text=form.facts.text,
            flag=column_names.suppressed,
            empty=(2 if form.facts.exact else 1) if one_value else None,
        )
        _, state = scratch.fetch_arrays(states, ["int32", "int32"])
        ordered = claim.kind == "ordered" or one_value
        start[place] = begun[not ordered]
        if ordered:
            low, high = _ends(scratch, domain, claim, cell, valued=one_value)
            lost = np.isin(state, (0, 3)) & ((low < 0) | (high < 0))
            unknown += int(lost.sum())
            # NULL is code 0; a cell with an end that the source does not have covers nothing, or NULL alone.
            low = np.where(state == 1, 0, np.where(state == 2, 0, np.where(lost, domain.codes, low)))
            high = np.where(state == 1, domain.codes - 1, np.where(state == 2, 0 if domain.has_null else -1, high))
            lows.append(low)
            highs.append(high)
            nulls.append((state == 3) & domain.has_null)
            begun[0] += len(low)
        else:
            size[place] = domain.codes
            if begun[1] + len(state) * domain.codes > MOST_BITS:
                raise TooWideError
            contains = _members(scratch, domain, claim, cell, len(state))
            contains[state == 1] = True
            contains[state == 2] = False
            if domain.has_null:
                contains[state == 2, 0] = True
            bits.append(contains.ravel())
            begun[1] += contains.size
        scratch.drop(cell)
    none, no_bits = np.zeros(0, np.int32), np.zeros(0, np.bool_)
    return CoveredCodes(
        np.concatenate([none, *lows]).astype(np.int32),
        np.concatenate([none, *highs]).astype(np.int32),
        np.concatenate([no_bits, *nulls]),
        start,
        size,
        np.concatenate([no_bits, *bits]),
        unknown,
    )


def _ends(scratch: Scratch, domain: Domain, claim: Claim, cell: TableRef, *, valued: bool) -> tuple[Ints, Ints]:
    """The codes of both ends of every cell; -1 if the source has no such value.

    ``valued``: a cell is a value of the source.
    """
    import numpy as np

    lo, hi = claim.names.lo or claim.names.value, claim.names.hi or claim.names.value
    statement = scratch.sql(
        "regular/ends",
        cell=cell,
        domain=domain.table,
        lo=lo,
        hi=hi,
        claims=None if valued else claim.claims,
        type=claim.type,
        as_text=valued and claim.as_text,
    )
    _, low, high = scratch.fetch_arrays(statement, ["int32"] * 3)
    return low.astype(np.int32), high.astype(np.int32)


def _members(scratch: Scratch, domain: Domain, claim: Claim, cell: TableRef, cells: int) -> Flags:
    """Whether a cell has a code, bool[cells, codes]."""
    import numpy as np

    claim_context: dict[str, Any] = {"claims": claim.claims, "member": "leaf" if claim.kind == "tree" else "member"}
    statement = scratch.sql(
        "regular/members",
        cell=cell,
        domain=domain.table,
        value=claim.names.value,
        type=claim.type,
        contains=scratch.engine.capabilities.contains,
        **claim_context,
    )
    number, code = scratch.fetch_arrays(statement, ["int32", "int32"])
    contains = np.zeros((cells, domain.codes), np.bool_)
    contains[number, code] = True
    return contains
