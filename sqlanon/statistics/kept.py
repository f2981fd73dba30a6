"""The private tables of a version of counts, by which it is verified and audited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon.counted import BOUNDS, SUM_PARTS
from sqlanon.engines.base import Statement, TableRef
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.sum_tables import COLUMNS as SUM_COLUMNS
from sqlanon.statistics.sum_tables import SumTables
from sqlanon.table.scratch import Scratch

ENDS = ("low", "high", "tight")
"""Columns of the bounds of a number."""
Tables = Mapping[str, TableRef]
"""The tables by their parts, in the order of `list_parts`."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The private tables of hidden cells: cells, atoms, the changes of the witnesses, and the demands of each sum.

    Where versions with sums follow one another, ``amounts`` has the rows of each finest combination by their amounts.
    Where bounds of hidden cells are published, ``bounds`` has them.
    """

    cells: TableRef
    atoms: TableRef
    witness: TableRef
    sums: tuple[SumTables, ...] = ()
    amounts: TableRef | None = None
    bounds: TableRef | None = None

    def parts(self) -> dict[str, TableRef]:
        """The tables by their parts."""
        sums = {
            f"{part}{index}": getattr(summed, part) for index, summed in enumerate(self.sums, 1) for part in SUM_PARTS
        }
        amounts = {} if self.amounts is None else {"amounts": self.amounts}
        bounds = {} if self.bounds is None else {BOUNDS: self.bounds}
        return {"cells": self.cells, "atoms": self.atoms, "witness": self.witness, **sums, **amounts, **bounds}


def kept_of(tables: Sequence[TableRef]) -> Kept:
    """The private tables of hidden cells, in the order of `list_parts`."""
    cells, atoms, witness, *rest = tables
    many, bounds = len(SUM_PARTS), None
    if rest and rest[-1].name.endswith(f"_{BOUNDS}"):
        bounds = rest.pop()
    amounts = rest.pop() if len(rest) % many else None
    sums = tuple(SumTables(*rest[index : index + many]) for index in range(0, len(rest), many))
    return Kept(cells, atoms, witness, sums, amounts, bounds)


def kept_beside(physical: TableRef, parts: Sequence[str]) -> dict[str, TableRef]:
    """The private tables of a version by the name of the version's table."""
    return {part: replace(physical, name=f"{physical.name}_{part}") for part in parts}


def list_kept_columns(shape: Shape) -> dict[str, list[str]]:
    """The columns of the private tables of a version, by their parts."""
    levels = [name for column in shape.columns for name in (f"l{column.place}", f"k{column.place}")]
    sums = [f"s{summed.place}" for summed in shape.sums]
    ranks = [] if shape.neighbour is None else [f"r{column.place}" for column in shape.neighbour.columns]
    places = ["", *(str(summed.place) for summed in shape.sums)]
    classes = [] if shape.neighbour is None else ["whole", "kind", "class", *ranks]
    return {
        "cells": ["cell", *levels, "n", "persons", *sums],
        "atoms": ["atom", *shape.key_columns(), "n", "persons", "owner", *sums, *classes],
        "witness": ["witness", "atom", "change", *sums],
        "amounts": [*(f"v{column.place}_0" for column in shape.columns), *sums, "n"],
        "noise": ["cell", "key", "value", "change", "marks"],
        "chances": ["number", "first", "until", "change"],
        BOUNDS: ["cell", *(f"{end}{place}" for place in places for end in ENDS)],
        **{f"{part}{summed.place}": list(SUM_COLUMNS[part]) for summed in shape.sums for part in SUM_PARTS},
    }


def keep_statements(scratch: Scratch, shape: Shape, made: Tables, kept: Tables) -> list[Statement]:
    """The statements that copy scratch tables into the private tables of a version."""
    columns = list_kept_columns(shape)
    return [
        scratch.sql("statistics/keep", kept=table, table=made[part], columns=columns[part])
        for part, table in kept.items()
    ]
