"""Top-down specialization by hierarchies.

The idea is that of Fung, Wang and Yu, *Top-Down Specialization for Information and Privacy Preservation*, ICDE 2005;
details are ours. Every column has a cut through its hierarchy, at first the root. The node of the best score is
replaced by the node's children, for all rows, while the classes meet the requirements. Classes only become smaller, so
a node that fails once fails for ever.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Longs
    from sqlanon.engines.base import TableRef
    from sqlanon.methods.fulldomain.cells import Cells


class TDS:
    """Specialization by hierarchies: other columns have the value and ``*``; NULL is a child of the root."""

    def __init__(self, target: str, publish: str) -> None:
        self.target = target
        self.publish = publish

    def refusal(self, problem: Problem) -> str | None:
        if self.target and self.target not in {domain.reading.name for domain in problem.sensitive}:
            return "method tds: target is no sensitive column of the policy; name one, or leave target out"
        lack = problem.lacks(problem.rows * (12 * (len(problem.quasi) + problem.counted) + 96))
        return f"method tds {lack}, or use mondrian" if lack else None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`.

        Cost: a GROUP BY of the table; then a pass over the cells for every node that is looked at, and with a target
        over all cells for every node in every round.
        """
        import numpy as np

        from sqlanon.methods.fulldomain.cells import attach, read_cells

        cells = read_cells(context)
        cut = _Cut(context, cells, self._targets(context))
        cut.specialize()
        _, first, label_of_row = np.unique(cut.label, return_index=True, return_inverse=True)
        # Cells ascend by codes: classes in the order of their first cells are near where their numbers are.
        rank = np.empty(len(first), np.int32)
        rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        number = rank[label_of_row.reshape(-1)]
        table, divided = attach(context, cells, np.arange(len(number), dtype=np.int32), number, cells.rows)
        levels = None
        if self.publish == "cut":
            levels = self._levels(context, cut, np.sort(first))
        note = (
            f"tds: {cut.done} nodes were specialized, {cut.failed} would leave classes that do not meet the "
            "requirements"
        )
        return Assignment(table, "kernel", (note,), divided=divided, levels=levels)

    def _targets(self, context: Context) -> list[Longs] | None:
        """Of each quasi column the rows by code and value of the target; None without a target."""
        import numpy as np

        if not self.target:
            return None
        (of,) = (domain for domain in context.encoded.sensitive if domain.reading.name == self.target)
        cuts_found = []
        for domain in context.encoded.quasi:
            statement = context.scratch.sql(
                "fulldomain/count", work=context.encoded.work, columns=[domain.code, of.code], cells=None
            )
            code, value, rows = context.scratch.fetch_arrays(statement, [domain.code_array, of.code_array, "int64"])
            cuts_found.append(np.zeros((domain.codes, of.codes), np.int64))
            cuts_found[-1][code, value] = rows
        return cuts_found

    def _levels(self, context: Context, cut: _Cut, first: npt.NDArray[np.intp]) -> TableRef:
        """The level of the cut in every column, by class; ``first``: a cell of each class."""
        import numpy as np

        loaded: dict[str, npt.NDArray[np.generic]] = {"class": np.arange(len(first), dtype=np.int32)}
        for domain, level, codes in zip(context.encoded.quasi, cut.level, cut.cells.codes, strict=True):
            loaded[domain.code] = level[codes[first]].astype(np.int16)
        table = context.scratch.table("levels")
        context.scratch.engine.load_arrays(table, loaded)
        return table


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of a cut that can be specialized.

    Attributes:
        column, level: where it is; ``first`` and ``last`` code of it.
        gain: bits of the target that the children make known, in `SCALE`; 0 without a target.
        volume: the rows times the logarithm of how much smaller the boxes of the rows become.
    """

    column: int
    level: int
    first: int
    last: int
    gain: int
    volume: int


class _Cut:
    """The cuts of all columns, and the class of every cell."""

    def __init__(self, context: Context, cells: Cells, targets: list[Longs] | None) -> None:
        import numpy as np

        from sqlanon.methods.fulldomain.cells import count_values
        from sqlanon.methods.fulldomain.checker import least_of
        from sqlanon.methods.fulldomain.levels import nodes_and_leaves
        from sqlanon.methods.shared import kernel_input

        self.cells, self.done, self.failed = cells, 0, 0
        self._context, self._targets = context, targets
        self._whole = kernel_input.whole_table(context) if cells.sensitive else kernel_input.WholeTable()
        self._least = least_of(context)
        self._weights = [domain.reading.spec.weight for domain in context.encoded.quasi]
        self._counts = count_values(context)
        nodes_of = [nodes_and_leaves(domain) for domain in context.encoded.quasi]
        self._node, self._leaves = [node for node, _ in nodes_of], [leaves for _, leaves in nodes_of]
        self.level = [np.full(node.shape[1], len(node) - 1, np.int64) for node in self._node]
        self.label = np.zeros(len(cells.rows), np.int64)
        self._size = np.array([int(cells.rows.sum())], np.int64)
        self._open: list[_Node] = []
        for j in range(len(self._node)):
            self._note_open(j, len(self._node[j]) - 1, 0)

    def specialize(self) -> None:
        """Replace nodes by their children while any of them can be."""
        while self._open:
            best = max(range(len(self._open)), key=lambda number: self._score(self._open[number]))
            node = self._open.pop(best)
            children = self._split(node)
            if children is None:
                self.failed += 1
                continue
            self._apply(node, *children)
            self.done += 1
            self._context.progress.update(self.done, 0, "nodes specialized")

    def _score(self, node: _Node) -> tuple[Fraction | int, int, int, int]:
        """Keys of a comparison (Fung et al., section 3).

        They are the gain per loss of anonymity, that is, per fall of the smallest class, and then the volume.
        """
        gain: Fraction | int = 0
        if node.gain:
            cells, _, size = self._parts(node)
            alive = self._size.copy()
            alive[self.label[cells]] = 0
            rest = alive[alive > 0]
            after = min(int(size.min()), int(rest.min()) if len(rest) else int(size.min()))
            gain = Fraction(node.gain, max(int(self._size[self._size > 0].min()) - after, 1))
        return gain, node.volume, -node.column, -node.first

    def _parts(self, node: _Node) -> tuple[npt.NDArray[np.intp], Longs, Longs]:
        """The cells of a node, the part of the class that each would be in, and the rows of each part."""
        import numpy as np

        codes = self.cells.codes[node.column]
        cells = np.flatnonzero((codes >= node.first) & (codes <= node.last))
        child = self._node[node.column][node.level - 1][codes[cells]].astype(np.int64)
        _, part = np.unique(self.label[cells] * (node.last + 1) + child, return_inverse=True)
        part = part.reshape(-1)
        size = np.bincount(part, weights=self.cells.rows[cells]).astype(np.int64)
        return cells, part, size

    def _split(self, node: _Node) -> tuple[npt.NDArray[np.intp], Longs, Longs] | None:
        """The parts, if each meets the requirements."""
        import numpy as np

        from sqlanon.kernels.requirements import make_counters
        from sqlanon.methods.fulldomain.kernels.lattice import mark_meeting
        from sqlanon.methods.shared import kernel_input

        cells, part, size = self._parts(node)
        if len(cells) and int(size.min()) < self._least:
            return None
        if self.cells.sensitive and len(cells):
            some = self.cells.some(cells)
            demands = kernel_input.demands(self._context, some.sensitive, len(cells), self._whole)
            holds = np.zeros(len(size), np.bool_)
            counters = make_counters(demands, int(size.max()))
            mark_meeting(demands, counters, part.astype(np.int32), some.rows, len(size), holds)
            if not holds.all():
                return None
        return cells, part, size

    def _apply(self, node: _Node, cells: npt.NDArray[np.intp], part: Longs, size: Longs) -> None:
        """Put the children of a node into the cut."""
        import numpy as np

        self._size[self.label[cells]] = 0
        self.label[cells] = part + len(self._size)
        self._size = np.append(self._size, size)
        self.level[node.column][node.first : node.last + 1] = node.level - 1
        below = self._node[node.column][node.level - 1][node.first : node.last + 1]
        for first in np.unique(below):
            self._note_open(node.column, node.level - 1, int(first))

    def _note_open(self, j: int, level: int, first: int) -> None:
        """Note a node that can be specialized: it is no leaf, and there are rows of it."""
        import numpy as np

        from sqlanon.kernels.extent import SCALE

        codes = np.flatnonzero(self._node[j][level] == first)
        counts = self._counts[j][codes]
        if level == 0 or not counts.any():
            return
        child, number = np.unique(self._node[j][level - 1][codes], return_inverse=True)
        rows = np.bincount(number.reshape(-1), weights=counts).astype(np.int64)
        whole = max(int(self._leaves[j][level][first]), 1)
        volume = sum(
            int(count) * round(math.log2(whole / max(int(self._leaves[j][level - 1][child_code]), 1)) * SCALE)
            for child_code, count in zip(child, rows, strict=True)
        )
        gain = 0
        if self._targets is not None:
            parts = np.zeros((len(child), self._targets[j].shape[1]), np.int64)
            np.add.at(parts, number.reshape(-1), self._targets[j][codes])
            lost = sum(int(part.sum()) / int(counts.sum()) * _entropy(part) for part in parts)
            gain = round((_entropy(parts.sum(axis=0)) - lost) * SCALE)
        self._open.append(_Node(j, level, int(codes[0]), int(codes[-1]), gain, volume * self._weights[j]))


def _entropy(counts: Longs) -> float:
    """Of a distribution, in bits."""
    total = int(counts.sum())
    return sum(int(count) / total * math.log2(total / int(count)) for count in counts if count)
