"""Links to source rows go through executors beside the codes, where a table has an identifier: no staged row is joined.

Rows of the source are found by the hash of the identifier, and compared with what is published for their class.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

import sqlanon
from sqlanon.engines.base import TableRef
from sqlanon.engines.spark.engine import SparkEngine
from sqlanon.engines.spark.names import qualify
from sqlanon.errors import DatabaseError
from sqlanon.table import class_rows
from tests.spark.tables import arrow, in_duckdb, load
from tests.spark.test_walk import leftovers, rows, shows_no_value

pytestmark = [pytest.mark.spark, pytest.mark.thorough]
ROWS = 120
OPTIONS: dict[str, Any] = {
    "quasi": ("i", "b", "d", "s"),
    "sensitive": "diag",
    "identifiers": "name",
    "rest": "drop",
    "k": 3,
    "l": 2,
}


@pytest.mark.parametrize(("method", "block", "metrics"), [("tree", 1000, ()), ("mondrian", 12, "all")])
def test_links_lead_to_the_rows_of_their_class(session, events, monkeypatch, method, block, metrics):
    """Metrics read the codes of sensitive values, too, by which rows are sorted without them."""
    name, table = f"linked_{method}", arrow(ROWS)
    load(session, table, name)
    options = OPTIONS | {"name": name, "method": method, "metrics": metrics}
    executed, execute = set(), SparkEngine.execute
    monkeypatch.setattr(
        SparkEngine,
        "execute",
        lambda engine, statement: executed.add(getattr(statement, "name", "")) or execute(engine, statement),
    )
    with (
        in_duckdb(table, name) as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as db,
    ):
        db.engine.above, db.engine.block = 0, block
        report = db.anonymize(name, **options).report
        known.anonymize(name, **options)
        assert "table/decoded" in executed
        assert "table/classed" not in executed
        assert rows(db, f"release.{name}") == rows(known, f"release.{name}")
        (linked,) = db.engine.fetch("SHOW TABLES IN _sqlanon LIKE '" + name + "*_link'")
        found = db.engine.fetch(
            f"SELECT l.class, s.i, s.b, s.d, s.diag FROM _sqlanon.{linked[1]} AS l "
            f"JOIN {name} AS s ON l.link = XXHASH64(s.name, s.name IS NULL)"
        )
        assert len(found) == report.rows == ROWS
        classes = defaultdict(list)
        for number, *row in found:
            classes[number].append(row)
        published = db.engine.fetch(f"SELECT i_lo, i_hi, d_lo, d_hi, diag FROM release.{name}")
        assert Counter(map(str, published)) == Counter(
            str((*ends(0, of_class), *ends(2, of_class), row[3])) for of_class in classes.values() for row in of_class
        )
        assert not leftovers(db)
    shows_no_value(events)


def ends(column: int, of_class: list[Any]) -> tuple[Any, Any]:
    """The least and the greatest value of a column; None without any."""
    values = [row[column] for row in of_class if row[column] is not None]
    return min(values, default=None), max(values, default=None)


def test_rows_with_the_links_of_others_are_refused(session, monkeypatch):
    """The links are all there, each once: only with the values of the row they are the staged ones."""
    load(session, arrow(ROWS), "mixed")
    decode = class_rows._decode_rows
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        db.engine.above, db.engine.block = 0, 1000

        def mix(scratch: Any, encoded: Any, assign: TableRef, codes: Any) -> TableRef:
            mixed = scratch.table("mixed")
            db.engine.execute(
                f"CREATE TABLE {qualify(mixed)} AS SELECT a.rid, a.class, a.w0, b.link FROM {qualify(assign)} AS a "
                f"JOIN {qualify(assign)} AS b ON b.rid = MOD(a.rid + 1, {ROWS})"
            )
            return decode(scratch, encoded, mixed, codes)

        monkeypatch.setattr(class_rows, "_decode_rows", mix)
        with pytest.raises(DatabaseError, match="not the staged ones"):
            db.anonymize("mixed", name="mixed", method="tree", **OPTIONS)
        assert not leftovers(db)
    assert not session.catalog.tableExists("release.mixed")
