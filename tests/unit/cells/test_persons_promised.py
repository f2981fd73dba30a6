"""Counts next to rows that promise l or t of persons: who tries every source and way to give values finds none."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from sqlanon.statistics.neighbour import Alike
from sqlanon.statistics.unserved import UnservedError
from tests.oracle.class_reader import ENDS, MEMBERS, NOTHING, SHOWN
from tests.oracle.person_class_reader import Group, Promise, has_l, has_t
from tests.oracle.person_reader import Rows, Source
from tests.oracle.table_reader import Cell
from tests.unit.cells.persons_beside import Beside, beside

pytest.importorskip("highspy")

L2 = functools.partial(has_l, asked=Fraction(2))
L3_2 = functools.partial(has_l, asked=Fraction(3, 2))
T1_5 = functools.partial(has_t, asked=Fraction(1, 5))


def promised(seed: object, ways: tuple[str, str], promise: Promise, **how: object) -> Beside | None:
    """Drawn persons with values that keep a promise; None: of some draws none does, or no cell is small."""
    case = beside(("p", seed), ways, **{"shape": (2, 2), "size": 3, **how})  # type: ignore[arg-type]
    draw = random.Random(str(seed))
    for _ in range(200 if case.persons.small else 0):
        values = [[draw.choice("ab") for _ in own] for own in case.listed]
        alike: Alike = "persons" if promise is T1_5 else "classes"
        kept = replace(case, values=values, promise=promise, alike=alike)
        if kept.kept:
            return kept
    return None


def protect(case: Beside, *, insiders: bool) -> list[bool] | None:
    """The hidden cells; None: nothing may be published."""
    try:
        return case.hidden_of(case.protect(insiders=insiders))
    except UnservedError:
        return None


def list_found(case: Beside, hidden: Sequence[bool], known: tuple[Rows, Sequence[Cell]] | None = None) -> list[Cell]:
    """The small cells that cannot have each number of persons that is promised."""
    small = [cell for cell in case.persons.small if known is None or cell not in known[1]]
    found = case.read(case.persons.shown(hidden), small, known)
    wrong = []
    for cell in small:
        persons = {persons for _, persons in found[cell]}
        if max(persons) < case.threshold or min(persons) > case.persons.case.parts(cell):
            wrong.append(cell)
    if not wrong:
        return []
    alone = case.read(dict.fromkeys(case.persons.case.cells), wrong)
    return [
        cell
        for cell in wrong
        if max(persons for _, persons in found[cell]) < case.threshold
        or min(persons for _, persons in found[cell]) > min(rows for rows, _ in alone[cell])
    ]


DRAWN = [
    (ways, seed, promise, {"whole": whole, "threshold": threshold, "constant": (0,) if seed % 2 else ()})
    for ways in [(NOTHING, NOTHING), (NOTHING, SHOWN), (ENDS, SHOWN), (ENDS, MEMBERS)]
    for seed in range(4)
    for promise in (L2, L3_2, T1_5)
    for whole in (True, False)
    for threshold in (2, 3)
]
QUICK = [
    ((NOTHING, NOTHING), 42, L2, {"whole": False, "threshold": 2, "constant": (0,), "size": 2}),
]
CASES = [
    *(pytest.param(*case, id=f"quick{place}") for place, case in enumerate(QUICK)),
    *(pytest.param(*case, id=f"drawn{place}", marks=pytest.mark.thorough) for place, case in enumerate(DRAWN)),
]


@pytest.mark.parametrize(("ways", "seed", "promise", "how"), CASES)
def test_no_reader_of_both_finds_a_small_cell(
    ways: tuple[str, str], seed: int, promise: Promise, how: dict[str, object]
) -> None:
    case = promised(seed, ways, promise, **how)
    hidden = None if case is None else protect(case, insiders=False)
    if case is not None and hidden is not None:
        assert list_found(case, hidden) == []


@pytest.mark.parametrize(("ways", "seed", "promise", "how"), CASES)
def test_nobody_who_is_alone_finds_another_small_cell(
    ways: tuple[str, str], seed: int, promise: Promise, how: dict[str, object]
) -> None:
    case = promised(seed, ways, promise, **how)
    hidden = None if case is None else protect(case, insiders=True)
    for known in case.alone() if case is not None and hidden is not None else ():
        assert list_found(case, hidden or (), known) == []


@pytest.mark.parametrize(("ways", "seed", "promise", "how"), CASES)
def test_witnesses_keep_the_promise(ways: tuple[str, str], seed: int, promise: Promise, how: dict[str, object]) -> None:
    case = promised(seed, ways, promise, **how)
    if case is None:
        return
    try:
        found = case.protect(insiders=True)
    except UnservedError:
        return
    (system, parts), classed = case.system(), case.classed()
    for change in found.witnesses:
        source = case.source_of(system, parts, system.atoms.count + change)
        assert classed.has_classes(source)
        assert kinds(case, source) == kinds(case, case.source())


def kinds(case: Beside, source: Source) -> Counter[tuple[tuple[Group, int], ...]]:
    """How many persons have which rows by class and shown values, or which rows of a class."""
    found: Counter[tuple[tuple[Group, int], ...]] = Counter()
    classed = case.classed()
    for kind, many in source.items():
        groups = sorted(Counter(classed.group(at) for at in kind).items())
        classes = {of for (of, _), _ in groups} if case.alike == "classes" else {None}
        for number in classes:
            found[tuple(group for group in groups if number in (None, group[0][0]))] += many
    return found
