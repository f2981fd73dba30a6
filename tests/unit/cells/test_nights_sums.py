"""Counts and sums of several nights: a reader of all versions, who tries every history of both, finds nothing."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from sqlanon.statistics.choose import UnservedError
from tests.oracle.nights_reader import Shown, View, histories
from tests.oracle.sum_reader import Cell, close_to, tables
from tests.unit.cells.made import Tiny
from tests.unit.cells.sums_made import Given, Rules
from tests.unit.cells.test_sums import protect

pytest.importorskip("highspy")

RULES = Rules(60, high=1, persons=3)
Rows = Mapping[tuple[int, ...], Mapping[int, Sequence[int]]]
"""Of each combination the persons with the amount of each."""
MOST = 20_000
"""Tables of sums that are tried, at most."""


@dataclass(frozen=True)
class Case:
    """Nights of rows, and what is published after each.

    Attributes:
        nights: the new rows of each.
        counts, sums: the views.
    """

    nights: Sequence[Rows]
    counts: Sequence[View]
    sums: Sequence[View]

    @property
    def whole(self) -> Tiny:
        return Given(add(self.nights), RULES).counts

    def windows(self) -> Iterator[tuple[int, int]]:
        for start in range(len(self.nights)):
            for end in range(start + 1, len(self.nights) + 1):
                yield start, end


def add(nights: Sequence[Rows]) -> Rows:
    made: dict[tuple[int, ...], dict[int, Sequence[int]]] = {}
    for night in nights:
        for at, own in night.items():
            made.setdefault(at, {}).update(own)
    return {at: made[at] for at in sorted(made)}


def drawn(seed: object, nights: int = 2, leaves: int = 3, many: int = 5) -> list[Rows]:
    """Many persons of each combination first, and few afterwards."""
    draw = random.Random(str(seed))
    made: list[Rows] = []
    for night in range(nights):
        at = [draw.randrange(leaves) for _ in range(many)]
        at += [leaf for leaf in range(leaves) for _ in range(4)] if not night else []
        rows: dict[tuple[int, ...], dict[int, Sequence[int]]] = {}
        for person, leaf in enumerate(sorted(at)):
            rows.setdefault((leaf,), {})[100 * night + person] = [draw.choice((0, 1, 1, 1))]
        made.append(rows)
    return made


def hidden_of(rows: Rows) -> dict[Cell, bool]:
    """Which cells of some rows are hidden."""
    case = Given(rows, RULES)
    _, hidden = protect(case)
    return dict(zip(case.counts.cells, hidden, strict=True))


def publish(nights: Sequence[Rows]) -> Case:
    """Each night's rows are protected by themselves; a cell of which some are hidden keeps its numbers from then on."""
    patterns = [hidden_of(night) for night in nights]
    counts: list[View] = []
    sums: list[View] = []
    for version in range(1, len(nights) + 1):
        n: dict[Cell, Shown] = {}
        x: dict[Cell, Shown] = {}
        for cell in Given(add(nights[:version]), RULES).counts.cells:
            of = [at for at in range(version) if cell in patterns[at]]
            stops = [at for at in of if patterns[at][cell]]
            last = stops[0] if stops else version
            if stops and stops[0] == of[0]:
                n[cell] = x[cell] = Shown(None, version)
            else:
                given = Given(add(nights[:last]), RULES)
                n[cell], x[cell] = Shown(given.counts.value[cell], last), Shown(given.sums()[cell], last)
        counts.append(n)
        sums.append(x)
    return Case(nights, counts, sums)


def publish_each(nights: Sequence[Rows]) -> Case:
    """The naive scheme: each version is protected by itself."""
    counts: list[View] = []
    sums: list[View] = []
    for version in range(1, len(nights) + 1):
        given = Given(add(nights[:version]), RULES)
        hidden, total = hidden_of(add(nights[:version])), given.sums()
        counts.append({cell: Shown(None if hidden[cell] else given.counts.value[cell], version) for cell in hidden})
        sums.append({cell: Shown(None if hidden[cell] else total[cell], version) for cell in hidden})
    return Case(nights, counts, sums)


def possible(case: Case) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """All numbers of rows and sums of each night and combination, in the order of nights."""
    whole, many = case.whole, len(case.nights)
    leaves, places = len(whole.counts), range(len(whole.counts))
    cells: dict[Cell, int | None] = {}
    within: dict[Cell, list[int]] = {}
    for version, view in enumerate(case.sums):
        for cell, seen in view.items():
            key = (version, *cell)
            cells[key] = seen.number
            within[key] = [night * leaves + at for night in range(seen.as_of) for at in whole.within[cell]]
    for history in histories(case.counts, whole.within, leaves, 9):
        rows = [history[0], *(tuple(b - a for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(history))]
        n = [rows[night][at] for night in range(many) for at in places]
        box = [(RULES.low * one, RULES.high * one) for one in n]
        yield from ((n, table) for table in tables(cells, within, box))


def find(case: Case) -> list[object]:
    """What a reader without rows, and a contributor, find of newcomers: few of a cell, sums and contributions."""
    whole, leaves = case.whole, list(case.whole.counts)
    own = [night.get(at, {}) for night in case.nights for at in leaves]
    persons = [(place, person, values[0]) for place, people in enumerate(own) for person, values in people.items()]
    known = [(None, 0, 0), *[(person, place, value) for place, person, value in persons][::3]]
    ends = {(who[0], person): [RULES.high, RULES.low] for who in known for _, person, _ in persons}
    sums: dict[object, list[int]] = {}
    few: dict[object, list[int]] = {}
    for tried, (n, x) in enumerate(possible(case)):
        assert tried < MOST
        for who, at, value in known:
            rows, amounts = list(n), list(x)
            if who is not None:
                rows[at], amounts[at] = rows[at] - 1, amounts[at] - value
                if not (rows[at] >= 0 and 0 <= amounts[at] <= RULES.high * rows[at]):
                    continue
            for place, person, _ in persons:
                if rows[place] < 1 or person == who:
                    continue
                able = ends[who, person]
                able[0] = min(able[0], max(RULES.low, amounts[place] - RULES.high * (rows[place] - 1)))
                able[1] = max(able[1], min(RULES.high, amounts[place] - RULES.low * (rows[place] - 1)))
        for start, end in case.windows():
            for cell, within in whole.within.items():
                inside = [night * len(leaves) + at for night in range(start, end) for at in within]
                for found, of in ((few, n), (sums, x)):
                    total = sum(of[at] for at in inside)
                    span = found.setdefault((start, end, cell), [total, total])
                    span[:] = min(span[0], total), max(span[1], total)
    failing: list[object] = []
    for who, _, _ in known:
        for _, person, value in persons:
            low, high = ends[who, person]
            if person != who and close_to(value, (low, high), RULES.percent, (RULES.low, RULES.high)):
                failing.append((who, person))
    for start, end in case.windows():
        window = Given(add(case.nights[start:end]), RULES)
        for cell in window.counts.cells:
            people, key = window.people(cell), (start, end, cell)
            level, sensitive = window.need(people)
            total, n = sum(map(sum, people.values())), len(people)
            if n < RULES.persons and few[key][1] < RULES.persons:
                failing.append(("few", key))
            asked = max(total - level, RULES.low * n), min(total + level, RULES.high * n)
            if (sensitive or n < RULES.persons) and (sums[key][0] > asked[0] or sums[key][1] < asked[1]):
                failing.append(("sum", key))
    return failing


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_nobody_finds_newcomers_of_two_nights(seed: int) -> None:
    nights = drawn((seed, 2, 4), leaves=2, many=4)
    assert find(publish(nights)) == []
    assert find(publish_each(nights))  # each version by itself


@pytest.mark.thorough
@pytest.mark.parametrize("leaves", [2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_nobody_finds_newcomers_of_many_nights(seed: int, leaves: int) -> None:
    """Cases with more histories than are tried are left out."""
    nights = drawn((seed, leaves, "many"), leaves=leaves, many=2 * leaves)
    try:
        case = publish(nights)
    except UnservedError:
        return
    if sum(1 for _ in itertools.islice(possible(case), MOST)) < MOST:
        assert find(case) == []


def test_levels_of_a_cell_are_those_of_its_nights_together() -> None:
    """Where no night's new rows break a rule, all of them together do not; and levels add up."""
    for seed in range(60):
        nights = drawn(("levels", seed), nights=3, leaves=1, many=5)
        rules = replace(RULES, high=9, percent=30, dominance=(2, Fraction(3, 4)))
        draw = random.Random(seed)
        amounts = [{at: {who: [draw.choice((0, 1, 2, 9))] for who in own} for at, own in one.items()} for one in nights]
        needs = [Given(one, rules).need(one[0,]) for one in amounts]
        level, sensitive = Given(add(amounts), rules).need(add(amounts)[0,])
        assert sensitive <= any(each for _, each in needs)
        assert level <= sum(each for each, _ in needs)
