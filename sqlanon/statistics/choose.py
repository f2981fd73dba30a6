"""Chooses the cells to hide, and finds the witnesses that prove their protection.

A small cell is protected if two tables agree with all published cells: in the first the cell has the least number that
its published parts allow, in the second the threshold or more. The same holds against every insider, who knows the
atoms of the cells in which he is alone. Each such table is a witness: a change of each atom. A witness serves every
cell with a demand that it meets. Hiding more cells never invalidates a witness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.amount_choice import Party, Sums, drop_all
from sqlanon.statistics.amounts import Amounts, Range, find_sensitive
from sqlanon.statistics.count_search import CountSearch
from sqlanon.statistics.exchanges import SparseChanges, serve_within_cells
from sqlanon.statistics.foreseen import check_cost, most_entries
from sqlanon.statistics.improve_choice import serve_again
from sqlanon.statistics.insiders import insiders_of
from sqlanon.statistics.system import System, hash_members
from sqlanon.statistics.trace_source import Joiner, Sources
from sqlanon.statistics.unserved import UnservedError
from sqlanon.statistics.work import MOST_WORK, ExhaustedError, Work

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


MOST_SHOWN = 50_000_000_000
"""Ends times witnesses times cells, at most, for which cells are shown again."""
Step = Callable[[int, int], None]
"""Gets how many small cells are served, and how many there are."""


@dataclass(frozen=True, slots=True)
class HiddenChoice:
    """The hidden cells of a system, with witnesses.

    Attributes:
        hidden: bool[classes].
        witnesses: int64[witnesses, atoms], changes of the true table.
        sums: of each column whose sums are published the changes of the same witnesses.
        sources: where atoms are traces of persons the sources that witnesses are, as changes of patterns.
        within: of each such column further witnesses, which change the sums alone, and no cell.
    """

    hidden: Flags
    witnesses: Longs
    sums: tuple[Longs, ...] = ()
    sources: Sources | None = None
    within: tuple[SparseChanges, ...] = ()

    @property
    def many(self) -> int:
        """How many witnesses there are, the true table among them."""
        return len(self.witnesses) + sum(changes.many for changes in self.within)

    def number_within(self) -> list[tuple[Longs, SparseChanges]]:
        """Of each column the further witnesses of sums, with the number of each of their changes."""
        starts = len(self.witnesses) + np.cumsum([0, *(changes.many for changes in self.within)])
        return [(start + changes.number, changes) for start, changes in zip(starts, self.within, strict=False)]


def choose_hidden(
    system: System,
    threshold: int,
    *,
    insiders: bool,
    secret: bytes,
    step: Step | None = None,
    most_work: int = MOST_WORK,
    amounts: Sequence[tuple[Amounts, Range]] = (),
) -> HiddenChoice:
    """Hide the small cells and as few other cells as the search finds, with witnesses for all demands.

    Args:
        system: the cells.
        threshold: a hidden small cell may have any number up to it.
        insiders: demands also hold for each person who is alone in a cell.
        secret: key for the order of equal levels.
        step: gets progress.
        most_work: the cost limit of the programs; see `Work`.
        amounts: columns whose sums are published, and their ranges; each has demands of its own, on the same cells.
            Where the atoms are parts of the finest combinations, they are those of ``system.wholes``.

    Raises:
        UnservedError: a small cell cannot be protected, or the programs exceed the cost limit.
        UnsupportedError: HiGHS is not installed.

    Cost: some linear programs for each small cell; more where an insider is in the way.
    """
    sensitive = find_sensitive([amount for amount, _ in amounts], len(system))
    must = system.with_twins(system.small | system.inner | sensitive)
    rows = system if system.wholes is None else system.wholes.system
    served = [serve_within_cells(rows, amount) for amount, _ in amounts]
    within = tuple(of.changes for of in served)
    check_cost(system, sum(len(of.unserved) for of in served), must)
    work = Work(most_work, most_entries(system))
    persons = insiders_of(system) if insiders else []
    search = CountSearch(system, threshold, persons, (work, must.copy()))
    small = np.flatnonzero(system.small)
    for index, cell in enumerate(_order_by_level(system, small, secret)):
        if step is not None:
            step(index, len(small))
        search.ahead = 2 * (len(small) - index)
        try:
            for low in (True, False):
                search.serve(int(cell), low=low)
        except ExhaustedError:
            able = None if system.times is None else index // 2
            raise UnservedError(int(system.margin[cell]), exhausted=True, able=able) from None
    if search.has_tables():
        serve_again(search, secret)
    sources, changes, whole = None, search.changes, system
    if system.traces is not None:
        assert system.wholes is not None
        sources = Joiner(system.traces, system.wholes.system, [person.pattern for person in persons]).join(changes)
        changes, whole = sources.changes, sources.system
        added = len(sources.able)
        amounts = [(amount.extend(added), of) for amount, of in amounts]
    sums = Sums(whole, amounts, changes, search.hidden, (work, served))
    sums.serve(lambda cells: _order_by_level(system, cells, secret), secret)
    hidden = system.with_twins(sums.hidden)
    cells = _order_by_level(system, np.flatnonzero(hidden & ~must & system.first), secret)[::-1]
    steps = 2 * len(small) * len(search.changes) * len(cells)
    if not search.has_tables() or steps > MOST_SHOWN:
        return HiddenChoice(hidden, *sums.combine(changes), sources, within)
    moves = system.with_twins((search.moved != 0) | sums.moved_by_repairs)
    parties = [Party(search.list_served(), moves), *sums.list_parties()]
    for cell in cells:
        if drop_all(parties, int(cell)):
            hidden[cell] = False
            if system.twin is not None:
                hidden[system.twin[cell]] = False
    return HiddenChoice(hidden, *sums.combine(changes, [party.kept for party in parties]), sources, within)


def _order_by_level(system: System, cells: Longs, secret: bytes) -> Longs:
    """Classes by level, the finest first, and then by a keyed hash; never by value."""

    def key(cell: int) -> tuple[int, bytes]:
        return int(system.height[cell]), hash_members(system.members(cell), secret)

    return np.array(sorted((int(cell) for cell in cells), key=key), np.int64)
