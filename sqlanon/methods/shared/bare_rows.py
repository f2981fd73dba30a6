"""The work table as trees take it: fetched in blocks, rows of equal codes as one where there are many of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.rows import TreeRows, pack
from sqlanon.methods.base import Context
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernels.equal_rows import number_rows, place_keys, unpack_keys
from sqlanon.methods.shared.threads import spread
from sqlanon.table.work import check_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs

BLOCK = 1 << 20
"""Rows that are fetched at a time."""

GROUPED = 16
"""Bytes of a row that is in a group: id, group, class, and temporary values."""

_SAMPLE, _FEW = 1 << 16, 1 << 14
"""Rows among which equal rows are counted first; and so few that grouping them is not worth its compilation."""


@dataclass(frozen=True, slots=True)
class FetchedRows:
    """Rows, or groups of equal rows.

    Attributes:
        rid: int32[n], of every row of the work table.
        bare: rows, numbered in the order of ``rid``; or groups.
        sensitive: as `kernel_input.fetch_codes` returns them; none where nobody asked for them.
        group: int32[n], the number in ``bare`` of every row; None where each is a separate row.
    """

    rid: Ints
    bare: TreeRows
    sensitive: list[Ints]
    group: Ints | None


def fetch_bare(
    context: Context, geometry: Geometry, *, sensitive: bool, together: bool, most: int | None = None
) -> FetchedRows | None:
    """Fetch the whole work table.

    Args:
        context: the run.
        geometry: the attributes.
        sensitive: sensitive codes are wanted, and those of persons.
        together: rows of equal codes may become a row with a count.
        most: there is room for so many groups and not for all rows; None: for all rows.

    Returns:
        None where there is no room.
    """
    n, d = context.encoded.rows, len(geometry.facts)
    rid, place, groups = np.empty(n, np.int32), 0, None
    codes = None
    values: list[Ints] = [np.empty(n, np.int32) for _ in context.encoded.counted] if sensitive else []
    for numbers, columns, block_sensitive in _blocks(context, geometry, sensitive):
        past = place + len(numbers)
        rid[place:past] = numbers
        for value, column in zip(values, block_sensitive, strict=True):
            value[place:past] = column
        if place == 0 and together:
            groups = _find_grouping(context, columns)
        if groups is not None:
            groups.add(columns)
            if most is not None and groups.made > most:
                return None
        elif most is not None:
            return None
        else:
            if codes is None:
                codes = kernel_input.make_room(n, d, geometry).codes
            _lay_out(columns, codes[place:past], context.threads)
        place = past
    check_rows(n, place)
    if groups is not None:
        return FetchedRows(rid, groups.bare(geometry, context.threads), values, groups.group)
    assert codes is not None
    return FetchedRows(rid, TreeRows(codes, np.arange(n, dtype=np.int32), np.zeros(0, np.int32)), values, None)


def _lay_out(columns: Ints, codes: Ints, threads: int) -> None:
    spread(lambda start, stop: pack(columns, codes, start, stop), len(codes), threads)


def _blocks(context: Context, geometry: Geometry, sensitive: bool) -> Iterator[tuple[Ints, Ints, list[Ints]]]:
    """Row ids, codes [d, rows] and sensitive codes, block by block.

    A block of a part of a table may have fewer rows, or none.
    """
    past = context.encoded.past
    for start in range(0, max(past, 1), BLOCK):
        span = (start, start + BLOCK) if past > BLOCK else None
        rid, codes, block_sensitive, _ = kernel_input.fetch_codes(
            context, tie_break=False, span=span, geometry=geometry, sensitive=sensitive
        )
        if len(rid) or span is None:
            yield rid, codes, block_sensitive


class _RowGroups:
    """Groups of equal rows, while rows are added."""

    def __init__(self, rows: int, shift: Longs, bits: Longs) -> None:
        self._shift, self._bits = shift, bits
        self._keys, self._count = np.empty(_SAMPLE, np.int64), np.empty(_SAMPLE, np.int32)
        self._places = np.full(2 * _SAMPLE, -1, np.int32)
        self._made = self._done = 0
        self.group = np.empty(rows, np.int32)

    def add(self, codes: Ints) -> None:
        """Number the rows of a block, [d, rows]."""
        block_group, place = self.group[self._done : self._done + codes.shape[1]], 0
        while True:
            self._made, place = number_rows(
                codes, self._shift, self._places, self._keys, self._count, self._made, place, block_group
            )
            if place == codes.shape[1]:
                break
            self._keys = np.concatenate([self._keys, np.empty_like(self._keys)])
            self._count = np.concatenate([self._count, np.empty_like(self._count)])
            self._places = np.empty(2 * len(self._places), np.int32)
            place_keys(self._keys, self._made, self._places)
        self._done += codes.shape[1]

    @property
    def made(self) -> int:
        """Groups so far."""
        return self._made

    def bare(self, geometry: Geometry, threads: int) -> TreeRows:
        made_groups, keys = self._made, self._keys
        bare = kernel_input.make_room(made_groups, len(self._shift), geometry)
        spread(
            lambda start, stop: unpack_keys(keys, self._shift, self._bits, bare.codes, start, stop),
            made_groups,
            threads,
        )
        return TreeRows(bare.codes, np.arange(made_groups, dtype=np.int32), self._count[:made_groups].copy())


def _find_grouping(context: Context, columns: Ints) -> _RowGroups | None:
    """Where a row has an equal row in the mean, as far as some rows show, and keys have at most 62 bits."""
    n = context.encoded.rows
    bits = np.array([max(int(domain.codes - 1).bit_length(), 1) for domain in context.encoded.quasi], np.int64)
    if n < _FEW or bits.sum() > 62:
        return None
    shift = np.cumsum(bits) - bits
    step = max(columns.shape[1] // _SAMPLE, 1)
    sample = np.ascontiguousarray(columns[:, ::step][:, : _SAMPLE // 2])
    looked = _RowGroups(sample.shape[1], shift, bits)
    looked.add(sample)
    # Of m rows, m (m - 1) / 2 pairs; a row that is equal to all others of its group repeats one of them at most.
    m = sample.shape[1]
    return _RowGroups(n, shift, bits) if (m - looked.made) * 2 * n >= m * m else None
