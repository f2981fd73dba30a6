"""Chooses the cells to hide for sums, in addition to those for counts, and drops cells that no sum needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.amount_search import AmountSearch
from sqlanon.statistics.amounts import Amounts, Contributor, Range
from sqlanon.statistics.exchanges import ServedContributors
from sqlanon.statistics.improve_choice import serve_again
from sqlanon.statistics.served_ends import WitnessCounts
from sqlanon.statistics.system import System, hash_members
from sqlanon.statistics.work import Work

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


@dataclass
class Party:
    """Witnesses of a measure, which are dropped together with others.

    Attributes:
        served: the ends that they serve.
        moves: bool[witnesses, classes], the classes that each changes.
        kept: bool[witnesses], those that are left.
    """

    served: WitnessCounts
    moves: Flags
    kept: Flags = field(init=False)

    def __post_init__(self) -> None:
        self.kept = np.ones(len(self.moves), bool)


def drop_all(parties: Sequence[Party], cell: int) -> bool:
    """Drop all witnesses that change a class, if every end is served without them; return whether they were."""
    movers = [np.flatnonzero(party.kept & party.moves[:, cell]) for party in parties]
    drops = []
    for party, some in zip(parties, movers, strict=True):
        drop = party.served.without(some)
        if drop is None:
            return False
        drops.append(drop)
    for party, some, drop in zip(parties, movers, drops, strict=True):
        drop()
        party.kept[some] = False
    return True


class Sums:
    """The sums of some columns over the same cells.

    Args:
        system: the cells. Where its atoms are parts of the finest combinations, sums are of the latter: while they
            change, the numbers of the parts are the true ones.
        amounts: the sums with their ranges.
        counts: int64[witnesses, atoms], the changes of counts.
        hidden: bool[classes], hidden so far.
        begun: counts the cost of the programs; and of each column the contributors who are served already.
    """

    def __init__(
        self,
        system: System,
        amounts: Sequence[tuple[Amounts, Range]],
        counts: Longs,
        hidden: Flags,
        begun: tuple[Work, Sequence[ServedContributors]],
    ) -> None:
        wholes = system.wholes
        self._system = system if wholes is None else wholes.system
        self._counts = counts if wholes is None else wholes.add(counts)
        self._work, self._served = begun
        self._amounts, self._more = amounts, hidden[len(self._system) :]
        self._hidden = hidden[: len(self._system)].copy()
        self._searches: list[AmountSearch] = []
        self._repairs: list[Longs] = []

    def serve(self, order: Callable[[Longs], Longs], secret: bytes) -> None:
        """Find changes for all demands.

        Args:
            order: puts classes in an order that says nothing about values.
            secret: key for the order of contributors.

        Raises:
            UnservedError: a demand cannot be served.
        """

        def mark(person: Contributor) -> bytes:
            return hash_members(person.atoms, secret)

        for (amounts, of), served in zip(self._amounts, self._served, strict=True):
            search = AmountSearch(self._system, amounts, self._hidden, self._work, self._counts)
            demanding = order(np.flatnonzero((amounts.up > 0) | (amounts.down > 0)))
            search.serve_all(demanding.tolist(), sorted(served.unserved, key=mark))
            serve_again(search, secret)
            repairs = [search.repair(change, of) for change in self._counts]
            self._repairs.append(np.array(repairs, np.int64).reshape(self._counts.shape))
            self._searches.append(search)
            self._hidden = search.hidden.copy()

    @property
    def hidden(self) -> Flags:
        """bool[classes], which are hidden."""
        hidden: Flags = np.concatenate([self._hidden, self._more])
        return hidden

    @property
    def moved_by_repairs(self) -> Flags:
        """bool[changes of counts, classes], whose sums change with them."""
        moved = np.zeros((len(self._counts), len(self._system) + len(self._more)), bool)
        for repairs in self._repairs:
            for index in np.flatnonzero(repairs.any(axis=1)):
                moved[index, : len(self._system)] |= self._system.sums(repairs[index]) != 0
        return moved

    def list_parties(self) -> list[Party]:
        """The changes of each column, and what they serve."""
        return [Party(search.list_served(), search.moved != 0) for search in self._searches]

    def combine(self, counts: Longs, remaining: Sequence[Flags] = ()) -> tuple[Longs, tuple[Longs, ...]]:
        """Changes of counts, and of each column's sums, of the same witnesses.

        Args:
            counts: int64[witnesses, atoms], the changes of counts; of sums they are those of finest combinations.
            remaining: which of them are kept, then which of each column; empty: all.
        """
        some = remaining or [np.ones(len(of), bool) for of in (counts, *(search.changes for search in self._searches))]
        extra_changes = [search.changes[choice][1:] for search, choice in zip(self._searches, some[1:], strict=True)]
        lengths = [int(some[0].sum()), *map(len, extra_changes)]
        starts = np.cumsum([0, *lengths])
        first = np.zeros((starts[-1], counts.shape[1]), np.int64)
        first[: lengths[0]] = counts[some[0]]
        tables = np.zeros((len(extra_changes), starts[-1], self._counts.shape[1]), np.int64)
        for place, (repairs, changes) in enumerate(zip(self._repairs, extra_changes, strict=True)):
            tables[place, : lengths[0]] = repairs[some[0]]
            tables[place, starts[place + 1] : starts[place + 2]] = changes
        return first, tuple(tables)
