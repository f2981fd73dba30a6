"""Small tables of Spark are worked on in memory of this process.

The same classes, the same published table with the same types, and no value in Spark's log of events.
"""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon
from tests.spark.tables import ODD, arrow, in_duckdb, load
from tests.spark.test_walk import OPTIONS, leftovers, rows, shows_no_value

pytestmark = [pytest.mark.spark, pytest.mark.thorough]
BROUGHT = True

FORMATS: list[dict[str, Any]] = [
    {"format": "ranges", "insensitive": [ODD]},
    {"format": "labels"},
    {"format": "points", "quasi": ("f", "m", "i", "l"), "rest": "drop"},
    {"format": "suppressed", "method": "suppress", "quasi": ("b", "s"), "rest": "drop"},
]


@pytest.mark.parametrize("options", FORMATS, ids=lambda one: str(one["format"]))
def test_the_release_is_that_of_spark_and_of_duckdb(session, events, options):
    """All types; the second version is worked on by Spark, and its view has the same columns."""
    name = f"brought_{options['format']}"
    table = arrow(150)
    load(session, table, name)
    asked = OPTIONS | {"name": name, "rest": "keep", "seed": 4} | options
    with (
        in_duckdb(table, name) as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as db,
    ):
        here, theirs = db.anonymize(name, **asked), known.anonymize(name, **asked)
        assert any("150 rows were brought over Arrow" in note for note in here.report.notes)
        first, view = rows(db, f"release.{name}"), db.engine.target(f"release.{name}")
        assert first == rows(known, f"release.{name}")
        kinds = [(column.name, column.type) for column in db.engine.look_up([view]).columns(view)]
        assert here.audit().k == theirs.audit().k
        assert not leftovers(db)
        db.engine.above = 149
        there = db.anonymize(name, **asked)
        assert not any("brought" in note for note in there.report.notes)
        assert there.report.data is not None
        assert (there.report.data.added, there.report.data.removed) == (0, 0)
        assert rows(db, f"release.{name}") == first
        assert [(column.name, column.type) for column in db.engine.look_up([view]).columns(view)] == kinds
    shows_no_value(events)
