"""The oracle's Mondrian against worked examples and brute force over cuts and partitions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import pytest

from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.extent import loss
from tests.oracle.mondrian import CUTS, VARIANTS, allowable, mondrian
from tests.oracle.requirements import Privacy, meets


def line(*values: int | None) -> Table:
    return Table((Quasi("x", values),))


def test_second_side_of_the_median_is_tried() -> None:
    assert mondrian(line(0, 0, 1, 1, 2), Privacy(k=2), "strict", "median") == [[0, 1], [2, 3, 4]]


def test_next_attribute_is_tried() -> None:
    table = Table((Quasi("wide", (0, 9, 9, 9)), Quasi("narrow", (0, 0, 1, 1))))
    assert mondrian(table, Privacy(k=2), "strict", "median") == [[0, 1], [2, 3]]


def test_relaxed_divides_equal_rows() -> None:
    assert [len(c) for c in mondrian(line(5, 5, 5, 5, 5), Privacy(k=2), "relaxed", "median")] == [3, 2]


def test_loss_cut_finds_the_gap() -> None:
    assert mondrian(line(0, 1, 2, 90, 91), Privacy(k=2), "strict", "loss") == [[0, 1, 2], [3, 4]]
    assert mondrian(line(0, 1, 2, 90, 91), Privacy(k=2), "relaxed", "loss") == [[0, 1, 2], [3, 4]]


def test_equal_losses_prefer_balance_then_the_first_column() -> None:
    # Cut on x: 2 | 4 rows, cost 4 * 3. Cut on y: 3 | 3 rows, cost 3 * 4.
    x, y = (0, 0, 1, 1, 1, 1), (0, 0, 0, 1, 1, 1)
    uneven = Table((Quasi("x", x, weight=4), Quasi("y", y, weight=3)))
    assert mondrian(uneven, Privacy(k=2), "strict", "loss") == [[0, 1, 2], [3, 4, 5]]
    even = Table((Quasi("x", (0, 1, 0, 1)), Quasi("y", (0, 0, 1, 1))))
    assert mondrian(even, Privacy(k=2), "strict", "loss") == [[0, 2], [1, 3]]


def test_null_is_a_value_of_its_own_and_first() -> None:
    assert mondrian(line(None, 7, None, 8), Privacy(k=2), "strict", "loss") == [[0, 2], [1, 3]]


@pytest.mark.parametrize(
    ("rows", "privacy", "expected"),
    [
        ("aabb", Privacy(l=Fraction(2)), True),
        ("aaab", Privacy(l=Fraction(2)), False),
        ("aab", Privacy(l=Fraction(3, 2)), True),
        ("aab", Privacy(l=Fraction(8, 5)), False),
        ("abc", Privacy(distinct_l=3), True),
        ("abb", Privacy(distinct_l=3), False),
        ("ab", Privacy(k=3), False),
        ("", Privacy(), False),
    ],
)
def test_requirements(rows: str, privacy: Privacy, expected: bool) -> None:
    table = Table((Quasi("x", (0,) * 4),), (Sensitive("s", tuple(f"{rows:4}")),))
    assert meets(table, range(len(rows)), privacy) is expected


def test_joint_holds_within_the_other_attribute() -> None:
    each_but_not_joint = (Sensitive("s", ("a", "a", "b", "b")), Sensitive("t", ("x", "x", "y", "y")))
    both = (Sensitive("s", ("a", "b", "a", "b")), Sensitive("t", ("x", "x", "y", "y")))
    for sensitive, joint in ((each_but_not_joint, False), (both, True)):
        table = Table((Quasi("x", (0,) * 4),), sensitive)
        assert meets(table, range(4), Privacy(distinct_l=2))
        assert meets(table, range(4), Privacy(distinct_l=2, joint=True)) is joint


def tables(count: int) -> Iterator[tuple[Table, Privacy]]:
    rng = random.Random(2006)
    for _ in range(count):
        n, d = rng.randint(2, 12), rng.randint(1, 3)
        quasi = tuple(
            Quasi(
                f"q{j}", tuple(rng.choice([None, 0, 1, 1, 2, 5]) for _ in range(n)), "number", weight=rng.randint(1, 3)
            )
            for j in range(d)
        )
        sensitive = (Sensitive("s", tuple(rng.choice("aabc") for _ in range(n))),)
        privacy = rng.choice([Privacy(k=1), Privacy(k=2), Privacy(k=3), Privacy(k=2, distinct_l=2)])
        table = Table(quasi, sensitive)
        if meets(table, range(n), privacy):
            yield table, privacy


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_classes_partition_the_rows_and_meet_the_requirements(variant: str, cut: str) -> None:
    for table, privacy in tables(150):
        classes = mondrian(table, privacy, variant, cut)
        assert sorted(row for rows in classes for row in rows) == list(range(table.rows))
        assert all(meets(table, rows, privacy) for rows in classes)


def test_strict_classes_have_no_allowable_cut_left() -> None:
    for table, privacy in tables(150):
        for rows in mondrian(table, privacy, "strict", "loss"):
            assert not list(allowable(table, rows, privacy))
        if privacy.distinct_l is None:  # Theorem 4 is about k alone
            for rows in mondrian(table, privacy, "strict", "median"):
                assert not list(allowable(table, rows, privacy))


def test_one_strict_loss_cut_is_the_best_of_all_bipartitions_that_are_cuts() -> None:
    for table, privacy in tables(60):
        classes = mondrian(table, privacy, "strict", "loss")
        if len(classes) != 2:
            continue
        everything = set(range(table.rows))
        prices = []
        for size in range(1, table.rows):
            for left in combinations(range(table.rows), size):
                right = sorted(everything - set(left))
                separated = any(
                    max(table.codes[r][j] for r in left) < min(table.codes[r][j] for r in right)
                    for j in range(len(table.quasi))
                )
                if separated and meets(table, left, privacy) and meets(table, right, privacy):
                    prices.append(loss(table, left) + loss(table, right))
        assert sum(loss(table, rows) for rows in classes) == min(prices)
