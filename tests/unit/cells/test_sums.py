"""Nobody bounds the contribution of another person closely: not a reader, not another contributor, by any table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from sqlanon.statistics import amount_search
from sqlanon.statistics.amounts import Range
from sqlanon.statistics.bounds import WitnessTables, bound_cells
from sqlanon.statistics.choose import HiddenChoice, choose_hidden
from tests.oracle.sum_reader import Reader, close_to
from tests.unit.cells.sums_made import Given, Rules, drawn_rows

pytest.importorskip("highspy")


def protect(given: Given) -> tuple[HiddenChoice, list[bool]]:
    system, rules = given.system(), given.rules
    amounts = [(given.amounts(system), Range(rules.low, rules.high))]
    found = choose_hidden(system, rules.persons, insiders=rules.insiders, secret=b"key", amounts=amounts)
    return found, [bool(found.hidden[of]) for of in system.listed]


def readers(given: Given, hidden: Sequence[bool], *, contribute: bool = True) -> Iterator[tuple[int | None, Reader]]:
    """Readers without rows, and every person."""
    case, sums = given.counts, given.sums()
    shown = {cell: None if hide else sums[cell] for cell, hide in zip(case.cells, hidden, strict=True)}
    most = max(case.counts.values()) + 2
    persons = sorted({person for own in given.atoms for person in own})
    for who in [None, *(persons if contribute else ())]:
        own = {at: own[who] for at, own in enumerate(given.atoms) if who in own} if who is not None else {}
        limits = (given.rules.low, given.rules.high, most)
        yield who, Reader(case.shown(hidden), shown, case.within, own, limits)


def found_persons(given: Given, hidden: Sequence[bool], *, contribute: bool = True) -> list[tuple[int | None, int]]:
    """Pairs of a reader and a person whose contribution, in some of his atoms together, the reader bounds closely."""
    rules, failing = given.rules, []
    for who, reader in readers(given, hidden, contribute=contribute):
        for person in sorted({r for own in given.atoms for r in own} - {who}):
            places = [at for at, own in enumerate(given.atoms) if person in own]
            for size in range(1, len(places) + 1):
                for some in itertools.combinations(places, size):
                    rows = [value for at in some for value in given.atoms[at][person]]
                    room = (rules.low * len(rows), rules.high * len(rows))
                    if close_to(sum(rows), reader.bounds_of(some), rules.percent, room):
                        failing.append((who, person))
    return failing


def found_cells(given: Given, hidden: Sequence[bool]) -> list[object]:
    """The cells that a reader without rows bounds more closely than their protection levels say."""
    ((_, reader),) = readers(given, hidden, contribute=False)
    failing: list[object] = []
    for cell, places in given.counts.within.items():
        people = given.people(cell)
        level, sensitive = given.need(people)
        total, rows = sum(map(sum, people.values())), sum(map(len, people.values()))
        if sensitive or len(people) < given.rules.persons:
            low, high = reader.sums_of(places)
            ends = max(total - level, given.rules.low * rows), min(total + level, given.rules.high * rows)
            if low > ends[0] or high < ends[1]:
                failing.append(cell)
    return failing


def twice(
    rows: dict[tuple[int, ...], dict[int, list[int]]], persons: int
) -> dict[tuple[int, ...], dict[int, list[int]]]:
    """The same rows, of so many persons."""
    return {at: {person % persons + 1: values for person, values in own.items()} for at, own in rows.items()}


DRAWN = {
    "from zero": Given(drawn_rows(3, (2, 2)), Rules(30, high=5)),
    "with negative values": Given(drawn_rows(("n", 0), (3,), 1, 3, -1), Rules(30, low=-1, high=1)),
    "of persons with several rows": Given(twice(drawn_rows(("m", 1), (2, 2), 3, 3), 4), Rules(30, high=4)),
}
MORE = {
    **{f"from zero {seed}": Given(drawn_rows(seed, (2, 2)), Rules(30, high=5)) for seed in (0, 2)},
    **{
        f"with negative values {seed}": Given(drawn_rows(("n", seed), (3,), 1, 3, -1), Rules(30, low=-1, high=1))
        for seed in range(1, 5)
    },
    "above zero": Given(drawn_rows(("p", 0), (2, 2), 4, 4, 1), Rules(20, low=1, high=5)),
    **{
        f"with a dominance rule {seed}": Given(
            drawn_rows(("d", seed), (2, 2), 3, 4), Rules(20, (2, Fraction(85, 100)), high=3)
        )
        for seed in (1, 2)
    },
    "of persons with several rows": Given(twice(drawn_rows(("m", 0), (2, 2), 3, 3), 4), Rules(30, high=4)),
}


def check(given: Given) -> None:
    _, hidden = protect(given)
    assert found_persons(given, hidden) == []
    assert found_cells(given, hidden) == []


@pytest.mark.parametrize("what", DRAWN)
def test_nobody_finds_a_contribution(what: str) -> None:
    check(DRAWN[what])


@pytest.mark.thorough
@pytest.mark.parametrize("what", MORE)
def test_nobody_finds_a_contribution_of_more_tables(what: str) -> None:
    check(MORE[what])


NAIVE = Given(
    {
        (0, 0): {1: [9]},
        (0, 1): {2: [3], 3: [3], 4: [3]},
        (1, 0): {5: [3], 6: [3], 7: [3]},
        (1, 1): {8: [3], 9: [3], 10: [3], 11: [2]},
    },
    Rules(50, high=9),
)
"""One dominated cell among three that are not."""


def test_only_sensitive_cells_hidden_are_found() -> None:
    system = NAIVE.system()
    hidden = [bool(one) for one in (system.small | NAIVE.amounts(system).sensitive)[system.listed]]
    assert hidden.count(True) == 1
    assert (None, 1) in found_persons(NAIVE, hidden, contribute=False)
    _, protected = protect(NAIVE)
    assert found_persons(NAIVE, protected) == []


SHARED = Given(
    {(0,): {1: [4]}, (1,): {1: [6]}, (2,): {2: [2], 3: [2], 4: [2]}, (3,): {5: [2], 6: [2], 7: [2]}}, Rules(50, high=12)
)
"""Two cells of one person, who dominates both."""


@pytest.mark.thorough
def test_the_union_of_the_cells_of_one_contributor_is_protected() -> None:
    """As in sdcTools/UserSupport issue 160: each hidden cell of an enterprise has an interval, and their sum none."""
    hidden = [cell in ((0,), (1,)) for cell in SHARED.counts.cells]
    assert found_cells(SHARED, hidden) == []
    assert (None, 1) in found_persons(SHARED, hidden, contribute=False)
    _, protected = protect(SHARED)
    assert found_persons(SHARED, protected) == []


@pytest.mark.thorough
def test_a_contributor_is_another_reader() -> None:
    """Two cells of one person each: for others each hides the other, and the two find each other's number."""
    given = Given(
        {(0,): {1: [6]}, (1,): {2: [8]}, (2,): {3: [2], 4: [2], 5: [2]}, (3,): {6: [2], 7: [2], 8: [2]}},
        Rules(50, high=30),
    )
    hidden = [cell in ((0,), (1,)) for cell in given.counts.cells]
    found = found_persons(given, hidden)
    assert {(1, 2), (2, 1)} <= set(found)
    assert not any(who not in (1, 2) for who, _ in found)
    _, protected = protect(given)
    assert found_persons(given, protected) == []


@pytest.mark.parametrize("low", [0, -9])
def test_witnesses_agree_with_what_is_shown(low: int) -> None:
    for seed in range(2):
        given = Given(drawn_rows(("w", seed), (3, 3), 9, 4, low), Rules(20, low=low, high=9))
        system = given.system()
        found, _ = protect(given)
        value, count = given.amounts(system).value, system.atoms.count
        for change, sums in zip(found.witnesses, found.sums[0], strict=True):
            assert not system.sums(change)[~found.hidden].any()
            assert not system.sums(sums)[~found.hidden].any()
            least, most = Range(low, 9).change(value, count + change)
            assert ((sums >= least) & (sums <= most)).all()


@pytest.mark.parametrize("seed", [0, 2])
def test_bounds_are_those_of_every_table(seed: int) -> None:
    given = Given(drawn_rows(("b", seed), (2, 2), 4, 4), Rules(20, high=4))
    system = given.system()
    found, hidden = protect(given)
    amounts = given.amounts(system)
    rows, sums = bound_cells(system, found.hidden, WitnessTables(found.witnesses, found.sums), [(amounts, Range(0, 4))])
    ((_, reader),) = readers(given, hidden, contribute=False)
    for place, cell in enumerate(given.counts.cells):
        numbers = reader.counts[:, given.counts.within[cell]].sum(axis=1)
        assert (sums.low[place], sums.high[place]) == reader.sums_of(given.counts.within[cell])
        assert rows.low[place] == numbers.min()
        assert rows.high[place] >= numbers.max()  # the reader tries few rows of a combination
        assert rows.tight[place]
        assert sums.tight[place]


def test_sums_in_other_units_are_protected_as_well() -> None:
    """Numbers of which the programs solve changes in units of a thousand."""
    rows = drawn_rows("large", (4, 4), 10**9, 5)
    given = Given(rows, Rules(10, high=10**9))
    system = given.system()
    amounts = given.amounts(system)
    assert amounts.unit == 10**4
    found, _ = protect(given)
    changes = found.sums[0]
    moved = np.array([system.sums(one) for one in changes])
    assert not moved[:, ~found.hidden].any()
    demanded = np.flatnonzero(amounts.up > 0)
    assert len(demanded)
    assert (moved[:, demanded].max(axis=0) >= amounts.up[demanded]).all()
    assert (moved[:, demanded].min(axis=0) <= -amounts.down[demanded]).all()


@pytest.mark.thorough
def test_nobody_finds_a_contribution_where_programs_have_near_atoms_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amount_search, "WHOLE", 0)
    monkeypatch.setattr(amount_search, "NEARBY", (3, 4))
    for given in DRAWN.values():
        check(given)
    rows = drawn_rows("near", (4, 4), 10**9, 5)
    given = Given(rows, Rules(10, high=10**9))
    system = given.system()
    amounts = given.amounts(system)
    found, _ = protect(given)
    moved = np.array([system.sums(one) for one in found.sums[0]])
    assert not moved[:, ~found.hidden].any()
    demanded = np.flatnonzero(amounts.up > 0)
    assert (moved[:, demanded].max(axis=0) >= amounts.up[demanded]).all()
