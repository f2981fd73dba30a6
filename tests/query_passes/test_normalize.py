"""Statements before and after they are brought to one form: the engine gives the same rows for both."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import pytest
from sqlglot import exp

from sqlanon.errors import UnsupportedError
from sqlanon.query.normalize.expression_subqueries import ListedValues, Scalar
from sqlanon.query.normalize.grouping_sets import MissingTerm, split_groupings
from sqlanon.query.normalize.inline import Statement
from sqlanon.query.normalize.scopes import shorten_columns
from sqlanon.query.parse.parse import read_select
from tests.oracle.statements import statement

FORMS = [
    'SELECT {s}."people"."c" AS x, count(*) FROM {s}."people" GROUP BY {s}."people"."c"',
    "SELECT x, y FROM (SELECT c AS x, count(*) AS y FROM people GROUP BY c ORDER BY y DESC, x LIMIT 2) AS s",
    "SELECT x + y AS z FROM (SELECT c AS x, count(*) AS y FROM people GROUP BY 1 HAVING count(*) > 1) s WHERE y < 9",
    "SELECT s.* FROM (SELECT c, count(*) AS n FROM people GROUP BY c) AS s WHERE s.c IS NOT NULL",
    "WITH p(x, y) AS (SELECT a, c FROM people WHERE a > 1) SELECT y, count(x), sum(x) FROM p GROUP BY y",
    "WITH p AS (SELECT a AS c, c AS a FROM people) SELECT c, sum(a) FROM p GROUP BY c",
    "WITH people AS (SELECT a, b, c FROM people WHERE c > 0) SELECT count(*) FROM people",
    (
        "WITH p AS (SELECT c, a FROM people), q AS (SELECT c AS d, a FROM p WHERE a < 5) SELECT d, min(a) FROM q "
        "GROUP BY d"
    ),
    "SELECT c AS b, sum(b) AS s FROM people GROUP BY c",
    "SELECT b AS c, count(*) FROM people GROUP BY b ORDER BY c",
    "SELECT DISTINCT a, b FROM people",
    "SELECT DISTINCT c FROM (SELECT c, a, count(*) AS n FROM people GROUP BY c, a HAVING count(*) > 1) AS s",
    (
        "SELECT p.c, k.name, count(*) FROM people p JOIN (SELECT id AS c, name FROM kinds WHERE id > 0) k ON p.c ="
        " k.c GROUP BY p.c, k.name"
    ),
    "SELECT k.name, count(*) FROM people p LEFT JOIN (SELECT * FROM kinds) k ON p.c = k.id GROUP BY 1",
    (
        "WITH p AS (SELECT c AS x FROM people), k AS (SELECT id AS y, name FROM kinds) SELECT count(*), count(y) "
        "FROM p LEFT JOIN k ON p.x = k.y WHERE k.y IS NULL"
    ),
    (
        "SELECT p.c, count(*) FROM people p JOIN (SELECT c AS d, sum(a) AS m FROM people GROUP BY c ORDER BY m "
        "DESC, d LIMIT 2) AS top ON p.c = top.d GROUP BY p.c"
    ),
    (
        "SELECT c, count(*) FROM people JOIN (SELECT c FROM people GROUP BY c HAVING count(*) > 1) AS t USING (c) "
        "GROUP BY c"
    ),
    "SELECT count(*) FROM people p WHERE EXISTS (SELECT 1 FROM kinds k WHERE k.id = p.c AND k.name <> 'two')",
    "SELECT count(*) FROM people p WHERE NOT EXISTS (SELECT 1 FROM kinds k WHERE p.c = k.id)",
    "SELECT count(*) FROM people WHERE c NOT IN (SELECT id FROM kinds WHERE id > 90)",
    "SELECT c, count(*) * 1.0 / max(t.n) FROM people, (SELECT count(*) AS n FROM people) AS t GROUP BY c, t.n",
    (
        "SELECT c, rank() OVER w, sum(n) OVER w FROM (SELECT c, count(*) AS n FROM people GROUP BY c) s WINDOW w "
        "AS (ORDER BY c)"
    ),
    "SELECT c, b, GROUPING(c) AS g, count(*) AS n, coalesce(c, -5) AS k FROM people GROUP BY ROLLUP (c, b)",
    "SELECT c, b, count(*) FROM people GROUP BY GROUPING SETS ((c, b), c, ()), a",
    "SELECT c, GROUPING(c) AS g, count(*) FILTER (WHERE c > 1 OR b IS NULL) AS n FROM people GROUP BY ROLLUP (c, b)",
    "SELECT c + 1 AS c, sum(a) FROM people GROUP BY CUBE (c, b) HAVING count(*) > 1",
    "SELECT c > 1 AS d, GROUPING(c > 1, b) AS g, sum(a) FROM people GROUP BY ROLLUP (c > 1, (b, c))",
    "SELECT GROUPING(c IN (1, 2)) AS g, sum(a) FROM people GROUP BY GROUPING SETS (c IN (1, 2), CUBE (abs(c) > 1, b))",
    "SELECT upper(name) FROM kinds GROUP BY name",
    (
        "WITH x AS (SELECT c, count(*) AS n FROM people WHERE a < 3 GROUP BY c), y AS (SELECT c, count(*) AS n, sum(a) "
        "AS s FROM people WHERE a >= 3 GROUP BY 1) SELECT x.c, x.n, y.n AS m, y.s FROM x JOIN y ON x.c = y.c"
    ),
    (
        "WITH x AS (SELECT c, count(*) AS n FROM people GROUP BY c), y AS (SELECT c AS k, count(*) AS m, sum(a) AS s, "
        "max(b) FILTER (WHERE b < 3) AS t FROM people WHERE a > 4 GROUP BY c) SELECT x.c, n, m * 1.0 / n AS r, s FROM "
        "x LEFT JOIN y ON y.k = x.c"
    ),
    (
        "SELECT c, b, x.n - y.n AS d FROM (SELECT c, b, count(a) + 1 AS n FROM people WHERE a > 1 GROUP BY b, c) x "
        "JOIN (SELECT p.b, p.c, count(*) AS n FROM people p GROUP BY p.c, p.b) y USING (c, b) WHERE y.n > 1 ORDER BY d"
    ),
    "SELECT DISTINCT c, count(*) OVER (PARTITION BY c) AS n, sum(a) OVER (PARTITION BY c) AS s FROM people",
    "SELECT DISTINCT c, b, max(a) FILTER (WHERE a < 4) OVER (PARTITION BY b, c) AS n FROM people WHERE a > 0",
    "SELECT sum(n), count(*) FROM (SELECT c, count(*) AS n FROM people GROUP BY c ORDER BY n DESC, c LIMIT 3) AS s",
    (
        "WITH s AS (SELECT c, b, count(*) AS n FROM people WHERE a > 0 GROUP BY c, b HAVING count(*) > 1 ORDER BY 1, 2 "
        "LIMIT 6 OFFSET 1) SELECT c, max(n) FROM s WHERE n > 1 GROUP BY c"
    ),
    "SELECT c, n FROM (SELECT c, count(*) AS n FROM people GROUP BY c ORDER BY n DESC, c LIMIT 3) AS s ORDER BY c",
    "SELECT c, n FROM (SELECT c, sum(a) AS n FROM people GROUP BY c ORDER BY c DESC LIMIT 3) AS s WHERE n > 6",
    (
        "SELECT avg(n) FROM (SELECT c, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS r FROM people GROUP BY c "
        ") AS s WHERE r <= 2"
    ),
    "SELECT k.name, count(*) FROM people p, kinds k WHERE p.c = k.id AND p.a > 1 GROUP BY k.name",
    "SELECT k.name, count(*) FROM people p CROSS JOIN kinds AS k WHERE (k.id = p.c) GROUP BY 1",
]
MOST = 60


def nested(statement_: Statement, select: exp.Select) -> exp.Select:
    """A flat SELECT as SQL again: numbers of subqueries are the subqueries, groups of groups a subquery."""
    made = select.copy()
    made.meta.update(select.meta)
    terms = made.meta.get("regroup")
    if terms is not None:
        made = _regrouped(made, terms, made.meta.get("inner_having"))
    for found in list(made.find_all(Scalar, ListedValues)):
        asked = statement_.asked[int(found.this.name)]
        inner = nested(statement_, asked.select)
        names = [f"s{i}" for i in range(len(inner.expressions))]
        read = exp.TableAlias(this=exp.to_identifier("q"), columns=[exp.to_identifier(name) for name in names])
        inner = exp.Select(expressions=[exp.column(names[asked.column])]).from_(exp.Subquery(this=inner, alias=read))
        if isinstance(found, ListedValues):
            assert found.parent is not None
            found.parent.set("expressions", None)
            found.parent.set("query", exp.Subquery(this=inner))
        else:
            found.replace(exp.Subquery(this=inner))
    return made


def filtered(made: exp.Select) -> exp.Select:
    """QUALIFY as a condition around a subquery, which every engine has."""
    qualify = made.args.get("qualify")
    if qualify is None:
        return made
    inner = made.copy()
    for name in ("qualify", "order"):
        inner.set(name, None)
    names = [f"i{i}" for i in range(len(inner.expressions))]
    items = [exp.alias_(item.unalias(), name) for item, name in zip(inner.expressions, names, strict=True)]
    inner.set("expressions", items)
    return _kept(inner, qualify.this)


def _kept(inner: exp.Select, condition: exp.Expr) -> exp.Select:
    """The rows of a SELECT that meet a condition on its windows."""
    names = [item.alias for item in inner.expressions]
    inner.append("expressions", exp.alias_(exp.Paren(this=condition.copy()), "kept"))
    read = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("w")))
    return exp.Select(expressions=[exp.column(name) for name in names]).from_(read).where(exp.column("kept"))


def _regrouped(made: exp.Select, terms: list[exp.Expr], having: exp.Expr | None) -> exp.Select:
    keys = list(made.args["group"].expressions)
    inner = exp.Select(expressions=[exp.alias_(key.copy(), f"k{i}") for i, key in enumerate(keys)])
    for name in ("from_", "joins", "where", "group"):
        inner.set(name, made.args.get(name))
    if having is not None:
        inner.set("having", exp.Having(this=having.copy()))
    outer = made.copy()
    for name in ("from_", "joins", "where", "group", "qualify"):
        outer.set(name, None)
    outer.set("group", exp.Group(expressions=[term.copy() for term in terms]) if terms else None)
    values: list[exp.Expr] = []
    for node in list(outer.find_all(exp.AggFunc)):
        if node.find_ancestor(exp.AggFunc, exp.Where) is None or isinstance(node, Scalar):
            continue  # an aggregate of groups; WHERE is that of a FILTER
        whole = node.parent if isinstance(node.parent, exp.Filter) else node
        if whole not in values:
            values.append(whole.copy())
            inner.append("expressions", exp.alias_(whole.copy(), f"v{len(values) - 1}"))
        whole.replace(exp.column(f"v{values.index(whole)}"))
    for i, key in enumerate(keys):
        for found in [part for part in outer.walk() if part == key]:
            if found.parent is not None:
                found.replace(exp.column(f"k{i}"))
    if made.args.get("qualify") is not None:
        inner = _kept(inner, made.args["qualify"].this)
    outer.set("from_", exp.From(this=exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("q")))))
    return outer


@pytest.fixture(scope="module")
def loaded(both_dbs: tuple[Any, ...]) -> tuple[Any, ...]:
    rng = random.Random(4)
    for db in both_dbs:
        db.engine.execute("CREATE TABLE people (a INTEGER, b INTEGER, c INTEGER)")
        rows = [[rng.choice([None, 0, 1, 2, 3, 4, 7]) for _ in "abc"] for _ in range(60)]
        listed = ", ".join("(" + ", ".join("NULL" if v is None else str(v) for v in row) + ")" for row in rows)
        db.engine.execute(f"INSERT INTO people VALUES {listed}")
        db.engine.execute("CREATE TABLE kinds (id INTEGER, name TEXT)")
        db.engine.execute("INSERT INTO kinds VALUES (0, 'none'), (1, 'one'), (2, 'two'), (9, 'nine')")
    return both_dbs


def check(db: Any, text: str) -> bool:
    """Compare a statement with its normal form; False: it is refused before."""
    dialect = db.engine.dialect
    before = db.engine.fetch(text, max_rows=10_000)
    try:
        whole = read_select(text, dialect)
        shorten_columns(text, whole)
        made = Statement(text, dialect)
        flat = made.flatten(whole)
        parts = split_groupings(text, flat)
    except UnsupportedError:
        return False
    after: Counter[Any] = Counter()
    for part in parts:
        for missing in list(part.find_all(MissingTerm)):  # its type is decided later
            missing.replace(exp.null())
        written = filtered(nested(made, part)).sql(dialect=dialect)
        after.update(_plain(row) for row in db.engine.fetch(written, max_rows=10_000))
    assert after == Counter(_plain(row) for row in before), text
    return True


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(round(float(v), 9) if v is not None and not isinstance(v, str | bool) else v for v in row)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_gives_the_rows_of_the_statement(loaded: tuple[Any, ...], form: str) -> None:
    for db in loaded:
        schema = '"main"' if db.engine.dialect == "duckdb" else '"public"'
        assert check(db, form.replace("{s}", schema))


@pytest.mark.parametrize("seed", range(3))
def test_random_statements_give_the_same_rows(loaded: tuple[Any, ...], seed: int) -> None:
    for db in loaded:
        rng = random.Random(seed)
        held = 0
        for _ in range(MOST):
            text, _ = statement(rng, db.engine.dialect)
            if "{" in text.replace("{t}", "") or re.search(r"UNION|LIMIT \d( OFFSET \d)?\)", text):
                continue  # several SELECTs, or first rows among equal ones, which any may be
            held += check(db, text.replace("{t}", "people"))
        assert held > MOST / 2


def test_names_do_not_leave_their_scope(loaded: tuple[Any, ...]) -> None:
    """A column of the outer query in a subquery after FROM is none of its table."""
    text = "SELECT count(*) FROM people WHERE c >= (SELECT max(x) FROM (SELECT a AS x FROM people) AS q)"
    for db in loaded:
        assert check(db, text)


@pytest.mark.parametrize("text", ["SELECT 7 AS k, count(*) FROM people WHERE a > 90 GROUP BY ALL"])
def test_constants_are_no_groups(loaded: tuple[Any, ...], text: str) -> None:
    """So the empty table has its one row; PostgreSQL has no GROUP BY ALL."""
    db = next(db for db in loaded if db.engine.dialect == "duckdb")
    assert db.engine.fetch(text) == [(7, 0)]
    assert check(db, text)
    assert check(db, text.replace("7 AS k,", "7 AS k, c,").replace("a > 90", "a > 1"))
