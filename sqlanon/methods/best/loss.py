"""The loss of an assignment before recoding.

It is computed in exact numbers from the boxes of the classes, which the assignment has or one GROUP BY makes.

It decides between methods and nothing else; the loss that a report states is measured on the published table
(`sqlanon.loss`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.declared import FORMATS
from sqlanon.kernels.extent import SCALE
from sqlanon.methods.base import Assignment, Context
from sqlanon.privacy.base import least_rows
from sqlanon.table.domain import Domain
from sqlanon.table.encode import by_code
from sqlanon.table.tree import tree_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Flags, Longs


class Losses:
    """Measures assignments of a table.

    Args:
        context: the run.
        metric: ``gcp``, ``ncp``, ``lm``, ``dm``, ``c_avg`` or ``stars``, each as `sqlanon.loss` defines it.
    """

    def __init__(self, context: Context, metric: str) -> None:
        self._context, self.metric = context, metric
        quasi = context.encoded.quasi
        ordered = [domain for domain in quasi if domain.reading.treatment == "ordered"]
        positions = zip(ordered, by_code(context.scratch, "table/domain_positions", ordered, "int32"), strict=True)
        self._positions = {domain.code: _by_code(domain, *arrays) for domain, arrays in positions}
        self._trees = {d.code: tree_of(d) for d in quasi if d.reading.treatment == "hierarchy"}

    def of(self, assignment: Assignment) -> Fraction:
        """Loss of the classes; rows without a class, and those of the starred class, lose everything."""
        size, starred, gone, boxes = self._boxes(assignment)
        total = self._context.encoded.rows
        if self.metric in ("dm", "c_avg") and FORMATS[self._context.format].either:
            size, starred = self._group_shown(size, starred, boxes)
        if self.metric == "dm":
            kept_sizes = size[~starred]
            return Fraction(int((kept_sizes * kept_sizes).sum()) + total * (gone + int(size[starred].sum())))
        if self.metric == "c_avg":
            return Fraction(total, max(len(size), 1) * least_rows(self._context.requirements))
        lost = weights = 0
        for domain, extent in zip(self._context.encoded.quasi, self._extents(starred, boxes), strict=True):
            weight = 1 if self.metric in ("ncp", "stars") else domain.reading.spec.weight
            lost += weight * (int((extent * size).sum()) + gone * (1 if self.metric == "stars" else SCALE))
            weights += weight
        return Fraction(lost) if self.metric == "stars" else Fraction(lost, SCALE * weights * max(total, 1))

    def by_column(self, assignment: Assignment) -> dict[str, Fraction]:
        """Loss of the classes in each quasi column, by name; for ``gcp`` and ``ncp`` the same, from 0 to 1."""
        size, starred, gone, boxes = self._boxes(assignment)
        total = SCALE * max(self._context.encoded.rows, 1)
        extents = zip(self._context.encoded.quasi, self._extents(starred, boxes), strict=True)
        return {
            domain.reading.name: Fraction(int((extent * size).sum()) + gone * SCALE, total)
            for domain, extent in extents
        }

    def _boxes(self, assignment: Assignment) -> tuple[Longs, Flags, int, list[npt.NDArray[np.generic]]]:
        """Sizes of classes, the starred class marked, rows without a class, and four columns a quasi column."""
        quasi, scratch = self._context.encoded.quasi, self._context.scratch
        columns = [{"code": d.code, "counted": self._is_set(d)} for d in quasi]
        statement = scratch.sql(
            "best/boxes",
            work=self._context.encoded.work,
            assign=assignment.table,
            levels=assignment.levels,
            spans=assignment.spans,
            columns=columns,
        )
        number, rows, *boxes = scratch.fetch_arrays(statement, ["int32", "int64", *["int64"] * (4 * len(quasi))])
        size = rows.astype(np.int64, copy=False)
        starred = number == (-1 if assignment.starred is None else assignment.starred)
        return size, starred, self._context.encoded.rows - int(size.sum()), boxes

    def _extents(self, starred: Flags, boxes: list[npt.NDArray[np.generic]]) -> Iterator[Longs]:
        """Loss of each class in every quasi column in turn, from 0 to `SCALE`; for ``stars`` 0 or 1."""
        for j, domain in enumerate(self._context.encoded.quasi):
            low, high, members, level = (box.astype(np.int64, copy=False) for box in boxes[4 * j : 4 * j + 4])
            extent = np.where(starred, SCALE, self._extent(domain, low, high, members, level))
            if self.metric == "stars":
                extent = (extent > 0) | (low != high)
            yield extent.astype(np.int64)

    def _group_shown(self, size: Longs, starred: Flags, boxes: list[npt.NDArray[np.generic]]) -> tuple[Longs, Flags]:
        """The groups of classes that show the same values: their rows, and whether they are the starred class."""
        keys: list[npt.NDArray[np.generic]] = [starred]
        for j, domain in enumerate(self._context.encoded.quasi):
            low, high, members, level = (box.astype(np.int64, copy=False) for box in boxes[4 * j : 4 * j + 4])
            hidden = starred | (low != high) | (self._extent(domain, low, high, members, level) > 0)
            keys.append(np.where(hidden, -1, low))
        shown, group = np.unique(np.stack(keys), axis=1, return_inverse=True)
        rows = np.zeros(shown.shape[1], np.int64)
        np.add.at(rows, group.ravel(), size)
        return rows, shown[0] == 1

    def describe(self, lost: Fraction) -> str:
        """A loss, for notes."""
        return f"{int(lost)}" if self.metric in ("dm", "stars") else f"{float(lost):.4f}"

    def _is_set(self, domain: Domain) -> bool:
        return domain.code not in self._positions and domain.code not in self._trees

    def _extent(self, domain: Domain, low: Longs, high: Longs, members: Longs, level: Longs) -> Longs:
        """NCP or LM of every class in a column, from 0 to `SCALE`."""
        null = int(domain.has_null)
        less, size = int(self.metric == "lm"), max(domain.size, 1)
        if domain.code in self._trees:
            tree = self._trees[domain.code]
            leaves = np.full(len(low), size, np.int64)
            first, last = np.maximum(low - null, 0), np.maximum(high - null, 0)
            for depth in reversed(range(len(tree.node))):
                here = np.asarray(tree.node[depth])
                fits = (here[first] == here[last]) & ((level < 0) | (level <= depth))
                leaves[fits] = np.asarray(tree.leaves[depth])[first][fits]
            agree = (low == high) & (level <= 0)
        elif domain.code in self._positions:
            place = self._positions[domain.code]
            width = np.where(level == 1, SCALE, place[high] - place[low])
            return _mix_losses(np.where((low == high) & (level < 1), 0, width), low, high, null)
        else:
            leaves = np.where(level == 1, size, members)
            agree = (low == high) & (level < 1)
        extent = np.minimum(np.maximum(leaves - less, 0) * SCALE // max(size - less, 1), SCALE)
        extent[agree | (leaves <= 1)] = 0
        if null:
            only = (
                (low == 0)
                & (high == 0)
                & (level < (len(self._trees[domain.code].node) - 1 if domain.code in self._trees else 1))
            )
            extent[only] = 0
        return _mix_losses(extent, low, high, null)


def _mix_losses(extent: Longs, low: Longs, high: Longs, null: int) -> Longs:
    """A class of NULLs and values loses everything."""
    if null:
        extent[(low == 0) & (high > 0)] = SCALE
    return extent


def _by_code(domain: Domain, code: npt.NDArray[np.generic], position: npt.NDArray[np.generic]) -> Longs:
    table = np.zeros(domain.codes, np.int64)
    table[code] = position
    return table
