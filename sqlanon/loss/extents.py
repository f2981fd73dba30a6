"""The widest class of every quasi column, in the column's own units, as limited by a bound such as ``age: 10``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.table.domain import Domain
from sqlanon.table.encode import spread_of
from sqlanon.table.scratch import Scratch
from sqlanon.table.wide_tables import split_runs

EXACT = 1e37
"""Largest range of integers and decimals that is subtracted exactly.

Wider ranges do not fit every engine's widest integer.
"""


@dataclass(frozen=True, slots=True)
class Extent:
    """Widths of a release's classes in a column.

    Attributes:
        largest: of an ordered column, the largest (highest - lowest) of a class: numbers as they are, days for dates
            and timestamps, steps for ordered text, enums and booleans. Exact, but for floats, which are subtracted as
            such. Of a hierarchy the leaves of a class's node, of a nominal column the values of a class's set; a single
            value is 1.
        unbounded: classes that have no such extent: NULL together with values, or an infinity or NaN with
            other values, or floats with a difference that no float holds.
    """

    largest: Fraction
    unbounded: int


def measure_extents(scratch: Scratch, boxes: TableRef, quasi: Sequence[Domain]) -> dict[str, Extent]:
    """The widest class of every quasi column, by name.

    Args:
        scratch: the run.
        boxes: table of `sqlanon.formats.boxes`: one box a class of the method, before any format.
        quasi: the quasi columns.

    Cost: a scan of the boxes for every `FEW` columns, joined twice with the domain of every ordered column.
    """
    row: list[object] = []
    for some in split_runs(quasi):
        columns = [_column(scratch, domain) for domain in some]
        row += scratch.fetch("loss/extents", boxes=boxes, columns=columns)[0]
    return {
        domain.reading.name: Extent(_units(domain, row[2 * i]), read_integer(row[2 * i + 1]))
        for i, domain in enumerate(quasi)
    }


def _column(scratch: Scratch, domain: Domain) -> dict[str, object]:
    reading = domain.reading
    ordered = reading.treatment == "ordered"
    kind: str = reading.column.kind if ordered else "sized"
    if kind in ("text", "enum", "boolean"):
        kind = "ranked"
    wide = False
    if kind in ("integer", "decimal"):
        wide = spread_of(scratch, domain) > EXACT
    return {
        "code": domain.code,
        "kind": kind,
        "domain": domain.table,
        "wide": wide,
        "nanoseconds": _nanoseconds(domain),
    }


def _units(domain: Domain, cell: object) -> Fraction:
    if cell is None:  # no class has an extent
        return Fraction(0)
    value = Fraction(cell) if isinstance(cell, float) else Fraction(str(cell))
    if domain.reading.treatment == "ordered" and domain.reading.column.kind == "timestamp":
        return value / (86_400 * 10 ** (9 if _nanoseconds(domain) else 6))
    return value


def _nanoseconds(domain: Domain) -> bool:
    return domain.reading.column.type == "TIMESTAMP_NS"
