"""TP and the cascade over rows, step by step as the paper has them (Xiao, Yi and Tao 2010, section 5).

Nothing is fast here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import log2

from tests.oracle.domains import Table
from tests.oracle.requirements import Privacy, meets

Bag = Counter[int]
"""Rows by sensitive value; without zeros."""


def eligible(bag: Bag, l: Fraction) -> bool:  # noqa: E741 - the papers' symbol
    """At least l times the rows of the most frequent value; nothing is eligible."""
    return not bag or bag.total() >= l * max(bag.values())


def pillars(bag: Bag) -> list[int]:
    """The most frequent values."""
    return sorted(value for value in bag if bag[value] == max(bag.values()))


def run_phase_one(bag: Bag, l: Fraction) -> Bag:  # noqa: E741
    """Remove rows one by one from a most frequent value until the rest is eligible."""
    left = Counter(bag)
    while not eligible(left, l):
        left -= Counter([pillars(left)[0]])
    return left


@dataclass
class Giving:
    """Sets and the residue R while sets give rows to it.

    Attributes:
        phase: the one it ended in.
    """

    sets: list[Bag]
    residue: Bag
    l: Fraction  # noqa: E741
    k: int
    phase: int = 1
    moved: int = field(default=0)

    def fat(self, s: int) -> bool:
        bag = self.sets[s]
        return bag.total() - 1 >= self.l * max(bag.values())

    def live(self, s: int) -> bool:
        bag = self.sets[s]
        return bool(bag) and (self.fat(s) or not set(pillars(bag)) & set(pillars(self.residue)))

    def give(self, s: int, values: Iterable[int]) -> None:
        """Move a row of each value; what falls under k goes whole."""
        gone = Counter(values)
        if (self.sets[s] - gone).total() < self.k:
            gone = Counter(self.sets[s])
        self.sets[s] -= gone
        self.residue += gone
        self.moved += gone.total()

    def two(self) -> None:
        while not eligible(self.residue, self.l):
            found = [
                (self.residue[value], s, value) for s, bag in enumerate(self.sets) if self.live(s) for value in bag
            ]
            if not found:
                return
            _, s, value = min(found)
            self.give(s, [value] if self.fat(s) else pillars(self.sets[s]))

    def three(self) -> None:
        """One round."""
        shared, chosen = set(pillars(self.residue)), []
        while shared:
            found = [(len(shared & set(pillars(bag))), s) for s, bag in enumerate(self.sets) if bag and s not in chosen]
            if not found or min(found)[0] == len(shared):
                break
            chosen.append(min(found)[1])
            shared &= set(pillars(self.sets[chosen[-1]]))
        for s in sorted(chosen):
            if not eligible(self.residue, self.l):
                self.give(s, pillars(self.sets[s]))
        for s in range(len(self.sets)):
            while not eligible(self.residue, self.l) and self.live(s):
                if not self.fat(s):
                    self.give(s, pillars(self.sets[s]))
                    continue
                others = [(self.residue[v], v) for v in self.sets[s] if v not in pillars(self.residue)]
                if not others:
                    break
                self.give(s, [min(others)[1]])

    def run(self) -> None:
        assert eligible(sum(self.sets, Counter(self.residue)), self.l), "nothing would end"
        if not eligible(self.residue, self.l):
            self.phase = 2
            self.two()
        while not eligible(self.residue, self.l):
            self.phase, self.moved = 3, 0
            self.three()
            if not self.moved:
                for s, bag in enumerate(self.sets):
                    self.give(s, bag.elements())
        while 0 < self.residue.total() < self.k:
            least = min((bag.total(), s) for s, bag in enumerate(self.sets) if bag)[1]
            self.give(least, self.sets[least].elements())


@dataclass
class Suppressing:
    """A table that is divided into classes of rows."""

    table: Table
    privacy: Privacy
    whole: bool

    @property
    def l(self) -> Fraction:  # noqa: E743
        return Fraction(self.privacy.l or 1) if self.table.sensitive else Fraction(1)

    @property
    def valued(self) -> bool:
        """Whether rows of a group differ in what is asked of them."""
        return bool(self.table.sensitive) and (self.l > 1 or (self.privacy.distinct_l or 1) > 1)

    def value(self, row: int) -> int:
        return self.table.sa_codes[row][0] if self.valued and not self.whole else 0

    def sets(self, left: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
        """Rows of equal values in these columns; sets and rows in the order of all codes."""
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for row in sorted(left, key=lambda row: (self.table.codes[row], row)):
            found[tuple(self.table.codes[row][j] for j in columns)].append(row)
        return list(found.values())

    def lawful(self, rows: Sequence[int]) -> bool:
        return not rows or meets(self.table, rows, self.privacy)

    def step(self, left: Sequence[int], columns: Sequence[int], either: bool) -> tuple[list[list[int]], int]:
        """The classes that are kept of sets of these columns, and the phase it ended in."""
        sets = self.sets(left, columns)
        if self.whole:
            kept = [rows if self.lawful(rows) else [] for rows in sets]
            return (kept, 1) if self.lawful(self.without(left, kept)) else (self.one_by_one(left, kept), 1)
        bags = [Counter(map(self.value, rows)) for rows in sets]
        cut = [run_phase_one(bag, self.l) for bag in bags]
        cut = [bag if bag.total() >= self.privacy.k else Counter() for bag in cut]
        chosen = [self.chosen(rows, bag) for rows, bag in zip(sets, cut, strict=True)]
        if self.lawful(self.without(left, chosen)):
            return chosen, 1
        giving = Giving([*map(Counter, cut)], sum(bags, Counter()) - sum(cut, Counter()), self.l, self.privacy.k)
        giving.run()
        found = [self.chosen(rows, bag) for rows, bag in zip(sets, giving.sets, strict=True)]
        others = self.one_by_one(left, chosen) if either else []
        better = sum(map(len, others)) > sum(map(len, found))
        return (others if better else found), giving.phase

    def chosen(self, rows: Sequence[int], bag: Bag) -> list[int]:
        """These many rows of each value: from those groups that have most of it, then in the order of the codes."""
        cells: dict[tuple[tuple[int, ...], int], list[int]] = defaultdict(list)
        for row in rows:
            cells[self.table.codes[row], self.value(row)].append(row)
        found: list[int] = []
        for value, most in bag.items():
            own = sorted((-len(cell), codes, cell) for (codes, v), cell in cells.items() if v == value)
            found += [row for _, _, cell in own for row in cell][:most]
        return found

    def one_by_one(self, left: Sequence[int], classes: Sequence[Sequence[int]]) -> list[list[int]]:
        """Keep classes while the rest may be one, those of most rows first."""
        kept: list[list[int]] = [[] for _ in classes]
        for s in sorted(range(len(classes)), key=lambda s: -len(classes[s])):
            kept[s] = list(classes[s])
            if not self.lawful(self.without(left, kept)):
                kept[s] = []
        return kept

    @staticmethod
    def without(left: Sequence[int], classes: Sequence[Sequence[int]]) -> list[int]:
        gone = {row for rows in classes for row in rows}
        return [row for row in left if row not in gone]

    def run(self, *, cascade: bool) -> tuple[list[list[int]], list[int], int]:
        """The classes, the last of what nothing has kept (it may be empty), and the phase of TP."""
        d, left = len(self.table.quasi), list(range(self.table.rows))
        classes, phase = self.step(left, range(d), either=False)
        left = self.without(left, classes)
        varied = [j for j in range(d) if len({codes[j] for codes in self.table.codes}) > 1]
        for size in range(len(varied) - 1, 0, -1) if cascade else ():
            subsets = list(combinations(varied, size))
            hides = [sum(self.entropy(j) for j in varied if j not in columns) for columns in subsets]
            keeps = [
                Fraction(self.keepable(left, columns), bits**4) for columns, bits in zip(subsets, hides, strict=True)
            ]
            for _, columns in sorted(zip(keeps, subsets, strict=True), key=lambda pair: -pair[0]):
                more, _ = self.step(left, columns, either=True)
                classes += more
                left = self.without(left, more)
        return [rows for rows in classes if rows], left, phase

    def keepable(self, left: Sequence[int], columns: Sequence[int]) -> int:
        """Rows that phase one keeps."""
        sets = self.sets(left, columns)
        if self.whole:
            return sum(len(rows) for rows in sets if self.lawful(rows))
        sizes = [run_phase_one(Counter(map(self.value, rows)), self.l).total() for rows in sets]
        return sum(size for size in sizes if size >= self.privacy.k)

    def entropy(self, j: int) -> int:
        """Of a column's values in the table, in parts of a bit."""
        shares = [n / self.table.rows for n in Counter(codes[j] for codes in self.table.codes).values()]
        return max(round(-(2**20) * sum(p * log2(p) for p in shares)), 1)


def suppressing(table: Table, privacy: Privacy, options: Mapping[str, str]) -> Suppressing:
    """The table with these options."""
    one = len(table.sensitive) <= 1 and (privacy.distinct_l or 1) <= 1
    made = Suppressing(table, privacy, False)
    return Suppressing(table, privacy, made.valued and (not one or options.get("divide") == "whole"))


def suppress(table: Table, privacy: Privacy, options: Mapping[str, str]) -> list[list[int]]:
    """The classes."""
    made = suppressing(table, privacy, options)
    classes, left, _ = made.run(cascade=options.get("variant", "cascade") == "cascade")
    return [*classes, left] if left else classes
