"""Workloads over releases: what generators ask, and that an evaluation says what the oracle says."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest

import sqlanon
from sqlanon.engines.base import Statement
from sqlanon.errors import PolicyError
from sqlanon.evaluate import run as evaluation
from sqlanon.evaluate import values as workload_values
from sqlanon.evaluate.report import Spread
from sqlanon.evaluate.subject import find_subject
from sqlanon.evaluate.truth import lies_within
from sqlanon.evaluate.workload import fit_workload, list_queries
from sqlanon.query.answer import Bounded
from sqlanon.workload_spec import GeneratorSpec, QuerySpec, WorkloadSpec
from tests.contract.cases import QI, Case, release_rows
from tests.contract.own_boxes import placed
from tests.contract.samples import DIVERSE, JOINT, MIXED, TREES
from tests.oracle import divergence as oracle
from tests.oracle.requirements import Privacy
from tests.shelf import Shelf

EVERYTHING = WorkloadSpec(
    generators=(
        GeneratorSpec("equality", "equality", queries=4),
        GeneratorSpec("ranges", "ranges", queries=4, selectivity=Fraction(1, 5)),
        GeneratorSpec("datacube 1", "datacube", level=1, answers=True),
        GeneratorSpec("joint", "joint"),
    ),
    seed=3,
)


@pytest.mark.parametrize("case", [MIXED, TREES], ids=lambda case: case.name)
def test_every_truth_is_inside_and_both_engines_agree(both_shelves: tuple[Shelf, ...], case: Case) -> None:
    found = []
    for shelf in both_shelves:
        source, db = shelf.take(case.name).name, shelf.db
        sums = GeneratorSpec("sums", "aggregates", by=case.sensitive)
        report = db.evaluate(source, replace(EVERYTHING, generators=(*EVERYTHING.generators, sums)))
        assert report.sound
        assert report.rows == report.released_rows == len(case.rows)
        found.append(report)
    duckdb, postgres = found
    for one, other in zip(duckdb.families, postgres.families, strict=True):
        assert (one.name, one.queries, one.refused, one.errors.cells) == (
            other.name,
            other.queries,
            other.refused,
            other.errors.cells,
        )
        for mine, theirs in ((one.errors.absolute, other.errors.absolute), (one.errors.width, other.errors.width)):
            assert mine.count == theirs.count
            assert (mine.mean or 0) == pytest.approx(theirs.mean or 0, rel=1e-9, abs=1e-9)
    for cube, again in zip(duckdb.cubes, postgres.cubes, strict=True):
        assert cube.kld == pytest.approx(again.kld, rel=1e-9, abs=1e-12)


@pytest.mark.thorough
def test_equality_is_what_the_oracle_expects(shelf: Shelf) -> None:
    """The estimate of COUNT(*) WHERE column = value is what the uniform assumption puts there; errors by definition."""
    made = shelf.take("joint")
    source, rows, db = made.name, made.rows, shelf.db
    cube = GeneratorSpec("cube", "datacube", level=2, answers=True)
    assert db.evaluate(source, WorkloadSpec(generators=(cube,))).total.lost == 0
    report = db.evaluate(source, WorkloadSpec(generators=(GeneratorSpec("equality", "equality"),)))
    expected = []
    for place, column in enumerate(JOINT.table.quasi):
        p = oracle.truth(JOINT.table, [place], None)
        q = oracle.spread_out(rows, "ranges", JOINT.table, [place], None, frozenset())
        expected += [(column.name, p[cell], float(q[cell])) for cell in p if cell[0] is not None]
    found = [(one.query.split("(")[1][:-1], one.truth, one.estimate) for one in report.queries]
    assert Counter((n, t, f"{e:.9f}") for n, t, e in found) == Counter((n, t, f"{e:.9f}") for n, t, e in expected)
    errors = [abs(estimate - truth) for _, truth, estimate in expected]
    total = report.total.errors
    assert total.absolute.mean == pytest.approx(fmean(errors))
    assert total.absolute.deviation == pytest.approx(pstdev(errors))
    assert total.relative.mean == pytest.approx(fmean(e / t for e, (_, t, _) in zip(errors, expected, strict=True)))


def test_generators_are_the_seeds(shelf: Shelf) -> None:
    source, db = shelf.take("tree").name, shelf.db
    on = find_subject(db.engine, source)
    first, again = (list_queries(db.engine, on, EVERYTHING) for _ in range(2))
    assert first == again
    other = list_queries(db.engine, on, WorkloadSpec(EVERYTHING.queries, EVERYTHING.generators, 4))
    assert [one.sql for one in first if one.family == "ranges"] != [one.sql for one in other if one.family == "ranges"]


@pytest.mark.thorough
def test_counts_asked_together_are_those_asked_alone(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each filter has the estimate and the bounds that it has as the WHERE of a query of its own."""
    source, db = shelf.take("mixed").name, shelf.db
    asked = WorkloadSpec(generators=EVERYTHING.generators[:2], seed=5)
    together = db.evaluate(source, asked).queries
    monkeypatch.setattr(evaluation, "MOST_TOGETHER", 1)
    alone = db.evaluate(source, asked).queries
    for one, other in zip(together, alone, strict=True):
        assert one == replace(other, errors=one.errors, estimate=one.estimate)
        assert one.estimate == pytest.approx(other.estimate, rel=1e-12)


def test_equality_asks_every_value_once(shelf: Shelf) -> None:
    source, db = shelf.take("mixed").name, shelf.db
    on = find_subject(db.engine, source)
    every = list_queries(db.engine, on, WorkloadSpec(generators=(GeneratorSpec("e", "equality"),)))
    values = sum(len(set(MIXED.values(name)) - {None}) for name in MIXED.quasi)
    assert len({one.sql for one in every}) == len(every) == values
    few = list_queries(db.engine, on, WorkloadSpec(generators=(GeneratorSpec("e", "equality", queries=3),)))
    assert len(few) == 3
    assert {one.sql for one in few} < {one.sql for one in every}


def test_ranges_have_the_papers_width(shelf: Shelf) -> None:
    """Of qd + 1 columns each predicate asks for b = ceil(|A| s^(1 / (qd + 1))) values."""
    source, db = shelf.take("diverse").name, shelf.db
    on = find_subject(db.engine, source)
    drawn = GeneratorSpec("r", "ranges", columns=("age", "a"), dimensions=2, selectivity=Fraction(1, 8), queries=9)
    wanted = {name: math.ceil(len(set(DIVERSE.values(name)) - {None}) / 2) for name in ("age", "a", "illness")}
    for one in list_queries(db.engine, on, WorkloadSpec(generators=(drawn,))):
        condition = one.sql.split(" WHERE ")[1]
        for name, width in wanted.items():
            held = db.engine.fetch(
                f'SELECT COUNT(DISTINCT "{name}") FROM "{source}" WHERE '
                + next(part for part in _conjuncts(condition) if part.startswith(f'"{name}"'))
            )
            assert held[0][0] == width


LETTERS = Case(
    "letters",
    {"t": "TEXT", "s": "INTEGER"},
    tuple((value, i) for i, value in enumerate(("a", "B", "c", "D", "e", "F") * 2)),
    {"t": QI("text", ordered="alphabetical")},
    ("s",),
    Privacy(k=2),
)


def test_ranges_of_text_in_order_are_asked_as_ranges(shared_db: Any, tmp_path: Path) -> None:
    """By IN the gaps between its values would count like them."""
    source, engine = LETTERS.create(shared_db), shared_db.engine
    if engine.capabilities.collations:
        text = f'ALTER TABLE {placed(engine.target(source))} ALTER COLUMN t TYPE TEXT COLLATE "C"'
        engine.execute(Statement("test", text, {}))
    assert asked_in_letters(shared_db, source, tmp_path) == {True}


def test_ranges_of_text_are_lists_where_the_source_does_not_order_it_by_bytes(tmp_path: Path) -> None:
    """BETWEEN would mean other rows."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        source = LETTERS.create(db)
        db.engine.execute("SET default_collation = 'NOCASE'")
        assert asked_in_letters(db, source, tmp_path) == {False}


def test_the_median_of_dates_is_compared_with_a_time() -> None:
    """DuckDB's median of an even number of dates lies between two of them."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute(
            "CREATE TABLE born AS SELECT DATE '2000-01-01' + i::INTEGER AS d, i % 3 AS s FROM range(12) t(i)"
        )
        db.anonymize("born", quasi=["d"], sensitive="s", k=2, name="born", publish="release.born")
        asked = WorkloadSpec(queries=(QuerySpec("m", "SELECT median(d) AS m FROM born"),))
        assert db.evaluate("born", asked).sound


def asked_in_letters(db: Any, source: str, directory: Path) -> set[bool]:
    """Whether queries of ranges are asked by BETWEEN; their bounds hold."""
    release_rows(db, LETTERS, directory, source=source, name=source)
    drawn = WorkloadSpec(
        generators=(GeneratorSpec("r", "ranges", dimensions=1, selectivity=Fraction(1, 4), queries=8),)
    )
    assert db.evaluate(source, drawn).sound
    return {" BETWEEN " in one.sql for one in list_queries(db.engine, find_subject(db.engine, source), drawn)}


def _conjuncts(condition: str) -> list[str]:
    """The parts between ANDs, but for those of BETWEEN."""
    parts = condition.split(" AND ")
    made: list[str] = []
    for part in parts:
        if made and " BETWEEN " in made[-1] and " AND " not in made[-1]:
            made[-1] += f" AND {part}"
        else:
            made.append(part)
    return made


def test_own_queries(shelf: Shelf) -> None:
    """HAVING, ORDER BY and LIMIT choose what is printed; the truth of each printed group is the whole group's."""
    source, db = shelf.take("diverse").name, shelf.db
    text = (
        f'select illness, count(*) as n, avg(age) as a from "{source}" where a < 3 '
        "group by illness having count(*) > 1 order by 2 desc limit 2"
    )
    wrong = f'select corr(age, age) from "{source}"'
    report = db.evaluate(source, WorkloadSpec((QuerySpec("ill", text), QuerySpec("median", wrong))))
    n, a, median = report.queries
    assert (n.aggregate, n.groups, n.lost, n.errors.inside) == ("n", 2, 0, 2)
    assert (a.aggregate, a.groups, a.errors.inside) == ("a", 2, 2)
    assert median.refused is not None
    assert "^^^" in median.refused
    assert (report.total.queries, report.total.refused) == (2, 1)


def test_a_query_asks_the_source(shelf: Shelf) -> None:
    source, db = shelf.take("mixed").name, shelf.db
    for text in (f'select count(*) from release."{source}"',):
        with pytest.raises(PolicyError, match="write that after FROM"):
            db.evaluate(source, WorkloadSpec((QuerySpec("q", text),)))


def test_what_does_not_fit_is_reported_at_once(shelf: Shelf) -> None:
    """Before the first query runs, and everything together."""
    source, db = shelf.take("mixed").name, shelf.db
    wrong = (
        GeneratorSpec("a", "equality", columns=("illness",)),
        GeneratorSpec("b", "datacube", sensitive="age"),
        GeneratorSpec("c", "datacube", level=4),
        GeneratorSpec("d", "aggregates", measures=("nothing",)),
        GeneratorSpec("e", "ranges", dimensions=2, columns=("age",)),
        GeneratorSpec("f", "ranges", selectivity=Fraction(3, 2)),
        GeneratorSpec("g", "ranges", selectivity=Fraction(0)),
        GeneratorSpec("h", "joint", columns=("id",)),
    )
    never = QuerySpec("q", "select count(*) from nothing")
    with pytest.raises(PolicyError) as caught:
        db.evaluate(source, WorkloadSpec((never,), wrong))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [
        f"generators[{name}]" for name in "abcdefgh"
    ]
    text = GeneratorSpec("g", "aggregates", measures=("sex",))
    with pytest.raises(PolicyError, match=r"generators\[g\]: sex: no numbers"):
        db.evaluate(source, WorkloadSpec(generators=(text,)))


def test_the_default_fits_one_column(shared_db: Any) -> None:
    name = "one_column"
    shared_db.engine.execute(f"CREATE TABLE {name} AS SELECT 7 AS age FROM (VALUES (1), (2), (3)) AS t(i)")
    shared_db.anonymize(name, quasi="age", k=3, name=name)
    made = fit_workload(None, find_subject(shared_db.engine, name))
    report = shared_db.evaluate(
        name, replace(made, generators=tuple(replace(one, queries=2) for one in made.generators))
    )
    assert report.sound
    assert {(one.name, one.queries, one.errors.absolute.mean) for one in report.families} == {
        ("ranges 1 %", 2, 0),
        ("ranges 3 %", 2, 0),
        ("ranges 10 %", 2, 0),
        ("aggregates", 1, 0),
    }
    assert [(cube.name, cube.kld) for cube in report.cubes] == [("datacube 1", 0), ("joint", 0)]


def test_groups_need_names(shelf: Shelf) -> None:
    """Groups that the query does not name cannot be compared with those of the source."""
    source, db = shelf.take("diverse").name, shelf.db
    asked = [f'select count(*) from "{source}" group by illness', f'select illness from "{source}" group by 1']
    report = db.evaluate(source, WorkloadSpec(tuple(QuerySpec(sql[-9:], sql) for sql in asked)))
    assert report.total.errors.cells == 0
    unnamed, none = (str(one.refused) for one in report.queries)
    assert "SELECT every expression of GROUP BY" in unnamed
    assert "no aggregate" in none


@pytest.mark.thorough
def test_a_group_that_the_source_lacks(shelf: Shelf) -> None:
    """It counts 0 rows; what another aggregate would be there is not compared."""
    source, db = shelf.take("diverse").name, shelf.db
    text = f'select illness, count(*) as n, coalesce(sum(a), 7) as s from "{source}" where age = -1000 group by 1'
    oldest = max(value for value in DIVERSE.values("age") if value is not None)
    texts = [text, text.replace("-1000", str(oldest))]
    report = db.evaluate(source, WorkloadSpec(tuple(QuerySpec(sql, sql) for sql in texts)))
    assert report.sound


def test_a_query_that_overflows_is_one_without_an_answer(shared_db: Any) -> None:
    """A sum that no type holds, of the source: the other queries are measured, and the reason has no value."""
    postgres = shared_db.engine.dialect == "postgres"
    kind, most = ("DOUBLE PRECISION", "1e308") if postgres else ("DECIMAL(38, 0)", "9" * 38)
    shared_db.engine.execute(
        f"CREATE TABLE overflowing AS SELECT a, CAST('{most}' AS {kind}) AS cost, a AS fine FROM (VALUES (1), (1), "
        "(2), (2), (3), (3)) AS t(a)"
    )
    options = {"insensitive": ["cost", "fine"], "k": 2, "name": "overflowing", "accept_unique": ["cost", "fine"]}
    shared_db.anonymize("overflowing", quasi="a", **options)
    sums = (GeneratorSpec(name, "aggregates", measures=(name,), by=("a",)) for name in ("cost", "fine"))
    own = QuerySpec("own", 'select sum("cost") as s from "overflowing"')
    report = shared_db.evaluate("overflowing", WorkloadSpec((own,), (*sums, GeneratorSpec("values", "equality"))))
    refused = {one.query: one.refused for one in report.queries if one.refused}
    assert set(refused) == {"own", "cost (by a)"}
    assert all("leaves the range of its type" in str(why) and "99" not in str(why) for why in refused.values())
    assert report.sound
    assert {one.family for one in report.queries if not one.refused} == {"fine", "values"}


def test_numbers_without_end(shared_db: Any, tmp_path: Path) -> None:
    """NaN and infinities are compared with their bounds and have no error."""
    del tmp_path
    name = "endless"
    values = "(1, 'NaN'), (1, '1'), (2, 'Infinity'), (2, '2'), (3, '3'), (3, '4')"
    shared_db.engine.execute(
        f"CREATE TABLE {name} AS SELECT a, CAST(x AS DOUBLE PRECISION) AS cost FROM (VALUES {values}) AS t(a, x)"
    )
    shared_db.anonymize(name, quasi="a", insensitive="cost", k=2, name=name, accept_unique="cost")
    sums = GeneratorSpec("sums", "aggregates", measures=("cost",), by=("a",))
    report = shared_db.evaluate(name, WorkloadSpec(generators=(sums,)))
    assert report.sound
    assert (report.total.errors.cells, report.total.errors.undefined) == (9, 4)
    assert report.total.errors.absolute == Spread(5, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("truth", "low", "high", "inside"),
    [
        (2**53 + 1, 0, 2**53, False),
        (2**53 + 1, 2**53 + 1, 2**53 + 1, True),
        (1.0, 1 + 1e-12, None, True),
        (1.0, 1 + 1e-6, None, False),
        (math.nan, 0.0, 1.0, False),
        (math.nan, 0.0, math.nan, True),
        (math.inf, 0.0, math.inf, True),
        (-math.inf, 0.0, None, False),
        (Decimal("0.3"), 0.1 + 0.2, 1, True),
        (dt.date(2020, 1, 2), dt.date(2020, 1, 1), dt.date(2020, 1, 1), False),
        (dt.time(3), dt.time(2), dt.time(4), True),
        ("b", "a", "b", True),
    ],
)
def test_inside(truth: Any, low: Any, high: Any, inside: bool) -> None:
    assert lies_within(Bounded(truth, low, high), truth) is inside


def test_no_truth_is_inside_where_it_may_be_undefined() -> None:
    assert lies_within(Bounded(None, 1, 2, undefined_possible=True), None)
    assert not lies_within(Bounded(None, 1, 2), None)


def test_many_values_are_thinned_evenly(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never any which: what is drawn depends on the source and the seed."""
    source, db = shelf.take("diverse").name, shelf.db
    whole = sorted(set(DIVERSE.values("age")) - {None})
    on = find_subject(db.engine, source)
    for most in (1, 2, len(whole) - 1, len(whole), len(whole) + 1):
        monkeypatch.setattr(workload_values, "MOST_VALUES", most)
        values = workload_values.Values(db.engine, on)
        assert values.of("age") == whole[:: math.ceil(len(whole) / most)]
        assert values.few("age", most) is (len(whole) <= most)


def test_a_changed_source_is_found_out(shelf: Shelf) -> None:
    source = shelf.take("diverse").name
    with shelf.copy(source) as db:
        db.engine.execute(f'INSERT INTO "{source}" SELECT * FROM "{source}"')
        count = WorkloadSpec((QuerySpec("all", f'select count(*) as n from "{source}"'),))
        report = db.evaluate(source, count)
        assert not report.sound
        assert (report.rows, report.released_rows) == (2 * len(DIVERSE.rows), len(DIVERSE.rows))
        db.engine.execute(f'UPDATE "{source}" SET age = age + 1000')
        with pytest.raises(PolicyError, match="it has changed since the release was made"):
            db.evaluate(source, WorkloadSpec(generators=(GeneratorSpec("joint", "joint"),)))


def test_spread() -> None:
    assert Spread.of([]) == Spread(0)
    found = Spread.of([float(i) for i in range(100, 0, -1)])
    assert (found.count, found.mean, found.median, found.p95) == (100, 50.5, 50.5, 95.0)
    assert found.deviation == pytest.approx(math.sqrt((100**2 - 1) / 12))
