"""The private tables of a version of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.counted import SUM_PARTS, list_parts
from sqlanon.engines.base import Statement, TableRef
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.sum_tables import COLUMNS as SUM_COLUMNS
from sqlanon.statistics.sum_tables import SumTables
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Kept:
    """The private tables of a version: cells, atoms, the changes of the witnesses, and the demands of each sum."""

    cells: TableRef
    atoms: TableRef
    witness: TableRef
    sums: tuple[SumTables, ...] = ()

    @property
    def all(self) -> list[TableRef]:
        """Every table."""
        return [self.cells, self.atoms, self.witness, *(getattr(one, part) for one in self.sums for part in SUM_PARTS)]


def kept_beside(physical: TableRef, sums: int = 0) -> Kept:
    """The private tables of a version by the name of the version's table, and the number of the sums."""
    return kept_of([replace(physical, name=f"{physical.name}_{part}") for part in list_parts(sums)])


def kept_of(tables: Sequence[TableRef]) -> Kept:
    """The private tables of a version, in the order of `list_parts`."""
    cells, atoms, witness, *rest = tables
    many = len(SUM_PARTS)
    return Kept(cells, atoms, witness, tuple(SumTables(*rest[at : at + many]) for at in range(0, len(rest), many)))


def keep_statements(scratch: Scratch, shape: Shape, made: Kept, kept: Kept) -> list[Statement]:
    """The statements that copy scratch tables into the private tables of a version."""
    levels = [name for column in shape.columns for name in (f"l{column.place}", f"k{column.place}")]
    sums = [f"s{one.place}" for one in shape.sums]
    columns = [
        ["cell", *levels, "n", "persons", *sums],
        ["atom", *shape.key_columns(), "n", "persons", "owner", *sums],
        ["witness", "atom", "change", *sums],
        *(list(SUM_COLUMNS[part]) for _ in sums for part in SUM_PARTS),
    ]
    return [
        scratch.sql("statistics/keep", kept=to, table=table, columns=names)
        for to, table, names in zip(kept.all, made.all, columns, strict=True)
    ]
