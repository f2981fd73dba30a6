"""Suppression on counts.

As the oracle does it row by row, within the paper's bounds of the least, and the matching the least of all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlanon.kernels.suppress import measure_height
from sqlanon.methods.suppress.kernels.phases import complete_residue
from sqlanon.methods.suppress.optimal import match_pairs
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.requirements import Privacy, meets
from tests.oracle.suppress import Giving, eligible, run_phase_one, suppressing
from tests.properties.strategies import examples
from tests.properties.suppressed import (
    asked,
    cells_of,
    contents,
    least_residue,
    partitions,
    solved,
    stars,
    stars_of,
    tables,
)

LS = [Fraction(2), Fraction(3), Fraction(5, 2), Fraction(3, 2), Fraction(7, 3), Fraction(1), Fraction(10)]
BAGS = st.lists(st.integers(0, 3), max_size=7).map(Counter)


@examples(300)
@given(rows=st.lists(st.integers(1, 30), min_size=1, max_size=12), l=st.sampled_from(LS))
def test_phase_one_is_removing_rows_one_by_one(rows: list[int], l: Fraction) -> None:  # noqa: E741
    p, q = l.numerator, l.denominator
    cut = measure_height(np.array(rows, np.int64), p, q, np.zeros(-(-p // q), np.int64))
    left = run_phase_one(Counter(dict(enumerate(rows))), l)
    assert [min(count, cut) for count in rows] == [left[value] for value in range(len(rows))]


def phases(bags: list[Counter[int]], l: Fraction, k: int) -> tuple[int, list[Counter[int]], Counter[int]]:  # noqa: E741
    """Phase one, and the kernel after it."""
    cut = [run_phase_one(bag, l) for bag in bags]
    rest = sum(bags, Counter()) - sum(cut, Counter())
    start = np.concatenate([[0], np.cumsum([len(bag) for bag in cut])]).astype(np.int64)
    held = np.array([value for bag in cut for value in sorted(bag)], np.int64)
    kept = np.array([bag[value] for bag in cut for value in sorted(bag)], np.int64)
    left = np.array([rest[value] for value in range(4)], np.int64)
    phase = complete_residue(start, held, kept, left, k, l.numerator, l.denominator)
    ended = [+Counter(dict(zip(held[a:b].tolist(), kept[a:b].tolist(), strict=True))) for a, b in pairwise(start)]
    return phase, ended, +Counter(dict(enumerate(left.tolist())))


@examples(300)
@given(bags=st.lists(BAGS, min_size=1, max_size=8), l=st.sampled_from(LS), k=st.integers(1, 4))
def test_phases_are_those_of_the_paper(bags: list[Counter[int]], l: Fraction, k: int) -> None:  # noqa: E741
    whole = sum(bags, Counter())
    assume(eligible(whole, l) and whole.total() >= k)
    cut = [run_phase_one(bag, l) for bag in bags]
    assume(all(not bag or bag.total() >= k for bag in cut))
    oracle = Giving([Counter(bag) for bag in cut], whole - sum(cut, Counter()), l, k)
    oracle.run()
    phase, ended, rest = phases(bags, l, k)
    assert (phase, ended, rest) == (oracle.phase, oracle.sets, oracle.residue)
    assert sum(ended, rest) == whole
    for bag in [*ended, rest]:
        assert eligible(bag, l)
        assert not bag or bag.total() >= k


@examples(150)
@given(bags=st.lists(BAGS, min_size=1, max_size=3), l=st.sampled_from([2, 3]))
def test_the_residue_is_within_the_bounds_of_the_paper(bags: list[Counter[int]], l: int) -> None:  # noqa: E741
    assume(eligible(sum(bags, Counter()), Fraction(l)))
    phase, _, rest = phases(bags, Fraction(l), 1)
    least = least_residue(bags, Fraction(l))
    assert least <= rest.total()
    assert rest.total() <= {1: least, 2: least + l - 1, 3: l * least}[phase]


def test_phase_three_is_reached_and_ends() -> None:
    """The example of the paper's section 5.4 (its counts are lost in the text; these have its properties)."""
    # Two thin groups that share different most frequent values with R = {0, 0, 1, 1}.
    bags = [Counter({0: 2, 2: 1, 3: 1, 1: 2}), Counter({0: 2, 2: 2, 3: 2}), Counter({0: 2}), Counter({1: 2})]
    bags[0] = Counter({0: 2, 2: 2, 3: 2})
    bags[1] = Counter({1: 2, 2: 2, 3: 2})
    phase, ended, rest = phases(bags, Fraction(3), 1)
    assert phase == 3
    assert all(eligible(bag, Fraction(3)) for bag in [*ended, rest])
    assert rest.total() <= 3 * least_residue(bags, Fraction(3))


def test_a_round_that_moves_nothing_ends() -> None:
    """l = 5/2: {a, b, c} is thin and shares both values of R = {a, b}; no group shrinks what is shared."""
    bags = [Counter({0: 1, 1: 1, 2: 1}), Counter({0: 1}), Counter({1: 1})]
    phase, ended, rest = phases(bags, Fraction(5, 2), 1)
    assert (phase, ended) == (3, [Counter()] * 3)
    assert rest == Counter({0: 2, 1: 2, 2: 1})


@examples(200)
@given(
    given=asked(several=True), variant=st.sampled_from(["tp", "cascade"]), divide=st.sampled_from(["values", "whole"])
)
def test_classes_are_the_oracles(given: tuple[Table, Privacy], variant: str, divide: str) -> None:
    table, privacy = given
    oracle = suppressing(table, privacy, {"divide": divide})
    classes, left, phase = oracle.run(cascade=variant == "cascade")
    cells, found = solved(table, privacy, variant, divide)
    groups = sorted(set(table.codes))
    values = [()] if cells.values == 1 and not cells.combinations.size else cells.combinations.T.tolist()
    expected = [
        Counter(
            (groups.index(table.codes[row]), values.index(list(table.sa_codes[row])) if values != [()] else 0)
            for row in rows
        )
        for rows in [*classes, left]
        if rows
    ]
    key = lambda one: sorted(one.items())  # noqa: E731
    assert sorted(contents(cells, found.parts), key=key) == sorted(expected, key=key)
    assert (found.left, found.phase) == (len(left), phase)


@examples(200)
@given(given=asked(several=True, rows=30), divide=st.sampled_from(["values", "whole"]))
def test_every_row_has_one_lawful_class_and_the_cascade_stars_least(given: tuple[Table, Privacy], divide: str) -> None:
    table, privacy = given
    total = {}
    for variant in ("tp", "cascade"):
        cells, found = solved(table, privacy, variant, divide)
        rows: dict[tuple[int, ...], list[int]] = {}
        groups = sorted(set(table.codes))
        for row, codes in enumerate(table.codes):
            value = tuple(table.sa_codes[row]) if cells.combinations.size else ()
            rows.setdefault((groups.index(codes), *value), []).append(row)
        classes = [
            [
                rows[group, *cells.combinations[:, value].tolist()].pop()
                for (group, value), n in one.items()
                for _ in range(n)
            ]
            for one in contents(cells, found.parts)
        ]
        assert not any(rows.values())
        assert all(meets(table, one, privacy) for one in classes)
        total[variant] = stars_of(cells, found.parts)
        assert total[variant] == sum(stars([table.codes[row] for row in one]) for one in classes)
    assert total["cascade"] <= total["tp"]


@examples(60)
@given(table=tables(7, 2, most=2), l=st.sampled_from([2, 3]))
def test_no_solution_stars_fewer_rows_than_the_bound(table: Table, l: int) -> None:  # noqa: E741
    privacy = Privacy(1, Fraction(l))
    assume(meets(table, range(table.rows), privacy))
    _, found = solved(table, privacy, "tp")
    best = min(
        sum(len(rows) for rows in division if len({table.codes[row] for row in rows}) > 1)
        for division in partitions(list(range(table.rows)))
        if all(meets(table, rows, privacy) for rows in division)
    )
    assert found.least <= best
    assert found.phase > 1 or best == found.left == found.least


@examples(60)
@given(pairs=st.integers(1, 4), draw=st.data())
def test_the_matching_stars_least(pairs: int, draw: st.DataObject) -> None:
    n = 2 * pairs
    column = st.lists(st.integers(0, 2), min_size=n, max_size=n).map(tuple)
    quasi = tuple(Quasi(f"q{j}", draw.draw(column)) for j in range(draw.draw(st.integers(1, 3))))
    table = Table(quasi, (Sensitive("s", tuple(draw.draw(st.permutations(["a", "b"] * pairs)))),))
    cells = cells_of(table)
    cells = replace(cells, value=cells.value - 1)  # the oracle keeps 0 for NULL
    parts, found = match_pairs(cells)
    best = min(
        sum(stars([table.codes[row] for row in rows]) for rows in division)
        for division in partitions(list(range(n)))
        if all(meets(table, rows, Privacy(1, Fraction(2))) for rows in division)
    )
    assert found == stars_of(cells, parts) == best
    for one in contents(cells, parts):
        values = Counter()
        for (_, value), rows in one.items():
            values[value] += rows
        assert values[0] == values[1]
    used = Counter()
    for cell, rows in zip(parts.cell.tolist(), parts.rows.tolist(), strict=True):
        used[cell] += rows
    assert [used[cell] for cell in range(len(cells.count))] == cells.count.tolist()
