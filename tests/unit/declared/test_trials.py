"""The table of trials behind ``refine: true``: fixed, never more for larger classes, and as the documents print it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

import sqlanon
from sqlanon.declared.effort import choose_method
from sqlanon.declared.trials import (
    CLASS,
    FEW,
    LEAST_GAIN,
    ROWS,
    TRIALS,
    WIDE,
    Columns,
    count_trials,
    read_refining,
)
from sqlanon.policy import release
from sqlanon.spec import MAX_SEARCH


def test_the_table() -> None:
    assert len(TRIALS) == len(ROWS) + 1
    assert all(len(row) == len(CLASS) for row in TRIALS)
    assert all(left >= right for row in TRIALS for left, right in pairwise(row))
    assert all(0 <= each <= MAX_SEARCH for row in TRIALS for each in row)


@pytest.mark.parametrize("rows", [1, ROWS[0], ROWS[0] + 1, ROWS[-1], 10**9])
def test_every_table_has_a_number(rows: int) -> None:
    found = [count_trials(rows, least, 5) for least in (1, CLASS[0], CLASS[0] + 1, CLASS[-1], CLASS[-1] + 1)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == 0
    assert count_trials(rows, 10, WIDE + 1) <= count_trials(rows, 10, WIDE)


def test_true_asks_the_table_and_a_number_does_not() -> None:
    chosen = read_refining(release(source="t", quasi="age", k=5, refine=True), 30_000, Columns(1))
    assert chosen is not None
    assert chosen.search == count_trials(30_000, 5, 1)
    diverse = release(source="t", quasi="age", sensitive="d", k=2, l="21/2", refine=True)
    assert getattr(read_refining(diverse, 30_000, Columns(1)), "search", None) == count_trials(30_000, 11, 1)
    for given, search in (({"window": 3}, 0), ({"search": 7}, 7)):
        assert (
            getattr(read_refining(release(source="t", quasi="age", k=5, refine=given), 9, Columns(1)), "search", None)
            == search
        )
    assert read_refining(release(source="t", quasi="age", k=5), 9, Columns(1)) is None


def test_trials_with_hierarchies_go_on_for_smaller_gains() -> None:
    """On Adult with 8 hierarchies and k = 10 trials gain 1 % up to the 24th, and as much again up to the 84th."""
    spec = choose_method(release(source="t", quasi="age", k=10, effort="normal"))
    lines, trees = (read_refining(spec, 30_162, columns) for columns in (Columns(8), Columns(0, 0, 8)))
    assert lines is not None
    assert trees is not None
    assert (lines.least_gain, trees.least_gain) == (LEAST_GAIN["normal"], 0)
    assert trees.search is not None
    assert trees.search >= 64


def test_few_rows_get_all_trials() -> None:
    """60 rows, k = 5: two rounds without a gain ended trials 7.5 % above the least loss, all of them 2.0 %."""
    spec = choose_method(release(source="t", quasi="age", k=5, effort="normal"))
    found = [read_refining(spec, rows, Columns(2)) for rows in (FEW, FEW + 1)]
    assert [each.least_gain for each in found if each] == [0, LEAST_GAIN["normal"]]


def test_the_documents_show_it() -> None:
    text = (Path(__file__).parents[3] / "docs" / "onedim.md").read_text(encoding="utf-8")
    table = text.split("<!-- trials -->")[1].split("\n\n")[0]
    lines = [re.findall(r"[\d,]+", line) for line in table.splitlines() if line.startswith("|")]
    numbers = [[int(each.replace(",", "")) for each in line] for line in lines]
    assert numbers[0] == list(CLASS)
    assert [tuple(line[-len(CLASS) :]) for line in numbers[2:]] == list(TRIALS)
    assert [line[0] for line in numbers[2:-1]] == list(ROWS)


def test_plan_shows_it() -> None:
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute("CREATE TABLE t AS SELECT i // 5 AS age FROM range(40) AS r(i)")
        notes = db.plan(release(source="t", quasi="age", k=5, refine=True)).notes
        assert f"refine: search={TRIALS[0][0]}, {TRIALS[0][0]} trials for every class that loses something" in notes
        assert not db.plan(release(source="t", quasi="age", k=5, refine={"search": 0})).notes
