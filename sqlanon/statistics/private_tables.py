"""The private tables of a version of counts, by which it is verified and audited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.base import Statement, TableRef
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.sum_tables import COLUMNS as SUM_COLUMNS
from sqlanon.statistics.sum_tables import SumTables
from sqlanon.statistics_spec import BOUNDS, SUM_PARTS
from sqlanon.table.scratch import Scratch

ENDS = ("low", "high", "tight")
PERSON_ENDS = ("least", "most", "sure")
"""Columns of the bounds of a number."""
Tables = Mapping[str, TableRef]
"""The tables by their parts, in the order of `list_parts`."""


@dataclass(frozen=True, slots=True)
class KeptTables:
    """The private tables of hidden cells: cells, atoms, the changes of the witnesses, and the demands of each sum.

    Where versions with sums follow one another, ``amounts`` has the rows of each finest combination by their amounts.
    Where bounds of hidden cells are published, ``bounds`` has them. Where persons have several rows, ``patterns`` has
    the patterns that witnesses change, ``paid`` the sums that these change, and ``able`` the combinations without rows
    of which witnesses have some.
    """

    cells: TableRef
    atoms: TableRef
    witness: TableRef
    sums: tuple[SumTables, ...] = ()
    amounts: TableRef | None = None
    bounds: TableRef | None = None
    patterns: TableRef | None = None
    paid: TableRef | None = None
    able: TableRef | None = None

    def parts(self) -> dict[str, TableRef]:
        """The tables by their parts."""
        sums = {
            f"{part}{index}": getattr(summed, part) for index, summed in enumerate(self.sums, 1) for part in SUM_PARTS
        }
        more = {
            "amounts": self.amounts,
            BOUNDS: self.bounds,
            "patterns": self.patterns,
            "able": self.able,
            "paid": self.paid,
        }
        some = {part: table for part, table in more.items() if table is not None}
        return {"cells": self.cells, "atoms": self.atoms, "witness": self.witness, **sums, **some}


def kept_of(tables: Tables) -> KeptTables:
    """The private tables of hidden cells by their parts."""
    sums = tuple(
        SumTables(*(tables[f"{part}{place}"] for part in SUM_PARTS))
        for place in range(1, len(tables) + 1)
        if f"{SUM_PARTS[0]}{place}" in tables
    )
    cells, atoms, witness = (tables[part] for part in ("cells", "atoms", "witness"))
    more = (tables.get(part) for part in ("amounts", BOUNDS, "patterns", "paid", "able"))
    return KeptTables(cells, atoms, witness, sums, *more)


def kept_beside(physical: TableRef, parts: Sequence[str]) -> dict[str, TableRef]:
    """The private tables of a version by the name of the version's table."""
    return {part: replace(physical, name=f"{physical.name}_{part}") for part in parts}


def list_kept_columns(shape: Shape) -> dict[str, list[str]]:
    """The columns of the private tables of a version, by their parts."""
    levels = [name for column in shape.columns for name in (f"l{column.place}", f"k{column.place}")]
    sums = [f"s{summed.place}" for summed in shape.sums]
    ranks = [] if shape.neighbour is None else [f"r{column.place}" for column in shape.neighbour.columns]
    class_persons = ["class_persons"] if shape.patterns else []
    if shape.weighed:
        class_persons.append("weight")
    alike = ["alike"] if shape.alike else []
    persons = PERSON_ENDS if shape.patterns else ()
    places = ["", *(str(summed.place) for summed in shape.sums)]
    classes = [] if shape.neighbour is None else ["whole", "kind", "class", *class_persons, *ranks]
    return {
        "cells": ["cell", *levels, "n", "persons", *sums],
        "atoms": ["atom", *shape.key_columns(), "n", "persons", "owner", *sums, *classes],
        "witness": ["witness", "pattern", "change"] if shape.patterns else ["witness", "atom", "change", *sums],
        "paid": ["witness", "atom", *sums],
        "able": ["atom", *(f"a{column.place}" for column in shape.columns)],
        "patterns": ["pattern", "atom", "times", "persons", *alike],
        "amounts": [*(f"v{column.place}_0" for column in shape.columns), *sums, "n"],
        "noise": ["cell", "key", "value", "change", "marks"],
        "chances": ["number", "first", "until", "change"],
        BOUNDS: ["cell", *(f"{end}{place}" for place in places for end in ENDS), *persons],
        **{f"{part}{summed.place}": list(SUM_COLUMNS[part]) for summed in shape.sums for part in SUM_PARTS},
    }


def keep_statements(scratch: Scratch, shape: Shape, tables: Tables, private_tables: Tables) -> list[Statement]:
    """The statements that copy scratch tables into the private tables of a version."""
    columns = list_kept_columns(shape)
    return [
        scratch.sql("statistics/keep", kept=table, table=tables[part], columns=columns[part])
        for part, table in private_tables.items()
    ]
