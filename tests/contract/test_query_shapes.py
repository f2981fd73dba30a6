"""Shapes of SQL that a rewriting could drop or misread.

Each is refused with its piece, or means what the engine means by it.
"""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import UnsupportedError
from tests.oracle.handmade import Given, members, plain, publish, quasi

COLUMNS = [
    quasi("age", "integer", "INTEGER", nulls=True),
    quasi("h", "float", "REAL"),
    quasi("seen", "date", "DATE"),
    members("sex"),
    plain("d", "text", "TEXT", "sensitive"),
    plain("c", "integer", "INTEGER"),
]
ROWS = [
    ("20", "29", "'none'", "0.1", "0.1", "DATE '2024-01-01'", "DATE '2024-01-31'", "ARRAY['F', 'M']", "'flu'", "1"),
    ("20", "29", "'none'", "0.1", "0.1", "DATE '2024-01-01'", "DATE '2024-01-31'", "ARRAY['F', 'M']", "'hiv'", "NULL"),
    ("30", "39", "'none'", "0.5", "0.9", "DATE '2024-01-15'", "DATE '2024-02-20'", "ARRAY['F']", "'flu'", "3"),
    ("NULL", "NULL", "'all'", "0.5", "0.9", "DATE '2024-01-15'", "DATE '2024-02-20'", "ARRAY['F']", "NULL", "-2"),
]


@pytest.fixture(scope="module")
def named(shared_db: Any) -> tuple[Any, str]:
    name = f"h{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, COLUMNS, ROWS)
    return shared_db, name


@pytest.mark.parametrize(
    ("query", "piece"),
    [
        ("SELECT count(*) FROM {t} UNION ALL SELECT 1", None),
        ("SELECT 1 AS one FROM {t}", None),
        ("SELECT sum(count(*)) FROM {t}", "sum(count(*))"),
        ("SELECT d, count(*) FROM {t} GROUP BY 1.5", "1.5"),
        ("SELECT d, count(*) FROM {t} GROUP BY d ORDER BY 1.5", "1.5"),
        ("SELECT d, count(*) FROM {t} GROUP BY d ORDER BY 2 FETCH FIRST 1 ROWS WITH TIES", "1"),
        ("SELECT count(*) FROM {t} TABLESAMPLE BERNOULLI (10)", None),
        ("SELECT count(*) FROM {t} AS q(x, y)", None),
        ("SELECT count(*) FROM {t} LEFT ANTI JOIN other USING (d)", None),
        ("SELECT count(*) FROM {t} WHERE random() < 0.5", "random()"),
        ("SELECT count(*) FROM {t} WHERE age < random() * 100", "random()"),
        ("SELECT count(*), pg_read_file('x') AS f FROM {t}", "pg_read_file('x')"),
        ("SELECT count(*), pg_catalog.pg_read_file('x') AS f FROM {t}", None),
        ("SELECT count(*), pg_catalog.set_config('a.b', 'c', FALSE) AS f FROM {t}", None),
        ("SELECT count(*) FROM {t} WHERE c > nextval('s')", "nextval('s')"),
        ("SELECT count(*) FROM {t} WHERE d = current_setting('x')", "current_setting('x')"),
        ("SELECT count(*) FROM {t} WHERE c OPERATOR(pg_catalog.<) 3", None),
        ("SELECT count(*) FROM {t} HAVING count(*) > (SELECT 1)", None),
        ("SELECT count(*) - (SELECT 1) AS n FROM {t}", None),
        ("SELECT count(*) FROM {t} WHERE count(*) > 1", "count(*)"),
        ("SELECT sum(c ORDER BY d) FROM {t}", "sum(c ORDER BY d)"),
        ("SELECT count(DISTINCT (d, c)) FROM {t}", "count(DISTINCT (d, c))"),
        ("SELECT sum(DISTINCT c) FROM {t}", "sum(DISTINCT c)"),
        ("SELECT sum(CASE WHEN sex = 'F' THEN sqrt(age) END) FROM {t}", None),
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
    ("condition", "low", "high"),
    [
        ("EXISTS (SELECT 1 FROM {t} AS q WHERE q.d = {t}.d)", 3, 3),
        ("age IN (SELECT c FROM {t})", 0, 0),
        ("age IN (SELECT c + 24 FROM {t})", 0, 2),  # 25, 27 and 22, which two rows may have
    ],
)
def test_a_list_of_the_release_is_one_that_every_source_has(
    named: tuple[Any, str], condition: str, low: int, high: int
) -> None:
    """Its columns are published as they are."""
    db, name = named
    (row,) = db.query(f"SELECT count(*) AS n FROM {name} WHERE {condition.format(t=name)}").rows
    assert (row["n"].low, row["n"].high, row["n"].exact) == (low, high, low == high)


@pytest.mark.parametrize("item", ["median(c)", "quantile_cont(c, 0.5)", "quantile_disc(age, 0.5)"])
def test_a_quantile_that_the_engine_does_not_know_is_refused_with_the_form_that_it_does(
    named: tuple[Any, str], item: str
) -> None:
    db, name = named
    if db.engine.dialect == "duckdb":
        assert db.query(f"SELECT {item} AS m FROM {name}").rows
        return
    with pytest.raises(UnsupportedError, match=r"percentile_cont\(0\.5\) WITHIN GROUP \(ORDER BY x\)"):
        db.query(f"SELECT {item} AS m FROM {name}")


@pytest.mark.parametrize(
    ("query", "named_form", "answered"),
    [
        (
            "SELECT count(*) FROM {t} WHERE age > (SELECT avg(age) FROM {t})",
            "its answer as a constant",
            "SELECT count(*) AS n FROM {t} WHERE age > 28.5",
        ),
        (
            "SELECT percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY c) FROM {t}",
            "at one share each",
            (
                "SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY c) AS a, percentile_cont(0.75) WITHIN GROUP "
                "(ORDER BY c) AS b FROM {t}"
            ),
        ),
        (
            "SELECT percentile_disc(0.2) WITHIN GROUP (ORDER BY c DESC) FROM {t}",
            "ORDER BY one expression, ascending",
            "SELECT percentile_disc(0.8) WITHIN GROUP (ORDER BY c) AS a FROM {t}",
        ),
        (
            "SELECT mode() WITHIN GROUP (ORDER BY d) FROM {t}",
            "percentile_cont and percentile_disc",
            "SELECT d, count(*) AS n FROM {t} GROUP BY d",
        ),
    ],
)
def test_a_refusal_names_a_form_that_is_answered(
    named: tuple[Any, str], query: str, named_form: str, answered: str
) -> None:
    db, name = named
    with pytest.raises(UnsupportedError, match=re.escape(named_form)):
        db.query(query.format(t=name))
    assert db.query(answered.format(t=name)).rows


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
def test_a_predicate_means_what_the_engine_means(named: tuple[Any, str], where: str, bounds: tuple[int, int]) -> None:
    db, name = named
    cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"]
    assert (cell.low, cell.high) == bounds
    assert cell.tight


@pytest.mark.parametrize("text", ["0.1", "'0.1'", "CAST(0.1 AS DOUBLE PRECISION)"])
def test_a_column_of_single_precision_is_compared_as_the_engine_does(named: tuple[Any, str], text: str) -> None:
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
    joined = shared_db.query(f"SELECT sum(age) AS s FROM {name} JOIN {kinds} USING (d)", allow_linking=True).rows[0][
        "s"
    ]
    assert (joined.low, joined.high) == (20, 30)


def test_a_limit_is_not_certain_where_a_box_may_hold_any_value(shared_db: Any) -> None:
    name = f"h{uuid.uuid4().hex[:10]}"
    columns = [quasi("age", "integer", "INTEGER", nulls=True), plain("d", "text", "TEXT", "sensitive")]
    rows = [("20", "20", "'none'", "'flu'"), ("NULL", "NULL", "'some'", "'flu'")]
    publish(shared_db, name, columns, rows)
    text = f"SELECT age, count(*) AS n FROM {name} GROUP BY age ORDER BY n DESC"
    assert shared_db.query(text).certain[0]
    assert not any(shared_db.query(f"{text} LIMIT 2").certain)


@pytest.mark.parametrize(
    ("item", "where", "bounds"),
    [
        ("coalesce(avg(c), 0)", "h = 0.7", (-2, 3)),  # possible rows without weight
        ("coalesce(avg(c), 9)", "h = 0.7", (-2, 9)),
        ("coalesce(avg(c), 9)", "h > 5", (9, 9)),
        ("coalesce(sum(c) + max(c), 9)", "d = 'hiv'", (9, 9)),  # a row, and its c is NULL
        ("coalesce(sum(c) FILTER (WHERE age > 90), -7)", "d = 'flu'", (-7, -7)),
        ("coalesce(max(h), 9)", "age = 25", (0.1, 9)),
    ],
)
def test_a_constant_replaces_what_may_be_undefined(
    named: tuple[Any, str], item: str, where: str, bounds: tuple[float, float]
) -> None:
    db, name = named
    cell = db.query(f"SELECT {item} AS n FROM {name} WHERE {where}").rows[0]["n"]
    assert (cell.low, cell.high) == pytest.approx(bounds, rel=1e-6)
    assert cell.exact == (bounds[0] == bounds[1])


def test_a_release_is_not_joined_with_its_source_or_private_tables(shared_db: Any) -> None:
    source = f"s{uuid.uuid4().hex[:10]}"
    shared_db.engine.execute(f"CREATE TABLE {source} (age INTEGER, cost INTEGER)")
    shared_db.engine.execute(
        f"INSERT INTO {source} VALUES " + ", ".join(f"({20 + i}, {i // 2 if i < 10 else i})" for i in range(20))
    )
    shared_db.anonymize(source, quasi=["age"], insensitive=["cost"], k=5, name=source, accept_unique=["cost"])
    shared_db.engine.execute(f"DELETE FROM {source} WHERE age < 30")  # what is left has one row a cost
    text = f"SELECT max(q.age) AS age FROM {source} AS p JOIN {{}} AS q ON q.cost = p.cost"
    table = str(shared_db.engine.relation(source).ref)
    for spelled in (source, table):
        with pytest.raises(UnsupportedError, match="made of"):
            shared_db.query(text.format(spelled))
    assert shared_db.query(text.format(source), allow_linking=True).rows[0]["age"].high == 39
    private = f"SELECT count(*) FROM {source} AS p JOIN _sqlanon.catalog AS q ON q.version = p.cost"
    with pytest.raises(UnsupportedError, match="not among the dimensions"):  # as any name, whether it is there or not
        shared_db.query(private)
    with pytest.raises(UnsupportedError, match="private"):
        shared_db.query(private, allow_linking=True)


def test_an_exact_column_that_is_compared_and_added_up(named: tuple[Any, str]) -> None:
    db, name = named
    query = f"SELECT d, sum(c) AS s FROM {name} WHERE age > c AND lower(sex) LIKE 'f%' GROUP BY d ORDER BY d"
    row = db.query(query).rows[0]
    assert (row["d"], row["s"].low, row["s"].high) == ("flu", 3, 4)


def test_a_type_whose_equal_values_have_different_texts(both_dbs: tuple[Any, ...]) -> None:
    db = next(db for db in both_dbs if db.engine.dialect == "postgres")
    name = f"h{uuid.uuid4().hex[:10]}"
    columns = [
        Given("code", "quasi", "text", "character(3)", (("code", "TEXT[]"),), "nominal"),
        plain("c", "integer", "INTEGER"),
    ]
    publish(db, name, columns, [("ARRAY['F']", "1")])
    with pytest.raises(UnsupportedError, match="texts differ"):
        db.query(f"SELECT count(*) FROM {name} WHERE code = 'F  '")
    assert db.query(f"SELECT count(*) AS n FROM {name} WHERE code IS NOT NULL").rows[0]["n"].low == 1


def test_the_order_of_text_is_asked_only_where_it_is_that_of_bytes() -> None:
    """Under a collation the source would answer otherwise than the release's byte order says."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        publish(
            db,
            "people",
            [quasi("name", "text", "TEXT"), plain("c", "integer", "INTEGER")],
            [("'B'", "'a'", "1")],
        )
        below = "SELECT count(*) AS n FROM people WHERE name < 'Z'"
        assert db.query(below).rows[0]["n"].high == 1
        db.engine.execute("SET default_collation = 'NOCASE'")
        for text in (
            below,
            "SELECT max(name) AS m FROM people",
            "SELECT count(*) AS n FROM people WHERE name BETWEEN 'A' AND 'C'",
            "SELECT count(*) AS n FROM people WHERE name = 'C'",
            "SELECT count(*) AS n FROM people WHERE name IN ('C', 'b')",
            "SELECT count(*) FILTER (WHERE name <> 'C') AS n FROM people",
        ):
            with pytest.raises(UnsupportedError, match="by its collation"):
                db.query(text)
        assert db.query("SELECT count(*) AS n FROM people WHERE name IS NOT NULL").rows[0]["n"].low == 1


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NFC"])
@pytest.mark.parametrize("kind", ["ranges", "labels"])
def test_text_of_a_collation_is_asked_for_null_alone(collation: str, kind: str) -> None:
    """A published text is one of those that the source holds equal, and the system catalog does not show that."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute(f"CREATE TABLE people (age INT, c VARCHAR COLLATE {collation}, d VARCHAR)")
        rows = ", ".join(f"({20 + i}, '{'aAbéeE'[i % 6]}', '{'aA'[i % 2]}')" for i in range(24))
        db.engine.execute(f"INSERT INTO people VALUES {rows}")
        release = db.anonymize("people", quasi=["age", "c", "d"], k=4, format=kind)
        for where in ("c = 'A'", "c <> 'A' OR age > 30", "c ~ '^a'", "lower(c) = 'a'", "c IN ('a', 'b')", "c < 'b'"):
            with pytest.raises(UnsupportedError, match="column c: the source compares it by a collation"):
                release.query(f"SELECT count(*) AS n FROM people WHERE {where}")
        with pytest.raises(UnsupportedError, match="column c: the source compares it by a collation"):
            release.query("SELECT c, count(*) AS n FROM people GROUP BY c")
        for where in ("c IS NULL", "d = 'A'", "age < 30 AND d < 'a'"):
            ((true,),) = db.engine.fetch(f"SELECT count(*) FROM people WHERE {where}")
            cell = release.query(f"SELECT count(*) AS n FROM people WHERE {where}").rows[0]["n"]
            assert cell.low <= true <= cell.high


def test_a_long_list_is_one_test(shared_db: Any) -> None:
    """IN with more than 8 texts over a hierarchy.

    A row qualifies for certain if all leaves under its node do, perhaps if one does.
    """
    leaves = [f"v{i:02}" for i in range(12)]
    spans = {"*": (0, 12), "low": (0, 6), "high": (6, 6), **{leaf: (i, 1) for i, leaf in enumerate(leaves)}}
    declared = {
        "leaves": leaves,
        "nodes": [[0, first, size, label] for label, (first, size) in spans.items()],
    }
    column = Given("h", "quasi", "text", "TEXT", (("h", "TEXT"), ("h_null", "TEXT")), "hierarchy", declared)
    rows = [(label, "none") for label in ("*", "low", "high", "v03", "v11", "v00")] + [
        (None, "all"),
        (None, "some"),
    ]
    name = f"w{uuid.uuid4().hex[:12]}"
    cells = [["NULL" if label is None else f"'{label}'", f"'{state}'"] for label, state in rows]
    publish(shared_db, name, (column,), cells)
    asked = [leaf for leaf in leaves if leaf not in ("v03", "v10", "v11")]
    listed = ", ".join(f"'{leaf}'" for leaf in asked)
    for word, wanted in (("IN", set(asked)), ("NOT IN", set(leaves) - set(asked))):
        may = sure = 0
        for label, state in rows:
            first, size = spans.get(label or "*", (0, 12))
            values = set() if state == "all" else set(leaves[first : first + size])
            may += bool(values & wanted)
            sure += bool(values) and values <= wanted and state == "none"
        cell = shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE h {word} ({listed})").rows[0]["n"]
        assert (cell.low, cell.high) == (sure, may)
