"""A purge leaves lineages, as readers may have kept versions.

It says which, with how many keys, and what removes them.
"""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon.errors import GuardError
from tests.frozen.wards import begun, lineage_table, write


def counted(db: Any, query: str) -> int:
    return int(db.engine.fetch(f"SELECT COUNT(*) FROM {query}")[0][0])


def test_lineages_that_stay_are_reported(shared_db: Any) -> None:
    """Keys are those of the table; held are those whose cells or values are there, by plain SQL."""
    table, spec, source = begun(shared_db)
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    assert shared_db.run(spec).lineage.waiting == 1
    assert shared_db.unpublish(table).lineages == ()
    report = shared_db.unpublish(table, purge=True)
    (kept,) = report.lineages
    rows = lineage_table(shared_db, table)
    classes = f'{rows[:-1]}_classes"'
    assert [f'_sqlanon."{name.partition(".")[2]}"' for name in kept.tables] == [rows, classes]
    joined = (
        f"{rows} AS l LEFT JOIN {classes} AS c ON c._sqlanon_class = l._sqlanon_class WHERE l.ill IS NOT NULL OR "
        "c.age_lo IS NOT NULL"
    )
    assert (kept.number, kept.keys, kept.held) == (1, counted(shared_db, rows), counted(shared_db, joined))
    assert (kept.keys, kept.held, report.erased) == (21, 20, 0)
    done = shared_db.erase(spec, [{"id": 3}], confirmed=True)
    assert done.done
    report = shared_db.unpublish(table, purge=True)
    assert (report.purged, report.lineages[0].keys, report.lineages[0].held, report.erased) == (
        (),
        21,
        counted(shared_db, joined),
        1,
    )
    assert report.lineages[0].held == 20 - done.rows


def test_the_sql_of_the_report_removes_a_lineage_and_a_new_one_begins(shared_db: Any) -> None:
    table, spec, _ = begun(shared_db)
    shared_db.run(spec, new_lineage=True)
    kept = shared_db.unpublish(table, purge=True).lineages
    assert [one.number for one in kept] == [1, 2]
    for one in kept:
        for text in one.drop.split("; "):
            shared_db.engine.execute(text)
    assert shared_db.unpublish(table, purge=True).lineages == ()
    with pytest.raises(GuardError, match="run --new-lineage begins anew"):
        shared_db.run(spec)
    assert shared_db.run(spec, new_lineage=True).lineage.number == 3
