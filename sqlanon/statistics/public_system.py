"""The system of a release from the view of readers: possible combinations, and classes of rows beside them.

The search for hidden cells may assume more knowledge than readers have, which is safe. Published bounds may not: they
would add to that knowledge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.joint import Combinations
from sqlanon.statistics.linked_systems import LinkedSystem, Piece, link_tables
from sqlanon.statistics.parts import LEFT_OUT, Parts, PlacedRows, TooManyPartsError, list_parts
from sqlanon.statistics.reader_cells import HIDDEN, SeenCells
from sqlanon.statistics.system import System, group_atoms

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class PublicSystem:
    """What readers have.

    Attributes:
        seen: the cells of rows; the first ones are those of ``linked``.
        linked: the tables.
        sets: the atoms of ``seen`` of each published cell.
        combinations: where classes of rows divide the combinations, these; None: atoms are combinations.
        complete: nothing more is known, so that tables of whole numbers at both ends make bounds tight.
    """

    seen: SeenCells
    linked: LinkedSystem
    sets: dict[int, Longs]
    combinations: Combinations | None
    complete: bool


def see_public(system: System, value: Longs, *, sums: bool, parts: Parts | None = None) -> PublicSystem:
    """The system of a release as readers have it.

    Args:
        system: the cells over the combinations that occur.
        value: int64[cells], the numbers of the published cells, `HIDDEN` where they are not shown.
        sums: sums are published as well.
        parts: of a release of rows that readers have too the rows by class.

    Cost: see `link_tables` and `list_parts`.
    """
    linked = link_tables(list_pieces(system), value, whole=sums or parts is not None)
    sets = linked.sets()
    if parts is None:
        return PublicSystem(linked.seen, linked, sets, None, linked.complete)
    if len(linked.pieces) > 1:
        return PublicSystem(linked.seen, linked, sets, None, complete=False)
    try:
        placed, complete = _widen(parts.placed, system, linked.pieces[0].codes)
        public_parts = list_parts(placed)
    except TooManyPartsError:
        return PublicSystem(linked.seen, linked, sets, None, complete=False)
    seen = _add_classes(linked.seen, public_parts)
    order = np.argsort(public_parts.atom, kind="stable")
    starts = np.searchsorted(public_parts.atom[order], np.arange(len(linked.seen.least) + 1))
    part_sets = {
        cell: np.sort(np.concatenate([order[starts[atom] : starts[atom + 1]] for atom in atoms.tolist()]))
        for cell, atoms in sets.items()
    }
    combinations = Combinations(linked.seen.of, public_parts.atom)
    return PublicSystem(seen, linked, part_sets, combinations, complete and linked.complete)


def list_pieces(system: System) -> list[Piece]:
    """The tables of a system, each over the finest cells; those whose columns are all in another one are left out."""
    totals = [len(nodes) for nodes in system.atoms.nodes]
    margins = np.unique(system.levels, axis=1)
    used = {tuple(np.flatnonzero(margin < totals).tolist()) for margin in margins.T}
    tables = [columns for columns in sorted(used) if not any(set(columns) < set(other) for other in used)]
    # Cells of equal combinations are one class, and a reader who has not all columns of both does not know it.
    cells = np.arange(system.levels.shape[1])
    of, codes = find_margins(system, cells), np.stack([nodes[0] for nodes in system.atoms.nodes])
    pieces = []
    for columns in tables:
        outside = [place for place in range(len(totals)) if place not in columns]
        own_margins = of[[all(margin[place] == totals[place] for place in outside) for margin in margins.T]]
        first = np.arange(codes.shape[1])
        if outside:
            first = np.sort(np.unique(codes[list(columns)], axis=1, return_index=True)[1]) if columns else first[:1]
        pieces.append(Piece(columns, codes[list(columns)][:, first], own_margins[:, first]))
    return pieces


def find_margins(system: System, numbers: Longs | None = None) -> Longs:
    """int64[margins, atoms], the class of each atom in each margin; -1: no cell of it is published.

    Args:
        system: the cells.
        numbers: int64[cells], in place of the classes numbers of published cells.
    """
    numbers = system.listed if numbers is None else numbers
    margins, of_cell = np.unique(system.levels, axis=1, return_inverse=True)
    first = system.member[system.at[:-1]][system.listed]
    cell_of_atom = np.full((margins.shape[1], len(system.atoms.count)), -1, np.int64)
    for margin in range(margins.shape[1]):
        inside = group_atoms(system.atoms, [int(level) for level in margins[:, margin]])
        cells = np.flatnonzero(of_cell.reshape(-1) == margin)
        number = np.full(int(inside.max()) + 1, -1, np.int64)
        number[inside[first[cells]]] = numbers[cells]
        cell_of_atom[margin] = number[inside]
    return cell_of_atom


def _widen(placed: PlacedRows, system: System, codes: Longs) -> tuple[PlacedRows, bool]:
    """The rows among all combinations that readers do not rule out, by the columns that classes surely show.

    Args:
        placed: the rows among the combinations that occur.
        system: the cells over these.
        codes: int64[columns, combinations], the finest codes of all.

    Returns:
        the rows; and whether the classes show no more.
    """
    true_codes = np.stack([nodes[0] for nodes in system.atoms.nodes])
    number = np.unique(np.concatenate([codes, true_codes], axis=1), axis=1, return_inverse=True)[1].reshape(-1)
    place = np.empty(int(number.max()) + 1, np.int64)
    place[number[: codes.shape[1]]] = np.arange(codes.shape[1])
    is_mixed, trees = False, {}
    sure = [index for index, is_known in enumerate(placed.known) if is_known]
    ranks = np.zeros((len(sure), codes.shape[1]), np.int64)
    for row, index in enumerate(sure):
        column_codes, first = np.unique(true_codes[placed.columns[index]], return_index=True)
        atoms = first[np.searchsorted(column_codes, codes[placed.columns[index]])]
        ranks[row] = placed.ranks[index][atoms]
        if index in placed.trees:
            trees[row] = placed.trees[index][:, atoms]
        is_mixed |= bool(((placed.ranks[index][placed.atom] == 0) & (placed.of != LEFT_OUT)).any())
    exact = np.zeros(codes.shape[1], np.int64)
    if placed.shown:
        exact = np.unique(codes[list(placed.shown)], axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
    widened = replace(
        placed,
        atom=place[number[codes.shape[1] :]][placed.atom],
        exact=exact,
        ranks=ranks,
        how=tuple(placed.how[index] for index in sure),
        known=(True,) * len(sure),
        trees=trees,
        columns=tuple(placed.columns[index] for index in sure),
        public=True,
    )
    return widened, len(sure) == len(placed.known) and not is_mixed


def _add_classes(seen: SeenCells, parts: Parts) -> SeenCells:
    """The cells over parts, with the conditions that classes show of these."""
    cells, many = len(seen.value), len(parts)
    kinds = int(parts.kind.max(initial=-1)) + 1
    rows = np.zeros(kinds, np.int64)
    np.add.at(rows, parts.kind[parts.kind >= 0], parts.count[parts.kind >= 0])
    margins = [np.where(parts.kind >= 0, parts.kind + cells, -1)]
    needs: list[Longs] = []
    for column, how in enumerate(parts.placed.how):
        if how == "branches":
            more = _list_branches(parts, column)
        else:
            needed = zip(parts.needs, parts.need_of, parts.known, strict=True)
            more = [[need for need, (_, of), is_known in needed if is_known and of == column]]
        for some in more:
            margin = np.full(many, -1, np.int64)
            for need in some:
                margin[need] = cells + kinds + len(needs)
                needs.append(need)
            margins.append(margin)
    return replace(
        seen,
        of=np.concatenate([seen.of[:, parts.atom], np.stack(margins)]),
        value=np.concatenate([seen.value, rows, np.full(len(needs), HIDDEN, np.int64)]),
        least=np.zeros(many, np.int64),
        hidden=1,
    )


def _list_branches(parts: Parts, column: int) -> Sequence[Sequence[Longs]]:
    """Parts of classes that are not all 0, as rows are in more than one branch: beside each branch the others.

    Returns:
        lists of sets that do not overlap.
    """
    lists: list[list[Longs]] = []
    for of in np.unique(parts.of[parts.of != LEFT_OUT]).tolist():
        inside = np.flatnonzero(parts.of == of)
        branches = np.unique(parts.ranks[column][inside])
        for number, branch in enumerate(branches.tolist() if len(branches) > 1 else []):
            while len(lists) <= number:
                lists.append([])
            lists[number].append(inside[parts.ranks[column][inside] != branch])
    return lists
