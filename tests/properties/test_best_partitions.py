"""Whole releases with `refine: {search: 100}` against the best of all partitions of small tables.

Weights, NULLs, l within every combination of two sensitive columns, and persons of two rows each that stay together.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import sqlanon
from sqlanon.kernels.extent import SCALE
from tests.oracle.divisions import wide
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.partitions import least_cost
from tests.oracle.requirements import Privacy, meets

KINDS = ("weights", "nulls", "joint", "whole persons", "whole persons with l")
SHARE = {"joint": Fraction(9, 10), "whole persons with l": Fraction(9, 10), "whole persons": Fraction(3, 4)}
"""Of the tables whose best partition is found, at least; 95 % for k alone.

Of whole persons the search sees the least and the greatest values as two columns, and not the box of both.
"""


def drawn_table(rng: random.Random, kind: str, rows: int) -> tuple[Table, Privacy]:
    columns = []
    for j in range(rng.randint(1, 3)):
        values: list[int | None] = [rng.randint(0, 9) for _ in range(rows)]
        if kind == "nulls":
            values = [None if rng.random() < 0.2 else value for value in values]
        if not any(value is not None for value in values):
            values[0] = 0
        columns.append(Quasi(f"x{j}", tuple(values), weight=rng.randint(1, 5) if kind == "weights" else 1))
    if kind not in ("joint", "whole persons with l"):
        return Table(tuple(columns)), Privacy(k=rng.randint(2, 3))
    diseases = [("flu", "cold", "hiv")[i % 3] for i in range(rows)]
    wards = ["ab"[i // 3 % 2] for i in range(rows)]
    if kind == "joint":
        order = rng.sample(range(rows), rows)
        sensitive = [Sensitive(name, tuple(of[i] for i in order)) for name, of in (("s", diseases), ("r", wards))]
        return Table(tuple(columns), tuple(sensitive)), Privacy(k=2, l=Fraction(5, 4), joint=True)
    # A person has one value.
    order = rng.sample(range(rows // 2), rows // 2)
    each = tuple(diseases[order[i // 2]] for i in range(rows))
    return Table(tuple(columns), (Sensitive("s", each),)), Privacy(k=2, l=Fraction(3, 2))


def least_loss(table: Table, privacy: Privacy, units: Sequence[Sequence[int]]) -> int:
    """The least rows x extents of all partitions of units: for every set, the best class that holds the first unit."""
    n = len(units)
    owned: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for chosen in range(1, 1 << n):
        members = [unit for unit in range(n) if chosen >> unit & 1]
        rows = [row for unit in members for row in units[unit]]
        if len(members) >= privacy.k and meets(table, rows, privacy):
            owned[members[0]].append((chosen, len(rows) * wide(table, rows)))
    return least_cost(owned)


def count_best(db: sqlanon.Database, kind: str, tables: int, rows: int) -> int:
    """In how many tables the release has the loss of the best partition."""
    rng, best, whole = random.Random(3), 0, kind.startswith("whole persons")
    for number in range(tables):
        table, privacy = drawn_table(rng, kind, rows)
        columns: list[Quasi | Sensitive] = [*table.quasi, *table.sensitive]
        names, records = ", ".join(column.name for column in columns), zip(*(c.values for c in columns), strict=True)
        values = ", ".join(str((row // 2, *record)).replace("None", "NULL") for row, record in enumerate(records))
        db.engine.execute(f"CREATE TABLE t{number} AS FROM (VALUES {values}) AS v (pid, {names})")
        asked: dict[str, Any] = {"k": privacy.k, "joint": True if privacy.joint else None, "l": privacy.l}
        asked |= {"identifiers": "pid", "person": "pid", "persons": "whole"} if whole else {"rest": "drop"}
        report = db.anonymize(
            f"t{number}",
            quasi=[column.name for column in table.quasi],
            sensitive=[column.name for column in table.sensitive],
            weights={column.name: column.weight for column in table.quasi},
            method="tree",
            refine={"search": 100},
            **{key: value for key, value in asked.items() if value is not None},
        ).report
        assert report.verified
        units = [[row, row + 1] for row in range(0, rows, 2)] if whole else [[row] for row in range(rows)]
        least = least_loss(table, privacy, units)
        reached = report.loss.gcp * rows * SCALE * sum(column.weight for column in table.quasi)
        # Positions are rounded to a 2^20th.
        assert reached >= least * (1 - 1e-5) - rows
        best += reached <= least * (1 + 1e-5) + rows
    return best


@pytest.fixture
def memory() -> Any:
    with sqlanon.connect("duckdb:///:memory:") as db:
        yield db


@pytest.mark.parametrize("kind", KINDS)
def test_nearly_always_the_best_of_all_partitions(memory: sqlanon.Database, kind: str) -> None:
    assert count_best(memory, kind, 2, 8) >= 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_nearly_always_the_best_of_all_partitions_of_12_rows(memory: sqlanon.Database, kind: str) -> None:
    rows = 20 if kind.startswith("whole persons") else 12
    assert count_best(memory, kind, 40, rows) >= 40 * SHARE.get(kind, Fraction(19, 20))
