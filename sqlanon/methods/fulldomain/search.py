"""``search: global`` and ``all``: one level a column. Both look at nodes by a `Checker` and know no rows.

The score of a node is the metric of all rows at the node's levels, and the extra cost of suppressing rows.
So the metric without suppressed rows is a lower bound; nodes are looked at by ascending bounds until a bound passes the
best score. For ``dm`` and ``c_avg``, which no sum over columns bounds, a node loses at least what any finer node does
without suppressed rows.

A node fails for good where more rows than the limit are in classes of fewer rows than any class may have: then so does
every finer node. Where the only requirement is a number of rows, or nothing may be suppressed, failing at all is as
good as that, and without a limit every coarser node meets the requirements of a node that meets them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import InfeasibleError
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.fulldomain.checker import OF_CLASSES, Checker, NodeClasses, SuppressedClasses, stars_rows
from sqlanon.methods.fulldomain.infeasible_errors import explain_infeasible
from sqlanon.methods.fulldomain.levels import Lattice
from sqlanon.privacy.base import beyond_rows
from sqlanon.privacy.population import of_population

if TYPE_CHECKING:
    import numpy.typing as npt

    Node = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Best:
    """The best node so far: compared by score, then height, then levels."""

    score: int
    height: int
    node: Node
    joined: int

    @property
    def key(self) -> tuple[int, int, Node]:
        """The key to compare by."""
        return self.score, self.height, self.node


class Search:
    """The nodes of a lattice, the facts known of each, and the best node so far.

    Args:
        context: the run.
        lattice: with the costs of the metric.
        checker: looks at nodes.
        metric: to minimize.
        every: look for all minimal nodes, and not the best one.
    """

    def __init__(
        self, context: Context, lattice: Lattice, checker: Checker, *, metric: str, every: bool = False
    ) -> None:
        self._lattice, self._checker, self._every = lattice, checker, every
        self._metric, self._of_classes = metric, metric in OF_CLASSES
        self._rows = context.encoded.rows
        self._starred = stars_rows(context)
        # A node without a row in another class fails, as every finer node does: the last node loses as little, and
        # suppresses none.
        self._most = min(context.most_unassigned, self._rows - 1)
        self._progress = context.progress
        # Whether failing says that every finer node fails, and not only rows in classes that are too small.
        compared = of_population(context.requirements)
        self._compares = bool(compared)
        shares = beyond_rows(context.requirements) or any(requirement.line.x for requirement in compared)
        self.monotone = (not shares or self._most == 0) and all(
            requirement.monotone for requirement in context.requirements
        )
        self.fails = np.zeros(len(lattice.nodes), np.bool_)
        self.meets = np.zeros(len(lattice.nodes), np.bool_)
        self.seen = np.zeros(len(lattice.nodes), np.bool_)
        # A class lowers c_avg by one, and there are no more of them than rows.
        self.bound = lattice.base - (self._rows if metric == "c_avg" else 0)
        self._order = lattice.ascending
        self.looked = 0
        self.best: Best | None = None

    def look(self, node: Node) -> bool:
        """Look at a node: note consequences for others, and whether it is the best. Returns whether it suffices."""
        checked = self._checker.check(node)
        self.seen[self._lattice.number(node)] = True
        self.looked += 1
        self._progress.update(self.looked, 0, "nodes of the lattice looked at")
        here, levels = np.array(node, np.int16), self._lattice.nodes
        if self._of_classes:
            above = (levels >= here).all(axis=1)
            self.bound[above] = np.maximum(self.bound[above], checked.of_classes)
        sure = checked.few if not self.monotone else checked.failing.rows
        if sure > self._most:
            self.fails[(levels <= here).all(axis=1)] = True
            return False
        # A lone row is no class of its own where two are: a finer node may suffice, and a coarser node not.
        if checked.failing.rows > self._most or (self._every and self._join_suppressed(checked) is None):
            self.fails[self._lattice.number(node)] = True
            return False
        self.meets[(levels >= here).all(axis=1) if self.monotone else self._lattice.number(node)] = True
        self._score(node, checked)
        return True

    def _score(self, node: Node, checked: NodeClasses) -> None:
        """Compare a node with the best, if the suppressed rows can be published as one class."""
        height = sum(node)
        if self._is_beaten(self._total(node, checked, checked.failing), height, node):
            return
        joined = self._join_suppressed(checked)
        if joined is None:
            return
        score = self._total(node, checked, self._checker.count_suppressed(joined) if joined else checked.failing)
        if not self._is_beaten(score, height, node):
            self.best = Best(score, height, node, joined)

    def _join_suppressed(self, checked: NodeClasses) -> int | None:
        """Number of classes that join the suppressed rows of the last checked node.

        None if the rows within the limit cannot be a class. Left-out rows are asked for what a population requires.
        """
        if not (self._starred or self._compares) or not checked.failing.rows or self._checker.meets(0):
            return 0
        # What meets the requirements still does with more such classes: so the fewest are found by halving.
        low, high = 1, self._checker.joinable(self._most)
        if high < 1 or not self._checker.meets(high):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._checker.meets(middle) else (middle + 1, high)
        return low

    def _is_beaten(self, score: int, height: int, node: Node) -> bool:
        return self.best is not None and self.best.key < (score, height, node)

    def _total(self, node: Node, checked: NodeClasses, gone: SuppressedClasses) -> int:
        if self._of_classes:
            starred = gone.rows * self._rows if self._metric == "dm" else -int(self._starred and gone.rows > 0)
            return checked.of_classes - gone.of_classes + starred
        return int(self._lattice.base[self._lattice.number(node)]) + gone.extra

    def run(self) -> Best | None:
        """The best node: by ascending bounds; where a node fails, a binary search up a chain finds more that do."""
        while (node := self._next()) >= 0:
            if not self.look(self._node(node)) and self.monotone:
                self._climb(node)
        return self.best

    def _next(self) -> int:
        """The node of the least bound that was not looked at and may be the best; -1: there is none."""
        order = self._order = self._order[~(self.seen | self.fails)[self._order]]
        start_node = (
            int(order[np.argmin(self.bound[order])])
            if self._of_classes and len(order)
            else int(order[0])
            if len(order)
            else -1
        )
        return -1 if start_node < 0 or self._exceeds_best(start_node) else start_node

    def _exceeds_best(self, node: int) -> bool:
        """Whether the bound of a node is above the best score."""
        return self.best is not None and int(self.bound[node]) > self.best.score

    def _climb(self, node: int) -> None:
        """Binary search for the lowest node that suffices on a chain from a node that fails to the last node."""
        chain = list(self._chain(node))
        low, high = 0, len(chain)
        while low < high:
            middle = (low + high) // 2
            number = chain[middle]
            if self.meets[number] or (not self.fails[number] and self.look(self._node(number))):
                high = middle
            else:
                low = middle + 1

    def _chain(self, node: int) -> Iterator[int]:
        """Nodes above a node, each with a further level: of the column that then costs least."""
        columns, strides = self._lattice.columns, self._lattice.strides
        rises = [np.diff(column.base[level:]).tolist() for column, level in zip(columns, self._node(node), strict=True)]
        steps = [(rise[0], j, 0) for j, rise in enumerate(rises) if rise]
        heapq.heapify(steps)
        while steps:
            _, j, step = heapq.heappop(steps)
            node += strides[j]
            yield node
            if step + 1 < len(rises[j]):
                heapq.heappush(steps, (rises[j][step + 1], j, step + 1))

    def minimal(self) -> list[Node]:
        """Every node that suffices while no finer node does: Incognito.

        A subset of the columns at some levels is the node that hides the others, and if a subset fails so does every
        node below that. So subsets are gone through by size, as a-priori pruning has it, and each from the finest nodes
        up. Nodes above a node that suffices are not looked at: whether they suffice or not, they are not minimal.
        """
        levels, top = self._lattice.nodes, np.array(self._lattice.top, np.int16)
        shown = (levels < top).sum(axis=1)
        for node_index in np.lexsort((np.arange(len(levels)), levels.sum(axis=1), shown)):
            if not (self.fails[node_index] or self.meets[node_index]):
                self.look(self._node(int(node_index)))
        minimal_nodes, self.best = [], None
        for node_index in np.flatnonzero(self.meets):
            node = self._node(int(node_index))
            if not any(level > 0 and self.meets[node_index - self._lattice.strides[j]] for j, level in enumerate(node)):
                minimal_nodes.append(node)
        for node in minimal_nodes:
            self._score(node, self._checker.check(node))
        return minimal_nodes

    def _node(self, node: int) -> Node:
        return tuple(int(level) for level in self._lattice.nodes[node])


def assign(context: Context, lattice: Lattice, *, every: bool, metric: str, pushed: bool) -> Assignment:
    """The best node, or with ``every`` the best of all minimal nodes, which the notes list."""
    checker = _checker(context, lattice, metric, pushed=pushed)
    search = Search(context, lattice, checker, metric=metric, every=every)
    notes: list[str] = []
    if every:
        minimal_nodes = search.minimal()
        columns = ", ".join(column.name for column in lattice.columns)
        listed = "; ".join(" ".join(map(str, node)) for node in minimal_nodes)
        notes.append(f"fulldomain: {len(minimal_nodes)} minimal nodes, as levels of {columns}: {listed}")
        if context.most_unassigned:
            notes.append(
                "fulldomain: with suppression a node above a minimal one can lose less: search=global looks at these "
                "as well"
            )
        best = search.best
    else:
        best = search.run()
    if best is None:
        raise InfeasibleError(explain_infeasible(context))
    checker.check(best.node)
    shown = ", ".join(f"{column.name} {level}" for column, level in zip(lattice.columns, best.node, strict=True))
    notes.insert(
        0,
        f"fulldomain: published at the levels {shown}; {search.looked} of {len(lattice.nodes)} nodes were looked at",
    )
    starred = stars_rows(context)
    table, star, classes = checker.assign(best.joined, starred)
    levels = np.repeat(np.array([best.node], np.int16), classes, axis=0)
    if star is not None:
        levels[star] = lattice.top
    loaded: dict[str, npt.NDArray[np.generic]] = {"class": np.arange(classes, dtype=np.int32)}
    loaded |= {column.code: np.ascontiguousarray(levels[:, j]) for j, column in enumerate(lattice.columns)}
    levels_table = context.scratch.table("levels")
    context.scratch.engine.load_arrays(levels_table, loaded)
    gone = context.suppression is not None and not starred and context.most_unassigned > 0
    return Assignment(
        table,
        checker.execution,
        tuple(notes),
        divided=False,
        unassigned=gone,
        starred=star,
        levels=levels_table,
        search={"nodes": len(lattice.nodes), "looked_at": search.looked},
    )


def _checker(context: Context, lattice: Lattice, metric: str, *, pushed: bool) -> Checker:
    if pushed:
        from sqlanon.methods.fulldomain.sql_nodes import PushdownChecker

        return PushdownChecker(context, lattice, metric)
    from sqlanon.methods.fulldomain.in_memory import InMemory

    return InMemory(context, lattice, metric)
