"""Queries of a version that is asked again: from the kept table of the classes, the same as from the view.

The values of the source are known, so that steps of values are compared with every prefix and rank by Python.
"""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.errors import SqlanonError
from sqlanon.query.boxes import kept_classes
from sqlanon.query.boxes.kept_classes import KeptClasses
from sqlanon.query.rewrite import value_steps
from tests.oracle.handmade import Given, plain, publish, quasi

QUERIES = [
    "count(*) AS n FROM {t}",
    "count(*) AS n FROM {t} WHERE age BETWEEN 12 AND 23 AND sex = 'F'",
    "count(*) AS n, sum(age) AS s, max(age) AS m FROM {t} WHERE age > 14",
    "sum(cost) AS s, count(cost) AS n FROM {t} WHERE age > 14 OR sex = 'M'",
    "sex, count(*) AS n, avg(cost) AS a FROM {t} GROUP BY sex",
    "sex, count(DISTINCT ill) AS n FROM {t} WHERE age < 21 GROUP BY sex",
    "ill, count(*) AS n, sum(cost) AS s FROM {t} WHERE age < 22 GROUP BY ill",
    "ill, avg(cost) AS a, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) AS m FROM {t} WHERE age < 22 GROUP BY ill",
    "avg(cost) AS a, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) AS m FROM {t} WHERE age BETWEEN 12 AND 23",
    "count(*) AS n FROM {t} WHERE ill = 'a' AND age BETWEEN 12 AND 23",
    "100.0 * count(*) FILTER (WHERE sex = 'F') / count(*) AS n FROM {t} WHERE age < 22",
    "ill, 100.0 * count(*) FILTER (WHERE age < 15) / count(*) AS n FROM {t} GROUP BY ill",
    "age, count(*) AS n FROM {t} WHERE ill <> 'b' GROUP BY age",
]


@contextmanager
def _asked_of(db: sqlanon.Database, kept: bool) -> Iterator[None]:
    """Let queries keep nothing, or keep what they ask for at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_steps, "FEWEST_ROWS", 0 if kept else 1 << 60)
        patch.setattr(value_steps, "_BITS", 2)
        patch.setattr(kept_classes, "_FEWER", 0)
        patch.setattr(kept_classes, "FEWEST_ROWS", 0)
        patch.setattr(kept_classes, "MOST_TABLES", 64 if kept else 0)
        db._forget_queries()
        yield


COLUMNS = [
    quasi("age", "integer", "INTEGER"),
    Given("sex", "quasi", "text", "TEXT", (("sex", "TEXT[]"),), "nominal"),
    plain("ill", "text", "TEXT", role="sensitive"),
    plain("cost", "integer", "INTEGER"),
]


SMALL = [[(10, "F", "a", "1")] * 7, [(30, "M", "b", "2")] * 5]


def _publish(db: Any, name: str, classes: Sequence[Sequence[tuple[int, str, str, str]]]) -> None:
    """A release with these classes, as a run writes it: the token identifies the version."""
    rows = []
    for one in classes:
        ages, sexes = [row[0] for row in one], sorted({row[1] for row in one})
        box = [str(min(ages)), str(max(ages)), f"ARRAY[{', '.join(map(repr, sexes))}]"]
        rows += [[*box, repr(ill), cost] for _, _, ill, cost in one]
    publish(db, name, COLUMNS, rows, attained=["age", "sex"], facts={"token": uuid.uuid4().hex})


def _drawn(rng: random.Random, classes: int, size: int = 6) -> list[list[tuple[int, str, str, str]]]:
    made = []
    for _ in range(classes):
        low, sexes = rng.randint(8, 26), rng.choice(["F", "M", "FM"])
        costs = ["NULL", *(str(rng.randint(-90000, 90000)) for _ in range(3)), str(rng.randint(-9, 9))]
        made.append(
            [(low + rng.randint(0, 4), rng.choice(sexes), rng.choice("abc"), rng.choice(costs)) for _ in range(size)]
        )
    return made


@pytest.fixture(scope="module")
def table(shared_db: Any) -> str:
    """A release of 120 rows with wide costs, some of them unknown."""
    _publish(shared_db, "kept", _drawn(random.Random(7), 20))
    return "kept"


@pytest.fixture
def duckdb_db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A new file, of whose small releases classes are kept."""
    monkeypatch.setattr(kept_classes, "FEWEST_ROWS", 0)
    duckdb.connect(str(tmp_path / "kept.duckdb")).close()
    with sqlanon.connect(f"duckdb:///{tmp_path / 'kept.duckdb'}") as db:
        yield db


def _answer(db: sqlanon.Database, text: str) -> list[Any]:
    """The cells, estimates rounded: they are sums of floating point numbers."""

    def plain(cell: Any) -> Any:
        if not hasattr(cell, "low"):
            return cell
        estimate = None if cell.estimate is None else round(float(cell.estimate), 6)
        return cell.low, cell.high, cell.undefined_possible, estimate

    answer = db.query(text)
    cells = [tuple(plain(row[name]) for name in answer.columns) for row in answer.rows]
    return sorted(zip(cells, answer.certain, strict=True), key=repr)


@pytest.mark.parametrize("query", QUERIES)
def test_kept_classes_give_the_answer_of_the_view(shared_db: Any, table: str, query: str) -> None:
    text = f"SELECT {query.format(t=table)}"
    with _asked_of(shared_db, kept=False):
        plain = _answer(shared_db, text)
    with _asked_of(shared_db, kept=True):
        answers = [_answer(shared_db, text) for _ in range(3)]
    assert answers == [plain] * 3


def test_a_table_is_made_once_a_version_is_asked_again_and_dropped_with_it(duckdb_db: Any) -> None:
    db, text = duckdb_db, "SELECT count(*) AS n FROM people WHERE age < 17"
    _publish(db, "people", _drawn(random.Random(1), 8))
    db.query(text)
    assert _tables(db) == []
    again = db.query(text)
    (made,) = _tables(db)
    assert made in again.sql
    db.engine.execute("DROP TABLE release.people; DROP TABLE release.people_metadata")
    _publish(db, "people", SMALL)
    bounds = db.query(text).rows[0]["n"]
    assert (bounds.low, bounds.high) == (7, 7)
    assert made not in _tables(db)


@contextmanager
def _rolled_back(db: Any) -> Iterator[None]:
    """A transaction of the caller's that ends with a rollback."""
    db.engine.execute("BEGIN")
    yield
    db.engine.execute("ROLLBACK")


def test_no_table_is_made_or_dropped_within_a_transaction_of_the_caller(duckdb_db: Any) -> None:
    """Its rollback would undo that, and a query over a table that is gone would end the next transaction."""
    db, text = duckdb_db, "SELECT count(*) AS n FROM people WHERE age < 17"
    _publish(db, "people", SMALL)
    with _rolled_back(db):
        assert [db.query(text).rows[0]["n"].low for _ in range(3)] == [7, 7, 7]
        assert _tables(db) == []
    assert [db.query(text).rows[0]["n"].low for _ in range(3)] == [7, 7, 7]
    made = _tables(db)
    assert len(made) == 1
    with _rolled_back(db):
        db._forget_queries()
        assert _tables(db) == made
    db.query(text)
    db.query(text)
    assert len(_tables(db)) == 1
    assert _tables(db) != made


def test_a_kept_table_does_not_answer_for_a_view_that_is_gone(duckdb_db: Any) -> None:
    db, text = duckdb_db, "SELECT count(*) AS n FROM release.people WHERE age < 17"
    _publish(db, "people", SMALL)
    for _ in range(3):
        db.query(text)
    assert _tables(db)
    db.engine.execute("DROP TABLE release.people")  # the metadata stay
    with pytest.raises(SqlanonError):
        db.query(text)


def test_columns_of_kept_tables_are_none_of_the_release(duckdb_db: Any) -> None:
    """Names are compared without case, and ``n`` is also the number of rows."""
    db = duckdb_db
    names = [Given(name, "quasi", "text", "TEXT", ((name, "TEXT[]"),), "nominal") for name in ("N", "n_1", "Na0")]
    rows = [["ARRAY['a']", "ARRAY['b']", f"ARRAY['{letter}']", "5"] for letter in "ccccdd"]
    publish(db, "people", [*names, COLUMNS[3]], rows, attained=["N"], facts={"token": uuid.uuid4().hex})
    text = """SELECT count(*) AS n, sum(cost) AS s FROM people WHERE "Na0" = 'c'"""
    for _ in range(3):
        row = db.query(text).rows[0]
        assert (row["n"].low, row["n"].high, row["s"].low, row["s"].high) == (4, 4, 20, 20)
    assert _tables(db)


def test_a_connection_keeps_few_tables_of_all_releases(duckdb_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    db = duckdb_db
    monkeypatch.setattr(kept_classes, "MOST_TABLES", 2)
    for name in ("one", "two", "three"):
        _publish(db, name, SMALL)
        assert [db.query(f"SELECT count(*) AS n FROM {name} WHERE age < 17").rows[0]["n"].low for _ in "ab"] == [7, 7]
    assert len(_tables(db)) == 2


def test_a_table_that_cannot_be_made_is_not_needed(duckdb_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    db = duckdb_db
    _publish(db, "people", SMALL)
    monkeypatch.setattr(kept_classes, "MOST_CLASSES", -2)  # which DuckDB refuses as a LIMIT
    bounds = [db.query("SELECT count(*) AS n FROM people WHERE age < 17").rows[0]["n"] for _ in range(3)]
    assert [(one.low, one.high) for one in bounds] == [(7, 7)] * 3
    assert _tables(db) == []


def _tables(db: sqlanon.Database) -> list[str]:
    found = db.engine.fetch("SELECT table_name FROM duckdb_tables() WHERE temporary AND table_name LIKE '%classes'")
    return [str(row[0]) for row in found]


def test_a_table_with_hardly_fewer_rows_than_the_view_is_not_kept(duckdb_db: Any) -> None:
    db = duckdb_db
    _publish(db, "people", [[(age, "F", "a", "1")] for age in range(10, 20)])
    for _ in range(3):
        db.query("SELECT count(*) AS n FROM people WHERE age < 17")
    (known,) = db._asked.values()
    kept = known.released.known[KeptClasses]
    assert list(kept.tables.values()) == [False]
    assert _tables(db) == []


@pytest.mark.parametrize("seed", range(3))
def test_steps_find_the_best_average_and_the_ranks(shared_db: Any, seed: int) -> None:
    """Of rows that surely count and others: every subset of the others is tried."""
    rng = random.Random(seed)
    name = f"steps{seed}"
    sure = [rng.randint(-70000, 70000) for _ in range(rng.randint(0, 4))]
    free = [rng.choice([rng.randint(-70000, 70000), rng.randint(-9, 9)]) for _ in range(8)]
    boxes = [[(10, "F", "a", str(cost))] for cost in sure]
    mixed = [(age, "F", "a", str(cost)) for age, cost in zip([10, 11] * 4, free, strict=True)]
    _publish(shared_db, name, [*boxes, mixed])
    text = f"SELECT avg(cost) AS a, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) AS m FROM {name} WHERE age = 10"
    with _asked_of(shared_db, kept=True):
        row = shared_db.query(text).rows[0]
    free_sets = [list(one) for size in range(1, 8) for one in itertools.combinations(free, size)]
    chosen = [[*sure, *one] for one in free_sets]  # one at least has age 10, one another
    averages = [sum(one) / len(one) for one in chosen]
    medians = [_median(one) for one in chosen]
    # The bounds are of any number of the uncertain rows, none of them and all of them included.
    averages += [sum(one) / len(one) for one in ([*sure], [*sure, *free]) if one]
    medians += [_median(one) for one in ([*sure], [*sure, *free]) if one]
    assert float(row["a"].low) == pytest.approx(min(averages), abs=1e-9)
    assert float(row["a"].high) == pytest.approx(max(averages), abs=1e-9)
    assert float(row["m"].low) <= min(medians) <= max(medians) <= float(row["m"].high)


def _median(values: list[int]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2
