"""Builds a source from numbers of persons by trace: which traces, and which combinations, a person has together.

Numbers of persons by trace do not say which traces belong to one person. Persons with changed traces are taken apart
and joined anew with traces that have equal rows in the shared columns of the tables; all others stay. The rows of a new
person are joined in the same way. The resulting combinations need not occur in the source: readers of the tables cannot
know that one is missing, as long as each table lists a cell of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.branches import Branch, Traces
from sqlanon.statistics.patterns import Pattern, Patterns
from sqlanon.statistics.system import Atoms, System, Wholes
from sqlanon.statistics.traces import group_traces

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


Places = tuple[int, ...]
"""A trace of each of some tables."""
Pair = tuple[Places, int]
"""The traces of some tables, and that of the next."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Witnesses as sources.

    Attributes:
        system: the cells over the combinations of all patterns, those of the tables' rows first; its atoms are
            patterns, and ``wholes`` has the combinations.
        changes: int64[witnesses, patterns].
        able: int64[combinations that do not occur, columns], of each column a combination that has its value.
        insiders: the patterns of those who are alone in a cell.
    """

    system: System
    changes: Longs
    able: Longs
    insiders: tuple[int, ...]

    @property
    def rows(self) -> System:
        """The cells over the combinations."""
        assert self.system.wholes is not None
        return self.system.wholes.system


class Joiner:
    """Puts persons together.

    Args:
        traces: the traces of persons.
        rows: the cells over the finest combinations, with the classes of the system of traces.
        insiders: the patterns of those who are alone in a cell; they are parted last.
    """

    def __init__(self, traces: Traces, rows: System, insiders: Iterable[int]) -> None:
        self._traces, self._cells, self._insiders = traces, rows, tuple(insiders)
        last = set(self._insiders)
        order = sorted(range(len(traces.patterns)), key=lambda pattern: (pattern in last, pattern))
        persons = traces.numbers.tolist()
        tuples = [tuple(column) for column in traces.traces.T.tolist()]
        self._of: dict[Places, list[int]] = {}
        self._stages: list[_Stage] = []
        for pattern in order:
            self._of.setdefault(tuples[pattern], []).append(pattern)
        groups = [group_traces(branch, branch.shared) for branch in traces.branches]
        for depth, branch in enumerate(traces.branches[1:], 1):
            holder = next(
                place
                for place, before in enumerate(traces.branches[:depth])
                if set(branch.shared) <= set(before.columns)
            )
            held_rows = group_traces(traces.branches[holder], branch.shared)
            stage = _Stage(holder, traces.branches[holder].start, held_rows, branch.start, groups[depth])
            for pattern in order:
                stage.add(tuples[pattern][:depth], tuples[pattern][depth], persons[pattern], last=pattern in last)
            self._stages.append(stage)
        self._atoms: dict[Places, int] = {}
        codes = np.stack([nodes[0] for nodes in rows.atoms.nodes])
        self._known = {tuple(code): atom for atom, code in enumerate(codes.T.tolist())}
        self._rows: dict[Places, Pattern] = {}

    def join(self, changes: Longs) -> Sources:
        """The sources of witnesses.

        Args:
            changes: int64[witnesses, traces].

        Cost: a scan of the persons whose traces change, for each witness and table.
        """
        patterns = list(self._traces.patterns)
        number = {pattern: place for place, pattern in enumerate(patterns)}
        entries: list[dict[int, int]] = []
        for change in changes:
            of_tuples = self._join_one(change)
            by_pattern: dict[int, int] = {}
            for places, more in of_tuples.items():
                for pattern, by in self._spread(places, more, number, patterns):
                    by_pattern[pattern] = by_pattern.get(pattern, 0) + by
            entries.append(by_pattern)
        persons = np.zeros(len(patterns), np.int64)
        persons[: len(self._traces.numbers)] = self._traces.numbers
        joined = np.zeros((len(changes), len(patterns)), np.int64)
        for row, by_pattern in zip(joined, entries, strict=True):
            row[list(by_pattern)] = list(by_pattern.values())
        return self._make(Patterns(tuple(patterns), persons, np.zeros((0, 2), np.int64)), joined)

    def _join_one(self, change: Longs) -> dict[Places, int]:
        """How many persons more have which traces together."""
        first, *others = self._traces.branches
        branch_rows = np.flatnonzero(change[: first.start + len(first.of)])
        more: dict[Places, int] = {(place,): int(change[place]) for place in branch_rows.tolist()}
        for branch, stage in zip(others, self._stages, strict=True):
            inside = change[branch.start : branch.start + len(branch.of)]
            right = {branch.start + place: int(inside[place]) for place in np.flatnonzero(inside).tolist()}
            more = stage.join(more, right)
        return more

    def _spread(
        self, places: Places, more: int, number: dict[Pattern, int], patterns: list[Pattern]
    ) -> list[tuple[int, int]]:
        """A change of persons with some traces together, as those of patterns."""
        have = self._of.get(places, [])
        if more > 0:
            if have:
                return [(have[0], more)]
            pattern = self._realize(places)
            if pattern not in number:
                number[pattern] = len(patterns)
                patterns.append(pattern)
            return [(number[pattern], more)]
        spread = []
        for pattern_number in have:
            by = min(-more, int(self._traces.numbers[pattern_number]))
            if by:
                spread.append((pattern_number, -by))
            more += by
        assert not more
        return spread

    def _realize(self, places: Places) -> Pattern:
        """The rows of a person with some traces; combinations that do not occur get numbers."""
        pattern = self._rows.get(places)
        if pattern is None:
            rows: list[dict[int, int]] = []
            for branch, place in zip(self._traces.branches, places, strict=True):
                branch_rows = _list_rows(branch, place)
                if rows:
                    for some_rows in (rows, branch_rows):
                        some_rows.sort(key=lambda row: tuple(row[column] for column in branch.shared))
                    rows = [{**mine, **others} for mine, others in zip(rows, branch_rows, strict=True)]
                else:
                    rows = branch_rows
            times: dict[int, int] = {}
            for row in rows:
                atom = self._number(tuple(row[column] for column in sorted(row)))
                times[atom] = times.get(atom, 0) + 1
            pattern = self._rows[places] = tuple(sorted(times.items()))
        return pattern

    def _number(self, codes: Places) -> int:
        if codes not in self._known:
            self._known[codes] = self._atoms[codes] = len(self._known)
        return self._known[codes]

    def _make(self, patterns: Patterns, changes: Longs) -> Sources:
        """The system over patterns, and over the combinations with those that do not occur."""
        rows, columns = self._cells, len(self._cells.atoms.nodes)
        leaves = [dict(zip(nodes[0].tolist(), range(nodes.shape[1]), strict=True)) for nodes in rows.atoms.nodes]
        listed = [[leaf[code] for leaf, code in zip(leaves, codes, strict=True)] for codes in self._atoms]
        able = np.array(listed, np.int64).reshape(-1, columns)
        part, of, times = patterns.entries()
        extended = extend(rows, self._traces.first, able)
        system = replace(
            extended,
            atoms=Atoms((), patterns.persons, np.full(len(patterns.of), -1, np.int64)),
            wholes=Wholes(extended, of, part, times),
        )
        return Sources(system, changes, able, self._insiders)


def extend(rows: System, first: Longs, able: Longs) -> System:
    """The cells over the combinations that occur, and over further ones without rows.

    Args:
        rows: the cells over those that occur.
        first: int64[cells], a combination of each published cell.
        able: int64[further ones, columns], of each column a combination that has its value.
    """
    many, old = len(able), len(rows.atoms.count)
    nodes = [of[:, able[:, place]] for place, of in enumerate(rows.atoms.nodes)]
    margins, of_cell = np.unique(rows.levels, axis=1, return_inverse=True)
    classes, atoms = [], []
    for margin in range(margins.shape[1]):
        levels = [(place, int(level)) for place, level in enumerate(margins[:, margin])]
        used = [(place, level) for place, level in levels if level < len(nodes[place])]
        cells = np.flatnonzero(of_cell.reshape(-1) == margin)
        keys = np.stack([rows.atoms.nodes[place][level][first[cells]] for place, level in used]) if used else None
        mine = np.stack([nodes[place][level] for place, level in used]) if used else np.zeros((0, many), np.int64)
        class_of = dict(zip(_tuples(keys, len(cells)), rows.listed[cells].tolist(), strict=True))
        for atom, key in enumerate(_tuples(mine, many)):
            classes.append(class_of[key])
            atoms.append(old + atom)
    holding = np.concatenate([np.repeat(np.arange(len(rows)), np.diff(rows.at)), np.array(classes, np.int64)])
    member = np.concatenate([rows.member, np.array(atoms, np.int64)])
    pairs = np.unique(np.stack([holding, member]), axis=1)
    return replace(
        rows,
        atoms=Atoms(
            tuple(np.concatenate(both, axis=1) for both in zip(rows.atoms.nodes, nodes, strict=True)),
            np.concatenate([rows.atoms.count, np.zeros(many, np.int64)]),
            np.concatenate([rows.atoms.owner, np.full(many, -1, np.int64)]),
        ),
        at=np.searchsorted(pairs[0], np.arange(len(rows) + 1)).astype(np.int64),
        member=pairs[1].astype(np.int64),
    )


def _tuples(keys: Longs | None, many: int) -> list[tuple[int, ...]]:
    return [()] * many if keys is None or not len(keys) else [tuple(key) for key in keys.T.tolist()]


def _list_rows(branch: Branch, place: int) -> list[dict[int, int]]:
    """The rows of a trace, each by the codes of the table's columns."""
    rows = []
    for cell, times in branch.of[place - branch.start]:
        codes = dict(zip(branch.columns, branch.cells[:, cell].tolist(), strict=True))
        rows += [dict(codes) for _ in range(times)]
    return rows


class _Stage:
    """Persons by the traces of some tables, and of the next.

    Args:
        holder: the place of the table that has all columns which the next shares.
        held_start: number of that table's first trace.
        held_rows: the rows of these columns, of each trace of that table.
        start: number of the next table's first trace.
        groups: the same of the next table.
    """

    def __init__(
        self, holder: int, held_start: int, held_rows: Sequence[object], start: int, groups: Sequence[object]
    ) -> None:
        self._at, self._held_start, self._held, self._start, self._groups = holder, held_start, held_rows, start, groups
        self._left: dict[Places, dict[int, int]] = {}
        self._right: dict[int, dict[Places, int]] = {}
        self._last: dict[Pair, int] = {}

    def add(self, left: Places, right: int, persons: int, *, last: bool) -> None:
        """So many persons have these traces; ``last``: they are parted when nobody else is left."""
        of_left, of_right = self._left.setdefault(left, {}), self._right.setdefault(right, {})
        of_left[right] = of_left.get(right, 0) + persons
        of_right[left] = of_right.get(left, 0) + persons
        if last:
            self._last[left, right] = self._last.get((left, right), 0) + persons

    def join(self, left: dict[Places, int], right: dict[int, int]) -> dict[Places, int]:
        """Changes of numbers of persons with both, from those of each."""
        more: dict[Pair, int] = {}
        supply = {key: many for key, many in left.items() if many > 0}
        needed = {key: many for key, many in right.items() if many > 0}
        open_right = {key: -many for key, many in right.items() if many < 0}
        for key, many in left.items():
            # First those whose other trace has to go as well.
            partners = sorted(self._left.get(key, {}).items(), key=lambda pair: pair[0] not in open_right)
            for (_, other), by in self._part([((key, other), of) for other, of in partners], -many, more):
                gone = min(by, open_right.get(other, 0))
                if gone:
                    open_right[other] -= gone
                if by > gone:
                    needed[other] = needed.get(other, 0) + by - gone
        for other, lacking in open_right.items():
            pairs = [((key, other), of) for key, of in self._right.get(other, {}).items()]
            for (key, _), by in self._part(pairs, lacking, more):
                supply[key] = supply.get(key, 0) + by
        self._match(supply, needed, more)
        return {(*key, other): many for (key, other), many in more.items() if many}

    def _part(self, pairs: Sequence[tuple[Pair, int]], lacking: int, more: dict[Pair, int]) -> list[tuple[Pair, int]]:
        """Take so many persons from some pairs, from those that are parted last when nobody else is left."""
        parted = []
        for keeps in (True, False) if lacking > 0 else ():
            for pair, persons in pairs:
                by = min(lacking, persons + more.get(pair, 0) - (self._last.get(pair, 0) if keeps else 0))
                if by > 0:
                    more[pair] = more.get(pair, 0) - by
                    lacking -= by
                    parted.append((pair, by))
        assert lacking <= 0
        return parted

    def _match(self, supply: dict[Places, int], needed: dict[int, int], more: dict[Pair, int]) -> None:
        """Put those together that have equal rows of the shared columns."""
        by_group: dict[object, list[list[int]]] = {}
        for other in sorted(needed):
            by_group.setdefault(self._groups[other - self._start], []).append([other, needed[other]])
        for key in sorted(supply):
            rest = supply[key]
            waiting = by_group.get(self._held[key[self._at] - self._held_start], [])
            while rest > 0:
                other, many = waiting[-1]
                by = min(rest, many)
                more[key, other] = more.get((key, other), 0) + by
                rest -= by
                waiting[-1][1] -= by
                if not waiting[-1][1]:
                    waiting.pop()
