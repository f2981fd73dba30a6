"""Tiny tables of contributions, and their demands by the definitions: each pair of persons is looked at."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from sqlanon.statistics.amounts import Amounts, Contributor
from sqlanon.statistics.system import Atoms, PublishedCells, System, build_system
from tests.unit.cells.made import Tiny, tiny


@dataclass(frozen=True)
class Rules:
    """Of a column: p, dominance, least and greatest value of a row, and the persons of a cell that is not small."""

    percent: int = 50
    dominance: tuple[int, Fraction] | None = None
    low: int = 0
    high: int = 10
    persons: int = 2
    insiders: bool = True


@dataclass(frozen=True)
class Given:
    """Rows of persons: of each combination the values of each person's rows."""

    rows: Mapping[tuple[int, ...], Mapping[int, Sequence[int]]]
    rules: Rules
    tables: tuple[tuple[int, ...], ...] | None = None

    @property
    def counts(self) -> Tiny:
        return tiny({at: sum(map(len, own.values())) for at, own in self.rows.items()}, self.tables)

    @property
    def atoms(self) -> list[Mapping[int, Sequence[int]]]:
        return list(self.rows.values())

    def sums(self) -> dict[tuple[object, ...], int]:
        value = [sum(map(sum, own.values())) for own in self.atoms]
        return {cell: sum(value[at] for at in places) for cell, places in self.counts.within.items()}

    def people(self, cell: tuple[int | None, ...]) -> dict[int, list[int]]:
        """The rows of each person in a cell."""
        found: dict[int, list[int]] = {}
        for at in self.counts.within[cell]:
            for person, values in self.atoms[at].items():
                found.setdefault(person, []).extend(values)
        return found

    def system(self, secret: bytes = b"key") -> System:
        case, people = self.counts, [self.people(cell) for cell in self.counts.cells]
        codes = np.array(list(self.rows), np.int64).T
        owner = [next(iter(own)) if len(own) == 1 else -1 for own in self.atoms]
        count = np.array([sum(map(len, own.values())) for own in self.atoms], np.int64)
        levels = np.array([[code is None for code in cell] for cell in case.cells], np.int64).T
        first = np.array([case.within[cell][0] for cell in case.cells], np.int64)
        small = np.array([len(own) < self.rules.persons for own in people])
        finest = [tuple(0 if at in own else 1 for at in range(len(codes))) for own in case.tables]
        atoms = Atoms(tuple(row[np.newaxis] for row in codes), count, np.array(owner, np.int64))
        return build_system(atoms, PublishedCells(levels, first, small), finest, secret)

    def need(self, own: Mapping[int, Sequence[int]]) -> tuple[int, bool]:
        """The protection level of a cell with such rows, and whether a rule forbids to show it."""
        rules = self.rules
        size = {person: abs(sum(values)) for person, values in own.items()}
        found = []
        for person, other in [(r, q) for r in own for q in (*own, None) if q != r]:
            rest = [values for one, values in own.items() if one not in (person, other)]
            part = ceil(Fraction(rules.percent * size[person], 100))
            value, rows = sum(own[person]), len(own[person])
            above, below = min(part, rules.high * rows - value), min(part, value - rules.low * rows)
            found.append(above - sum(sum(values) - rules.low * len(values) for values in rest))
            found.append(above - sum(abs(sum(values)) for values in rest))
            found.append(below - sum(rules.high * len(values) - sum(values) for values in rest))
        if rules.dominance is not None:
            n, share = rules.dominance
            found.append(ceil(sum(sorted(size.values())[-n:]) / share) - sum(size.values()))
        level, sensitive = max(found), max(found) > 0
        if len(own) < rules.persons:
            level = max(level, 1, ceil(Fraction(rules.percent * sum(size.values()), 100)))
        return max(level, 0), sensitive

    def amounts(self, system: System) -> Amounts:
        """The demands, for a system of the same rows."""
        rules, atoms = self.rules, self.atoms
        value = np.array([sum(map(sum, own.values())) for own in atoms], np.int64)
        count = np.array([sum(map(len, own.values())) for own in atoms], np.int64)
        above = [{r: sum(v) - rules.low * len(v) for r, v in own.items()} for own in atoms]
        below = [{r: rules.high * len(v) - sum(v) for r, v in own.items()} for own in atoms]

        def rest(of: dict[int, int], person: int | None) -> int:
            others = [x for r, x in of.items() if r != person]
            return sum(of.values()) - (max(others, default=0) if rules.insiders else 0)

        low = np.array([-rest(own, None) for own in above], np.int64)
        high = np.array([rest(own, None) for own in below], np.int64)
        up, down, sensitive = (np.zeros(len(system), np.int64) for _ in range(3))
        for cell, of in zip(self.counts.cells, system.listed, strict=True):
            people = self.people(cell)
            level, sensitive[of] = self.need(people)
            rows, total = sum(map(len, people.values())), sum(map(sum, people.values()))
            up[of] = min(level, rules.high * rows - total)
            down[of] = min(level, total - rules.low * rows)
        contributors = []
        for person in sorted({r for own in atoms for r in own}):
            places = [at for at, own in enumerate(atoms) if person in own]
            more, less = [], []
            for at in places:
                own, x = atoms[at], sum(atoms[at][person])
                part = ceil(Fraction(rules.percent * abs(x), 100))
                up_part, down_part = min(part, below[at][person]), min(part, above[at][person])
                size = {r: abs(sum(v)) for r, v in own.items()}
                other_above = max([v for r, v in above[at].items() if r != person], default=0)
                other_below = max([v for r, v in below[at].items() if r != person], default=0)
                other_size = max([v for r, v in size.items() if r != person], default=0)
                left_above = sum(above[at].values()) - above[at][person] - other_above
                left_below = sum(below[at].values()) - below[at][person] - other_below
                u = up_part - min(left_above, sum(size.values()) - size[person] - other_size)
                cap = sum(below[at].values()) - other_below
                if rules.dominance is not None:
                    n, share = rules.dominance
                    others = sorted(v for r, v in size.items() if r != person)[::-1][: n - 1]
                    d = min(ceil((size[person] + sum(others)) / share) - sum(size.values()), cap)
                    u = d if d > 0 and d > u else u
                floor = -(sum(above[at].values()) - other_above)
                most = -(down_part - left_below)
                more.append((u, cap))
                less.append((floor, min(most, max(-u, floor)) if u > 0 else most))
            if any(one[0] > 0 for one in more) or any(one[1] < 0 for one in less):
                contributors.append(
                    Contributor(np.array(places, np.int64), np.array(more, np.int64).T, np.array(less, np.int64).T)
                )
        return Amounts(
            value,
            low,
            high,
            rules.low * count - value,
            rules.high * count - value,
            up,
            down,
            sensitive.astype(bool),
            tuple(contributors),
        )


def drawn_rows(
    seed: object, shape: Sequence[int], most: int = 4, persons: int = 4, low: int = 0
) -> dict[tuple[int, ...], dict[int, list[int]]]:
    """Rows in every combination, each person in one."""
    draw = random.Random(str(seed))
    found: dict[tuple[int, ...], dict[int, list[int]]] = {}
    person = 0
    for at in np.ndindex(*shape):
        own = {}
        for _ in range(1 + draw.randrange(persons)):
            person += 1
            own[person] = [draw.randint(low, most)]
        found[tuple(map(int, at))] = own
    return found
