"""Requirements that are equal are solved alike; several of them are where a column has two values, or l is 2."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.privacy.diversity.requirement import FrequencyDiversity
from sqlanon.privacy.entropy.requirement import EntropyDiversity
from sqlanon.privacy.recursive.requirement import RecursiveDiversity


def is_allowed(bound: object, larger: int, rows: int) -> bool:
    assert isinstance(bound, FrequencyDiversity)
    return larger * bound.asked <= rows


@pytest.mark.parametrize("asked", ["1", "1.0001", "1.3", "1.649", "1.8888", "1.99999", "2"])
def test_entropy_of_two_values_is_a_bound_on_the_larger_share(asked: str) -> None:
    bound = EntropyDiversity(Fraction(asked), "s", 0).in_best_form(2)
    with localcontext() as context:
        context.prec = 40
        for rows in range(1, 60):
            for larger in range((rows + 1) // 2, rows + 1):
                counts = [Decimal(n) / rows for n in (larger, rows - larger) if n]
                entropy = -sum((share * share.ln() for share in counts), Decimal(0))
                enough = entropy >= Decimal(asked).ln() - Decimal("1e-30")
                assert is_allowed(bound, larger, rows) == enough


@pytest.mark.parametrize("c", ["4", "1.5", "7/3", "1.0001"])
def test_recursive_diversity_of_two_values_is_one_too(c: str) -> None:
    bound = RecursiveDiversity(Fraction(2), "s", 0, (), Fraction(c)).in_best_form(2)
    for rows in range(1, 60):
        for larger in range((rows + 1) // 2, rows + 1):
            assert is_allowed(bound, larger, rows) == (larger < Fraction(c) * (rows - larger))


def partitions(rows: int, most: int) -> Iterator[list[int]]:
    """Every way to count so many rows by value, the most frequent value first."""
    if not rows:
        yield []
    for first in range(min(rows, most), 0, -1):
        for rest in partitions(rows - first, first):
            yield [first, *rest]


@pytest.mark.parametrize("c", ["4", "1", "1/2", "2/3", "1/7", "11/12", "1.0001"])
@pytest.mark.parametrize("l", [1, 2])
def test_recursive_diversity_from_the_second_value_on_is_one_of_any_values(l: int, c: str) -> None:  # noqa: E741 - the papers' symbol
    """Every class of up to 12 rows: 271 multisets of counts."""
    bound = RecursiveDiversity(Fraction(l), "s", 0, (), Fraction(c)).in_best_form(12)
    for rows in range(1, 13):
        for counts in partitions(rows, rows):
            assert is_allowed(bound, counts[0], rows) == (counts[0] < Fraction(c) * sum(counts[l - 1 :]))


@pytest.mark.parametrize(
    ("other", "values"),
    [
        (EntropyDiversity(Fraction(3), "s", 0), 2),
        (EntropyDiversity(Fraction(2), "s", 0), 3),
        (RecursiveDiversity(Fraction(3), "s", 0, (), Fraction(4)), 2),
        (RecursiveDiversity(Fraction(1), "s", 0, (), Fraction(1, 10**12)), 2),
    ],
)
def test_what_is_no_bound_on_a_share_stays(other: Any, values: int) -> None:
    assert other.in_best_form(values) is other


@pytest.fixture
def skewed(db: Any) -> Any:
    """600 rows, of which 76 % have one sensitive value: more often on one side."""
    rng = random.Random(4)
    rows = [(i, rng.randint(0, 99), rng.randint(0, 99)) for i in range(600)]
    values = ", ".join(f"({i}, {x}, {y}, {int(rng.random() * 100 < 26 + (x - 50) / 2)})" for i, x, y in rows)
    db.engine.execute("CREATE TABLE t (id INTEGER, x INTEGER, y INTEGER, s INTEGER)")
    db.engine.execute(f"INSERT INTO t VALUES {values}")
    return db


EQUAL: list[dict[str, Any]] = [
    {"l": 1.25},
    {"alpha": 0.8},
    {"l": 1.25, "alpha": 0.8},
    {"entropy_l": 1.649384},  # e to the entropy of 0.8 and 0.2 is 1.6493848
    {"entropy_l": 1.649},  # a larger share is 0.80017, which no class of 600 rows has
    {"recursive_cl": {"c": "4.00001", "l": 2}},
    {"recursive_cl": {"c": "4.00001", "l": 2}, "alpha": 0.8},
]


OF_THREE: list[dict[str, Any]] = [{"l": 1.25}, {"recursive_cl": {"c": "4.00001", "l": 2}}]


@pytest.mark.parametrize(("method", "values"), [("tree", 2), ("mondrian", 2), ("tree", 3)])
def test_equal_requirements_lose_the_same(skewed: Any, method: str, values: int) -> None:
    if values == 3:
        skewed.engine.execute("UPDATE t SET s = 2 WHERE s = 1 AND x % 3 = 0")
    lost = list_lost(skewed, EQUAL if values == 2 else OF_THREE, {"method": method})
    assert len(set(lost)) == 1


@pytest.mark.thorough
def test_equal_requirements_lose_the_same_by_default(skewed: Any) -> None:
    """The default runs two methods and anneals the better classes."""
    lost = list_lost(skewed, EQUAL, {"effort": "normal"})
    assert len(set(lost)) == 1
    assert lost[0][0] <= list_lost(skewed, EQUAL[:1], {"method": "tree"}, "plain")[0][0]


def list_lost(skewed: Any, requirements: list[dict[str, Any]], how: dict[str, Any], name: str = "r") -> list[Any]:
    """Loss and classes of a release for each of the requirements."""
    lost = []
    for number, asked in enumerate(requirements):
        report = skewed.anonymize(
            "t",
            quasi=["x", "y"],
            sensitive="s",
            identifiers="id",
            k=5,
            name=f"{name}{number}",
            publish=f"release.{name}{number}",
            **how,
            **asked,
        ).report
        assert report.verified
        lost.append((report.loss.gcp, report.classes))
    return lost
