"""Method suppress compares two starts by default: it never hides more values than the cascade, or tree with refine."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.methods.suppress import better
from tests.contract.test_suppress import hidden, release, rows_of

CASCADE = {"method": "suppress:variant=cascade"}
TREE = {"method": "tree", "refine": True}


def unique_rows(n: int, seed: int) -> list[tuple[Any, ...]]:
    """Rows of which no two have the same quasi values."""
    rng = random.Random(seed)
    cells = rng.sample([(a, b, c) for a in range(3) for b in range(3) for c in "uvwx"], n)
    return [(*cell, "pqr"[i % 3]) for i, cell in enumerate(cells)]


def check(db: Any, rows: list[tuple[Any, ...]], k: int, l: int | None) -> bool:  # noqa: E741 - the papers' symbol
    """The default hides as many values as the better start; whether that is the tree."""
    asked: dict[str, Any] = {"k": k, "l": l}
    found, report = release(db, rows, **asked)
    cascade, tree = (hidden(release(db, rows, **asked, **options)[0])[0] for options in (CASCADE, TREE))
    assert report.verified
    assert hidden(found)[0] == report.loss.stars == min(cascade, tree)
    assert Counter(row["s"] for row in found) == Counter(row[3] for row in rows)
    assert (f"suppress: tree with refine hides {tree} values, and the cascade {cascade}" in report.notes) == (
        tree < cascade
    )
    assert ("phase" in report.search) == (l is not None and cascade <= tree)
    return tree < cascade


def test_no_start_hides_fewer_values(shared_db: Any) -> None:
    """Of unique rows a tree hides fewer, of repeated ones the cascade."""
    assert check(shared_db, unique_rows(28, 2), 2, None)
    assert not check(shared_db, rows_of(60, "pqr"), 3, 2)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_no_start_hides_fewer_values_of_many_tables(shared_db: Any, seed: int) -> None:
    for n, k, l in [(21, 4, None), (28, 3, None), (36, 2, 2)]:  # noqa: E741 - the papers' symbol
        check(shared_db, unique_rows(n, seed), k, l)


@pytest.mark.thorough
def test_a_note_says_where_a_start_hides_twice_as_much(shared_db: Any) -> None:
    """Two rows of each b, that are far apart in a: a tree takes rows that are near in both, and hides both."""
    rows = [row for i in range(20) for row in ((i, 3 * i, "x", "p"), (99 - i, 3 * i, "x", "q"))]
    found, report = release(shared_db, rows, k=2, l=None)
    assert hidden(found)[0] == 40
    assert hidden(release(shared_db, rows, k=2, l=None, **TREE)[0])[0] == 80
    assert "suppress: the cascade hides 40 values, and tree with refine 80, 2.0 times as many" in report.notes


@pytest.mark.parametrize("kept", [{"method": "suppress:divide=whole"}, {"suppression": {"limit": 1}}, {}])
def test_the_cascade_alone(shared_db: Any, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no group may be divided, where the last class is capped, and in larger tables."""
    monkeypatch.setattr(better, "choose_better", None)
    if not kept:
        monkeypatch.setattr(better, "MOST_ROWS", 27)
    assert release(shared_db, unique_rows(28, 2), k=2, **kept)[1].verified


@pytest.mark.thorough
def test_both_executions_give_the_same(shared_db: Any) -> None:
    rows = unique_rows(28, 2)
    kernel, pushdown = (release(shared_db, rows, k=2, l=None, execution=one)[0] for one in ("kernel", "pushdown"))
    assert Counter(map(repr, kernel)) == Counter(map(repr, pushdown))


@pytest.mark.parametrize(
    ("cascade", "tree", "said"), [(0, 0, 0), (5, 5, 0), (5, 9, 0), (0, 1, 1), (5, 4, 1), (5, 0, 1)]
)
def test_notes(cascade: int, tree: int, said: int) -> None:
    notes = better._describe(Fraction(cascade), Fraction(tree))
    assert len(notes) == said
    assert all(f" {min(cascade, tree)} values" in note and f" {max(cascade, tree)}" in note for note in notes)
