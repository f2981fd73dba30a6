"""Systems for persons with several rows in tables that share some columns: over the traces of persons.

The trace of a person in a table is how many rows the person has of each finest cell of the table. Readers of several
tables do not know which traces belong together, except by the shared columns: there traces have equal rows. If the
tables form a tree, any numbers of persons by trace with equal numbers by the rows of the shared columns are those of
some source (Vorob'ev 1962, "Consistent families of measures and their extensions"; here the measures are over rows of
persons). So witnesses are found over the traces of each table, which are far fewer than the patterns of all columns,
and `joining` builds a source of each.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.branches import Branch, Traces
from sqlanon.statistics.pattern_cells import over_patterns
from sqlanon.statistics.patterns import Pattern, Patterns, add_candidates
from sqlanon.statistics.system import Atoms, PublishedCells, System, Wholes, build_system

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


MOST_TRACES = 4_000
"""Traces of a table that are made of others, at most."""
Rows = tuple[tuple[tuple[int, ...], int], ...]
"""Codes of some columns, each with how many rows, in ascending order."""


def order_tables(tables: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]] | None:
    """Tables as a tree: the columns of each, and those that it shares with tables before, one of which has them all.

    None: they are no tree, or one table has the columns of all others.

    Args:
        tables: the places of each table's columns.
    """
    widest = list(dict.fromkeys(tuple(sorted(table)) for table in tables))
    left = [table for table in widest if not any(set(table) < set(other) for other in widest)]
    ears: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    while len(left) > 1:
        for table in left:
            others = [other for other in left if other != table]
            shared = {column for other in others for column in other if column in table}
            if any(shared <= set(other) for other in others):
                ears.append((table, tuple(sorted(shared))))
                left.remove(table)
                break
        else:
            return None
    return [(left[0], ()), *ears[::-1]] if ears else None


def over_traces(
    whole: System, persons: Longs, observed: Patterns, tables: Sequence[tuple[int, ...]], secret: bytes, *, rows: bool
) -> System | None:
    """A system over the traces of persons in each table; None: the tables are no tree.

    Args:
        whole: the cells over combinations, which count rows.
        persons: int64[classes], the persons of each published cell.
        observed: the patterns that persons have.
        tables: the places of each table's columns.
        secret: key of the order among equals.
        rows: rows are published as well.

    Cost: that of `add_candidates` and of `over_patterns` for each table.
    """
    ordered = order_tables(tables)
    if ordered is None or {column for table, _ in ordered for column in table} != set(range(len(whole.levels))):
        return None
    heights = np.array([len(nodes) for nodes in whole.atoms.nodes])
    first = whole.member[whole.at[:-1]][whole.listed]
    placed = np.zeros(len(whole.listed), bool)
    systems, places, branches, counts, kin, of_patterns = [], [], [], [], [], []
    part, of, times = observed.entries()
    start = cells_before = 0
    for columns, shared in ordered:
        codes = np.stack([whole.atoms.nodes[column][0] for column in columns])
        cells, leaf, cell_of = np.unique(codes, axis=1, return_index=True, return_inverse=True)
        cell_of = cell_of.reshape(-1).astype(np.int64)
        absent = [column for column in range(len(heights)) if column not in columns]
        mine = np.flatnonzero((whole.levels[absent] == heights[absent, None]).all(axis=0) & ~placed)
        placed[mine] = True
        nodes = tuple(
            levels[:, leaf] if column in columns else np.zeros((len(levels), len(leaf)), np.int64)
            for column, levels in enumerate(whole.atoms.nodes)
        )
        count = np.bincount(cell_of, whole.atoms.count, len(leaf)).astype(np.int64)
        atoms = Atoms(nodes, count, np.full(len(leaf), -1, np.int64))
        small = whole.small[whole.listed[mine]]
        finest = tuple(0 if column in columns else int(heights[column]) for column in range(len(heights)))
        system = build_system(
            atoms, PublishedCells(whole.levels[:, mine], cell_of[first[mine]], small), [finest], secret
        )
        have, trace = _list_traces(part, cell_of[of], times, observed)
        some = _with_candidates(system, have, secret)
        number = {some_trace: place for place, some_trace in enumerate(some.of)}
        of_patterns.append(start + np.array([number[some_trace] for some_trace in have.of], np.int64)[trace])
        branches.append(Branch(columns, shared, cells, some.of, start))
        counts.append(some.persons)
        kin.append(some.kin + start)
        systems.append(_move(system, cells_before))
        places.append(mine)
        start, cells_before = start + len(some.of), cells_before + len(leaf)
    base = _put_together(systems, places, whole)
    moved = [
        tuple((atom + before, many) for atom, many in some_trace)
        for branch, before in zip(branches, np.cumsum([0, *(len(b.cells[0]) for b in branches[:-1])]), strict=True)
        for some_trace in branch.of
    ]
    every = Patterns(tuple(moved), np.concatenate(counts), np.concatenate(kin))
    number_of_persons = np.zeros(len(base), np.int64)
    number_of_persons[base.listed] = persons[whole.listed]
    system = over_patterns(base, number_of_persons, every, rows=rows)
    aligned = _align(base, whole)
    traces = Traces(tuple(branches), every.persons, observed.of, observed.persons, np.stack(of_patterns), first)
    nothing = np.zeros(0, np.int64)
    return replace(_with_links(system, branches), wholes=Wholes(aligned, nothing, nothing, nothing), traces=traces)


def _list_traces(part: Longs, cell: Longs, times: Longs, observed: Patterns) -> tuple[Patterns, Longs]:
    """The traces in a table that persons have, and of each pattern the place of its trace."""
    width = int(cell.max()) + 1
    keys, place = np.unique(part * width + cell, return_inverse=True)
    many = np.zeros(len(keys), np.int64)
    np.add.at(many, place.reshape(-1), times)
    starts = np.searchsorted(keys, np.arange(len(observed.of) + 1) * width)
    pairs = list(zip((keys % width).tolist(), many.tolist(), strict=True))
    number: dict[Pattern, int] = {}
    of_pattern = [
        number.setdefault(tuple(pairs[begin:end]), len(number)) for begin, end in itertools.pairwise(starts.tolist())
    ]
    trace = np.array(of_pattern, np.int64)
    persons = np.bincount(trace, observed.persons, len(number)).astype(np.int64)
    return Patterns(tuple(number), persons, np.zeros((0, 2), np.int64)), trace


def _with_candidates(system: System, have: Patterns, secret: bytes) -> Patterns:
    """All traces that persons have, and some that they could have."""
    order = sorted(range(len(have.of)), key=lambda place: (-int(have.persons[place]), have.of[place]))
    ordered = Patterns(tuple(have.of[place] for place in order), have.persons[order], have.kin)
    some = add_candidates(system, ordered, secret, MOST_TRACES)
    listed = set(some.of)
    missing = [place for place, some_trace in enumerate(ordered.of) if some_trace not in listed]
    of = (*some.of, *(ordered.of[place] for place in missing))
    return Patterns(of, np.concatenate([some.persons, ordered.persons[missing]]), some.kin)


def _move(system: System, atoms: int) -> System:
    """The same over atoms that follow others."""
    return replace(system, member=system.member + atoms)


def _put_together(systems: Sequence[System], places: Sequence[Longs], whole: System) -> System:
    """One system of several that have no atom in common; the cells are the published ones."""
    starts, listed, margins = [np.zeros(1, np.int64)], np.empty(len(whole.listed), np.int64), []
    members = classes = 0
    for system, place in zip(systems, places, strict=True):
        starts.append(system.at[1:] + members)
        listed[place] = system.listed + classes
        margins.append(place[system.margin])
        members, classes = members + len(system.member), classes + len(system)
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(system, name) for system in systems])
        for name in ("member", "value", "small", "weight", "height", "fixed", "inner")
    }
    least = np.ones(classes, np.int64)
    np.maximum.at(least, listed, whole.least[whole.listed])
    count = np.concatenate([system.atoms.count for system in systems])
    atoms = Atoms((), count, np.full(len(count), -1, np.int64))
    return System(
        atoms,
        at=np.concatenate(starts),
        least=least,
        margin=np.concatenate(margins),
        listed=listed,
        levels=whole.levels,
        **joined,
    )


def _align(base: System, whole: System) -> System:
    """The cells over combinations, with the classes of another system of the same cells."""
    of = whole.listed[base.margin]
    sizes = np.diff(whole.at)[of]
    inside = np.repeat(whole.at[of] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return replace(base, atoms=whole.atoms, at=starts, member=whole.member[inside], value=whole.value[of])


def _with_links(system: System, branches: Sequence[Branch]) -> System:
    """The system in which as many persons of two tables have the same rows of the columns that these share."""
    members, times, sizes = [], [], []
    for place, branch in enumerate(branches[1:], 1):
        holder = next(before for before in branches[:place] if set(branch.shared) <= set(before.columns))
        groups: dict[Rows, list[tuple[int, int]]] = {}
        for table, sign in ((holder, 1), (branch, -1)):
            for number, key in enumerate(group_traces(table, branch.shared), table.start):
                groups.setdefault(key, []).append((number, sign))
        for key in sorted(groups):
            entries = sorted(groups[key])
            members += [number for number, _ in entries]
            times += [sign for _, sign in entries]
            sizes.append(len(entries))
    links, many = len(sizes), len(system)
    once = np.ones(len(system.member), np.int64) if system.times is None else system.times
    ones = np.ones(links, np.int64)
    return replace(
        system,
        at=np.concatenate([system.at, system.at[-1] + np.cumsum(np.array(sizes, np.int64))]),
        member=np.concatenate([system.member, np.array(members, np.int64)]),
        times=np.concatenate([once, np.array(times, np.int64)]),
        value=np.concatenate([system.value, 0 * ones]),
        floor=np.concatenate([system.floors(), 0 * ones]),
        small=np.concatenate([system.small, np.zeros(links, bool)]),
        inner=np.concatenate([system.inner, np.zeros(links, bool)]),
        least=np.concatenate([system.least, ones]),
        weight=np.concatenate([system.weight, np.ones(links)]),
        margin=np.concatenate([system.margin, 0 * ones]),
        height=np.concatenate([system.height, 0 * ones]),
        fixed=np.concatenate([system.fixed, np.ones(links, bool)]),
        twin=None if system.twin is None else np.concatenate([system.twin, many + np.arange(links)]),
    )


def group_traces(branch: Branch, columns: Sequence[int]) -> list[Rows]:
    """The rows of some columns that each trace of a table has: the codes of the columns, and how many."""
    places = [branch.columns.index(column) for column in columns]
    codes = [tuple(cell) for cell in branch.cells[places].T.tolist()]
    grouped = []
    for trace in branch.of:
        rows: dict[tuple[int, ...], int] = {}
        for cell, times in trace:
            rows[codes[cell]] = rows.get(codes[cell], 0) + times
        grouped.append(tuple(sorted(rows.items())))
    return grouped
