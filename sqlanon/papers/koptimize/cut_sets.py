"""Sets of cut points of ordered columns: their classes, and the costs of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import SCALE
from sqlanon.methods.base import Context
from sqlanon.methods.fulldomain.cells import Cells, arrange_cells
from sqlanon.methods.fulldomain.kernels.lattice import add_up, group, make_maps, room_of
from sqlanon.papers.koptimize.kernels.cut_bounds import CLASSES, ROWS, SQUARES
from sqlanon.papers.koptimize.kernels.cut_slabs import VALUES
from sqlanon.privacy.base import least_rows
from sqlanon.table.encode import by_code

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Flags, Ints, Longs


@dataclass(frozen=True, slots=True)
class Records:
    """Rows that no solution of a subtree divides.

    Attributes:
        codes: int32[d, f], of one row of each.
        rows: int64[f].
        values: int64[f, c], rows by sensitive value, for ``cm``; else no columns.
    """

    codes: Ints
    rows: Longs
    values: Longs


def read_records(context: Context, metric: str) -> tuple[Records, Cells]:
    """The table grouped by quasi codes, with the sensitive values of each for ``cm``."""
    encoded = context.encoded
    columns = encoded.quasi + (encoded.sensitive[:1] if metric == "cm" else ())
    statement = context.scratch.sql(
        "fulldomain/count", work=encoded.work, columns=[column.code for column in columns], cells=None
    )
    *codes, rows = context.scratch.fetch_arrays(statement, [*(column.code_array for column in columns), "int64"])
    cells = arrange_cells(codes, rows, len(encoded.quasi))
    if metric != "cm":
        return Records(cells.codes, cells.rows, np.zeros((len(cells.rows), 0), np.int64)), cells
    begins = np.ones(len(cells.rows), np.bool_)
    begins[1:] = (cells.codes[:, 1:] != cells.codes[:, :-1]).any(axis=0)
    label, first = np.cumsum(begins) - 1, np.flatnonzero(begins)
    values = np.zeros((len(first), encoded.sensitive[0].codes), np.int64)
    np.add.at(values, (label, cells.sensitive[0]), cells.rows)
    own_cells = Cells(np.ascontiguousarray(cells.codes[:, first]), [], values.sum(axis=1))
    return Records(own_cells.codes, own_cells.rows, values), own_cells


class CutSets:
    """All sets of cuts of a table, by a metric. A set is bool[cuts]; cuts are numbered by column, then by code.

    Args:
        context: the run.
        metric: ``dm``, ``cm``, ``loss`` or ``c_avg``.
        records: the table grouped by codes.
    """

    def __init__(self, context: Context, metric: str, records: Records) -> None:
        quasi = context.encoded.quasi
        self.metric, self.records = metric, records
        self.k, self.rows = least_rows(context.requirements), context.encoded.rows
        self.starred = context.suppression is None or context.suppression.rows == "starred"
        self.codes = [domain.codes for domain in quasi]
        # A cut c of column j, 1 <= c < codes, is number start[j] + c - 1.
        sizes = [max(codes - 1, 0) for codes in self.codes]
        self._start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.column = np.repeat(np.arange(len(quasi)), sizes)
        self.cut = np.concatenate([np.arange(1, size + 1) for size in sizes] or [np.zeros(0, np.int64)]).astype(
            np.int64
        )
        self.count = len(self.cut)
        self._weights = [domain.reading.spec.weight for domain in quasi]
        self._null = [domain.has_null for domain in quasi]
        self._places: list[Longs] = []
        for domain, (code, position) in zip(
            quasi, by_code(context.scratch, "table/domain_positions", quasi, "int32"), strict=True
        ):
            self._places.append(np.zeros(domain.codes, np.int64))
            self._places[-1][code] = position
        self.full = {"dm": self.rows, "cm": 1, "loss": SCALE * sum(self._weights), "c_avg": 0}[metric]
        """The cost of a suppressed row."""
        self.kind = {"dm": SQUARES, "c_avg": CLASSES}.get(metric, ROWS)
        self.price = VALUES if metric == "cm" else self.kind
        self.base = self.rows // self.k if metric == "c_avg" else 0
        """Added to the cost of the classes, so that none is below 0: by ``c_avg`` a class costs -1."""
        self._room = room_of(len(records.rows), make_maps(self._maps(np.zeros(self.count, np.bool_))).words)

    def none(self) -> Flags:
        """The set of no cuts."""
        return np.zeros(self.count, np.bool_)

    def numbers(self, j: int, cuts: list[int]) -> Longs:
        """The numbers of some cuts of a column."""
        return np.asarray(self._start[j] + np.array(cuts, np.int64) - 1, np.int64)

    def widths(self, j: int, first: npt.NDArray[np.intp], last: npt.NDArray[np.intp]) -> Longs:
        """The weighted extents of intervals of a column's codes."""
        return self._extent(j, first, last) * self._weights[j]

    def full_width(self, j: int) -> int:
        """The weighted extent of a whole column, which a suppressed row loses."""
        return SCALE * self._weights[j]

    def parts(self, cuts: Flags) -> list[Ints]:
        """The number of the interval of every column and code."""
        records_found = []
        for j, codes in enumerate(self.codes):
            cut = cuts[self._start[j] : self._start[j + 1]]
            records_found.append(np.concatenate([[0], np.cumsum(cut)])[:codes].astype(np.int32))
        return records_found

    def _maps(self, cuts: Flags) -> list[Ints]:
        return [part[None] for part in self.parts(cuts)]

    def group_rows(self, cuts: Flags, records: Records) -> tuple[Ints, Records]:
        """The class of each record, and the classes as records. Cost: O(f d)."""
        n, room = len(records.rows), self._room
        room.rows[:n] = np.arange(n, dtype=np.int32)
        maps = make_maps(self._maps(cuts))
        groups = group(records.codes, n, maps, np.zeros(len(self.codes), np.int16), room)
        add_up(n, groups, room, records.rows)
        label, first = room.group[:n].copy(), room.first[:groups]
        values = np.zeros((groups, records.values.shape[1]), np.int64)
        if values.shape[1]:
            np.add.at(values, label, records.values)
        united = Records(np.ascontiguousarray(records.codes[:, first]), room.size[:groups].copy(), values)
        return label, united

    def least(self, cuts: Flags, records: Records) -> Longs:
        """The least cost of the rows of each record, a class at ``cuts``, in a class of k rows at some of ``cuts``.

        Where the record has k rows, this is their cost in a class of their own.
        """
        if self.metric == "dm":
            return records.rows * np.maximum(records.rows, self.k)
        if self.metric == "cm":
            return np.asarray(records.rows - records.values.max(axis=1), np.int64)
        total = np.zeros(len(records.rows), np.int64)
        if self.metric == "c_avg":
            return total
        # A record of fewer rows shares its class with a neighbour: in one column at least its interval becomes wider.
        wider = np.full(len(records.rows), self.full, np.int64)
        for j, part in enumerate(self.parts(cuts)):
            own_extents, more = self._extents(j, part)
            codes = records.codes[j]
            total += own_extents[codes] * self._weights[j]
            np.minimum(wider, more[codes] * self._weights[j], out=wider)
        total += np.where(records.rows < self.k, wider, 0)
        return np.minimum(total, self.full) * records.rows

    def _extents(self, j: int, part: Ints) -> tuple[Longs, Longs]:
        """For every code of a column the extent of the interval, and the growth with the nearer neighbour."""
        first = np.unique(part, return_index=True)[1]
        last = np.append(first[1:], len(part)) - 1
        own_extent = self._extent(j, first, last)
        more = np.full(len(first), self.full, np.int64)
        if len(first) > 1:
            joined = self._extent(j, first[:-1], last[1:])
            more[:-1] = joined - own_extent[:-1]
            more[1:] = np.minimum(more[1:], joined - own_extent[1:])
        return own_extent[part], more[part]

    def _extent(self, j: int, first: npt.NDArray[np.intp], last: npt.NDArray[np.intp]) -> Longs:
        """The extents of intervals of codes; NULL with a value is as wide as the column."""
        wide = np.asarray(self._places[j][last] - self._places[j][first], np.int64)
        if self._null[j]:
            wide[(first == 0) & (last > 0)] = SCALE
            wide[last == 0] = 0
        return wide

    def score(self, cuts: Flags, classes: Records, most: int) -> int | None:
        """The cost of a set with these classes.

        None if it suppresses more than ``most`` rows, or if the starred rows are no class.
        """
        few = classes.rows < self.k
        gone = int(classes.rows[few].sum())
        if gone > most or (self.starred and 0 < gone < self.k):
            return None
        if self.metric == "c_avg":
            return self.base - int((~few).sum()) - int(self.starred and gone > 0)
        return int(self.least(cuts, classes)[~few].sum()) + self.full * gone

    def value(self, score: int) -> float:
        """A score as reports measure it; ``cm`` and ``loss`` as a mean over the rows."""
        if self.metric == "dm":
            return float(score)
        if self.metric == "c_avg":
            return self.rows / (self.k * max(self.base - score, 1))
        return score / (self.full * max(self.rows, 1))

    def describe(self, score: int) -> str:
        """A score, for notes."""
        return f"{score}" if self.metric == "dm" else f"{self.value(score):.4f}"
