"""Mondrian's own examples.

Patients (Figures 3, 4(c), 6, 8), Figure 5 with Lemmas 1 and 2, the second side of a median.
"""

from __future__ import annotations

import uuid
from itertools import product
from typing import Any

import pytest

from tests.engines import create_table, read_table
from tests.oracle.domains import Quasi, Table
from tests.oracle.mondrian import CUTS, allowable, mondrian
from tests.oracle.requirements import Privacy
from tests.paper.patients import classes, release
from tests.properties.kernel import kernel_mondrian

EXECUTIONS = ("kernel", "pushdown")
STRICT = "mondrian:variant=strict,cut=median"
RELAXED = "mondrian:variant=relaxed,cut=median"


@pytest.mark.cover("engine execution")
@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("ordered", [{}, {"sex": "alphabetical"}], ids=["nominal", "alphabetical"])
def test_figure_3_and_8(shared_db: Any, execution: str, ordered: dict[str, str]) -> None:
    """k = 2; the paper assumes an order of Sex, for us that is ``alphabetical``; sets give the same classes."""
    rows = release(shared_db, ["zip", "age", "sex"], k=2, method=STRICT, execution=execution, ordered=ordered)
    sex = ["sex_lo", "sex_hi"] if ordered else ["sex"]
    male, female = (("M", "M"), ("F", "F")) if ordered else ((("M",),), (("F",),))
    assert classes(rows, ["age_lo", "age_hi", *sex, "zip_lo", "zip_hi"]) == {
        (25, 26, *male, 53711, 53711): {1, 3},
        (25, 27, *female, 53712, 53712): {2, 5},
        (27, 28, *male, 53710, 53711): {4, 6},
    }


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_figure_8_means_need_k_of_5(shared_db: Any, execution: str) -> None:
    """Figure 8 publishes means at k = 2; our releases publish means only where k >= 5."""
    from sqlanon.errors import SqlanonError

    with pytest.raises(SqlanonError):
        release(shared_db, ["zip", "age", "sex"], k=2, method=STRICT, execution=execution, mean=["age"])
    rows = release(shared_db, ["age"], k=6, method=STRICT, execution=execution, mean=["age"])
    assert {(row["age_lo"], row["age_hi"]) for row in rows} == {(25, 28)}
    assert {row["age_mean"] for row in rows} == {158 / 6}


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_figure_4c(shared_db: Any, execution: str) -> None:
    """First cut on Zipcode at 53711, then the left side on Age at 26."""
    rows = release(shared_db, ["zip", "age"], k=2, method=STRICT, execution=execution)
    assert classes(rows, ["zip_lo", "zip_hi", "age_lo", "age_hi"]) == {
        (53711, 53711, 25, 26): {1, 3},
        (53710, 53711, 27, 28): {4, 6},
        (53712, 53712, 25, 27): {2, 5},
    }


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_figure_6(shared_db: Any, execution: str) -> None:
    """Relaxed, k = 3, Zipcode alone: three rows of 53711 part company, so that two classes of three remain."""
    rows = release(shared_db, ["zip"], k=3, method=RELAXED, execution=execution)
    found = classes(rows, ["zip_lo", "zip_hi"])
    assert {box: len(members) for box, members in found.items()} == {(53710, 53711): 3, (53711, 53712): 3}
    assert 4 in found[53710, 53711]
    assert {2, 5} < found[53711, 53712]
    (single,) = {
        tuple(len(m) for m in classes(r, ["zip_lo", "zip_hi"]).values())
        for r in [release(shared_db, ["zip"], k=3, method=STRICT, execution=execution)]
    }
    assert single == (6,)  # "under the strict model, we would need to recode ... to [53710-53712]"


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_second_side_of_the_median(shared_db: Any, execution: str) -> None:
    """Figure 7 tries ``<= median`` only, and would not reach Theorem 4 on these five points."""
    name = f"line_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, name, {"x": "INTEGER"}, [(x,) for x in (0, 0, 1, 1, 2)])
    shared_db.anonymize(name, quasi="x", k=2, method=STRICT, execution=execution)
    rows = read_table(shared_db, ("release", name))
    assert sorted((r["x_lo"], r["x_hi"]) for r in rows) == [(0, 0), (0, 0), (1, 2), (1, 2), (1, 2)]


def uncuttable(d: int, k: int, m: int) -> list[tuple[int, ...]]:
    """Lemma 1: m copies of a centre, and k - 1 copies of its two neighbours on every axis."""
    centre = (1,) * d
    points = [centre] * m
    for axis in range(d):
        for step in (0, 2):
            points += [(*centre[:axis], step, *centre[axis + 1 :])] * (k - 1)
    assert len(points) == 2 * d * (k - 1) + m
    return points


def as_table(points: list[tuple[int, ...]]) -> Table:
    return Table(tuple(Quasi(f"x{j}", values) for j, values in enumerate(zip(*points, strict=True))))


GRID = [(d, k, m) for d, k, m in product((1, 2, 3, 4), (2, 3, 5), (1, 2, 6)) if m >= k - 1]
"""m is the most copies of any point, so at least the k - 1 copies of a neighbour."""


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(("d", "k", "m"), GRID)
def test_lemmas_1_and_2(d: int, k: int, m: int, cut: str) -> None:
    """No cut of 2d(k-1)+m points; one more gives one, unless it is a copy of the centre (which raises m)."""
    points = uncuttable(d, k, m)
    privacy = Privacy(k=k)
    for extra in [None, *sorted(set(points))]:
        table = as_table(points if extra is None else [*points, extra])
        blocked = extra is None or extra == (1,) * d
        assert bool(list(allowable(table, range(table.rows), privacy))) is not blocked
        assert (len(mondrian(table, privacy, "strict", cut)) == 1) is blocked
        assert (len(kernel_mondrian(table, privacy, "strict", cut)) == 1) is blocked


@pytest.mark.cover("engine execution")
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("execution", EXECUTIONS)
def test_figure_5(shared_db: Any, execution: str, cut: str) -> None:
    """Two dimensions: (a) has no allowable cut, (b) is (a) and one point, and has one."""
    points = uncuttable(2, 3, 3)
    for extra, count in (([], 1), ([(0, 1)], 2)):
        name = f"points_{uuid.uuid4().hex[:8]}"
        create_table(shared_db, name, {"x": "INTEGER", "y": "INTEGER"}, [*points, *extra])
        release = shared_db.anonymize(
            name, quasi=["x", "y"], k=3, method=f"mondrian:variant=strict,cut={cut}", execution=execution
        )
        assert release.report.classes == count
        assert release.report.rows == len(points) + len(extra)
