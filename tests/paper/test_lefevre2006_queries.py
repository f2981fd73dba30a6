"""Mondrian, section 5: queries over Figure 8, which publishes ranges and means of Age for classes of two."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from tests.engines import create_table
from tests.paper.patients import COLUMNS, ROWS

AVERAGE = "SELECT avg(age) AS a FROM patients WHERE sex = 'M'"
COUNT = "SELECT count(*) AS n FROM patients WHERE sex = 'M' AND age <= 26"


def figure_8(db: Any, *, means: bool) -> str:
    """A release of Patients at k = 2; its means are added by hand, as ours publish them from k = 5 on only."""
    name = f"patients_{uuid.uuid4().hex[:8]}"
    create_table(db, name, COLUMNS, ROWS)
    db.anonymize(
        name,
        quasi=["zip", "age", "sex"],
        sensitive="disease",
        rest="drop",
        accept_unique=["disease"],
        k=2,
        method="mondrian:variant=strict,cut=median",
    )
    if not means:
        return f"release.{name}"
    db.engine.execute("CREATE SCHEMA IF NOT EXISTS paper")
    middle = "CASE WHEN age_lo = 27 THEN 27.5 WHEN age_hi = 26 THEN 25.5 ELSE 26 END"
    db.engine.execute(
        f"CREATE VIEW paper.{name} AS SELECT r.*, CAST({middle} AS DOUBLE PRECISION) AS age_mean FROM release.{name} "
        "AS r"
    )
    published = json.dumps(["age_lo", "age_hi", "age_mean"])
    db.engine.execute(
        f"CREATE VIEW paper.{name}_metadata AS SELECT column_name, role, kind, format, source_type, CASE WHEN "
        f"column_name = 'age' THEN '{published}' ELSE published END AS published, declared FROM release.{name}_metadata"
    )
    return f"paper.{name}"


def of_ranges_alone(db: Any, released: str) -> str:
    """The same release without what its metadata say of attained ends, as earlier versions are."""
    alone = released.replace("release.", "paper.alone_")
    db.engine.execute("CREATE SCHEMA IF NOT EXISTS paper")
    db.engine.execute(f"CREATE VIEW {alone} AS SELECT * FROM {released}")
    facts = db.engine.fetch(f"SELECT published FROM {released}_metadata WHERE column_name = ''")[0][0]
    known = json.loads(facts)
    assert known.pop("attained") == ["zip", "age", "sex"]
    columns = ", ".join(
        f"CASE WHEN column_name = '' THEN '{json.dumps(known)}' ELSE published END AS published"
        if name == "published"
        else name
        for name in ("column_name", "role", "kind", "format", "source_type", "published", "declared")
    )
    db.engine.execute(f"CREATE VIEW {alone}_metadata AS SELECT {columns} FROM {released}_metadata")
    return alone


def test_the_mean_answers_an_average_precisely(shared_db: Any) -> None:
    """AVG(Age) WHERE Sex = 'Male': 26.5 through the mean; ranges alone bound it, with the middles as the estimate.

    Not where the ends are known to be attained: of a class of two one row has the low end and the other the high end.
    """
    cell = shared_db.query(AVERAGE, release=figure_8(shared_db, means=True)).rows[0]["a"]
    assert (cell.estimate, cell.low, cell.high, cell.exact) == (26.5, 26.5, 26.5, True)
    released = figure_8(shared_db, means=False)
    ends = shared_db.query(AVERAGE, release=released).rows[0]["a"]
    assert (ends.estimate, ends.low, ends.high, ends.exact) == (26.5, 26.5, 26.5, True)
    rough = shared_db.query(AVERAGE, release=of_ranges_alone(shared_db, released)).rows[0]["a"]
    assert (rough.estimate, rough.low, rough.high, rough.exact) == (26.5, 26.0, 27.0, False)


def test_a_predicate_that_matches_a_range_is_exact(shared_db: Any) -> None:
    """COUNT(*) WHERE Sex = 'Male' AND Age <= 26: 2."""
    for means in (False, True):
        cell = shared_db.query(COUNT, release=figure_8(shared_db, means=means)).rows[0]["n"]
        assert (cell.estimate, cell.low, cell.high, cell.exact) == (2, 2, 2, True)


@pytest.mark.thorough
def test_medians_are_bounded_by_ranks(shared_db: Any) -> None:
    """Footnote 2: they cannot be computed from these summaries; the values at their rank have bounds.

    Ages 25 to 28, classes of two.
    """
    text = "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age) AS m FROM patients"
    cell = shared_db.query(text, release=figure_8(shared_db, means=False)).rows[0]["m"]
    lows, highs = zip(
        *shared_db.engine.fetch(f"SELECT age_lo, age_hi FROM {figure_8(shared_db, means=False)}"), strict=True
    )
    at = (len(lows) + 1) // 2 - 1
    assert (cell.low, cell.high) == (sorted(lows)[at], sorted(highs)[at])
    with pytest.raises(UnsupportedError, match="correlations, covariances and slopes") as error:
        shared_db.query("SELECT corr(age, age) FROM patients", release=figure_8(shared_db, means=False))
    assert str(error.value).splitlines()[-1].strip() == "^" * len("corr(age, age)")
