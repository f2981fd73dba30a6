"""Shapes of SQL that a rewriting could drop or misread: each is refused with its piece, or means what the engine means by it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from tests.oracle.handmade import Given, members, plain, publish, quasi

COLUMNS = [
    quasi("age", "integer", "INTEGER", nulls=True), quasi("h", "float", "REAL"), quasi("seen", "date", "DATE"), members("sex"),
    plain("d", "text", "TEXT", "sensitive"), plain("c", "integer", "INTEGER"),
]  # fmt: skip
ROWS = [
    ("20", "29", "'none'", "0.1", "0.1", "DATE '2024-01-01'", "DATE '2024-01-31'", "ARRAY['F', 'M']", "'flu'", "1"),
    ("20", "29", "'none'", "0.1", "0.1", "DATE '2024-01-01'", "DATE '2024-01-31'", "ARRAY['F', 'M']", "'hiv'", "NULL"),
    ("30", "39", "'none'", "0.5", "0.9", "DATE '2024-01-15'", "DATE '2024-02-20'", "ARRAY['F']", "'flu'", "3"),
    ("NULL", "NULL", "'all'", "0.5", "0.9", "DATE '2024-01-15'", "DATE '2024-02-20'", "ARRAY['F']", "NULL", "-2"),
]  # fmt: skip


@pytest.fixture(scope="module")
def named(shared_db: Any) -> tuple[Any, str]:
    name = f"h{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, COLUMNS, ROWS)
    return shared_db, name


@pytest.mark.parametrize(
    ("query", "piece"),
    [
        ("SELECT DISTINCT d FROM {t}", None),
        ("SELECT count(*) FROM {t} UNION ALL SELECT 1", None),
        ("SELECT 1 AS one FROM {t}", None),
        ("SELECT sum(count(*)) FROM {t}", "sum(count(*))"),
        ("SELECT d, count(*) FROM {t} GROUP BY ROLLUP(d)", None),
        ("SELECT d, count(*) FROM {t} GROUP BY GROUPING SETS ((d), ())", None),
        ("SELECT d, count(*) FROM {t} GROUP BY 1.5", "1.5"),
        ("SELECT d, count(*) FROM {t} GROUP BY d ORDER BY 1.5", "1.5"),
        ("SELECT d, count(*) FROM {t} GROUP BY d ORDER BY 2 FETCH FIRST 1 ROWS WITH TIES", "1"),
        ("SELECT count(*) FROM {t} TABLESAMPLE BERNOULLI (10)", None),
        ("SELECT count(*) FROM {t} AS q(x, y)", None),
        ("SELECT count(*) FROM {t} LEFT ANTI JOIN other USING (d)", None),
        ("SELECT count(*) FROM {t} WHERE random() < 0.5", "random()"),
        ("SELECT count(*) FROM {t} WHERE age < random() * 100", "random()"),
        ("SELECT count(*) FROM {t} HAVING count(*) > (SELECT 1)", None),
        ("SELECT count(*) - (SELECT 1) AS n FROM {t}", None),
        ("SELECT count(*) FROM {t} WHERE EXISTS (SELECT 1 FROM {t} AS q WHERE q.d = {t}.d)", None),
        ("SELECT count(*) FROM {t} WHERE age IN (SELECT c FROM {t})", None),
        ("SELECT count(*) FROM {t} WHERE count(*) > 1", "count(*)"),
        ("SELECT sum(c ORDER BY d) FROM {t}", "sum(c ORDER BY d)"),
        ("SELECT count(DISTINCT (d, c)) FROM {t}", "count(DISTINCT (d, c))"),
        ("SELECT sum(DISTINCT c) FROM {t}", "sum(DISTINCT c)"),
        ("SELECT sum(CASE WHEN age < 25 THEN 1 ELSE 0 END) FROM {t}", None),
        ("SELECT count(*) + NULL AS n FROM {t}", None),
        ("SELECT sum(c) FROM (SELECT *, c + 1 AS c FROM {t}) AS s", "c + 1 AS c"),
        ("SELECT count(*) FROM (SELECT c, c + 1 AS c FROM {t}) AS s WHERE c > 1", None),
        ("SELECT count(*) FROM {t} WHERE NOT age", "age"),
        ("SELECT count(*) FROM {t} WHERE age = TRUE", None),
        ("SELECT count(*) FROM {t} WHERE age = '25.5'", "'25.5'"),
        ("SELECT count(*) FROM {t} WHERE seen < '2024-01-20 12:00:00'", "'2024-01-20 12:00:00'"),
        ("SELECT count(*) FROM {t} WHERE seen < 'soon'", "'soon'"),
        ("SELECT count(*) FROM {t} WHERE age IS DISTINCT FROM c", "age IS DISTINCT FROM c"),
        ("SELECT count(*) FROM {t} WHERE sex = d", "sex = d"),
        ("SELECT count(*) FROM {t} WHERE lower(sex) = d", "lower(sex) = d"),
    ],
)
def test_a_shape_that_is_not_read_is_refused(named: tuple[Any, str], query: str, piece: str | None) -> None:
    db, name = named
    text = query.format(t=name)
    with pytest.raises(UnsupportedError) as error:
        db.query(text)
    lines = str(error.value).splitlines()
    start = lines[-1].index("^")
    if piece is not None:
        assert lines[-2][start : start + lines[-1].count("^")] == piece


@pytest.mark.parametrize(
    ("where", "bounds"),
    [
        ("age IS DISTINCT FROM 25", (2, 4)),
        ("25 IS DISTINCT FROM age", (2, 4)),
        ("age IS NOT DISTINCT FROM CAST(NULL AS INTEGER)", (1, 1)),
        ("age IS DISTINCT FROM NULL", (3, 3)),
        ("age NOT IN (20, NULL)", (0, 0)),
        ("NOT (age IN (20, NULL))", (0, 0)),
        ("d NOT IN ('hiv', NULL)", (0, 0)),
        ("age BETWEEN 35 AND 20", (0, 0)),
        ("age < 2.45e1", (0, 2)),
        ("seen < '2024-01-15'", (0, 2)),
        ("seen <= TIMESTAMP '2024-02-19 12:00:00'", (2, 4)),
        ("sex LIKE 'F!%' ESCAPE '!'", (0, 0)),
        ("sex LIKE '_' ESCAPE '!'", (4, 4)),
        ("sex NOT LIKE 'F%'", (0, 2)),
        ("NULL", (0, 0)),
    ],
)
def test_a_predicate_means_what_the_engine_means(
    named: tuple[Any, str], where: str, bounds: tuple[int, int]
) -> None:
    db, name = named
    cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"]
    assert (cell.low, cell.high) == bounds
    assert cell.tight


@pytest.mark.parametrize("text", ["0.1", "'0.1'", "CAST(0.1 AS DOUBLE PRECISION)"])
def test_a_column_of_single_precision_is_compared_as_the_engine_does(
    named: tuple[Any, str], text: str
) -> None:
    db, name = named
    (truth,) = db.engine.fetch(f"SELECT count(*) FROM release.{name} WHERE h_lo <= {text}")[0]
    cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE h <= {text}").rows[0]["n"]
    assert (cell.low, cell.high) == (truth, truth)


def test_group_by_means_the_column_before_the_alias(named: tuple[Any, str]) -> None:
    db, name = named
    found = db.query(f"SELECT d AS kind, count(*) AS n FROM {name} WHERE c > 0 GROUP BY KIND").rows
    assert [(row["kind"], row["n"].low) for row in found] == [("flu", 2)]
    shadow = db.query(f"SELECT age % 2 AS age, count(*) AS n FROM {name} WHERE age < 22 GROUP BY age").rows
    assert [row["age"] for row in shadow] == [0, 1]
    assert [row["n"].estimate for row in shadow] == pytest.approx([0.2, 0.2])
    pair = db.query(f"SELECT d, c, count(*) AS n FROM {name} GROUP BY (d, c)").rows
    assert len(pair) == 4


def test_a_join_that_drops_rows_leaves_the_mean_of_a_class_out(shared_db: Any) -> None:
    name, kinds = f"h{uuid.uuid4().hex[:10]}", f"k{uuid.uuid4().hex[:10]}"
    columns = [quasi("age", "integer", "INTEGER", mean=True), plain("d", "text", "TEXT", "sensitive")]
    publish(shared_db, name, columns, [("20", "30", "25", "'flu'"), ("20", "30", "25", "'hiv'")])
    shared_db.engine.execute(f"CREATE TABLE {kinds} AS SELECT CAST('flu' AS TEXT) AS d")
    whole = shared_db.query(f"SELECT sum(age) AS s FROM {name}").rows[0]["s"]
    assert (whole.low, whole.high) == (50, 50)
    assert shared_db.query(f"SELECT min(age) AS m FROM {name}").rows[0]["m"].low == 20
    joined = shared_db.query(f"SELECT sum(age) AS s FROM {name} JOIN {kinds} USING (d)").rows[0]["s"]
    assert (joined.low, joined.high) == (20, 30)


def test_a_limit_is_not_certain_where_a_box_may_hold_any_value(shared_db: Any) -> None:
    name = f"h{uuid.uuid4().hex[:10]}"
    columns = [quasi("age", "integer", "INTEGER", nulls=True), plain("d", "text", "TEXT", "sensitive")]
    rows = [("20", "20", "'none'", "'flu'"), ("NULL", "NULL", "'some'", "'flu'")]
    publish(shared_db, name, columns, rows)
    text = f"SELECT age, count(*) AS n FROM {name} GROUP BY age ORDER BY n DESC"
    assert shared_db.query(text).certain[0]
    assert not any(shared_db.query(f"{text} LIMIT 2").certain)


def test_null_in_a_set_is_counted_by_no_column_and_read_by_functions(shared_db: Any) -> None:
    name = f"h{uuid.uuid4().hex[:10]}"
    sex = Given("sex", "quasi", "text", "TEXT", (("sex", "TEXT[]"), ("sex_null", "TEXT")), "nominal")
    publish(shared_db, name, [sex], [("ARRAY['F', 'M']", "'none'"), ("NULL", "'all'")])

    def bounds(text: str, where: str) -> tuple[int, int]:
        cell = shared_db.query(f"SELECT count(*) {text} AS n FROM {name} WHERE {where}").rows[0]["n"]
        return cell.low, cell.high

    assert bounds("", "coalesce(sex, '?') = '?'") in [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert bounds("", "coalesce(sex, '?') <> 'F'")[1] == 2
    assert bounds("", "sex LIKE '%'") == (1, 1)
    row = shared_db.query(
        f"SELECT count(sex) AS n, count(sex) FILTER (WHERE sex LIKE 'F%') AS f FROM {name}"
    ).rows[0]
    assert (row["n"].low, row["n"].high, row["n"].estimate) == (1, 1, 1)
    assert (row["f"].low, row["f"].high, row["f"].estimate) == (0, 1, 0.5)


def test_a_box_that_is_not_known_is_in_no_group_for_certain(shared_db: Any) -> None:
    name = f"h{uuid.uuid4().hex[:10]}"
    columns = [quasi("age", "integer", "INTEGER", nulls=True)]
    publish(shared_db, name, columns, [("30", "30", "'none'"), ("NULL", "NULL", "'some'")])
    for key in ("age", "age < 40"):
        rows = shared_db.query(f"SELECT {key} AS g, count(*) AS n FROM {name} GROUP BY 1").rows
        assert all(row["n"].low <= 1 for row in rows)
