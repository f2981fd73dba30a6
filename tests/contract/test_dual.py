"""The dual problem end to end.

Every method that solves it keeps to the bound, and reports the privacy that it reached.
"""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cases import QI, Case
from tests.contract.dual import Bound, classes_of, line, numbered, privacy
from tests.contract.samples import DATES, MIXED, NUMBERS, TREES
from tests.covering import seeds
from tests.oracle import dual as oracle

ONE_DIMENSIONAL = ("hilbert", "idistance", "tree")
WAYS = [
    *((goal, {"name": name}) for goal in ("k", "l") for name in (*ONE_DIMENSIONAL, "mondrian")),
    *(("l", {"name": name, "solver": "ipcsd"}) for name in ONE_DIMENSIONAL),
    ("l", {"name": "hilbert", "solver": "ac"}),
    ("l", {"name": "mondrian", "cut": "median"}),
]
BOUNDS = {
    "mixed": [Bound(Fraction(0)), Bound(Fraction(3, 10)), Bound(Fraction(1)), Bound(Fraction(1, 2), {"age": 13})],
    "tree": [Bound(Fraction(2, 5)), Bound(None, {"city": 3, "n": 4}), Bound(None, {"level": 1, "city": 0})],
    "numbers": [Bound(None, {"d": Fraction("0.1"), "big": 1}), Bound(Fraction(1, 3), {"f": 2})],
    "dates": [Bound(None, {"day": 1, "at": 0}), Bound(Fraction(1, 5), {"rank": 1})],
}


def asked() -> list[Any]:
    return [
        pytest.param(case, bound, goal, method, id=f"{case.name}-{bound}-{goal}-{'-'.join(method.values())}")
        for case in map(numbered, (MIXED, TREES, NUMBERS, DATES))
        for bound in BOUNDS[case.name]
        for goal, method in WAYS
        if goal == "k" or case.sensitive
    ]


@pytest.mark.cover("goal method", "case goal")
@pytest.mark.parametrize(("case", "bound", "goal", "method"), asked())
def test_bound_holds_on_both_engines(
    both_dbs: tuple[Any, ...], case: Case, bound: Bound, goal: str, method: dict[str, str], tmp_path: Path
) -> None:
    found = []
    for db in both_dbs:
        classes, report = classes_of(
            db, case, tmp_path, method=method, maximize=goal, at_least={goal: 1}, **bound.arguments
        )
        assert report.verified
        assert all(bound.holds(case, rows) for rows in classes), [
            rows for rows in classes if not bound.holds(case, rows)
        ]
        k = min(len(rows) for rows in classes)
        asked = {result.name: result.reached for result in report.requirements}
        assert (report.min_class, asked["k"]) == (k, k)
        assert report.notes[0].startswith(f"maximize {goal}: ")
        if goal == "l":
            assert report.pm[case.sensitive[0]] == asked["l"] == pytest.approx(float(privacy(case, classes)))
        if bound.ncp == 1 and not bound.extents and method.get("solver") != "ipcsd" and method["name"] != "mondrian":
            assert len(classes) == 1
        found.append(sorted(map(len, classes)))
    assert found[0] == found[1]


# --- one attribute ----------------------------------------------------------------------------------------------------


LINE_BOUNDS = [Bound(Fraction(1, 3)), Bound(None, {"x": 4}), Bound(Fraction(1, 2), {"x": 5}), Bound(Fraction(0))]


@pytest.mark.cover
@pytest.mark.parametrize("bound", LINE_BOUNDS, ids=str)
@pytest.mark.parametrize("seed", seeds(4))
def test_optimal_is_the_best_of_all_partitions(shared_db: Any, seed: int, bound: Bound, tmp_path: Path) -> None:
    case = line(seed, 8)
    every = {
        goal: oracle.most_private(case.values("s") if goal == "l" else None, 8, lambda rows: bound.holds(case, rows))
        for goal in ("k", "l")
    }
    for goal, method in (("l", {"name": "hilbert", "solver": "optimal"}), ("k", {"name": "hilbert"})):
        classes, report = classes_of(
            shared_db, case, tmp_path, method=method, maximize=goal, at_least={goal: 1}, **bound.arguments
        )
        assert all(bound.holds(case, rows) for rows in classes)
        asked = {result.name: result.reached for result in report.requirements}
        assert asked[goal] == pytest.approx(float(every[goal]))


@pytest.mark.cover
@pytest.mark.parametrize("solver", ["auto", "optimal"])
@pytest.mark.parametrize("sql_type", ["DECIMAL(6,2)", "DOUBLE PRECISION"])
def test_fractions_are_compared_exactly(shared_db: Any, sql_type: str, solver: str, tmp_path: Path) -> None:
    """From 0.1 to 0.4 and from 0.7 to 1.0 it is 0.3, not more: decimals are exact, floats count as they are printed."""
    rows = [("0.1", "a"), ("0.4", "b"), ("0.7", "a"), ("1.0", "b")]
    real = float if sql_type.startswith("DOUBLE") else Decimal
    case = numbered(
        Case("exact", {"x": sql_type, "s": "TEXT"}, tuple((real(x), s) for x, s in rows), {"x": QI()}, ("s",))
    )
    bounds = (
        ({"max_extent": {"x": "0.3"}}, {"max_loss": "1/3"}),
        ({"max_extent": {"x": "0.2999"}}, {"max_loss": "0.333"}),
    )
    for wide, narrow in zip(*bounds, strict=True):
        for bound, expected in ((wide, [[0, 1], [2, 3]]), (narrow, [[0], [1], [2], [3]])):
            method = {"name": "hilbert", "solver": solver}
            classes, _ = classes_of(shared_db, case, tmp_path, method=method, maximize="l", at_least={"l": 1}, **bound)
            assert classes == expected


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("seed", seeds(6, 2))
def test_heuristic_takes_the_paper_s_steps(shared_db: Any, seed: int, tmp_path: Path) -> None:
    """On one column the Hilbert order is that of the values.

    Equal values follow by occurrence, then by sensitive code.
    """
    case = line(seed, 24, values=4)
    table = case.table
    order = sorted(
        range(table.rows), key=lambda row: (table.codes[row], table.occurrence[row], table.sa_codes[row], row)
    )
    values = [table.sa_codes[row][0] for row in order]
    for extent in (2, 5, 9):

        def within(places, extent=extent) -> int | None:
            spread = [case.values("x")[order[place]] for place in places]
            wide = max(spread) - min(spread)
            return wide if wide <= extent else None

        steps = oracle.make_accurate_groups(values, within)
        greedy = oracle.candidates(table.rows, within)
        classes, _ = classes_of(
            shared_db,
            case,
            tmp_path,
            method="hilbert:solver=ac",
            maximize="l",
            at_least={"l": 1},
            max_extent={"x": extent},
        )
        reached = privacy(case, classes)
        # Boxes that are equal are one class for a reader, which is at least as private.
        assert reached >= oracle.find_least_privacy(values, steps) >= oracle.find_least_privacy(values, greedy)
        merged: dict[Any, list[int]] = {}
        for group in steps:
            spread = [case.values("x")[order[place]] for place in group]
            merged.setdefault((min(spread), max(spread)), []).extend(order[place] for place in group)
        # Rows that agree in both columns are divided by a keyed hash, so classes are compared by their values.
        pairs = [*zip(case.values("x"), case.values("s"), strict=True)]
        made, expected = (
            sorted(sorted(pairs[row] for row in rows) for rows in division) for division in (classes, merged.values())
        )
        assert made == expected
        refined, _ = classes_of(
            shared_db, case, tmp_path, method="hilbert", maximize="l", at_least={"l": 1}, max_extent={"x": extent}
        )
        assert privacy(case, refined) >= oracle.find_least_privacy(values, steps)


def test_figure_18(shared_db: Any, tmp_path: Path) -> None:
    """Shaped like the paper's Figure 18, E = 20: PM 7/3 and 2 become 3 and 5/2."""
    xs = [11, 13, 15, 18, 20, 22, 27, 32, 36, 40, 44]
    values = "aabbccaddbc"
    case = numbered(
        Case("fig18", {"x": "INTEGER", "s": "TEXT"}, tuple(zip(xs, values, strict=True)), {"x": QI()}, ("s",))
    )
    classes, report = classes_of(
        shared_db, case, tmp_path, method="hilbert", maximize="l", at_least={"l": 2}, max_extent={"x": 20}
    )
    assert [oracle.privacy(values, rows) for rows in classes] == [Fraction(3), Fraction(5, 2)]
    assert report.pm == {"s": 2.5}
    assert "reached k = 5, l = 2.5 of s" in report.notes[0]


# --- rows in any order, and columns without an extent
# -------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("method", ONE_DIMENSIONAL)
def test_pushdown_gives_the_same_classes(shared_db: Any, method: str, tmp_path: Path) -> None:
    """The engine arranges the rows, the solver is the same."""
    case = numbered(TREES)
    for goal in ("k", "l"):
        found = [
            classes_of(
                shared_db,
                case,
                tmp_path,
                method=method,
                maximize=goal,
                at_least={goal: 1},
                max_loss="0.4",
                execution=execution,
            )
            for execution in ("kernel", "pushdown")
        ]
        assert found[0][0] == found[1][0]
        assert [report.execution for _, report in found] == ["kernel", "pushdown"]


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("method", ["tree", "hilbert", "mondrian"])
def test_rows_stored_in_another_order(shared_db: Any, method: str, tmp_path: Path) -> None:
    case = numbered(MIXED)
    order = random.Random(5).sample(range(len(case.rows)), len(case.rows))
    sizes = []
    for each in (case, replace(case, rows=tuple(case.rows[i] for i in order))):
        source = {"method": method, "maximize": "l", "at_least": {"l": 1}, "max_loss": "0.4"}
        found, report = _sizes(shared_db, each, tmp_path, **source)
        sizes.append((found, report.pm))
    assert sizes[0] == sizes[1]


def _sizes(db: Any, case: Case, directory: Path, **arguments: Any) -> tuple[list[int], Any]:
    source = case.create(db)
    given = {k: v for k, v in case.arguments(directory).items() if k not in ("k", "l", "distinct_l", "joint")}
    report = db.anonymize(source, **{**given, "seed": 1, **arguments}).report
    return [report.classes, report.min_class, report.max_class], report


def crowd(columns: int) -> Case:
    """600 rows of a column that has an extent, and others that have none."""
    rng = random.Random(columns)
    given = random.Random(9)
    rows = [
        (given.randint(0, 60), given.choice("abcde"), *(rng.randint(0, 200) for _ in range(columns)))
        for _ in range(600)
    ]
    others = {f"free{i}": "INTEGER" for i in range(columns)}
    return numbered(
        Case(
            "crowd",
            {"x": "INTEGER", "s": "TEXT", **others},
            tuple(rows),
            {name: QI() for name in ("x", *others)},
            ("s",),
        )
    )


@pytest.mark.cover
@pytest.mark.parametrize("name", ONE_DIMENSIONAL)
@pytest.mark.parametrize("goal", ["k", "l"])
def test_columns_without_an_extent_cost_no_privacy(shared_db: Any, name: str, goal: str, tmp_path: Path) -> None:
    """They cannot make a class too wide, so an order that lets them scatter the others would throw privacy away."""
    asked = {"method": name, "maximize": goal, "at_least": {goal: 1}, "max_extent": {"x": 10}}
    reached = []
    for columns in (0, 3):
        case = crowd(columns)
        classes, report = classes_of(shared_db, case, tmp_path, **asked)
        reached.append(report.min_class if goal == "k" else privacy(case, classes))
    alone, among = reached
    assert alone > 3
    assert among >= (alone if name != "idistance" else alone * Fraction(2, 3))  # other centres


@pytest.mark.thorough
def test_a_narrow_extent_leads_the_order(shared_db: Any, tmp_path: Path) -> None:
    """Extents of 1 out of 20 and 100 out of 200.

    Along a curve of equal sides k is at most 24, here 190 rows lie in a box.
    """
    rng = random.Random(3)
    rows = tuple((rng.randint(0, 20), rng.randint(0, 200)) for _ in range(4000))
    case = numbered(Case("narrow", {"x": "INTEGER", "y": "INTEGER"}, rows, {"x": QI(), "y": QI()}, ()))
    for name in ("hilbert", "tree"):
        _, report = classes_of(
            shared_db, case, tmp_path, method=name, maximize="k", at_least={"k": 1}, max_extent={"x": 1, "y": 100}
        )
        assert report.min_class > 40
