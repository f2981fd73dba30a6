"""Sources within a population: tables, what can be published of them, and policies."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from tests.contract.lattices import CITY
from tests.engines import create_table

PATHS = {path[0]: path for path in CITY}
COLUMNS = {"city": "TEXT", "n": "INTEGER", "kind": "TEXT"}
HEIGHTS = (2, 1, 1)
METHOD = "fulldomain:search=global,metric=height"
Row = tuple[Any, ...]
Cell = tuple[Any, ...] | None
OUTSIDE = "outside"


@dataclass(frozen=True)
class World:
    """A source within its population, and everything that can be published of it, computed value by value."""

    source: tuple[Row, ...]
    people: tuple[Row, ...]

    def shown(self, column: int, level: int, value: Any) -> Any:
        """What a value is published as, or `OUTSIDE` where nothing that is published covers it."""
        own = {row[column] for row in self.source}
        if level == HEIGHTS[column]:
            if None in own:
                return "any"
            if column == 0:
                return "*"
            inside = min(own) <= value <= max(own) if column == 1 else value in own
            return "any" if inside else OUTSIDE
        if column == 0:
            return "NULL" if value is None else PATHS[value][level]
        return value if value in own else OUTSIDE

    def cell(self, row: Row, node: tuple[int, ...]) -> Cell:
        """The published cell of a row; None: it lies in none."""
        parts = tuple(self.shown(i, level, row[i]) for i, level in enumerate(node))
        return None if OUTSIDE in parts else parts

    def counted(self, node: tuple[int, ...]) -> tuple[Counter[Cell], Counter[Cell]]:
        """Rows of the source by cell, and those of the population: those in no published cell as None."""
        rows = Counter(self.cell(row, node) for row in self.source)
        cells = (self.cell(row, node) for row in self.people)
        return rows, Counter(cell if cell in rows else None for cell in cells)

    def reached(self, node: tuple[int, ...]) -> tuple[int, Fraction, Fraction]:
        """k of k-map, and the largest and the smallest probability of being in the source."""
        rows, people = self.counted(node)
        assert None not in rows
        shares = [Fraction(n, people[cell]) for cell, n in rows.items()]
        least = Fraction(0) if people[None] else min(shares)
        return min(people[cell] for cell in rows), max(shares), least

    def best(self, k: int, most: Fraction, least: Fraction) -> tuple[int, ...] | None:
        """The node of the fewest levels that meets everything; the first of them in the order of levels."""
        found = []
        for node in product(*(range(height + 1) for height in HEIGHTS)):
            held, largest, smallest = self.reached(node)
            if held >= k and largest <= most and smallest >= least:
                found.append((sum(node), node))
        return min(found)[1] if found else None


SMALL = World(
    source=(("oslo", 1, "x"), ("oslo", 1, "x"), ("rome", 2, "x"), ("pisa", 2, "y")),
    people=(
        ("oslo", 1, "x"),
        ("oslo", 1, "x"),
        ("oslo", 1, "x"),
        ("oslo", 1, "x"),
        ("rome", 2, "x"),
        ("rome", 2, "x"),
        ("pisa", 2, "y"),
        ("bergen", 2, "y"),
    ),
)
"""By hand: at the finest node 2 of 4, 1 of 2 and 1 of 1; with the kind hidden the same; with italy as one cell 2 of 3.

All 4 of 8.
"""


def made(db: Any, one: World) -> tuple[str, str]:
    """Tables of a world: the source and the population."""
    name = f"p_{uuid.uuid4().hex[:10]}"
    create_table(db, name, COLUMNS, one.source)
    create_table(db, f"{name}_all", COLUMNS, one.people)
    return name, f"{name}_all"


def asked_for(cities: Path, **more: Any) -> dict[str, Any]:
    return {
        "quasi": list(COLUMNS),
        "hierarchies": {"city": cities},
        "method": METHOD,
        "seed": 1,
        "allow_weaker": True,
        **more,
    }
