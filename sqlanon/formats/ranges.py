"""Format ranges: the ends of a class in the source's type, the set of a nominal column as an array, a node's label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlanon.formats.base import Cell, Field
from sqlanon.formats.boxes import BoxFormat
from sqlanon.formats.column import Column
from sqlanon.formats.layout import Names
from sqlanon.sqltext import identifier

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles
    from sqlanon.engines.base import TableRef
    from sqlanon.spec import FormatSpec
    from sqlanon.table.domain import Domain
    from sqlanon.table.reading import Reading
    from sqlanon.table.scratch import Scratch


class Ranges(BoxFormat):
    """See docs/formats.md."""

    shown = "formats/ranges_shown"
    cover = "formats/ranges_covered"
    match = "formats/ranges_matched"
    sets_as_bits = True

    def names(self, reading: Reading, *, mean: bool, nulls: bool) -> Names:
        name = reading.name
        null = f"{name}_null" if nulls else None
        if reading.treatment != "ordered":
            return Names(value=name, null=null)
        return Names(lo=f"{name}_lo", hi=f"{name}_hi", mean=f"{name}_mean" if mean else None, null=null)

    def reads_codes(self, domain: Domain, form: FormatSpec) -> bool:
        """See `Format.reads_codes`: also for exact means of floats, and for the ends of values beside NULL."""
        mean = domain.reading.name in form.mean and domain.reading.as_float
        return super().reads_codes(domain, form) or mean or _has_ends_beside_null(domain)

    def tables(self, scratch: Scratch, classed: TableRef, spans: TableRef, column: Column) -> Column:
        if column.names.mean:
            column = column.with_tables(means=_means(scratch, classed, column.source))
        if not _has_ends_beside_null(column.source) or column.wider:
            return column
        table = scratch.table(f"{column.code}_beside_null")
        scratch.execute("recode/beside_null", beside=table, spans=spans, classed=classed, column=column.code)
        return column.with_tables(beside_null=table)

    def ranks(self, domain: Domain, names: Names) -> Mapping[str, str]:
        """Codes that rank classes like their ends, and sets of few values like their bits.

        There are none for ordered columns with NULLs, as a class may publish ends beside NULL.
        """
        if domain.fits_bits:
            return {names.value: f"set_{domain.code}"} if names.value else {}
        if _has_ends_beside_null(domain):
            return {}
        ends = ((names.lo, "lo"), (names.hi, "hi"))
        return {name: f"{end}_{domain.code}" for name, end in ends if name is not None}

    def cell(self, field: Field, shape: str, view: str) -> Cell:
        columns = {name.removeprefix(field.name): f'"{view}".{identifier(name)}' for name in field.published}
        state = columns["_null"] if "_null" in columns and len(field.published) > 1 else None
        if shape in ("interval", "order"):
            if state is None:
                return Cell({"lo": columns["_lo"], "hi": columns["_hi"]}, None, columns.get("_mean"))
            # Earlier versions, and classes of which any value is published, have no ends where some are NULL.
            ends = (
                f"CASE WHEN {state} = 'some' AND {columns['_lo']} IS NOT NULL AND {columns['_hi']} IS NOT NULL THEN "
                f"'ends' ELSE {state} END"
            )
            return Cell({"lo": columns["_lo"], "hi": columns["_hi"]}, ends, columns.get("_mean"), beside=True)
        part = "set" if shape == "set" else "node"
        return Cell({part: f'"{view}".{identifier(field.published[0])}'}, state)

    def mark(self, names: Names) -> tuple[str | None, str]:
        return names.null, "state"


def _has_ends_beside_null(domain: Domain) -> bool:
    """Whether classes of a column may have NULL and values with ends."""
    return domain.has_null and domain.reading.treatment == "ordered"


def _mean(values: Doubles) -> float:
    """The exact sum divided once; infinities and NaN as IEEE adds them, and no overflow on the way."""
    import numpy as np

    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            return float(np.sum(values))
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(values / len(values))


def _means(scratch: Scratch, classed: TableRef, domain: Domain) -> TableRef:
    """Class means: sums of integers and decimals are exact in SQL; floats are summed exactly here (math.fsum)."""
    table = scratch.table(f"{domain.code}_means")
    if not domain.reading.as_float:
        scratch.execute(
            "recode/sums", means=table, classed=classed, columns=[{"alias": domain.reading.alias, "code": domain.code}]
        )
        return table
    import numpy as np

    classes, values, counts = scratch.fetch_arrays(
        scratch.sql("recode/values", classed=classed, domain=domain.table, column=domain.code),
        ["int32", "float64", "int64"],
    )
    starts = np.flatnonzero(np.diff(classes, prepend=-1)) if len(classes) else np.zeros(0, dtype=np.int64)
    means = np.empty(len(starts), dtype=np.float64)
    bounds = np.append(starts, len(classes))
    for i in range(len(starts)):
        part = slice(bounds[i], bounds[i + 1])
        means[i] = _mean(np.repeat(values[part], counts[part].astype(np.int64)))
    scratch.engine.load_arrays(table, {"class": classes[starts], f"mean_{domain.code}": means})
    return table
