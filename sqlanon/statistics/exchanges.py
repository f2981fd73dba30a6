"""Changes of sums between finest combinations that leave each cell of all tables as it is, or move hidden cells alone.

Tables without all columns show no finest combination. A contributor can then have more in one of them, and another one
less, in combinations with the same cells. The cells of one table are the left nodes of a graph, those of all others
together the right nodes, and a combination is an edge between its two cells. A change of edges is a flow; it leaves all
published cells as they are if it leaves all nodes, as each cell is a union of left or of right nodes. A *direction* is
a change of nodes that moves no shown cell: the rows of a witness that counts need, or the sums of another witness. A
change of sums that adds up to a multiple of it moves no shown cell either. No linear program is solved for any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.amounts import ENDS
from sqlanon.statistics.public_system import find_margins
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlanon.arrays import Longs
    from sqlanon.statistics.amounts import Amounts, Contributor


MOST_EDGES = 2_000_000
"""Combinations that are looked at for one change, at most."""
MOST_LOOKS = 4_000_000_000
"""The same of all changes of a column; about half a minute of one core."""
MOST_TRIED = 30
"""Directions that are tried for an end, at most."""


@dataclass(frozen=True, slots=True)
class SparseChanges:
    """Changes of sums that move no cell, one after the other.

    Attributes:
        number: int64[n], the change, from 0 on, in ascending order.
        atom: int64[n], a combination.
        change: int64[n], by how much it changes.
        many: how many changes there are.
    """

    number: Longs
    atom: Longs
    change: Longs
    many: int


def join_changes(changes: Sequence[tuple[Longs, Longs]]) -> SparseChanges:
    """Some changes, each by the combinations that it changes and by how much."""
    nothing = np.zeros(0, np.int64)
    number = np.repeat(np.arange(len(changes), dtype=np.int64), [len(atoms) for atoms, _ in changes])
    atom = np.concatenate([nothing, *(atoms for atoms, _ in changes)])
    return SparseChanges(number, atom, np.concatenate([nothing, *(by for _, by in changes)]), len(changes))


@dataclass(frozen=True, slots=True)
class ServedContributors:
    """Changes that serve contributors and move no cell.

    Attributes:
        changes: the changes.
        unserved: contributors of whom an end is not served.
    """

    changes: SparseChanges
    unserved: tuple[Contributor, ...]


def serve_within_cells(system: System, amounts: Amounts) -> ServedContributors:
    """The contributors for whom changes that move no cell are found.

    Args:
        system: the cells over the finest combinations.
        amounts: a column's sums.

    Cost: for each end some breadth-first searches among the combinations, `MOST_LOOKS` in all at most.
    """
    exchanges = Exchanges(system, amounts)
    changes: list[tuple[Longs, Longs]] = []
    unserved = []
    for person in amounts.contributors if exchanges.has_others else ():
        ends = [exchanges.serve(person, more=more) for more in ENDS]
        if any(change is None for change in ends):
            unserved.append(person)
        else:
            changes += [change for change in ends if change is not None and len(change[0])]
    if not exchanges.has_others:
        unserved = list(amounts.contributors)
    return ServedContributors(join_changes(changes), tuple(unserved))


class Exchanges:
    """Finds changes of a column's sums in the graph of finest cells.

    Args:
        system: the cells over the finest combinations.
        amounts: the column's sums.
        counts: int64[changes, atoms], changes of rows that move hidden cells alone: directions.
    """

    def __init__(self, system: System, amounts: Amounts, counts: Longs | None = None) -> None:
        self._system, self._amounts = system, amounts
        self._low, self._high = amounts.low.copy(), amounts.high.copy()
        self._left, right = _find_nodes(system)
        self.has_others = bool(right.any())
        self._lefts = lefts = int(self._left.max(initial=-1)) + 1
        self._right = right + lefts
        node = np.concatenate([self._left, self._right])
        order, many = np.argsort(node, kind="stable"), int(node.max(initial=-1)) + 1
        self._size = np.bincount(node, minlength=many)
        edges = (order % max(1, len(right))).astype(np.int64)
        starts = np.searchsorted(node[order], np.arange(many + 1)).astype(np.int64)
        self._graph = (starts, edges, self._left, self._right, np.array([lefts], np.int64))
        self._need, self._change = np.zeros(many, np.int64), np.zeros(len(right), np.int64)
        self._left_to_look = MOST_LOOKS
        self._directions: list[dict[int, int]] = []
        self._with_node: dict[int, list[int]] = {}
        if counts is not None:
            for place in np.argsort((counts != 0).sum(axis=1), kind="stable").tolist():
                self.add_direction(counts[place])

    def add_direction(self, change: Longs) -> None:
        """Keep how a change of combinations moves nodes: no multiple of it moves a shown cell."""
        moved = np.zeros(len(self._need), np.int64)
        atoms = np.flatnonzero(change)
        for of in (self._left, self._right):
            np.add.at(moved, of[atoms], change[atoms])
        nodes = np.flatnonzero(moved)
        if len(nodes):
            steps = moved[nodes] // np.gcd.reduce(moved[nodes])
            for node in nodes.tolist():
                self._with_node.setdefault(node, []).append(len(self._directions))
            self._directions.append(dict(zip(nodes.tolist(), steps.tolist(), strict=True)))

    def serve(self, person: Contributor, *, more: bool) -> tuple[Longs, Longs] | None:
        """A change in which a contributor has more, or less, and that moves no cell; None: none is found.

        Returns:
            the combinations that change, and by how much; none, where the true sums serve.
        """
        box = person.box(more=more)
        return self._route(person.atoms, box, np.clip(0, box[0], box[1]), {})

    def keep_cells(self, atoms: Longs, box: Longs) -> Longs | None:
        """A change with some combinations in a box that moves no cell: int64[atoms]; None: none is found."""
        route = self._route(atoms, box, np.clip(0, box[0], box[1]), {})
        return None if route is None else self._spread(route)

    def move_for_person(self, person: Contributor, *, more: bool) -> Longs | None:
        """A change in which a contributor has more, or less, and hidden cells move: int64[atoms]; None: none."""
        box = person.box(more=more)
        least = np.clip(0, box[0], box[1])
        for chosen in self._choose_directions(person.atoms, least):
            by, moves = least.copy(), dict[int, int]()
            for place, direction, times, node in chosen:
                by[place] = times * self._directions[direction][node]
                for moved, step in self._directions[direction].items():
                    moves[moved] = moves.get(moved, 0) + times * step
            route = self._route(person.atoms, box, np.clip(by, box[0], box[1]), moves)
            if route is not None:
                return self._spread(route)
        return None

    def move_cell(self, cell: int, needed: int, *, more: bool) -> Longs | None:
        """A change in which a class has so much more, or less, and hidden cells move: int64[atoms]; None: none."""
        amounts, inside = self._amounts, self._system.members(cell)
        nodes = self._nodes_of(inside)
        steps: dict[int, int] = {}
        for node in nodes:
            for direction in self._with_node.get(node, ()):
                steps[direction] = steps.get(direction, 0) + self._directions[direction][node]
        low, high = np.minimum(amounts.least, amounts.low), np.maximum(amounts.most, amounts.high)
        box, tried = np.stack([low[inside], high[inside]]), 0
        for direction in sorted(steps):
            step = steps[direction]
            if not step:
                continue
            times = _times(needed if more else -needed, step)
            moves = {node: times * by for node, by in self._directions[direction].items()}
            route = self._route(inside, box, np.zeros(len(inside), np.int64), moves)
            if route is not None:
                return self._spread(route)
            tried += 1
            if tried == MOST_TRIED:
                break
        return None

    def _choose_directions(self, atoms: Longs, least: Longs) -> Iterator[list[tuple[int, int, int, int]]]:
        """Of one combination, then of each: its place, a direction, how often, and the node of it that this moves."""
        of_places = []
        for place in np.flatnonzero(least).tolist():
            atom, by, choices = int(atoms[place]), int(least[place]), []
            for node in (int(self._left[atom]), int(self._right[atom])):
                for direction in self._with_node.get(node, ())[:MOST_TRIED]:
                    step = self._directions[direction][node]
                    choices.append((place, direction, _times(by, step), node))
            of_places.append(choices[:MOST_TRIED])
        for choices in of_places:
            yield from ([choice] for choice in choices)
        for turn in range(max(map(len, of_places), default=0) if len(of_places) > 1 else 0):
            yield [choices[turn % len(choices)] for choices in of_places if choices]

    def _nodes_of(self, atoms: Longs) -> list[int]:
        """The left nodes that are a class, else the right nodes."""
        for of in (self._left, self._right):
            nodes = np.unique(of[atoms])
            if int(self._size[nodes].sum()) == len(atoms):
                return list(map(int, nodes))
        return []

    def _route(self, atoms: Longs, box: Longs, by: Longs, moves: dict[int, int]) -> tuple[Longs, Longs] | None:
        """A change with some combinations in a box, in which nodes move so much, and no others."""
        # Here, as plans of other releases import this module, and need no compiler.
        from sqlanon.statistics.kernels import route_change

        if self._left_to_look <= 0:
            return None
        if not self.has_others:
            return self._move_alone(atoms, box, moves)
        limits = self._low[atoms], self._high[atoms]
        self._low[atoms], self._high[atoms] = box
        self._change[atoms] = by
        for node, step in moves.items():
            self._need[node] += step
        changed = np.flatnonzero(by)
        for of in (self._left, self._right):
            np.subtract.at(self._need, of[atoms[changed]], by[changed])
        nodes = np.unique(
            np.concatenate([np.array(list(moves), np.int64), self._left[atoms[changed]], self._right[atoms[changed]]])
        )
        met, looks = route_change(self._graph, self._low, self._high, self._change, self._need, nodes, MOST_EDGES)
        self._left_to_look -= looks
        self._low[atoms], self._high[atoms] = limits
        route = np.flatnonzero(self._change)
        change = self._change[route]
        self._change[route] = 0
        self._need[nodes] = 0
        return (route, change) if met else None

    def _move_alone(self, atoms: Longs, box: Longs, moves: dict[int, int]) -> tuple[Longs, Longs] | None:
        """The same where each left node is one combination, which changes as the node does."""
        changes = {int(self._graph[1][self._graph[0][node]]): by for node, by in moves.items() if node < self._lefts}
        edges, by = (np.array(list(of), np.int64) for of in (changes, changes.values()))
        in_box = np.array([changes.get(atom, 0) for atom in atoms.tolist()], np.int64)
        others = ~np.isin(edges, atoms)
        fits = (by >= self._low[edges]) & (by <= self._high[edges])
        if not fits[others].all() or (in_box < box[0]).any() or (in_box > box[1]).any():
            return None
        order = np.argsort(edges)
        return edges[order], by[order]

    def _spread(self, route: tuple[Longs, Longs]) -> Longs:
        change = np.zeros(len(self._change), np.int64)
        change[route[0]] = route[1]
        return change


def _find_nodes(system: System) -> tuple[Longs, Longs]:
    """int64[atoms] twice: the cell of one table, and those of all others together, so that nodes are fewest."""
    margins = np.unique(system.levels, axis=1)
    finest = [
        place
        for place, levels in enumerate(margins.T)
        if not any((other <= levels).all() and (other != levels).any() for other in margins.T)
    ]
    of = find_margins(system)[finest]
    pairs: list[tuple[int, Longs, Longs]] = []
    for place in range(len(finest)):
        left = _number(of[[place]])
        right = _number(np.delete(of, place, axis=0)) if len(finest) > 1 else np.zeros_like(left)
        pairs.append((int(left.max(initial=0) + right.max(initial=0)), left, right))
    _, left, right = min(pairs, key=lambda pair: pair[0])
    return left, right


def _times(by: int, step: int) -> int:
    """How often a step is as much as a change, or more."""
    times = -(-abs(by) // abs(step))
    return times if (by > 0) == (step > 0) else -times


def _number(keys: Longs) -> Longs:
    numbers: Longs = np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers
