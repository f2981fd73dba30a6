"""The Mondrian kernel on random integer codes: equal to the oracle, and within the paper's bounds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given

from tests.contract.cases import Case
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.mondrian import CUTS, VARIANTS, mondrian
from tests.oracle.requirements import Privacy, feasible, meets
from tests.properties.kernel import counted_mondrian, grouped_mondrian, kernel_mondrian
from tests.properties.strategies import cases, examples


def same(case_or_table: Case | Table, privacy: Privacy, variant: str, cut: str) -> None:
    """The kernel's classes are the oracle's, in the same order."""
    table = case_or_table.table if isinstance(case_or_table, Case) else case_or_table
    expected = [sorted(rows) for rows in mondrian(table, privacy, variant, cut)]
    found = [kernel_mondrian(table, privacy, variant, cut)]
    if (variant, cut) == ("strict", "loss"):
        # As large partitions are cut, and with one row for all that are equal.
        found.append(counted_mondrian(table, privacy))
        if privacy == Privacy(k=privacy.k):
            found += [grouped_mondrian(table, privacy.k, counted=counted) for counted in (False, True)]
    for classes in found:
        assert [sorted(rows) for rows in classes] == expected


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("variant", VARIANTS)
@examples(150)
@given(case=cases(max_rows=20))
def test_kernel_equals_oracle_on_every_type(variant: str, cut: str, case: Case) -> None:
    same(case, case.privacy, variant, cut)


def tables(seed: int, count: int, *, rows: int = 60, sensitive: bool = False) -> Iterator[tuple[Table, int]]:
    """Random tables of 1 to 4 attributes, from a few equal rows to all different, and a k."""
    rng = random.Random(seed)
    for _ in range(count):
        k = rng.randint(1, 7)
        n = rng.randint(k, max(rows, k))
        quasi = []
        for j in range(rng.randint(1, 4)):
            size = rng.choice([1, 2, 3, 5, 20, 10**6])
            null = rng.random() < 0.2
            skew = rng.choice([1, 1, 3])

            def draw(size: int = size, null: bool = null, skew: int = skew) -> int | None:
                return None if null and rng.random() < 0.2 else int(size * rng.random() ** skew)

            values = [draw() for _ in range(n)]
            nominal = rng.random() < 0.3
            column = tuple(None if v is None else str(v) for v in values) if nominal else tuple(values)
            quasi.append(Quasi(f"q{j}", column, "nominal" if nominal else "number", rng.choice([1, 1, 3])))
        sas = (Sensitive("s", tuple(rng.choice("aaabbc") for _ in range(n))),) if sensitive else ()
        yield Table(tuple(quasi), sas), k


def copies(table: Table) -> int:
    """The paper's m: rows that share one point, at most."""
    return max(Counter(table.codes).values())


@pytest.mark.thorough
@pytest.mark.parametrize("cut", CUTS)
def test_strict_bound_of_theorem_4(cut: str) -> None:
    """Classes hold k to 2d(k-1)+m rows; section 4.1: C_DM <= (2d(k-1)+m) N and C_AVG <= (2d(k-1)+m) / k."""
    for table, k in tables(41, 2000):
        sizes = [len(rows) for rows in kernel_mondrian(table, Privacy(k=k), "strict", cut)]
        bound = 2 * len(table.quasi) * (k - 1) + copies(table)
        assert sum(sizes) == table.rows
        assert k <= min(sizes)
        assert max(sizes) <= bound
        assert sum(size**2 for size in sizes) <= bound * table.rows
        assert table.rows <= bound * len(sizes)


@pytest.mark.thorough
@pytest.mark.parametrize("cut", CUTS)
def test_relaxed_bound_of_theorem_5(cut: str) -> None:
    """Classes hold k to 2k-1 rows; section 4.1: C_DM <= 2k N and C_AVG <= 2."""
    for table, k in tables(42, 2000):
        sizes = [len(rows) for rows in kernel_mondrian(table, Privacy(k=k), "relaxed", cut)]
        assert sum(sizes) == table.rows
        assert k <= min(sizes)
        assert max(sizes) <= 2 * k - 1
        assert sum(size**2 for size in sizes) <= 2 * k * table.rows
        assert table.rows <= 2 * k * len(sizes)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_diverse_classes_on_larger_tables(variant: str, cut: str) -> None:
    rng = random.Random(43)
    checked = 0
    for table, k in tables(43, 150, rows=120, sensitive=True):
        privacy = Privacy(k=k, l=rng.choice([None, Fraction(4, 3), Fraction(2)]), distinct_l=rng.choice([None, 2, 3]))
        if not feasible(table, privacy):
            continue
        checked += 1
        classes = kernel_mondrian(table, privacy, variant, cut)
        assert sorted(row for rows in classes for row in rows) == list(range(table.rows))
        assert all(meets(table, rows, privacy) for rows in classes)
    assert checked > 50


def test_large_nominal_domains_are_scored_by_the_span_of_their_codes() -> None:
    rng = random.Random(45)
    values = tuple(f"v{i}" for i in range(300))
    column = Quasi("x", (*values, *rng.choices(values, k=40)), "nominal")
    other = Quasi("y", tuple(rng.choice("abc") for _ in range(340)), "nominal", 2)
    for variant in VARIANTS:
        for cut in CUTS if variant == "strict" else ("median",):
            same(Table((column, other)), Privacy(k=60), variant, cut)


@pytest.mark.thorough
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_kernel_equals_oracle_on_larger_tables(variant: str, cut: str) -> None:
    rng = random.Random(44)
    for table, k in tables(44, 120, rows=90, sensitive=True):
        privacy = Privacy(k=k, l=rng.choice([None, Fraction(4, 3)]), distinct_l=rng.choice([None, 2]))
        if feasible(table, privacy):
            same(table, privacy, variant, cut)
