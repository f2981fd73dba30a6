"""Small random tables for suppression, as the oracle reads them and as kernels do; and exhaustive search over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from sqlanon.methods.suppress.cells import Cells, Parts
from sqlanon.methods.suppress.solve import SolvedClasses, cut_of, rules_of, solve
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.diversity.requirement import DistinctDiversity, FrequencyDiversity
from sqlanon.privacy.kanonymity.requirement import KAnonymity
from sqlanon.progress import SilentProgress
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.requirements import Privacy, feasible
from tests.oracle.suppress import Bag, eligible


@st.composite
def tables(draw: st.DrawFn, rows: int, columns: int, most: int = 3, sensitive: int = 1) -> Table:
    """Up to so many rows of so many quasi columns."""
    n, d = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    part = st.lists(st.integers(0, most), min_size=n, max_size=n)
    quasi = tuple(Quasi(f"q{j}", tuple(draw(part))) for j in range(d))
    return Table(quasi, tuple(Sensitive(f"s{j}", tuple(draw(part))) for j in range(sensitive)))


@st.composite
def asked(draw: st.DrawFn, *, several: bool = False, rows: int = 16) -> tuple[Table, Privacy]:
    """A table and what it can be asked for."""
    sensitive = draw(st.integers(1, 2)) if several else 1
    table = draw(tables(rows, 3, sensitive=sensitive))
    privacy = Privacy(
        draw(st.integers(1, 4)),
        draw(st.sampled_from([None, *(Fraction(p, q) for p, q in ((2, 1), (3, 1), (5, 2), (3, 2), (7, 3)))])),
        draw(st.sampled_from([None, 2, 3])) if several else None,
        draw(st.booleans()) if several else False,
    )
    assume(feasible(table, privacy))
    return table, privacy


def requirements(table: Table, privacy: Privacy) -> list[Requirement]:
    """The product's form of what is asked."""
    made: list[Requirement] = [KAnonymity(Fraction(privacy.k))]
    every = range(len(table.sensitive))
    for value in every:
        for within in [(), *([tuple(j for j in every if j != value)] if privacy.joint else [])]:
            if privacy.l is not None:
                made.append(FrequencyDiversity(privacy.l, f"s{value}", value, within))
            if privacy.distinct_l is not None:
                made.append(DistinctDiversity(Fraction(privacy.distinct_l), f"s{value}", value, within))
    return made


def cells_of(table: Table, *, valued: bool = True) -> Cells:
    """The table as the database would group it; without values where k alone is asked."""
    values = sorted(set(table.sa_codes)) if valued else [()]
    if len(table.sensitive) == 1 and valued:
        values = [(code,) for code in range(max(table.sa_codes)[0] + 1)]
    groups = sorted(set(table.codes))
    found = sorted(
        Counter(
            (groups.index(codes), values.index(sa if valued else ()))
            for codes, sa in zip(table.codes, table.sa_codes, strict=True)
        ).items()
    )
    longs = [np.array(column, np.int64) for column in zip(*((*cell, n) for cell, n in found), strict=True)]
    combinations = np.array(values, np.int64).T.reshape(len(values[0]), len(values))
    sizes = tuple(max(column.codes) + 1 for column in table.quasi)
    codes = np.array(groups, np.int64).T.copy()
    return Cells((), (), longs[2], longs[0], codes, sizes, longs[1], combinations, None)


def solved(table: Table, privacy: Privacy, variant: str, divide: str = "values") -> tuple[Cells, SolvedClasses]:
    """What the kernels find."""
    given = requirements(table, privacy)
    cut = cut_of(given, divide)
    valued = any(not one.shape.trivial for one in given[1:])
    cells = cells_of(table, valued=valued)
    return cells, solve(cells, rules_of(given, cells, cut), SilentProgress(), cascade=variant == "cascade")


def contents(cells: Cells, parts: Parts) -> list[Counter[tuple[int, int]]]:
    """Per class its rows by group and value."""
    found: dict[int, Counter[tuple[int, int]]] = {}
    for cell, rows, name in zip(parts.cell, parts.rows, parts.number, strict=True):
        own = found.setdefault(int(name), Counter())
        own[int(cells.group[cell]), int(cells.value[cell])] += int(rows)
    return list(found.values())


def stars(codes: Sequence[Sequence[int]]) -> int:
    """Hidden values of a class of rows."""
    return sum(len(codes) for column in zip(*codes, strict=True) if len(set(column)) > 1)


def stars_of(cells: Cells, parts: Parts) -> int:
    """Hidden values of all classes."""
    classes = contents(cells, parts)
    return sum(
        stars([tuple(cells.codes[:, group]) for (group, _), n in one.items() for _ in range(n)]) for one in classes
    )


def partitions(rows: list[int]) -> Iterator[list[list[int]]]:
    """Every division of rows into classes."""
    if not rows:
        yield []
        return
    first, *others = rows
    for rest in partitions(others):
        yield [[first], *rest]
        for at in range(len(rest)):
            yield [*rest[:at], [first, *rest[at]], *rest[at + 1 :]]


def least_residue(bags: Sequence[Bag], l: Fraction) -> int:  # noqa: E741 - the papers' symbol
    """The fewest rows that groups can give up so that all of them, and what they gave, are eligible.

    By trying everything.
    """
    values = sorted(set().union(*bags))

    @cache
    def kept(s: int) -> list[tuple[int, ...]]:
        """What a group may give up, by value."""
        own = [bags[s][value] for value in values]
        given = product(*(range(rows + 1) for rows in own))
        return [g for g in given if eligible(+Counter(dict(zip(values, np.subtract(own, g).tolist(), strict=True))), l)]

    sums = {tuple(0 for _ in values)}
    for s in range(len(bags)):
        sums = {tuple(map(sum, zip(one, given, strict=True))) for one in sums for given in kept(s)}
    return min(sum(one) for one in sums if eligible(+Counter(dict(zip(values, one, strict=True))), l))
