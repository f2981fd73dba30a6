"""Small tables with a policy each, as the product and as the oracle read them; and the comparison of the two."""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.engines import Enum, create_table, read_table
from tests.oracle.chance import SEED
from tests.oracle.domains import Kind, Quasi, Sensitive, Table
from tests.oracle.mondrian import mondrian
from tests.oracle.recode import Row, released
from tests.oracle.requirements import Privacy


@dataclass(frozen=True)
class QI:
    """How a quasi column is to be treated, in the words of the policy."""

    kind: Kind = "number"
    weight: int = 1
    ordered: str | tuple[str, ...] | None = None
    levels: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Case:
    """A source table and what to do with it."""

    name: str
    columns: dict[str, str | Enum]
    rows: tuple[tuple[Any, ...], ...]
    quasi: dict[str, QI]
    sensitive: tuple[str, ...] = ()
    privacy: Privacy = field(default_factory=Privacy)

    def values(self, name: str) -> tuple[Any, ...]:
        """A column of the source."""
        index = list(self.columns).index(name)
        return tuple(row[index] for row in self.rows)

    def shuffled(self, order: Sequence[int]) -> Case:
        """The same rows stored in another order."""
        return replace(self, rows=tuple(self.rows[i] for i in order))

    @cached_property
    def table(self) -> Table:
        """The case as the oracle reads it."""
        quasi = []
        for name, qi in self.quasi.items():
            order = qi.ordered if isinstance(qi.ordered, tuple) else None
            if qi.ordered == "declared":
                declared = self.columns[name]
                assert isinstance(declared, Enum)
                order = declared.labels
            quasi.append(Quasi(name, self.values(name), qi.kind, qi.weight, order, qi.levels))
        return Table(tuple(quasi), tuple(Sensitive(name, self.values(name)) for name in self.sensitive))

    def classes(self, variant: str, cut: str) -> list[list[int]]:
        """The oracle's classes."""
        return mondrian(self.table, self.privacy, variant, cut)

    def create(self, db: Any) -> str:
        """Store the source; return its name, new in this database."""
        name = f"t_{uuid.uuid4().hex[:10]}"
        create_table(db, name, self.columns, self.rows)
        return name

    def arguments(self, directory: Path) -> dict[str, Any]:
        """Keyword arguments of `Database.anonymize`; hierarchies are written into the directory."""
        hierarchies = {}
        for name, qi in self.quasi.items():
            if qi.levels:
                path = directory / f"{uuid.uuid4().hex}.csv"
                path.write_text("".join(";".join(level) + "\n" for level in qi.levels), encoding="utf-8")
                hierarchies[name] = path
        return {
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "k": self.privacy.k,
            "l": self.privacy.l,
            "distinct_l": self.privacy.distinct_l,
            "joint": self.privacy.joint,
            "hierarchies": hierarchies,
            "ordered": {name: qi.ordered for name, qi in self.quasi.items() if qi.ordered is not None},
            "weights": {name: qi.weight for name, qi in self.quasi.items() if qi.weight != 1},
            "rest": "drop",
            "accept_unique": [*self.sensitive, *(name for name, one in self.quasi.items() if one.kind == "nominal")],
            "seed": SEED,
        }


def plain(value: Any) -> Any:
    """A value that equal values of either engine share: NaN by name, -0.0 as 0.0, arrays as tuples."""
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, float | Decimal) and math.isnan(value):
        return "NaN"
    if isinstance(value, float) and value == 0:
        return 0.0
    return value


def multiset(rows: Sequence[Row]) -> Counter[Any]:
    """Released rows without their order; means to twelve digits."""
    return Counter(tuple((name, plain(_mean(name, value))) for name, value in sorted(row.items())) for row in rows)


def _mean(name: str, value: Any) -> Any:
    return float(f"{value:.12g}") if name.endswith("_mean") and value is not None else value


def release_rows(
    db: Any, case: Case, directory: Path, *, source: str | None = None, **options: Any
) -> tuple[list[Row], Any]:
    """Release a case; return the published rows and the run's report."""
    source = case.create(db) if source is None else source
    release = db.anonymize(source, allow_weaker=True, **{**case.arguments(directory), **options})
    return read_table(db, ("release", source)), release.report


def expected_rows(case: Case, variant: str, cut: str, kind: str = "ranges") -> Counter[Any]:
    """The multiset that the oracle releases."""
    return multiset(released(case.table, case.classes(variant, cut), kind))


def published_classes(case: Case, classes: Sequence[Sequence[int]], kind: str = "ranges") -> list[list[int]]:
    """Classes as a reader sees them: rows of equal released values, whatever partition they came from.

    Boxes of different partitions can be equal: in relaxed partitionings, under NULLs, and in coarse formats.
    """
    merged: dict[Any, list[int]] = {}
    bare = Table(case.table.quasi)
    for rows in classes:
        (key,) = set(multiset(released(bare, [rows], kind)))
        merged.setdefault(key, []).extend(rows)
    return list(merged.values())


def reached(case: Case, classes: Sequence[Sequence[int]], column: int) -> tuple[Fraction, int]:
    """Frequency l and distinct l of one sensitive column over the classes."""
    counts = [Counter(case.table.sa_codes[row][column] for row in rows) for rows in classes]
    return (min(Fraction(sum(c.values()), max(c.values())) for c in counts), min(len(c) for c in counts))
