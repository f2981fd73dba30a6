"""Rows left out or starred under models that compare classes with a table, on Spark as on DuckDB."""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

ROWS = [(city, value) for city, values in {"oslo": "aabb", "rome": "aabb", "pisa": "bb"}.items() for value in values]


def write(db: Any) -> None:
    """The source, and a population with more rows of each city, and rows of another."""
    people = [*(city for city, _ in ROWS), "oslo", "oslo", "rome", "rome", "pisa", *["bergen"] * 3]
    db.engine.execute(
        "CREATE TABLE stays AS SELECT * FROM (VALUES "
        + ", ".join(f"('{city}', '{value}')" for city, value in ROWS)
        + ") AS v(city, s)"
    )
    cells = ", ".join(f"('{city}')" for city in people)
    db.engine.execute(f"CREATE TABLE everybody AS SELECT * FROM (VALUES {cells}) AS v(city)")


@pytest.mark.parametrize(
    "asked",
    [
        {
            "k": 2,
            "t": 0.2,
            "beta": {"basic": 1},
            "compared_with": "source",
            "suppression": {"limit": 0.2, "rows": "left_out"},
        },
        {
            "k": 2,
            "k_map": {"k": 4, "population": "everybody"},
            "delta_presence": {"max": 0.7, "population": "everybody"},
            "suppression": {"limit": 0.2, "rows": "starred"},
        },
    ],
    ids=["compared", "starred"],
)
def test_what_is_suppressed_is_the_same(session: Any, asked: dict[str, Any]) -> None:
    """Pisa is 0.4 from the source, and 3 of the population are there; with bergen 6 are in no other cell."""
    shown = []
    with (
        sqlanon.connect(session, temporary=True, accept_shared=True) as spark,
        sqlanon.connect("duckdb:///:memory:") as known,
    ):
        for db in (spark, known):
            write(db)
            done = db.anonymize(
                "stays",
                quasi="city",
                sensitive="s",
                method="fulldomain:search=global",
                format="labels",
                allow_weaker=True,
                **asked,
            )
            audit = db.audit("release.stays", spec=done.spec)
            assert not audit.not_measured
            assert all(result.satisfied for result in audit.requirements)
            rows = db.engine.fetch("SELECT city, s FROM release.stays", max_rows=100)
            shown.append((done.report.suppressed, sorted(map(str, rows))))
            if db is spark:
                for table in ("stays", "everybody"):
                    db.engine.execute(f"DROP TABLE {table}")
    assert shown[0] == shown[1]
    assert shown[0][0] == 2
