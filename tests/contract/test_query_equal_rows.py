"""Rows that DISTINCT, a join or UNION would multiply or merge, and names with two meanings, against the engine."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from tests.oracle.handmade import plain, publish, quasi

ROWS = ["1", "3", "3", "2", "NULL", "9007199254740993"]
ANSWERED = [
    "SELECT DISTINCT c % 2 AS k FROM {t} GROUP BY k",
    "SELECT DISTINCT c % 2 AS k, count(*) AS n FROM {t} GROUP BY k",
    "SELECT DISTINCT {t}.c AS c FROM {t} GROUP BY c",
    "SELECT count(*) AS n FROM {t} JOIN (SELECT c % 4 AS k FROM {t} GROUP BY k) AS s ON {t}.c = s.k",
    "SELECT count(*) AS n FROM {t} JOIN (SELECT c FROM {t} GROUP BY c) AS s ON {t}.c = s.c",
    "SELECT c AS x FROM {t} GROUP BY c UNION ALL SELECT 2.5 FROM {t} WHERE c = 1 GROUP BY c",
    "SELECT min(c) AS x FROM {t} UNION ALL SELECT avg(c) FROM {t} WHERE c < 9",
    "SELECT count(*) AS n FROM {t} WHERE c IN (SELECT c FROM {t} WHERE c > 1 ORDER BY c)",
    "SELECT count(*) AS n FROM {t} WHERE c + 1 NOT IN (SELECT c FROM {t})",
    "SELECT NULL AS k, count(*) AS n FROM {t} UNION ALL SELECT c, count(*) FROM {t} GROUP BY c",
]
OTHER = [
    "SELECT count(*) AS n FROM {t} WHERE c IN (SELECT 4 - k AS k FROM {o} ORDER BY k LIMIT 1)",
    "SELECT count(*) AS n FROM {t} WHERE c > (SELECT 4 - k AS k FROM {o} ORDER BY k LIMIT 1)",
    "SELECT count(*) AS n FROM {t} WHERE c IN (SELECT DISTINCT k % 2 AS m FROM {o} ORDER BY m DESC LIMIT 1)",
    "SELECT count(*) AS n FROM {t} JOIN (SELECT max(v) AS m, k FROM {o} GROUP BY k ORDER BY 1 LIMIT 1) AS s ON s.k = c",
    "SELECT count(*) AS n FROM {t} JOIN (SELECT k, max(v) AS m FROM {o} GROUP BY k ORDER BY m LIMIT 1) AS s ON s.k = c",
    "SELECT count(*) AS n FROM {t} WHERE c * 0.1 IN (SELECT r FROM {o})",
]
"""Beside another table of rows (1, 9, 0.1), (2, 8, 0.3), (3, 7, 0.2)."""
NAMED_TWICE = [
    "SELECT sum(s.v) FROM {t} JOIN (SELECT *, k AS v FROM {o}) AS s ON s.k = c",
    "SELECT sum(s.x) FROM {t} JOIN (SELECT k, k AS x, v AS x FROM {o}) AS s ON s.k = c",
]
OF_REAL = [
    "SELECT sum(CAST(m AS REAL)) AS x FROM {t}",
    "SELECT sum(CAST(m AS REAL)) / count(*) AS x FROM {t}",
    "SELECT -sum(CAST(m AS REAL) / 3) FILTER (WHERE m < 3) AS x FROM {t}",
    "SELECT max(s) AS x FROM (SELECT sum(CAST(m AS REAL)) AS s FROM {t} GROUP BY m < 2) AS q",
]
"""Of 1.10, 0.05, -3.25 and 2.05, which PostgreSQL adds up in single precision."""
REFUSED = {
    "SELECT count(*) FROM {t} WHERE a IN (SELECT a FROM {t})": "not the same answer",
    "SELECT count(*) FROM {t} WHERE c IN (SELECT c FROM {t} LIMIT 2)": "must be in GROUP BY",
    "SELECT DISTINCT c % 2 AS c FROM {t} GROUP BY c": "a table has a column c as well",
    "SELECT DISTINCT c % 2 AS c, count(*) FROM {t} GROUP BY c": "a table has a column c as well",
    "SELECT count(*) FROM (SELECT DISTINCT c % 2 AS c FROM {t} GROUP BY c) AS s": "a table has a column c as well",
    "SELECT count(*) FROM {t} JOIN (SELECT c % 2 AS c FROM {t} GROUP BY c) AS s ON {t}.c = s.c": "a table has a column",
    "SELECT DISTINCT c FROM {t} ORDER BY row_number() OVER (ORDER BY c) LIMIT 2": "DISTINCT with a window over rows",
    "SELECT c FROM {t} GROUP BY c UNION ALL SELECT 'x' FROM {t} GROUP BY c": "different types",
    "SELECT max(c) FROM {t} UNION ALL SELECT max(c * CAST(0.5 AS DOUBLE PRECISION)) FROM {t}": "different types",
    "SELECT max(c) FROM {t} UNION ALL SELECT CASE WHEN count(*) > 2 THEN 'x' END FROM {t}": "different types",
    "SELECT c FROM {t} GROUP BY c UNION ALL SELECT 'x' FROM {t} WHERE c > 9999 GROUP BY c": "different types",
    "SELECT c FROM {t} GROUP BY c UNION ALL SELECT CAST(c AS DOUBLE PRECISION) FROM {t} WHERE c < 0 GROUP BY 1": "dif",
    "SELECT CAST(c AS NUMERIC(38, 2)) AS x FROM {t} WHERE c < 9 GROUP BY 1 UNION ALL "
    "SELECT CAST(c AS NUMERIC(38, 9)) FROM {t} WHERE c < 9 GROUP BY 1": "different types",
    "SELECT count(*) > 2 AS x FROM {t} UNION ALL SELECT max(c) FROM {t} WHERE c > 9999": "different types",
    "SELECT max(c) FROM {t} WHERE c < 3 UNION ALL SELECT max(CAST(c AS REAL)) FROM {t}": "different types",
    "SELECT '1' AS k, 0 AS n UNION ALL SELECT c, c FROM {t} WHERE FALSE GROUP BY c": "different types",
    "SELECT count(*) FROM {t} WHERE EXISTS (SELECT count(*) FROM {t} AS s WHERE s.c = {t}.c)": "EXISTS of an aggregate",
    "SELECT count(*) FROM {t} WHERE NOT EXISTS (SELECT max(s.a) FROM {t} AS s WHERE s.c = {t}.c)": "EXISTS of an aggre",
}


def test_rows_are_as_many_as_the_engine_gives(shared_db: Any) -> None:
    name = f"e{uuid.uuid4().hex[:10]}"
    publish(
        shared_db,
        name,
        [quasi("a", "integer", "INTEGER"), plain("c", "integer", "BIGINT")],
        [("0", "9", c) for c in ROWS],
    )
    for form in ANSWERED:
        answer = shared_db.query(form.format(t=name))
        true = shared_db.engine.fetch(form.replace("FROM {t}", f"FROM release.{name} AS {{t}}").format(t=name))
        cells = [[getattr(row[one], "low", row[one]) for one in answer.columns] for row in answer.rows]
        assert Counter(map(tuple, cells)) == Counter(map(tuple, true)), form
    for form, reason in REFUSED.items():
        with pytest.raises(UnsupportedError, match=reason):
            shared_db.query(form.format(t=name))
    asked = f"SELECT count(*) FROM {name} UNION ALL SELECT count(*) FROM other"
    with pytest.raises(UnsupportedError, match="one release is asked"):
        shared_db.query(asked, release=f"release.{name}")


def test_subqueries_of_other_tables_keep_their_items(shared_db: Any) -> None:
    name, other = f"e{uuid.uuid4().hex[:10]}", f"o{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, [plain("c", "integer", "INTEGER")], [(c,) for c in ROWS[:-1]])
    shared_db.engine.execute(f"CREATE TABLE {other} (k INTEGER, v INTEGER, r REAL)")
    shared_db.engine.execute(f"INSERT INTO {other} VALUES (1, 9, 0.1), (2, 8, 0.3), (3, 7, 0.2)")
    for form in OTHER:
        asked = form.format(t=name, o=other)
        true = shared_db.engine.fetch(asked.replace(f"FROM {name}", f"FROM release.{name} AS {name}"))
        cell = shared_db.query(asked, allow_linking=True).rows[0]["n"]
        assert (cell.low, cell.high) == (true[0][0], true[0][0]), form
    for form in NAMED_TWICE:
        with pytest.raises(UnsupportedError, match="a name of its own"):
            shared_db.query(form.format(t=name, o=other), allow_linking=True)


def test_sums_of_single_precision_are_not_exact_where_the_engine_adds_so(shared_db: Any) -> None:
    name = f"e{uuid.uuid4().hex[:10]}"
    rows = [(m,) for m in ("1.10", "1.10", "0.05", "1.10", "-3.25", "2.05")]
    publish(shared_db, name, [plain("m", "decimal", "DECIMAL(10, 2)")], rows)
    for form in OF_REAL:
        true = float(shared_db.engine.fetch(form.format(t=f"release.{name}"))[0][0])
        cell = shared_db.query(form.format(t=name)).rows[0]["x"]
        assert cell.low - 1e-12 <= true <= cell.high + 1e-12, form
        assert cell.exact or "postgres" in shared_db.engine.dialect, form
