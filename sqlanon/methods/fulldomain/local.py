"""``search: local`` (ours): nodes by ascending loss, each keeps the classes of the rest that meet the requirements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.requirements import Counters, Demands, demands_of, make_counters, satisfied
from sqlanon.methods.base import Context
from sqlanon.methods.fulldomain.cells import Cells
from sqlanon.methods.fulldomain.kernels.lattice import make_maps, room_of
from sqlanon.methods.fulldomain.kernels.lattice_local import Filter, Pieces, visit
from sqlanon.methods.fulldomain.kernels.lattice_part import CLASSES, PIECES, ROWS, ClassRequirements, RemainingRows
from sqlanon.methods.fulldomain.levels import Lattice
from sqlanon.methods.fulldomain.sieve import Sieve
from sqlanon.methods.shared import kernel_input
from sqlanon.privacy.base import beyond_rows, least_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


AT_ONCE = 4096
"""Nodes between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Local:
    """The rows that are in no class yet, and the classes so far, in memory.

    Attributes:
        cells: all of them, or those that may be in a class of the next nodes.
        value: the sensitive value of each cell.
        asked, demands, counters: the requirements of a class.
        rest, pieces: see the kernel.
    """

    cells: Cells
    value: Ints
    asked: ClassRequirements
    demands: Demands
    counters: Counters
    rest: RemainingRows
    pieces: Pieces


def collect_request(context: Context, *, divide: bool) -> tuple[ClassRequirements, int]:
    """The requirements that the kernel counts by itself, and the sensitive column that it counts; -1: none."""
    k, beyond = least_rows(context.requirements), beyond_rows(context.requirements)
    if len(beyond) == 1:
        shape = beyond[0].shape
        if shape.kind == "frequency" and not shape.within:
            return ClassRequirements(k, shape.p, shape.q, divide), shape.value
    return ClassRequirements(k, 0, 1, divide=False), -1


def local_of(context: Context, cells: Cells, *, divide: bool, spare: int = 0) -> Local:
    """The initial state, with all rows in the rest.

    ``spare`` imaginary rows with values of their own are added, so that the rest need not be a class.
    """
    counted_bounds, column = collect_request(context, divide=divide)
    rows = int(cells.rows.sum())
    value = cells.sensitive[column] if column >= 0 else np.zeros(len(cells.rows), np.int32)
    values = context.encoded.sensitive[column].codes if column >= 0 else 1
    sensitive = [] if column >= 0 or not cells.sensitive else cells.sensitive
    demands = (
        kernel_input.demands(context, sensitive, len(cells.rows), kernel_input.whole_table(context))
        if sensitive
        else demands_of(counted_bounds.k, [])
    )
    counts = np.bincount(value, weights=cells.rows, minlength=values).astype(np.int64)
    if spare and counted_bounds.p:
        others_ = 4 * -(-counted_bounds.p // counted_bounds.q)
        counts = np.append(counts, (np.arange(others_) + spare) // others_)
    rest = RemainingRows(
        np.arange(len(cells.rows), dtype=np.int32),
        cells.rows.copy(),
        counts,
        np.array([len(cells.rows), rows + spare, 0, 0], np.int64),
    )
    pieces = Pieces(np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows, np.int64))
    counters = make_counters(demands, rows + spare if sensitive else 0)
    return Local(cells, value, counted_bounds, demands, counters, rest, pieces)


def search(context: Context, lattice: Lattice, local: Local, most: int, spare: int = 0) -> None:
    """Let the nodes keep classes, by ascending loss, as long as there are rows beyond ``spare`` rows."""
    order = lattice.ascending
    order = np.append(order[: min(most, len(order) - 1)], order[-1])
    maps, codes, rest = make_maps(lattice.tables()), local.cells.codes, local.rest
    room = room_of(len(local.cells.rows), maps.words)
    sieve = Sieve(lattice, codes, maps, local.asked, rest, context.threads) if Sieve.pays(len(order), rest) else None
    for index in range(0, len(order), AT_ONCE):
        nodes = lattice.nodes[order[index : index + AT_ONCE]]
        filters = sieve.of(nodes) if sieve is not None else NOTHING
        visit(
            codes,
            local.value,
            maps,
            nodes,
            local.asked,
            local.demands,
            local.counters,
            rest,
            local.pieces,
            room,
            filters,
        )
        context.progress.update(min(index + AT_ONCE, len(order)), len(order), "nodes of the lattice")
        if rest.facts[ROWS] == spare:
            break


NOTHING = Filter(np.zeros((1, 0), np.uint64), np.zeros((1, 0), np.int32))


def take_pieces(local: Local) -> Pieces:
    """The pieces that were made."""
    many = local.rest.facts[PIECES]
    return Pieces(local.pieces.record[:many], local.pieces.label[:many], local.pieces.rows[:many])


def complete_pieces(local: Local) -> tuple[Pieces, bool]:
    """The pieces so far; a rest that is no class is joined by the last classes until it is a class.

    Returns:
        The pieces, and whether the rest is a class in the end: not where all rows together fail the requirements.
    """
    facts, rows_left, taken_pieces, fraction = local.rest.facts, local.rest.left, take_pieces(local), local.asked
    counts = np.bincount(local.value, weights=local.cells.rows)
    lawful = not fraction.p or int(counts.max(initial=0)) * fraction.p <= int(counts.sum()) * fraction.q
    if facts[ROWS] == 0:
        return taken_pieces, lawful
    rest = np.flatnonzero(rows_left).astype(np.int32)
    bounds = np.searchsorted(taken_pieces.label, np.arange(facts[CLASSES] + 1))

    def meets_joined(first: int) -> bool:
        bound = bounds[first]
        rows = np.repeat(
            np.append(rest, taken_pieces.record[bound:]), np.append(rows_left[rest], taken_pieces.rows[bound:])
        )
        return bool(satisfied(local.demands, rows, np.arange(len(rows)), local.counters))

    # A union of classes that meet monotone requirements meets them: so do all unions of more classes than the first
    # that does.
    low, high = 0, int(facts[CLASSES])
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if meets_joined(middle) else (low, middle - 1)
    label = np.minimum(taken_pieces.label, low)
    pieces = Pieces(
        np.append(taken_pieces.record, rest),
        np.append(label, np.full(len(rest), low, np.int32)),
        np.append(taken_pieces.rows, rows_left[rest]),
    )
    return pieces, lawful and (low > 0 or meets_joined(0))
