"""Dual problems for the contract suite: a case, a bound, and the classes that a run publishes for them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.contract.cases import QI, Case, plain
from tests.engines import read_table
from tests.oracle import dual as oracle

SLACK = Fraction(2, 2**20)
"""What rounded positions may add to the NCP of a class, with two columns or more."""


@dataclass(frozen=True)
class Bound:
    """What every class may lose."""

    ncp: Fraction | None = None
    extents: Mapping[str, Fraction | int] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join([f"ncp{self.ncp}"] * (self.ncp is not None) + [f"{n}{e}" for n, e in self.extents.items()])

    @property
    def arguments(self) -> dict[str, Any]:
        """Of `Database.anonymize`."""
        return {
            "max_loss": None if self.ncp is None else str(self.ncp),
            "max_extent": {name: str(extent) for name, extent in self.extents.items()} or None,
        }

    def holds(self, case: Case, rows: Any) -> bool:
        """For one class."""
        slack = SLACK if len(case.quasi) > 1 and self.ncp else Fraction(0)
        return oracle.held(case.table, list(rows), self.ncp, {k: Fraction(v) for k, v in self.extents.items()}, slack)


def numbered(case: Case) -> Case:
    """The case with a column that identifies the rows, and is published."""
    rows = tuple((i, *row) for i, row in enumerate(case.rows))
    return replace(case, columns={"row": "INTEGER", **case.columns}, rows=rows)


def classes_of(db: Any, case: Case, directory: Path, **arguments: Any) -> tuple[list[list[int]], Any]:
    """Release a numbered case; the rows of every published class, and the report."""
    source = case.create(db)
    given = {k: v for k, v in case.arguments(directory).items() if k not in ("k", "l", "distinct_l", "joint")}
    accepted = [*case.sensitive, "row"]
    given |= {"insensitive": ["row"], "accept_unique": accepted, "seed": 1}
    report = db.anonymize(source, **{**given, **arguments}).report
    classes: dict[Any, list[int]] = {}
    for row in read_table(db, ("release", source)):
        key = tuple(plain(value) for name, value in row.items() if name not in ("row", *case.sensitive))
        classes.setdefault(key, []).append(row["row"])
    found = sorted(sorted(rows) for rows in classes.values())
    assert sorted(row for rows in found for row in rows) == list(range(len(case.rows)))
    return found, report


def privacy(case: Case, classes: list[list[int]]) -> Fraction:
    """PM of the only sensitive column."""
    return oracle.find_least_privacy(case.values(case.sensitive[0]), classes)


def line(seed: int, rows: int, values: int = 3) -> Case:
    """A numbered table of one quasi column of numbers and one sensitive column."""
    rng = random.Random(seed)
    sensitive = [f"s{i % values}" for i in range(rows)]
    rng.shuffle(sensitive)
    found = [(rng.randint(0, 12), value) for value in sensitive]
    return numbered(Case("line", {"x": "INTEGER", "s": "TEXT"}, tuple(found), {"x": QI()}, ("s",)))
