"""Improves a finished choice of hidden cells: a local search that forgets some witnesses and replaces them.

The first search serves one demand after another, so early witnesses do not use the cells that later ones hide. Here
the witnesses that change a cell are dropped, and the demands that only they served are served again next to all
others. Changes of cells that are hidden anyhow are tried first, without that cell (see `hidden_changes`); then programs
of all atoms, in which a change of that cell costs more than the weight: else most find the dropped witness once more.
The result is kept if no more cells are hidden (ruin and recreate: Schrimpf et al. 2000, "Record breaking optimization
results using the ruin and recreate principle", Journal of Computational Physics 159). Every state protects all cells,
so the last does. Draws come from the key and steps are counted: the result is the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sqlanon.statistics.growing_matrix import Rows
from sqlanon.statistics.served_ends import WitnessCounts
from sqlanon.statistics.system import System
from sqlanon.statistics.unserved import UnservedError
from sqlanon.statistics.work import ExhaustedError, Work

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.statistics.hidden_changes import HiddenChanges


MOST_FORGOTTEN = 30
"""Witnesses that are forgotten at once, at most."""
DEARER = 20.0
"""A change of the cell that is to be shown again costs so many times the weight."""
LEAST_WORK = 40_000_000
"""Cost limit where little was spent before; see `Work`. Less than a second of one core."""
GAIN, LEAST_GAIN = 40, 5
"""Else the limit is what was spent before, times the first, times the share of cells that may be shown again."""
MOST_AGAIN = 450_000_000
"""No more than this, some seconds of one core, or than the same with the second factor."""
IDLE = 2
"""The search ends after so many steps without a gain for each cell that it may show again."""
PER_LEVEL = 0.01
"""A hidden cell counts 1, and so much for each of its levels."""


class Search(Protocol):
    """Witnesses of a measure, of which some can be forgotten.

    Attributes:
        system: the cells.
        work: counts the cost of the programs.
        must: bool[classes], which are hidden whatever the witnesses are.
    """

    system: System
    work: Work
    must: Flags

    @property
    def hidden(self) -> Flags:
        """bool[classes], which are hidden."""
        ...

    @property
    def moved(self) -> Longs:
        """int64[witnesses, classes], the changes."""
        ...

    @property
    def is_large(self) -> bool:
        """Programs of all atoms take too long."""
        ...

    def keep(self, remaining: Flags) -> tuple[Rows, ...]:
        """Forget other witnesses; what they alone change is shown. Returns the witnesses before, for `reset`."""
        ...

    def set_dearer(self, cell: int, times: float) -> None:
        """Let changes of a class cost so many times their weight."""
        ...

    def prepare_hidden(self, draw: np.random.Generator) -> HiddenChanges | None:
        """Let programs begin with changes of cells that are hidden now, and return these; None: there are none."""
        ...

    def reset(self, before: tuple[Rows, ...], hidden: Flags) -> None:
        """Return to witnesses of `keep`."""
        ...

    def serve_lost(self, draw: np.random.Generator) -> Iterator[None]:
        """Find witnesses for all ends that are not served, in an order that is drawn; yields after each."""
        ...

    def list_served(self) -> WitnessCounts:
        """The witnesses of each end."""
        ...


def serve_again(search: Search, secret: bytes) -> None:
    """Replace witnesses of a search by others, as long as no more cells are hidden.

    Args:
        search: it serves all ends, and its first witness is the true table.
        secret: key of the draws.

    Cost: counted, and little where few cells can be shown again; see `GAIN` and `MOST_AGAIN`. A step costs, besides its
    programs, a unit for each witness and class.
    """
    if search.is_large or not len(search.moved):
        return
    spent = search.work.most - search.work.left
    share = float((search.hidden & ~search.must).mean())
    usual = max(min(GAIN * share * spent, MOST_AGAIN), LEAST_GAIN * share * spent)
    limit = max(LEAST_WORK, usual) if share else 0.0
    last = search.work.left - min(limit, search.work.left / 2)
    draw = np.random.default_rng(int.from_bytes(hashlib.blake2b(b"again", key=secret[:64], digest_size=8).digest()))
    cost = 1 + PER_LEVEL * search.system.height
    least, idle = float(cost[search.hidden].sum()), 0
    last_read = search.work.unread / 2
    inside = search.prepare_hidden(draw)
    while search.work.left > last and search.work.unread > last_read:
        changed = search.moved != 0
        search.work.left -= changed.size
        times = changed.sum(axis=0)
        cells = np.flatnonzero((times > 0) & (times <= MOST_FORGOTTEN) & ~search.must)
        if idle >= IDLE * len(cells):
            return
        idle += 1
        cell, hidden = draw.choice(cells), search.hidden.copy()
        before = search.keep(~changed[:, cell])
        search.set_dearer(int(cell), DEARER)
        if inside is not None:
            inside.show(int(cell))
        try:
            able = all(float(cost[search.hidden].sum()) <= least for _ in search.serve_lost(draw))
        except (ExhaustedError, UnservedError):
            able = False
        finally:
            search.set_dearer(int(cell), 1.0)
        if not able:
            search.reset(before, hidden)
            if inside is not None:
                inside.reset(int(cell))
            continue
        order = 1 + draw.permutation(len(search.moved) - 1)
        search.keep(search.list_served().drop_each(order))
        if inside is not None and inside.holds(search.hidden):
            inside.keep(search.hidden)
        elif inside is not None:
            inside = search.prepare_hidden(draw)
        reached = float(cost[search.hidden].sum())
        idle, least = 0 if reached < least else idle, reached
