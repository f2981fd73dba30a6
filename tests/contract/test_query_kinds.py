"""Columns of types without an order, of types with values of their own, and the ends of types."""

from __future__ import annotations

import uuid
from typing import Any

from tests.oracle.handmade import plain, publish, quasi


def test_values_without_an_order_are_counted(shared_db: Any) -> None:
    """PostgreSQL has no least boolean and no least UUID."""
    name, one = f"k{uuid.uuid4().hex[:10]}", "CAST('00000000-0000-0000-0000-000000000001' AS UUID)"
    rows = [("1", "4", "TRUE", one), ("1", "4", "NULL", one), ("5", "5", "FALSE", "NULL")]
    given = [quasi("a", "integer", "INTEGER"), plain("b", "boolean", "BOOLEAN"), plain("u", "other", "UUID")]
    publish(shared_db, name, given, rows, attained=["a"])
    found = shared_db.query(
        f"SELECT count(b) AS n, count(coalesce(b, FALSE)) AS m, count(u) AS u FROM {name} WHERE a > 2"
    )
    row = found.rows[0]
    assert [(row[c].low, row[c].high) for c in "nmu"] == [(1, 2), (2, 2), (1, 1)]
    found = shared_db.query(f"SELECT b, count(u) AS u, sum(a) AS s FROM {name} WHERE a < 6 GROUP BY b ORDER BY b")
    assert {row["b"]: row["u"].high for row in found.rows} == {True: 1, None: 1, False: 0}


def test_an_enum_is_grouped_in_formats_of_values(shared_db: Any) -> None:
    name = f"k{uuid.uuid4().hex[:10]}"
    run = shared_db.engine.execute
    run(f"CREATE TYPE {name}_mood AS ENUM ('m', 'k')")
    run(f"CREATE TABLE {name} (x {name}_mood, y INTEGER)")
    run(f"INSERT INTO {name} VALUES ('m', 1), ('k', 1), ('m', 2), (NULL, 2)")
    for form in ("points", "suppressed"):
        shared_db.anonymize(name, quasi=["x", "y"], k=2, name=name, format=form, method="tree", allow_weaker=True)
        answer = shared_db.query(f"SELECT x AS g, count(*) AS n FROM {name} GROUP BY 1")
        counts = {row["g"]: row["n"] for row in answer.rows}
        for value, count in (("m", 2), ("k", 1), (None, 1)):
            assert answer.unlisted_groups or value in counts
            assert value not in counts or counts[value].low <= count <= counts[value].high


def test_a_constant_at_the_end_of_a_type_is_asked(shared_db: Any) -> None:
    """No value lies beyond it, and none is written."""
    name = f"k{uuid.uuid4().hex[:10]}"
    run = shared_db.engine.execute
    run(f"CREATE TABLE {name} (x SMALLINT, y INTEGER)")
    run(f"INSERT INTO {name} VALUES (7, 1), (1, 2), (-32768, 1), (1, 2)")
    shared_db.anonymize(name, quasi=["x", "y"], k=2, name=f"{name}_s", format="suppressed", method="tree")
    asked = f"SELECT max(CASE WHEN x NOT IN (-32768, 32767) THEN x ELSE 0.5 END) AS n FROM {name}_s"
    cell = shared_db.query(asked).rows[0]["n"]
    assert cell.low is None or cell.low <= 7 <= cell.high
    assert shared_db.query(f"SELECT count(*) AS n FROM {name}_s WHERE x >= -32768").rows[0]["n"].high == 4
