"""The forms of queries that tools send: each is answered or refused as listed, and answers are true of the source."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from tests.covering import seeds
from tests.engines import PAIR, TestEngine
from tests.query_forms.people import load
from tests.query_forms.run import URLS, forms, judge

PARTS = 2
"""Of the forms: the default run takes every second one."""
OLD = "SELECT plan, age > 40 AS old, count(*) AS n FROM people GROUP BY 1, 2"
FIRST = "SELECT region FROM people GROUP BY 1 ORDER BY avg(age) LIMIT 2"


@pytest.mark.parametrize("part", seeds(PARTS))
@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.family)
def test_forms(engine: TestEngine, part: int, tmp_path: Path) -> None:
    if engine.missing():
        pytest.skip(str(engine.missing()))
    url = engine.fresh(tmp_path)
    with sqlanon.connect(url) as db:
        URLS[id(db)] = url
        load(db)
        verdicts = [judge(db, form) for form in forms(db.engine.dialect)[part::PARTS]]
    engine.drop(url)
    assert [(one.form.sql, one.reason) for one in verdicts if not one.expected] == []
    assert [(one.form.sql, one.problems) for one in verdicts if one.problems] == []


@pytest.fixture(scope="module")
def people() -> Any:
    with sqlanon.connect("duckdb:///:memory:") as db:
        load(db)
        yield db


def low_high(answer: Any, name: str) -> list[tuple[Any, Any]]:
    return [(row[name].low, row[name].high) for row in answer.rows]


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT count(*) AS n FROM people WHERE visits > ? AND plan = ?", [3, "free"]),
        ("SELECT count(*) AS n FROM people WHERE visits > $1 AND plan = $2", (3, "free")),
        ("SELECT count(*) AS n FROM people WHERE plan = $2 AND visits > $1", [3, "free"]),
        ("SELECT count(*) AS n FROM people WHERE visits > :least AND plan = :plan", {"least": 3, "plan": "free"}),
        ("SELECT count(*) AS n FROM people WHERE visits > $least AND plan = $plan", {"least": 3, "plan": "free"}),
        ("SELECT count(*) AS n FROM people WHERE visits::int > :least AND plan = 'free'", {"least": 3}),
        ("SELECT count(*) AS n FROM people WHERE visits > ? AND plan = 'free' OR plan = ?", [3, "it's ? $1 :x"]),
    ],
)
def test_parameters_are_constants(people: Any, sql: str, parameters: Any) -> None:
    ((n,),) = people.engine.fetch("SELECT count(*) FROM people WHERE visits > 3 AND plan = 'free'")
    assert low_high(people.query(sql, parameters=parameters), "n") == [(n, n)]


@pytest.mark.parametrize(
    ("sql", "parameters", "reason"),
    [
        ("SELECT count(*) FROM people WHERE visits > ?", [], "parameter 1 has no value"),
        ("SELECT count(*) FROM people WHERE visits > ?", [1, 2], "1 of the values have no parameter"),
        ("SELECT count(*) FROM people WHERE visits > :low", {"high": 1}, "parameter low has no value"),
        ("SELECT count(*) FROM people WHERE visits > ?", [b"x"], "values of parameters are texts"),
        ("SELECT count(*) FROM people WHERE visits > ?", [float("nan")], "finite numbers"),
        ("SELECT count(*) FROM people WHERE plan = ?", "free", "parameters are"),
        ("SELECT count(*) FROM people WHERE visits > ?", None, "the query has a placeholder"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(people: Any, sql: str, parameters: Any, reason: str) -> None:
    with pytest.raises(sqlanon.SqlanonError, match=reason):
        people.query(sql, parameters=parameters)


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT * FROM people LIMIT 0", 9),
        ("SELECT age, plan AS p FROM people WHERE 1 = 0", 2),
        ("SELECT p.* FROM (SELECT age AS x, plan FROM people) AS p WHERE FALSE", 2),
        ("SELECT plan, count(*) AS n FROM people GROUP BY plan LIMIT 0", 2),
    ],
)
def test_a_query_of_no_rows_has_columns(people: Any, sql: str, columns: int) -> None:
    answer = people.query(sql)
    assert (len(answer.columns), answer.rows) == (columns, ())


def test_constants_need_no_release(people: Any) -> None:
    assert people.query("SELECT 1 AS one, 'x' AS x").rows == ({"one": 1, "x": "x"},)
    before = datetime.now(UTC)
    ((now,),) = [tuple(row.values()) for row in people.query("SELECT now()").rows]
    assert before <= now <= datetime.now(UTC)
    with pytest.raises(sqlanon.errors.UnsupportedError, match="needs a released table"):
        people.query("SELECT age")
    with pytest.raises(sqlanon.errors.UnsupportedError, match="not answered"):
        people.query("SELECT getenv('HOME')")


def test_rows_of_a_union_are_sorted_and_cut(people: Any) -> None:
    one = "SELECT plan, count(*) AS n FROM people WHERE plan IS NOT NULL GROUP BY plan"
    text = f"{one} UNION ALL SELECT 'all', count(*) FROM people"
    rows = people.query(f"{text} ORDER BY n DESC, plan").rows
    assert [row["plan"] for row in rows] == ["all", "free", "plus", "team"]
    first = people.query(f"{text} ORDER BY 2 DESC LIMIT 2")
    assert ([row["plan"] for row in first.rows], first.certain) == (["all", "free"], (True, True))
    tied = people.query(
        "SELECT 1 AS k, count(*) AS n FROM people UNION ALL SELECT 2, count(*) FROM people ORDER BY n LIMIT 1"
    )
    assert tied.certain == (False,)


def test_equal_rows_of_a_union_are_one(people: Any) -> None:
    """Values that some group has for certain are certain; equal exact counts are one row."""
    regions = "SELECT region AS k FROM people WHERE visits > 3"
    answer = people.query(f"{regions} UNION SELECT plan FROM people UNION SELECT region FROM people ORDER BY k")
    truth = people.engine.fetch(f"{regions} UNION SELECT plan FROM people UNION SELECT region FROM people ORDER BY k")
    assert [row["k"] for row in answer.rows] == [k for (k,) in truth]
    assert set(answer.certain) == {True}
    count = "SELECT count(*) AS n FROM people"
    assert len(people.query(f"{count} UNION {count}").rows) == 1
    assert len(people.query(f"{count} UNION ALL {count}").rows) == 2
    assert len(people.query(f"{count} UNION {count} UNION ALL {count}").rows) == 2
    assert len(people.query(f"{count} UNION ALL {count} UNION DISTINCT {count}").rows) == 1
    # Sums of floating point values are equal here, and may differ in the source by their last digit.
    total = "SELECT sum(score) AS n FROM people"
    with pytest.raises(sqlanon.errors.UnsupportedError, match="may be the same"):
        people.query(f"{total} UNION {total}")


def test_the_first_groups_are_aggregated_with_bounds(people: Any) -> None:
    items = "sum(n) AS s, count(*) AS c, max(n) AS m"
    groups = "SELECT plan, region, count(*) AS n FROM people GROUP BY 1, 2"
    for text in (
        f"SELECT {items} FROM ({groups} ORDER BY n DESC, 1, 2 LIMIT 4) AS t",
        f"SELECT {items} FROM ({groups} ORDER BY 1 NULLS LAST, 2 LIMIT 4 OFFSET 2) AS t",
        f"SELECT {items} FROM ({groups} LIMIT 1000) AS t",
    ):
        ((total, count, most),) = people.engine.fetch(text)
        (row,) = people.query(text).rows
        assert [(row[c].low, row[c].high) for c in "scm"] == [(total, total), (count, count), (most, most)]
    for order in ("n DESC", "count(*) DESC, plan"):  # whichever of equal groups are first
        text = (
            f"SELECT sum(n) AS s, count(*) AS c, max(n) AS m, avg(n) AS a FROM ({groups} ORDER BY {order} LIMIT 3) AS t"
        )
        ((total, count, most, mean),) = people.engine.fetch(text)
        (row,) = people.query(text).rows
        assert [(row[c].low, row[c].high) for c in "scm"] == [(total, total), (count, count), (most, most)]
        assert (row["a"].low, row["a"].high) == pytest.approx((mean, mean))
    any_two = people.query(f"SELECT count(*) AS c FROM ({groups} LIMIT 2) AS t").rows[0]["c"]
    assert (any_two.low, any_two.high) == (2, 2)


@pytest.mark.parametrize(
    ("sql", "unsettled"),
    [
        ("SELECT plan FROM people GROUP BY plan HAVING count(*) > 50", False),
        ("SELECT plan FROM people GROUP BY plan HAVING plan = 'free'", False),
        ("SELECT plan FROM people WHERE age > 40 GROUP BY plan HAVING count(*) > 50", True),
        ("SELECT * FROM (SELECT plan, count(*) AS n FROM people GROUP BY plan) AS q WHERE n > 50", False),
        ("SELECT plan FROM people GROUP BY plan QUALIFY rank() OVER (ORDER BY count(*) DESC) = 1", False),
        ("SELECT plan FROM people WHERE age > 40 GROUP BY 1 QUALIFY rank() OVER (ORDER BY count(*) DESC) = 1", True),
        (f"SELECT plan, max(n) FROM ({OLD}) AS q GROUP BY plan", False),
        (f"SELECT plan, max(n) FROM ({OLD} HAVING count(*) > 40) AS q GROUP BY plan", True),
        ("SELECT plan FROM people GROUP BY plan HAVING count(*) > 50 UNION ALL SELECT 'x'", False),
        ("SELECT plan FROM people WHERE age > 40 GROUP BY 1 HAVING count(*) > 50 UNION ALL SELECT 'x'", True),
        ("SELECT plan, count(*) FROM people WHERE age > 40 GROUP BY plan", False),
        ("SELECT plan FROM people WHERE age > 40 GROUP BY plan HAVING count(*) > 240", False),
        ("SELECT count(*) FROM people HAVING count(*) <> 240", False),
        ("SELECT count(*) FROM people HAVING min(CAST(visits AS VARCHAR)) = 99", True),
        ("SELECT stddev(visits) FROM people WHERE age > 40 HAVING stddev(visits) > 9999", True),
        ("SELECT plan FROM people GROUP BY plan QUALIFY rank() OVER (ORDER BY plan) > 9", False),
        (f"SELECT plan, max(n) FROM ({OLD} HAVING count(*) > 240) AS q GROUP BY plan", False),
    ],
)
def test_conditions_on_groups_say_whether_other_sources_have_more(people: Any, sql: str, unsettled: bool) -> None:
    answer = people.query(sql)
    assert answer.unsettled_groups is unsettled
    assert ("unsettled_groups" in answer.to_dict()) is unsettled


@pytest.mark.parametrize(
    "condition",
    [
        "plan IN (SELECT plan FROM people GROUP BY plan HAVING count(*) > 70)",
        "EXISTS (SELECT 1 FROM people AS o WHERE o.visits = people.visits + 5 AND o.plan <> 'free')",
        "NOT EXISTS (SELECT 1 FROM people AS o WHERE o.visits = people.visits + 5 AND o.plan <> 'free')",
    ],
)
def test_a_list_of_the_same_rows_in_every_source_is_a_constant(people: Any, condition: str) -> None:
    sql = f"SELECT count(*) AS n FROM people WHERE {condition}"
    ((total,),) = people.engine.fetch(sql)
    cell = people.query(sql).rows[0]["n"]
    assert 0 < total < 240
    assert (cell.low, cell.high) == (total, total)


def test_first_rows_after_groups_that_others_have_are_not_certain(people: Any) -> None:
    """HAVING leaves a group out by its estimate, which comes first where it is there."""
    counted = "SELECT plan, count(*) AS n FROM people WHERE age > 40 AND plan = 'free' GROUP BY plan"
    (cell,) = [row["n"] for row in people.query(counted).rows]
    least = (cell.estimate + cell.high) / 2
    for more, unsettled in ((least, True), (cell.high, False)):
        nothing = people.query(f"{counted} HAVING count(*) > {more}")
        assert (nothing.rows, nothing.unsettled_groups) == ((), unsettled)
    first = (
        f"{counted.replace(', count(*) AS n', '')} HAVING count(*) > {least} UNION ALL SELECT 'x' ORDER BY 1 LIMIT 1"
    )
    answer = people.query(first)
    assert (answer.rows, answer.certain) == (({"plan": "x"},), (False,))


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT count(*) FROM people WHERE age > (SELECT avg(age) FROM people)", "not the same answer in every"),
        ("SELECT count(*) FROM people WHERE plan IN (SELECT name FROM persons)", "persons is not among the dimensions"),
        ("SELECT avg(r) FROM (SELECT plan, rank() OVER (ORDER BY count(*)) AS r FROM people GROUP BY plan) s", "WHERE"),
        ("SELECT count(*) FROM (SELECT plan FROM people LIMIT 2) AS s", "no first rows"),
        ("SELECT count(*) FROM people p, plans q WHERE p.plan < q.plan", "joins are INNER or LEFT"),
        ("SELECT count(*) FROM people p, people q WHERE p.plan = q.plan", "joining it would link rows of persons"),
        ("SELECT plan FROM people UNION (SELECT region FROM people LIMIT 2)", "rows of persons"),
        ("SELECT plan FROM people INTERSECT SELECT region FROM people", "other set operations"),
        ("SELECT plan FROM people UNION BY NAME SELECT plan FROM people", "other set operations"),
        ("SELECT plan FROM people UNION SELECT visits FROM people", "different types"),
        (
            "SELECT count(*) FROM people WHERE age > 40 UNION SELECT count(*) FROM people WHERE age > 41",
            "may be the same",
        ),
        ("SELECT plan FROM people UNION SELECT tier FROM people JOIN plans USING (plan)", "UNION of joins"),
        (
            "SELECT n, count(*) FROM (SELECT plan, count(*) AS n FROM people GROUP BY plan) AS s GROUP BY n",
            "not by aggre",
        ),
        ("SELECT count(*) FROM (SELECT plan FROM people UNION SELECT plan FROM plans) AS s", "one SELECT"),
        ("WITH RECURSIVE p AS (SELECT age FROM people) SELECT count(*) FROM p", "RECURSIVE"),
        ("SELECT DISTINCT ON (plan) plan FROM people", "DISTINCT ON"),
        (
            "SELECT count(*) FROM people WHERE 'a' IN (SELECT 'a' FROM people WHERE age>40 HAVING stddev(visits) > 9)",
            "not the same answer in every",
        ),
        (
            "SELECT count(*) FROM people WHERE plan IN (SELECT plan FROM people GROUP BY plan HAVING avg(age) > 40)",
            "not the same answer in every",
        ),
        (
            f"SELECT region, rank() OVER (ORDER BY count(*)) FROM people JOIN ({FIRST}) t USING (region) GROUP BY 1",
            "not the same answer in every",
        ),
        ("SELECT corr(age, visits) FROM people", "nearly all that they can be"),
        ("SELECT mode() WITHIN GROUP (ORDER BY plan) FROM people", "WITHIN GROUP there are"),
        ("SELECT (SELECT plan FROM people GROUP BY plan) AS p FROM people GROUP BY plan", "one row in every"),
        (
            "SELECT max(q.n) FROM people JOIN (SELECT plan, count(*) AS n FROM people GROUP BY 1) q USING (plan)",
            "its only key",
        ),
    ],
)
def test_a_form_without_an_answer_is_refused_with_the_reason(people: Any, sql: str, reason: str) -> None:
    with pytest.raises(sqlanon.errors.UnsupportedError, match=reason):
        people.query(sql)


def test_a_subquery_reads_no_table_that_a_join_may_not(people: Any) -> None:
    people.engine.execute("CREATE TABLE secrets AS SELECT DISTINCT plan FROM people")
    for sql in (
        "SELECT count(*) AS n FROM people WHERE plan IN (SELECT plan FROM secrets)",
        "SELECT count(*) AS n FROM people WHERE plan = (SELECT max(plan) FROM secrets)",
        "SELECT count(*) AS n FROM people p WHERE EXISTS (SELECT 1 FROM secrets s WHERE s.plan = p.plan)",
        "SELECT count(*) AS n FROM release.people WHERE plan IN (SELECT plan FROM people WHERE person = 3)",
        "SELECT count(*) AS n FROM people WHERE plan IN (SELECT status FROM sqlanon.catalog)",
    ):
        with pytest.raises(sqlanon.SqlanonError):
            people.query(sql)


def test_subqueries_that_multiply_are_refused(people: Any) -> None:
    ctes = ["a0 AS (SELECT count(*) AS n FROM people)"]
    ctes += [
        f"a{i} AS (SELECT (SELECT max(n) FROM a{i - 1}) + (SELECT min(n) FROM a{i - 1}) AS n)" for i in range(1, 30)
    ]
    with pytest.raises(sqlanon.errors.UnsupportedError, match="200 subqueries"):
        people.query(f"WITH {', '.join(ctes)} SELECT n FROM a29")
