"""The oracle's one-dimensional methods and TopDown against worked examples, published numbers and brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import islice

import pytest

from tests.oracle.divisions import OBJECTIVES, runs, wide
from tests.oracle.domains import SCALE, Quasi, Sensitive, Table
from tests.oracle.methods import ORACLES
from tests.oracle.orders import ORDERS, Ordered, axis, by_spread, cell, count_grid_bits, hilbert, idistance, tree
from tests.oracle.requirements import Privacy, feasible, meets
from tests.oracle.solvers import find_best_runs, lawful, solve
from tests.oracle.test_mondrian import tables
from tests.oracle.topdown import topdown, words


def line(*values: int | None) -> Table:
    return Table((Quasi("x", values),))


def test_null_takes_the_lower_end_and_values_the_upper_half() -> None:
    assert axis(Quasi("x", (1, 3, 2))) == [0, SCALE, SCALE // 2]
    assert axis(Quasi("x", (1, None, 3))) == [SCALE // 2, 0, SCALE]
    assert axis(Quasi("x", ("a", "b", "a", None), "nominal")) == [SCALE // 2, SCALE, SCALE // 2, 0]
    assert axis(Quasi("x", (None, None))) == [0, 0]


def test_a_grid_distinguishes_places() -> None:
    assert count_grid_bits(line(0, 1)) == 1
    assert count_grid_bits(line(0, 1, 3)) == 2
    assert [cell(axis(Quasi("x", (0, 1, 3)))[i], 2) for i in range(3)] == [0, 1, 3]
    # Scaled to the grid, 700000 and 700001 lie just around a multiple of 32.
    assert count_grid_bits(line(0, 700000, 700001, 2**20)) == 15


def test_axes_by_spread() -> None:
    narrow, far = Quasi("n", (0, 4, 5, 5, 6, 10)), Quasi("f", (0, 0, 0, 9, 9, 9))
    assert by_spread(Table((narrow, far))) == [1, 0]
    assert by_spread(Table((narrow, narrow))) == [0, 1]


@pytest.mark.parametrize("order", ["hilbert", "idistance", "tree"])
def test_one_attribute_s_order_is_its_values(order: str) -> None:
    """With as many centres as points, iDistance is the curve too."""
    assert ORDERS[order](line(5, 1, None, 9, 3), 0).rows == [2, 1, 4, 0, 3]


def test_a_square_is_walked_round() -> None:
    square = Table((Quasi("x", (0, 1, 0, 1)), Quasi("y", (0, 0, 1, 1))))
    assert hilbert(square, 0).line == [0, 1, 2, 3]
    assert hilbert(square, 0).rows in ([0, 1, 3, 2], [0, 2, 3, 1])
    assert idistance(square, 0).rows == hilbert(square, 0).rows
    assert tree(square, 0).rows == [0, 2, 1, 3]


def test_equal_rows_alternate_their_sensitive_values() -> None:
    table = Table((Quasi("x", (0,) * 5),), (Sensitive("s", tuple("aaabb")),))
    for order in ORDERS.values():
        assert order(table, 0).rows == [0, 3, 1, 4, 2]


def test_best_runs_are_the_best_of_all_divisions() -> None:
    for table, privacy in tables(80):
        rows = range(table.rows)
        ones = [1] * table.rows
        for minimize, score in zip(("gcp", "sum", "max"), OBJECTIVES, strict=True):
            found = find_best_runs(ones, privacy.k, lambda a, b: wide(table, rows[a:b]), minimize)  # noqa: B023
            assert [row for run in found for row in run] == list(rows)
            every = runs(rows, lambda run: len(run) >= privacy.k)  # noqa: B023
            assert score(table, found) == min(score(table, each) for each in every)


def test_of_equal_divisions_the_last_run_is_the_shortest() -> None:
    assert solve(line(*[7] * 5), Ordered([0, 1, 2, 3, 4]), Privacy(k=2), False, "gcp") == [[0, 1, 2], [3, 4]]


def test_lawful_runs_meet_the_requirements_and_are_the_best_for_k_and_distinct_l() -> None:
    rng = random.Random(44)
    for table, privacy in tables(120):
        diverse = rng.choice([privacy, Privacy(k=2, l=Fraction(3, 2))])
        if not feasible(table, diverse):
            continue
        found = lawful(table, range(table.rows), diverse)
        assert [row for run in found for row in run] == list(range(table.rows))
        assert all(meets(table, run, diverse) for run in found)
        if diverse.l is None and table.rows < 10:
            every = runs(range(table.rows), lambda run: meets(table, run, diverse))  # noqa: B023
            assert OBJECTIVES[0](table, found) == min(OBJECTIVES[0](table, each) for each in every)


def test_words_are_those_of_splitmix64() -> None:
    """The numbers that the generator's users publish for the seed 1234567."""
    assert list(islice(words(1234567), 5)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_topdown_s_classes_have_k_rows() -> None:
    for table, privacy in tables(80):
        for seed in range(2):
            classes = topdown(table, privacy.k, seed)
            assert sorted(row for rows in classes for row in rows) == list(range(table.rows))
            assert all(len(rows) >= privacy.k for rows in classes)
    assert sorted(topdown(line(0, 1, 2, 90, 91, 92), 3, 1)) == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", ORACLES)
def test_an_option_never_takes_more_than_the_method(name: str) -> None:
    for kinds in ORACLES[name].unless.values():
        assert kinds < ORACLES[name].takes
