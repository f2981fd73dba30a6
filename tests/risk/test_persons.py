"""The prosecutor of a release whose persons have several rows: persons are counted, by the private tables."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from typing import Any
from uuid import uuid4

import pytest

from sqlanon.errors import PolicyError
from tests.engines import create_table, read_table

COLUMNS = {"pid": "INTEGER", "q": "INTEGER", "w": "VARCHAR(9)", "s": "VARCHAR(9)", "tag": "INTEGER"}
ASKED: dict[str, Any] = {
    "quasi": ["q", "w"],
    "sensitive": "s",
    "insensitive": "tag",
    "identifiers": "pid",
    "k": 3,
    "method": "mondrian",
    "accept_unique": "tag",
}


def visits() -> list[tuple[Any, ...]]:
    rng = random.Random(5)
    found = []
    for pid in range(30):
        first = rng.randrange(40)
        found += [
            (pid, first + rng.randrange(3), rng.choice("ab"), rng.choice("xyz"), 0)
            for _ in range(rng.choice([1, 1, 2, 9]))
        ]
    return [(*row[:4], tag) for tag, row in enumerate(found)]


@pytest.mark.parametrize("persons", ["rows", "whole"])
def test_persons_of_a_release_are_counted(shared_db: Any, persons: str) -> None:
    rows = visits()
    create_table(shared_db, table := f"t_{uuid4().hex[:8]}", COLUMNS, rows)
    made = shared_db.anonymize(table, **ASKED, person="pid", persons=persons)
    who = {row[4]: row[0] for row in rows}
    classes = defaultdict(list)
    for row in read_table(shared_db, ("release", table)):
        classes[tuple(str(value) for name, value in row.items() if name not in ("s", "tag"))].append(who[row["tag"]])
    risks = [Fraction(1, len(set(members))) for members in classes.values() for _ in members]
    assert len(set(risks)) > 1
    found = shared_db.assess(f"release.{table}", quasi=made.audit().quasi, sensitive="s", threshold=float(min(risks)))
    assert found.prosecutor.basis == found.marketer.basis == "persons"
    assert found.prosecutor.highest == pytest.approx(float(max(risks)))
    assert found.prosecutor.average == pytest.approx(float(sum(risks) / len(risks)))
    assert found.marketer.average == found.prosecutor.average
    assert found.prosecutor.above == pytest.approx(sum(risk > min(risks) for risk in risks) / len(risks))
    assert any("models over persons" in what for what in found.not_measured)
    # Fewer columns make larger classes, of which the private tables say nothing: no risk is larger than by all of them.
    fewer = shared_db.assess(f"release.{table}", quasi=["w"])
    assert fewer.prosecutor == shared_db.assess(f"release.{table}", quasi=made.audit().quasi).prosecutor
    # A column that no class hides makes smaller ones.
    assert shared_db.assess(f"release.{table}", quasi=["tag"]).prosecutor.highest == 1
    with pytest.raises(PolicyError, match="a person may have several rows of this release; leave the pop"):
        shared_db.assess(f"release.{table}", quasi=["w"], population_size=1000)
    # Rows are counted where the source's own columns say whose they are, or nothing does.
    assert shared_db.assess(table, quasi=["w"]).prosecutor.basis == "table"


def test_persons_of_the_rows_that_are_left(shared_db: Any) -> None:
    """Rows that a release leaves out have no class, and make none."""
    rows = [(pid, 1, "a", "x", 2 * pid + i) for pid in range(6) for i in range(2)] + [(9, 50, "b", "y", 99)]
    create_table(shared_db, table := f"t_{uuid4().hex[:8]}", COLUMNS, rows)
    left_out = {"limit": "0.5", "rows": "left_out"}
    asked = {**ASKED, "method": {"name": "fulldomain", "search": "global"}, "format": "labels"}
    made = shared_db.anonymize(table, **asked, rows_are="events", suppression=left_out)
    assert made.report.left_out == 1
    found = shared_db.assess(f"release.{table}", quasi=made.audit().quasi)
    assert found.prosecutor.basis == "persons"
    assert found.prosecutor.highest == pytest.approx(1 / 6)
    assert found.sample_uniques == 0
