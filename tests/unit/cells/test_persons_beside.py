"""Rows and persons next to a release of rows, where a person has several rows: who tries every source finds nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sqlanon.statistics.choose import HiddenChoice
from sqlanon.statistics.unserved import UnservedError
from tests.oracle.class_reader import ENDS, MEMBERS, NOTHING, SHOWN
from tests.oracle.person_reader import count
from tests.unit.cells.persons_beside import Beside, beside
from tests.unit.cells.readers import failing_beside

pytest.importorskip("highspy")

BOTH = ("n", "persons")
ALONE = ("persons",)


def protect(case: Beside, *, insiders: bool) -> HiddenChoice | None:
    """The hidden cells; None: nothing may be published."""
    try:
        return case.protect(insiders=insiders)
    except UnservedError:
        return None


WAYS = [(ENDS, ENDS), (ENDS, MEMBERS), (NOTHING, SHOWN), (ENDS, SHOWN), (ENDS, NOTHING)]
QUICK = [
    ((ENDS, ENDS), 0, {"whole": False, "size": 3, "threshold": 2}),
    ((ENDS, MEMBERS), 0, {"whole": False, "measures": ALONE}),
    ((NOTHING, SHOWN), 0, {"whole": False, "threshold": 2}),
    ((ENDS, SHOWN), 0, {"whole": False, "threshold": 2, "measures": ALONE}),
]
DRAWN = [
    (ways, seed, {"whole": whole, "threshold": threshold, "measures": measures, "constant": (0,) if seed % 2 else ()})
    for ways in WAYS
    for seed in range(3)
    for whole in (True, False)
    for threshold in (2, 3)
    for measures in (BOTH, ALONE)
]
CASES = [
    *(pytest.param(*case, id=f"quick{place}") for place, case in enumerate(QUICK)),
    *(pytest.param(*case, id=f"drawn{place}", marks=pytest.mark.thorough) for place, case in enumerate(DRAWN)),
]


def made(seed: object, ways: tuple[str, str], **how: object) -> Beside:
    return beside(seed, ways, **{"shape": (2, 2), **how})  # type: ignore[arg-type]


@pytest.mark.parametrize(("ways", "seed", "how"), CASES)
def test_no_reader_of_both_finds_a_small_cell(ways: tuple[str, str], seed: int, how: dict[str, object]) -> None:
    case = made(("b", seed), ways, **how)
    found = protect(case, insiders=False) if case.persons.small else None
    if found is not None:
        assert failing_beside(case, case.hidden_of(found)) == []


@pytest.mark.parametrize(("ways", "seed", "how"), CASES)
def test_nobody_who_is_alone_finds_another_small_cell(ways: tuple[str, str], seed: int, how: dict[str, object]) -> None:
    case = made(("b", seed), ways, **how)
    found = protect(case, insiders=True) if case.persons.small else None
    for known in case.alone() if found is not None else ():
        assert failing_beside(case, case.hidden_of(found), known) == []


@pytest.mark.parametrize(("ways", "seed", "how"), CASES)
def test_witnesses_are_sources_with_what_the_classes_show(
    ways: tuple[str, str], seed: int, how: dict[str, object]
) -> None:
    case = made(("b", seed), ways, **how)
    found = protect(case, insiders=True)
    if found is None:
        return
    (system, parts), hidden, classed = case.system(), case.hidden_of(found), case.classed()
    for change in found.witnesses:
        # Not every pattern of persons is one of the system.
        source = case.source_of(system, parts, system.atoms.count + change) if change.any() else case.source()
        assert classed.has_classes(source)
        assert all(classed.able(kind, case.constant) and len(kind) <= case.most for kind in source)
        for cell, hide in zip(case.persons.case.cells, hidden, strict=True):
            inside = [at for at, (_, leaf) in enumerate(classed.places) if leaf in case.persons.case.within[cell]]
            rows, persons = count(source, inside)
            true_rows, true_persons = case.persons.numbers(cell)
            assert persons >= 1
            assert hide or persons == true_persons
            assert hide or true_rows is None or rows == true_rows


def hide_by_persons(case: Beside) -> list[bool]:
    """What is hidden where rows and persons are protected without the classes."""
    return case.persons.hidden_of(case.persons.protect(insiders=False))


def hide_without_promise(case: Beside) -> list[bool]:
    """What is hidden where nothing is promised of the persons of classes."""
    unpromised = replace(case, least=1)
    return case.hidden_of(unpromised.protect(insiders=False))


def compare(case: Beside, hidden: Sequence[bool]) -> None:
    """What a naive scheme hides gives a small cell away, and what is published instead does not."""
    assert failing_beside(case, hidden)
    found = protect(case, insiders=False)
    assert found is not None
    assert failing_beside(case, case.hidden_of(found)) == []


@pytest.mark.parametrize(
    ("seed", "ways", "size"),
    [
        (14, (ENDS, ENDS), 3),
        pytest.param(17, (ENDS, SHOWN), 4, marks=pytest.mark.thorough),
        pytest.param(17, (NOTHING, SHOWN), 4, marks=pytest.mark.thorough),
    ],
)
def test_persons_that_are_protected_by_themselves_are_found_next_to_rows(
    seed: int, ways: tuple[str, str], size: int
) -> None:
    case = made(("naive", seed), ways, size=size, threshold=2, constant=(0,))
    compare(case, hide_by_persons(case))


@pytest.mark.parametrize("ways", [(ENDS, ENDS), (NOTHING, SHOWN), (ENDS, SHOWN)])
def test_who_knows_that_a_class_has_so_many_persons_finds_what_keeps_its_rows_alone(ways: tuple[str, str]) -> None:
    case = made(("naive", 13), ways, size=3, threshold=2, constant=(0,), least=3)
    compare(case, hide_without_promise(case))
