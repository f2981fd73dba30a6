"""What the paper compares, and ours beside it: from rows and k to the sum of the boxes' extents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.papers.doka.concealment import concealed
from benchmarks.papers.doka.data import Longs, Rows
from sqlanon.kernels.mondrian import grow
from sqlanon.kernels.requirements import demands_of
from sqlanon.methods.freeform.kernels.remix import SWAPS, remix
from sqlanon.methods.freeform.kernels.stream import stream
from sqlanon.methods.freeform.walk import BlockWalk, walk_blocks
from sqlanon.methods.shared.kernel_input import bare_of, make_room, rows_of
from sqlanon.methods.shared.kernels.refine import refine
from sqlanon.papers.matchings.kernels.cost import measure_joint_width, sum_widths
from sqlanon.papers.matchings.solvers import MOST_ROWS, explain_refusal, solve_matchings
from sqlanon.papers.matchings.solvers.greedy import sort_rows
from sqlanon.papers.matchings.solvers.ring import divide_rows
from sqlanon.spec import RefineSpec

KEY = bytes(32)
"""Of the random numbers; what is drawn changes no loss."""

PASSES, BLOCK = 4, 512
"""Of the product's default solver."""


class NotMeasuredError(Exception):
    """A system cannot take these rows, or the command has no time for them."""


@dataclass(frozen=True, slots=True)
class System:
    """One line of the pictures.

    Attributes:
        name: the paper's, or ours.
        marker: how pictures draw it.
        solve: the sum of extents of the boxes for rows and k.
        power: what its time grows with: rows ** power x k.
        most: rows, at most; None: the command's ``--work`` decides.
    """

    name: str
    marker: str
    solve: Callable[[Rows, int], int]
    power: int = 2
    most: int | None = None

    def total(self, rows: Rows, k: int, work: float) -> int:
        """The sum of extents of the boxes.

        Raises:
            NotMeasuredError: see there.
        """
        if k > rows.size or (self.most is not None and rows.size > self.most):
            raise NotMeasuredError
        if rows.size**self.power * k > work:
            raise NotMeasuredError
        return self.solve(rows, k)


def in_tree_order(rows: Rows) -> Rows:
    """The rows along the leaves of a loss-cut tree, as method `tree` orders tables of so many rows."""
    n, d = rows.size, len(rows.codes)
    order = sort_rows(rows.codes.T)
    bare, domains = (
        bare_of(rows.codes, order.astype(np.int32), rows.geometry),
        rows.codes.max(axis=1).astype(np.int64) + 1,
    )
    first, bounds, free = np.zeros(n, np.bool_), np.array([0, n]), demands_of(1, [])
    grow(bare, make_room(n, d, rows.geometry), first, bounds, rows.geometry, free, domains, False, 0)
    return rows.picked(bare.number.astype(np.int64))


def checked(targets: Longs) -> Longs:
    """The matchings; each is a permutation, and no row has a box twice."""
    k, n = targets.shape
    assert all((np.bincount(target, minlength=n) == 1).all() for target in targets)
    ordered = np.sort(targets, axis=0)
    assert k == 1 or (ordered[1:] != ordered[:-1]).all()
    return targets


def _matched(rows: Rows, targets: Longs) -> int:
    """The sum of extents, after the matchings are drawn anew as for a release: the paper's times have that too."""
    found, k = checked(targets).copy(), len(targets)
    remix(found, SWAPS * k, k, stream(KEY))
    return sum_widths(rows.coordinates(), found)


def _solver(name: str, rows: Rows, k: int, *, ordered: bool = False, any_size: bool = False) -> int:
    """``any_size``: as the paper has it, not only as many rows as a policy may give a solver."""
    if explain_refusal(name, min(rows.size, MOST_ROWS[name]) if any_size else rows.size, k) is not None:
        raise NotMeasuredError
    rows = in_tree_order(rows) if ordered else rows
    return _matched(rows, solve_matchings(name, rows.coordinates(), k, any_size=any_size))


def _hungarian(rows: Rows, k: int, *, block: int = 0, passes: int = 0) -> int:
    rows = in_tree_order(rows) if block else rows
    targets = walk_blocks(rows.codes, rows.geometry, BlockWalk(k, block or rows.size, passes, KEY), 1)
    return _matched(rows, targets)


def _concealed(rows: Rows, k: int) -> int:
    c = rows.coordinates()
    box, mask, _ = concealed(c, k)
    return sum(measure_joint_width(box, mask, j, box, mask, j, c.measure) for j in range(rows.size))


def _refined(rows: Rows, k: int) -> int:
    """Classes of at least k rows along the tree's order, refined."""
    rows = in_tree_order(rows)
    c, found = rows.coordinates(), rows_of(rows.codes, np.arange(rows.size, dtype=np.int32), rows.geometry)
    parts = divide_rows(c, k)
    group = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    spec = RefineSpec()
    refine(found.places, found.sets, rows.geometry, demands_of(k, []), group, len(parts), spec.window, spec.passes)
    members = np.argsort(group, kind="stable")
    cuts = np.flatnonzero(np.diff(group[members])) + 1
    return sum(len(part) * _width(rows.picked(part)) for part in np.split(members, cuts))


def _width(rows: Rows) -> int:
    """The extents of the one box of some rows."""
    c, k = rows.coordinates(), rows.size
    around = (np.arange(k)[:, None] + np.arange(k)) % k
    return sum_widths(c, around) // k


NH = System("NH (ring)", "^-", partial(_solver, "ring", ordered=True), power=1)
KC = System("k-c", "v-", _concealed)
FLOW = System("minCostFlow", "*-", partial(_solver, "flow"), most=1_000)
MIP = System("MIP", "k--", partial(_solver, "mip"), most=20)
GREEDY = System("Greedy", "x-", partial(_solver, "greedy", any_size=True))
SORT = System("SortGreedy", "s-", partial(_solver, "sortgreedy", any_size=True))
HUNGARIAN = System("Hungarian", "o-", _hungarian)
PASSED = System("Hungarian, 4 passes (ours)", "o:", partial(_hungarian, passes=PASSES))
BLOCKS = System("Hungarian, blocks, 4 passes (ours)", "D:", partial(_hungarian, block=BLOCK, passes=PASSES), power=1)
REFINED = System("tree + refine (ours)", "D--", _refined, power=1)

MARKERS = {who.name: who.marker for who in (NH, KC, FLOW, MIP, GREEDY, SORT, HUNGARIAN, PASSED, BLOCKS, REFINED)}
