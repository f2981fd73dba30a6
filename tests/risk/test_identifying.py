"""Distinction and separation of sets of columns, by comparing rows in Python."""

from __future__ import annotations

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import sqlanon
from sqlanon.risk.identifying_columns import MOST_COLUMNS
from tests.engines import create_table
from tests.invoked import invoke

# Motwani and Xu 2007, table 1.
COLUMNS = {"age": "INTEGER", "sex": "VARCHAR(9)", "state": "VARCHAR(9)"}
PAPER = [(20, "Female", "CA"), (30, "Female", "CA"), (40, "Female", "TX"), (20, "Male", "NY"), (40, "Male", "CA")]


def measures(rows: list[tuple[Any, ...]], places: tuple[int, ...]) -> tuple[float, float]:
    keys = [tuple(row[i] for i in places) for row in rows]
    pairs = list(combinations(keys, 2))
    return len(set(keys)) / len(rows), sum(one != other for one, other in pairs) / len(pairs) if pairs else 1.0


def found(report: Any) -> dict[tuple[str, ...], tuple[float, float]]:
    return {one.columns: (one.distinction, one.separation) for one in report.sets}


def check(db: Any, columns: dict[str, str], rows: list[tuple[Any, ...]]) -> Any:
    create_table(db, table := f"t_{uuid4().hex[:8]}", columns, rows)
    report = db.find_quasi(table)
    places = [p for size in range(1, len(columns) + 1) for p in combinations(range(len(columns)), size)]
    names = list(columns)
    wanted = {tuple(names[i] for i in p): pytest.approx(measures(rows, p)) for p in places}
    assert found(report) == wanted
    assert report.exhaustive
    order = [(len(one.columns), -one.distinction) for one in report.sets]
    assert order == sorted(order)
    return report


def test_the_example_of_the_paper(shared_db: Any) -> None:
    """Age is 0.6-distinct and 0.8-separated, sex and state 0.8-distinct and 0.9-separated."""
    report = check(shared_db, COLUMNS, PAPER)
    assert found(report)["age",] == pytest.approx((0.6, 0.8))
    assert found(report)["sex", "state"] == pytest.approx((0.8, 0.9))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
def test_random_tables(shared_db: Any, seed: int) -> None:
    """Repeated rows, NULL, ``*``, a key, and a column that says nothing."""
    rng = random.Random(seed)
    columns = {"a": "INTEGER", "b": "VARCHAR(9)", "c": "INTEGER", "d": "INTEGER", "e": "INTEGER"}
    rows = [
        (
            rng.choice([1, 2, None]),
            rng.choice(["x", "*", None]),
            rng.randrange(9),
            7,
            i if seed % 2 else rng.randrange(3),
        )
        for i in range(1 + 6 * seed)
    ]
    check(shared_db, columns, rows + rows[: 2 * seed] if seed % 3 else rows)


@pytest.mark.thorough
def test_greedy_beyond_fifteen_columns(shared_db: Any) -> None:
    """Each set is the one before and the column that separates most; the last distinguishes what all columns do."""
    rng = random.Random(1)
    columns = {f"c{i}": "INTEGER" for i in range(17)}
    rows = [tuple(rng.randrange(2 + i % 3) for i in range(17)) for _ in range(60)]
    create_table(shared_db, table := f"t_{uuid4().hex[:8]}", columns, rows)
    report = shared_db.find_quasi(table)
    assert not report.exhaustive
    names, before = list(columns), ()
    for one in report.sets:
        places = tuple(names.index(name) for name in one.columns)
        assert places[:-1] == before
        assert (one.distinction, one.separation) == pytest.approx(measures(rows, places))
        best = max(measures(rows, (*before, i))[1] for i in range(17) if i not in before)
        assert one.separation == pytest.approx(best)
        before = places
    assert measures(rows, before)[0] == measures(rows, tuple(range(17)))[0]


def test_few_rows_and_bad_columns(shared_db: Any) -> None:
    create_table(shared_db, table := f"t_{uuid4().hex[:8]}", COLUMNS, [])
    assert shared_db.find_quasi(table).sets == ()
    with pytest.raises(sqlanon.PolicyError, match="there is no column nope"):
        shared_db.find_quasi(table, columns=["nope"])
    with pytest.raises(sqlanon.PolicyError, match="there is no column to combine"):
        shared_db.find_quasi(table, left_out=list(COLUMNS))
    assert MOST_COLUMNS == 15


@pytest.mark.thorough
def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join(COLUMNS), *(",".join(map(str, row)) for row in PAPER)]) + "\n")
    ended = invoke("audit", path, "--find-qi", "--json")
    assert ended.exit_code == 0
    report = json.loads(ended.stdout)
    assert report["table"] == str(path)
    assert len(report["sets"]) == 7
    shown = invoke("audit", path, "--find-qi", "--sensitive", "state").stdout
    assert "age, sex" in shown
    assert "state" not in shown
    for more, said in (
        (["--threshold", "0.1"], "--find-qi measures columns alone"),
        (["--history", "x"], "audit wants one TABLE"),
    ):
        ended = invoke("audit", path, "--find-qi", *more)
        assert ended.exit_code == 2
        assert said in ended.stderr.replace("\n", " ")
