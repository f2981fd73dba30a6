"""Sums next to a release of rows: a reader of both, who tries every table of counts and of sums, finds nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from sqlanon.statistics.amounts import Range
from sqlanon.statistics.choose import HiddenChoice, UnservedError, choose_hidden
from sqlanon.statistics.parts import list_parts, with_classes
from sqlanon.statistics.system import Atoms, PublishedCells, System, Wholes, build_system
from tests.oracle.class_reader import ENDS, MEMBERS, NOTHING, SHOWN, Row, tables_of
from tests.oracle.sum_reader import Reader, TooManyError, close_to
from tests.unit.cells.sums_made import Given, Rules
from tests.unit.cells.test_parts import placed_of
from tests.unit.cells.test_sums import protect as protect_alone

pytest.importorskip("highspy")

RULES = Rules(30, high=2, persons=3)
WAYS = [(ENDS, ENDS), (ENDS, MEMBERS), (SHOWN, ENDS), (ENDS, NOTHING)]
CONTRIBUTORS = 4
"""Of so many persons one is a reader."""
Classes = Sequence[Sequence[Row]]


def drawn_case(
    seed: object, rules: Rules = RULES, shape: tuple[int, int] = (3, 2), size: int = 4, many: int = 12
) -> tuple[Given, list[list[Row]]]:
    """A row of each person, and classes of rows that are near in the first column."""
    draw = random.Random(str(seed))
    rows = sorted(
        (draw.randrange(shape[0]), draw.randrange(shape[1]), draw.randint(rules.low, rules.high)) for _ in range(many)
    )
    made: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for person, (a, b, value) in enumerate(rows):
        made.setdefault((a, b), {})[person] = [value]
    leaves = [(a, b) for a, b, _ in rows]
    return Given(made, rules), [leaves[at : at + size] for at in range(0, many, size)]


def joint_system(given: Given, classes: Classes, ways: Sequence[str]) -> System:
    plain, case = given.system(), given.counts
    parts = list_parts(placed_of(case, classes, ways))
    first = parts.first()[[case.within[cell][0] for cell in case.cells]]
    listed = PublishedCells(plain.levels, first, plain.small[plain.listed])
    nodes = tuple(level[:, parts.atom] for level in plain.atoms.nodes)
    atoms = Atoms(nodes, parts.count, plain.atoms.owner[parts.atom])
    made = build_system(atoms, listed, [(0,) * len(nodes)], b"key")
    return replace(with_classes(made, parts), wholes=Wholes(plain, parts.atom))


def protect(given: Given, classes: Classes, ways: Sequence[str], *, sums: bool = True) -> HiddenChoice:
    rules, system = given.rules, joint_system(given, classes, ways)
    amounts = [(given.amounts(given.system()), Range(rules.low, rules.high))] if sums else []
    return choose_hidden(system, rules.persons, insiders=rules.insiders, secret=b"key", amounts=amounts)


def hidden_of(given: Given, found: HiddenChoice) -> list[bool]:
    return [bool(found.hidden[of]) for of in given.system().listed]


def readers(given: Given, hidden: Sequence[bool], able: set[tuple[int, ...]]) -> Iterator[tuple[int | None, Reader]]:
    """Readers without rows, and some of the persons; all have the release of rows."""
    case, sums = given.counts, given.sums()
    shown = {cell: None if hide else sums[cell] for cell, hide in zip(case.cells, hidden, strict=True)}
    limits = (given.rules.low, given.rules.high, sum(case.counts.values()))
    for who in [None, *[person for own in given.atoms for person in own][::CONTRIBUTORS]]:
        own: Mapping[int, Sequence[int]] = {
            at: people[who] for at, people in enumerate(given.atoms) if who is not None and who in people
        }
        yield who, Reader(case.shown(hidden), shown, case.within, own, limits, able)


def find(given: Given, hidden: Sequence[bool], classes: Classes, ways: Sequence[str]) -> list[object]:
    """What readers of both find: small numbers, sums within the protection level, contributions to p %."""
    able, found, rules, case = tables_of(classes, ways, list(given.counts.counts)), [], given.rules, given.counts
    for who, reader in readers(given, hidden, able):
        for at, own in enumerate(given.atoms):
            for person, values in own.items():
                if person != who and close_to(
                    sum(values), reader.bounds_of([at]), rules.percent, (rules.low, rules.high)
                ):
                    found.append((who, person))
        if who is not None:
            continue
        for cell, places in case.within.items():
            people = given.people(cell)
            numbers, alone = reader.counts[:, places].sum(axis=1), [sum(one[at] for at in places) for one in able]
            if len(people) < rules.persons and (numbers.min() > min(alone) or numbers.max() < rules.persons):
                found.append(("number", cell))
            level, sensitive = given.need(people)
            total = sum(map(sum, people.values()))
            low, high = reader.sums_of(places)
            ends = max(total - level, rules.low * len(people)), min(total + level, rules.high * len(people))
            if (sensitive or len(people) < rules.persons) and (low > ends[0] or high < ends[1]):
                found.append(("sum", cell))
    return found


def check(seed: object, ways: tuple[str, str], rules: Rules = RULES) -> int:
    """How many small cells a case has; 0: it is refused, or has too many tables."""
    given, classes = drawn_case((seed, ways), rules)
    try:
        found = protect(given, classes, ways)
        assert find(given, hidden_of(given, found), classes, ways) == []
    except (UnservedError, TooManyError):
        return 0
    return sum(len(given.people(cell)) < rules.persons for cell in given.counts.cells)


@pytest.mark.parametrize(("seed", "ways"), [(1, (ENDS, MEMBERS)), (5, (ENDS, MEMBERS)), (1, (ENDS, NOTHING))], ids=repr)
def test_no_reader_of_both_finds_a_number_a_sum_or_a_contribution(seed: int, ways: tuple[str, str]) -> None:
    assert check(seed, ways)


@pytest.mark.thorough
@pytest.mark.parametrize("ways", WAYS, ids="-".join)
@pytest.mark.parametrize("rules", [RULES, replace(RULES, low=1), replace(RULES, percent=100)], ids=repr)
def test_no_reader_of_both_finds_anything_in_many_tables(ways: tuple[str, str], rules: Rules) -> None:
    for seed in range(1, 10):
        check(seed, ways, rules)


@pytest.mark.parametrize("seed", [3, pytest.param(6, marks=pytest.mark.thorough)])
def test_counts_and_sums_protected_by_themselves_are_found_next_to_rows(seed: int) -> None:
    ways = (ENDS, MEMBERS)
    given, classes = drawn_case((seed, ways))
    _, alone = protect_alone(given)
    assert find(given, alone, classes, ways)
    assert find(given, hidden_of(given, protect(given, classes, ways)), classes, ways) == []


def test_sums_next_to_counts_that_are_protected_with_rows_are_found() -> None:
    """Cells that are hidden for the sake of counts alone show sums of which the rows say nothing."""
    found = []
    for seed, ways in ((1, (ENDS, MEMBERS)), (1, (ENDS, NOTHING))):
        given, classes = drawn_case((seed, ways))
        found += find(given, hidden_of(given, protect(given, classes, ways, sums=False)), classes, ways)
    assert found


@pytest.mark.parametrize("seed", range(4))
def test_witnesses_have_the_rows_of_each_class_and_sums_in_their_range(seed: int) -> None:
    ways = (ENDS, MEMBERS)
    given, classes = drawn_case(("witness", seed), replace(RULES, low=1), (3, 3), 8, 24)
    system = joint_system(given, classes, ways)
    try:
        found = protect(given, classes, ways)
    except UnservedError:
        return
    value, wholes = given.amounts(given.system()).value, system.wholes
    assert wholes is not None
    for change, sums in zip(found.witnesses, found.sums[0], strict=True):
        moved = system.sums(change)
        assert not moved[~found.hidden | system.fixed].any()
        assert not given.system().sums(sums)[~found.hidden[: len(given.system())]].any()
        least, most = Range(1, 3).change(value, wholes.system.atoms.count + wholes.add(change))
        assert ((sums >= least) & (sums <= most)).all()
