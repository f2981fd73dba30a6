"""Answers have the types, the rounding and the collation of the source's engine and columns.

Every row counts where it may be.
"""

from __future__ import annotations

import uuid
from itertools import combinations_with_replacement
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from tests.engines import create_table
from tests.oracle.handmade import Given, plain, publish, quasi

TREE = {
    "leaves": ["10", "11", "20"],
    "nodes": [[0, 0, 1, "10"], [0, 1, 1, "11"], [0, 2, 1, "20"], [1, 0, 2, "1x"], [1, 2, 1, "20"], [2, 0, 3, "*"]],
}


@pytest.fixture(scope="module")
def numbers(shared_db: Any) -> tuple[Any, str]:
    """Exact columns whose average is 2.5 and whose sums divide with a rest, and ages."""
    name = f"y{uuid.uuid4().hex[:10]}"
    columns = [
        quasi("age", "integer", "INTEGER"),
        plain("c", "integer", "INTEGER"),
        plain("e", "decimal", "DECIMAL(10, 2)"),
        plain("f", "float", "DOUBLE PRECISION"),
        plain("g", "text", "TEXT"),
    ]
    rows = [
        ("20", "29", str(c), f"{c}.25", f, "'a'")
        for c, f in zip((1, 2, 3, 4), ("1e16", "1.01", "-1e16", "1"), strict=True)
    ]
    publish(shared_db, name, columns, rows)
    return shared_db, name


@pytest.mark.cover
@pytest.mark.parametrize(
    "item",
    [
        "sum(c) / 7",
        "count(*) / 3",
        "sum(c) / -3",
        "-sum(c) / 4",
        "(sum(c) + count(*)) / 3",
        "sum(c) / 2.5",
        "sum(c) % 7",
        "sum(e) % 3",
        "round(avg(c))",
        "floor(avg(c))",
        "ceil(avg(e))",
        "CAST(avg(c) AS INTEGER)",
        "CAST(sum(e) AS INTEGER)",
        "round(avg(c), 1)",
        "coalesce(sum(c), 0) / 7",
        "round(sum(c) / 3)",
        "max(c) / 3",
        "2 * count(*) - 1",
        "round(sum(e) / 2)",
    ],
)
def test_what_is_known_exactly_is_calculated_as_the_engine_does(numbers: tuple[Any, str], item: str) -> None:
    db, name = numbers
    truth = float(db.engine.fetch(f"SELECT {item} FROM release.{name}")[0][0])
    cell = db.query(f"SELECT {item} AS x FROM {name}").rows[0]["x"]
    assert cell.low <= truth <= cell.high
    if "avg(e)" not in item and "%" not in item:
        assert (cell.estimate, cell.low, cell.high, cell.exact) == (truth, truth, truth, True)
    db.query(f"SELECT g, count(*) AS n FROM {name} GROUP BY g HAVING {item} >= {truth}")
    for op, kept in ((">=", 1), (">", 0)):
        rows = db.query(f"SELECT g, count(*) AS n FROM {name} GROUP BY g HAVING {item} {op} {truth}").rows
        assert len(rows) == kept or "%" in item or "avg(e)" in item


def test_whole_numbers_divide_into_whole_ones_at_the_ends_of_bounds(numbers: tuple[Any, str]) -> None:
    db, name = numbers
    cell = db.query(f"SELECT sum(age) / 7 AS x FROM {name}").rows[0]["x"]
    low, high = db.engine.fetch("SELECT CAST(80 AS BIGINT) / 7, CAST(116 AS BIGINT) / 7")[0]
    assert (cell.low, cell.high) == (low, high)
    for row in db.query(f"SELECT age, count(*) / 3 AS x FROM {name} GROUP BY age").rows:
        (most,) = db.engine.fetch("SELECT CAST(4 AS BIGINT) / 3")[0]
        assert (row["x"].low, row["x"].high) == (0, most)


@pytest.mark.parametrize("item", ["round(sum(f))", "floor(avg(f))", "CAST(sum(f) AS INTEGER)", "ceil(sum(f) / 2)"])
def test_a_function_that_jumps_is_not_exact_where_the_order_of_doubles_matters(
    numbers: tuple[Any, str], item: str
) -> None:
    db, name = numbers
    cell = db.query(f"SELECT {item} AS x FROM {name}").rows[0]["x"]
    for order in ("f", "f DESC", "abs(f)", "c"):
        inner = f"(SELECT f FROM release.{name} ORDER BY {order}) AS q"
        truth = float(db.engine.fetch(f"SELECT {item} FROM {inner}")[0][0])
        assert cell.low <= truth <= cell.high
    assert not cell.exact
    assert not any(db.query(f"SELECT count(*) AS n FROM {name} HAVING sum(f) > 0.5").certain)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("word", ["cont", "disc"])
def test_a_quantile_between_infinite_values_may_be_no_number(shared_db: Any, word: str, exact: bool) -> None:
    """Judged by the engine's own quantile of every consistent source, of some values."""
    name = f"y{uuid.uuid4().hex[:10]}"
    columns = [quasi("age", "integer", "INTEGER"), quasi("h", "float", "DOUBLE PRECISION")]
    ends = ("'-Infinity'", "1.5")
    rows = [("1", "3", *ends)] * 4
    if exact:  # which of them qualify is uncertain
        columns[1] = plain("h", "float", "DOUBLE PRECISION")
        rows = [("1", "3", end) for end in ends * 2]
    publish(shared_db, name, columns, rows)
    asked = f"percentile_{word}(0.25) WITHIN GROUP (ORDER BY h)"
    cell = shared_db.query(f"SELECT {asked} FILTER (WHERE age > 1) AS x FROM {name}").rows[0]["x"]
    for size in range(1, 5):
        for values in combinations_with_replacement((*ends, "0"), size):
            if exact and (max(values.count(end) for end in ends) > 2 or "0" in values):
                continue
            listed = ", ".join(f"(CAST({value} AS DOUBLE PRECISION))" for value in values)
            (truth,) = shared_db.engine.fetch(f"SELECT {asked} FROM (VALUES {listed}) AS source(h)")[0]
            assert cell.low is None or cell.low <= truth, values
            assert cell.high is None or truth <= cell.high, values
    assert (cell.low is None) == (word == "cont")


@pytest.mark.parametrize(
    "item", ["count(age / 0)", "sum(age % (1 - 1))", "avg(CASE WHEN age > 25 THEN c / 0e1 + age END)"]
)
def test_a_division_by_zero_is_refused_where_rows_are_not_calculated(numbers: tuple[Any, str], item: str) -> None:
    db, name = numbers
    with pytest.raises(UnsupportedError, match="it divides by 0"):
        db.query(f"SELECT {item} AS x FROM {name}")
    assert db.query(f"SELECT count(age / nullif(0, 0)) AS x FROM {name}").rows[0]["x"].high == 0


def test_division_without_a_rest_where_the_engine_has_it(both_dbs: tuple[Any, ...]) -> None:
    db = next(db for db in both_dbs if db.engine.dialect == "duckdb")
    name = f"y{uuid.uuid4().hex[:10]}"
    publish(
        db,
        name,
        [quasi("age", "integer", "INTEGER"), plain("c", "integer", "INTEGER")],
        [("20", "29", "-4")] * 5,
    )
    row = db.query(f"SELECT sum(c) // 7 AS x, sum(age) // 7 AS y FROM {name}").rows[0]
    truth, low, high = db.engine.fetch("SELECT sum(c) // 7, 100 // 7, 145 // 7 FROM release." + name)[0]
    assert (row["x"].low, row["x"].high) == (truth, truth)
    assert (row["y"].low, row["y"].high) == (low, high)


@pytest.mark.parametrize(("type_", "kind"), [("TEXT", "text"), ("INTEGER", "integer")])
def test_a_row_under_the_root_of_a_label_may_be_in_every_group(shared_db: Any, type_: str, kind: str) -> None:
    name = f"y{uuid.uuid4().hex[:10]}"
    given = Given("h", "quasi", kind, type_, (("h", "TEXT"),), "hierarchy", TREE)
    rows = [("'10'", "1")] * 3 + [("'*'", "2")] * 2 + [("'1x'", "3")] + [("'NULL'", "4")]
    publish(shared_db, name, [given, plain("c", "integer", "INTEGER")], rows, "labels")
    answer = shared_db.query(
        f"SELECT h, count(*) AS n, sum(c) AS s, max(c) AS m, count(DISTINCT c) AS d FROM {name} GROUP BY h"
    )
    cast = int if kind == "integer" else str
    found = {row["h"]: row for row in answer.rows}
    bounds = {
        None if leaf is None else cast(leaf): ends
        for leaf, ends in ((None, (1, 3)), ("10", (3, 6)), ("11", (0, 3)), ("20", (0, 2)))
    }
    assert {leaf: (row["n"].low, row["n"].high) for leaf, row in found.items()} == bounds
    leaf = found[cast("10")]
    assert [(leaf[x].low, leaf[x].high) for x in "smd"] == [(3, 10), (1, 3), (1, 3)]
    ten = "CAST(h AS TEXT) = '10'"
    cases = shared_db.query(f"SELECT CASE WHEN {ten} THEN 1 ELSE 0 END AS g, count(*) AS n FROM {name} GROUP BY 1")
    assert {row["g"]: (row["n"].low, row["n"].high) for row in cases.rows} == {1: (3, 6), 0: (1, 4)}


@pytest.mark.cover("type_ format_")
@pytest.mark.parametrize("format_", ["suppressed", "points"])
@pytest.mark.parametrize(
    ("type_", "kind", "leaves", "value"),
    [
        ("DOUBLE PRECISION", "float", ["1", "2.50"], "2.5"),
        ("DECIMAL(8, 3)", "decimal", ["1", "2.5"], "2.5"),
        ("DATE", "date", ["2020-1-1", "2020-1-2"], "DATE '2020-01-02'"),
        ("BOOLEAN", "boolean", ["f", "t"], "TRUE"),
        ("INTEGER", "integer", ["01", "2"], "1"),
        ("TEXT", "text", ["a", "b"], "'a'"),
    ],
)
def test_a_value_of_a_hierarchy_is_found_however_the_file_writes_it(
    shared_db: Any, format_: str, type_: str, kind: str, leaves: list[str], value: str
) -> None:
    name = f"y{uuid.uuid4().hex[:10]}"
    nodes = [
        [0, 0, 1, leaves[0]],
        [0, 1, 1, leaves[1]],
        [1, 0, 2, leaves[0]],
    ]  # an inner node with the text of a leaf
    given = Given("h", "quasi", kind, type_, (("h", type_),), "hierarchy", {"leaves": leaves, "nodes": nodes})
    publish(shared_db, name, [given, plain("c", "integer", "INTEGER")], [(value, "1")] * 2, format_)
    rows = shared_db.query(f"SELECT h, count(*) AS n FROM {name} GROUP BY h").rows
    assert sum(row["n"].high for row in rows) >= 2
    below = shared_db.query(f"SELECT h, count(*) AS n FROM {name} WHERE h <= {value} GROUP BY h").rows
    assert [row["n"].estimate for row in below] == [2]
    assert below[0]["h"] in [row["h"] for row in rows]
    if format_ == "suppressed":
        assert [(row["n"].low, row["n"].high) for row in rows] == [(2, 2)]
        assert shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE h = {value}").rows[0]["n"].low == 2


def test_nulls_of_the_sensitive_column_of_anatomy(shared_db: Any) -> None:
    name = f"y{uuid.uuid4().hex[:10]}"
    values = (None, 7, 9)
    create_table(shared_db, name, {"q": "INTEGER", "s": "INTEGER"}, [(i, values[i % 3]) for i in range(12)])
    shared_db.anonymize(name, quasi=["q"], sensitive="s", format="anatomy", l=2)
    row = shared_db.query(
        f"SELECT count(s) AS n, count(s) FILTER (WHERE s = 7) AS m, count(*) FILTER (WHERE s IS NULL) AS z, "
        f"avg(s) AS a, sum(s) AS t FROM {name}"
    ).rows[0]
    assert [(row[x].low, row[x].high) for x in "nmz"] == [(8, 8), (4, 4), (4, 4)]
    assert row["a"].low <= 8 <= row["a"].high
    assert row["t"].low <= 64 <= row["t"].high
    groups = shared_db.query(f"SELECT s, count(s) AS n FROM {name} GROUP BY s").rows
    found = {row["s"]: (row["n"].low, row["n"].high) for row in groups}
    assert found == {None: (0, 0), 7: (4, 4), 9: (4, 4)}


@pytest.fixture(scope="module")
def words(both_dbs: tuple[Any, ...]) -> tuple[Any, str]:
    """Text with letters beyond ASCII on PostgreSQL, where a release holds it in another collation than the source."""
    db = next(db for db in both_dbs if db.engine.dialect == "postgres")
    name = f"y{uuid.uuid4().hex[:10]}"
    db.engine.execute(
        f'CREATE TABLE {name} (q TEXT, s TEXT, u TEXT COLLATE pg_catalog."C", w character(4), x character varying(9))'
    )
    listed = (
        "('é', 'Émile', 'Émile', 'É', 'ö')",
        "('é', 'émile', 'émile', 'é', 'Ö')",
        "('Z', 'zoe', 'zoe', 'z', 'z')",
    )
    db.engine.execute(f"INSERT INTO {name} VALUES {', '.join(listed * 4)}")
    insensitive = ["u", "w", "x"]
    db.anonymize(name, quasi=["q"], sensitive="s", insensitive=insensitive, accept_unique=insensitive, k=4)
    return db, name


@pytest.mark.parametrize(
    "where",
    [
        "upper(s) = 'ÉMILE'",
        "upper(u) = 'ÉMILE'",
        "lower(s) = 'émile'",
        "initcap(s) = 'Émile'",
        "s ILIKE 'É%'",
        "u ILIKE 'É%'",
        "s ~ '^\\w+$'",
        "u ~ '^\\w+$'",
        "upper(q) = 'É'",
        "q ILIKE 'É'",
        "w = 'é'",
        "upper(w) = 'É'",
        "upper(x) = 'Ö'",
        "s < 'zoe'",
        "s BETWEEN 'a' AND 'zz'",
        "length(w) = 1",
        "w || 'a' = 'éa'",
    ],
)
def test_text_goes_by_the_collation_and_the_type_of_the_source(words: tuple[Any, str], where: str) -> None:
    db, name = words
    (truth,) = db.engine.fetch(f"SELECT count(*) FROM {name} WHERE {where}")[0]
    cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"]
    assert (cell.low, cell.high) == (truth, truth)


@pytest.mark.parametrize("key", ["upper(s)", "upper(u)", "upper(q)", "upper(w)", "initcap(x)"])
def test_groups_of_text_go_by_the_collation_of_the_source(words: tuple[Any, str], key: str) -> None:
    db, name = words
    truth = db.engine.fetch(f"SELECT {key}, count(*), min(s), max(s) FROM {name} GROUP BY 1")
    rows = db.query(f"SELECT {key} AS g, count(*) AS n, min(s) AS a, max(s) AS z FROM {name} GROUP BY 1").rows
    assert {(row["g"], *(row[x].low for x in "naz")) for row in rows} == set(truth)


def test_a_collation_that_is_not_known_is_refused(words: tuple[Any, str]) -> None:
    db, _ = words
    name = f"y{uuid.uuid4().hex[:10]}"
    publish(
        db,
        name,
        [plain("s", "text", "TEXT"), Given("z", "insensitive", "text", "citext", (("z", "TEXT"),))],
        [("'a'", "'a'")],
    )
    db.engine.execute(
        f"UPDATE release.{name}_metadata SET published = replace(published, '\"collations\"', '\"before\"')"
    )
    for item in ("count(*) FILTER (WHERE upper(s) = 'A')", "min(s)", "count(*) FILTER (WHERE s < 'b')"):
        with pytest.raises(UnsupportedError, match="run the release again"):
            db.query(f"SELECT {item} AS x FROM {name}")
    with pytest.raises(UnsupportedError, match="texts differ"):
        db.query(f"SELECT z, count(*) AS n FROM {name} GROUP BY z")
    assert db.query(f"SELECT count(*) AS n FROM {name} WHERE s = 'a'").rows[0]["n"].low == 1
