"""Releases of counts and sums for tests: stays with costs, several of a person, and their policy."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.contract.counted import Made
from tests.engines import create_table
from tests.unit.cells.sums_made import Given, Rules

Rows = list[tuple[Any, ...]]
COLUMNS = {"region": "TEXT", "sex": "TEXT", "pid": "INTEGER", "cost": "DECIMAL(9, 2)"}
COST = "{sum: cost, range: [0, 5000], p_percent: 12.5, dominance: {n: 2, share: 0.8}}"
RULES = Rules(Fraction(25, 2), (2, Fraction(4, 5)), 0, 500_000, 3)


def stays(seed: object, persons: int = 60) -> Rows:
    """Rows of persons, some with several, in several regions."""
    draw = random.Random(str(seed))
    rows: Rows = []
    for pid in range(persons):
        for _ in range(draw.choice([1, 1, 2, 3])):
            cost = min(int(draw.paretovariate(0.8) * 2000), 500_000)
            region = draw.choice(["north", "north", "south", "south", "it's", None])
            rows.append((region, draw.choice("FM"), pid, Decimal(cost).scaleb(-2)))
    return rows


def given(rows: Rows, rules: Rules = RULES) -> tuple[Given, dict[tuple[Any, ...], tuple[int, ...]]]:
    """The same rows for the definitions, in units, and the codes of each combination."""
    codes: list[dict[Any, int]] = [{}, {}]
    made: dict[tuple[int, ...], dict[int, list[int]]] = {}
    named = {}
    for region, sex, pid, cost in sorted(rows, key=repr):
        at = tuple(known.setdefault(one, len(known)) for known, one in zip(codes, (region, sex), strict=True))
        named[region, sex] = at
        made.setdefault(at, {}).setdefault(pid, []).append(int(cost * 100))
    return Given(made, rules), named


class Summed(Made):
    """A table in a database, and the policy that publishes its counts and sums."""

    def __init__(self, db: Any, folder: Path, rows: Rows, columns: dict[str, str] | None = None, **more: Any) -> None:
        self.db, self.source = db, f"sums_{uuid4().hex[:10]}"
        create_table(db, self.source, columns or COLUMNS, rows)
        self.name, self.file = f"sums of {self.source}", folder / "anon.yml"
        asked = {
            "tables": "[{name: all, by: [region, sex]}]",
            "columns": "{region: {}, sex: {}}",
            "measures": f"{{n: count, cost: {COST}}}",
            **more,
        }
        self.write(**asked)
