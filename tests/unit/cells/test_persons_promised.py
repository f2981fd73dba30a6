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


def weighed(seed: object, ways: tuple[str, str], asked: Fraction, **how: object) -> Beside | None:
    """The same where the values are the second column, which the rows show, and l is of these."""
    for turn in range(50):
        case = beside(("w", seed, turn), ways, **{"shape": (2, 2), "size": 3, **how})  # type: ignore[arg-type]
        values = [[str(codes[1]) for _, codes in own] for own in case.listed]
        promise = functools.partial(has_l, asked=asked)
        kept = replace(case, values=values, promise=promise, weighed=(2, *asked.as_integer_ratio()))
        if kept.persons.small and kept.kept:
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
QUICK = [((NOTHING, NOTHING), 42, L2, {"whole": False, "threshold": 2, "constant": (0,), "size": 2})]
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


WEIGHED = [
    (ways, seed, asked, {"whole": whole, "threshold": threshold, "constant": (0,) if seed % 2 else ()})
    for ways in [(NOTHING, SHOWN), (ENDS, SHOWN)]
    for seed in range(6)
    for asked in (Fraction(3, 2), Fraction(2))
    for whole in (True, False)
    for threshold in (2, 3)
]
WEIGHED_CASES = [
    pytest.param((ENDS, SHOWN), 1, Fraction(3, 2), {"whole": True, "threshold": 2, "size": 2}, id="quick"),
    *(pytest.param(*case, id=f"drawn{place}", marks=pytest.mark.thorough) for place, case in enumerate(WEIGHED)),
]


@pytest.mark.parametrize("insiders", [False, True])
@pytest.mark.parametrize(("ways", "seed", "asked", "how"), WEIGHED_CASES)
def test_nobody_finds_a_small_cell_where_l_is_of_a_counted_column(
    ways: tuple[str, str], seed: int, asked: Fraction, how: dict[str, object], *, insiders: bool
) -> None:
    case = weighed(seed, ways, asked, **how)
    hidden = None if case is None else protect(case, insiders=insiders)
    if case is None or hidden is None:
        return
    for known in case.alone() if insiders else [None]:
        assert list_found(case, hidden, known) == []


@pytest.mark.parametrize(("ways", "seed", "asked", "how"), WEIGHED_CASES)
def test_no_value_of_a_witness_weighs_more_than_is_promised(
    ways: tuple[str, str], seed: int, asked: Fraction, how: dict[str, object]
) -> None:
    case = weighed(seed, ways, asked, **how)
    if case is None:
        return
    try:
        found = case.protect(insiders=True)
    except UnservedError:
        return
    (system, parts), classed = case.system(), case.classed()
    for change in found.witnesses:
        source = case.source_of(system, parts, system.atoms.count + change) if change.any() else case.source()
        assert classed.has_classes(source)


@pytest.mark.parametrize(("seed", "published"), [(1, False), (7, True)])
def test_who_knows_the_promise_finds_what_keeps_numbers_of_persons_alone(seed: int, *, published: bool) -> None:
    case = weighed(seed, (NOTHING, SHOWN), Fraction(2), size=2, threshold=2, constant=(0,))
    assert case is not None
    naive = protect(replace(case, weighed=None), insiders=False)
    assert naive is not None
    assert list_found(case, naive)
    hidden = protect(case, insiders=False)
    assert (hidden is not None) == published
    assert hidden is None or list_found(case, hidden) == []


@pytest.mark.thorough
@pytest.mark.parametrize("promise", [L3_2, T1_5])
def test_what_is_published_instead_gives_no_cell_away(promise: Promise) -> None:
    case = promised(46, (NOTHING, SHOWN), promise, threshold=2, constant=(0,))
    assert case is not None
    kept: Alike = "persons"
    naive, hidden = (protect(replace(case, alike=alike), insiders=False) for alike in ("", kept))
    assert naive is not None
    assert hidden is not None
    assert list_found(case, naive)
    assert list_found(case, hidden) == []
