"""The table as cells: grouped once by quasi values in the database, and joined with the classes in the end.

Quasi codes are packed into as few integers as hold them, which a database groups, joins and sends faster than columns
of codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.methods.base import Context
from sqlanon.privacy.base import Grouped, least_rows
from sqlanon.table.domain import Domain

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.privacy.base import Requirement, Shape


_WORD = 1 << 62
"""Packed codes are below this."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Groups of rows with equal quasi and sensitive codes, and their sizes.

    They are in the order of the quasi codes, then of the sensitive codes.

    Attributes:
        keys: per word of packed quasi codes int64[n].
        sensitive: per sensitive column int32[n].
        count: int64[n].
        group: int64[n], rows of equal quasi codes, numbered in the order of the codes.
        codes: int64[d, groups].
        sizes: per quasi column the number of codes.
        value: int64[n], the combination of sensitive codes of a cell; of one column, the code.
        combinations: int64[s, values].
        kept: int64[n], the rows that phase one keeps, where the database has computed them.
    """

    keys: tuple[Longs, ...]
    sensitive: tuple[Longs, ...]
    count: Longs
    group: Longs
    codes: Longs
    sizes: tuple[int, ...]
    value: Longs
    combinations: Longs
    kept: Longs | None

    @property
    def values(self) -> int:
        """How many values there can be."""
        return len(self.combinations[0]) if len(self.combinations) else 1


@dataclass(frozen=True, slots=True)
class Parts:
    """Rows of cells and their classes, int64[parts] each; the parts of a cell have as many rows as it has."""

    cell: Longs
    rows: Longs
    number: Longs


def make_words(quasi: Sequence[Domain]) -> list[list[Domain]]:
    """The quasi columns in groups with codes that fit into one integer."""
    words_made: list[list[Domain]] = [[]]
    size = 1
    for domain in quasi:
        if size * domain.codes >= _WORD:
            words_made.append([])
            size = 1
        words_made[-1].append(domain)
        size *= domain.codes
    return words_made


def pack_words(quasi: Sequence[Domain]) -> list[list[dict[str, object]]]:
    """The words as templates take them: columns, each with the factor of the code."""
    keys_found = []
    for word in make_words(quasi):
        times, columns = 1, []
        for domain in reversed(word):
            columns.append({"code": domain.code, "times": times})
            times *= domain.codes
        keys_found.append(columns[::-1])
    return keys_found


def read(context: Context, sensitive: Sequence[Domain], cut: Shape | None, *, pushed: bool) -> Cells:
    """Group the work table and fetch the cells.

    Args:
        context: the run.
        sensitive: the sensitive columns to distinguish.
        cut: with ``pushed``, frequency l of the one column, to which phase one cuts values; None: groups are kept
            whole.
        pushed: whether the database computes phase one.

    Cost: a grouping in the database and a sort of the cells; about 100 bytes a cell. ``pushed`` adds two window
    functions over them.
    """
    scratch, quasi = context.scratch, context.encoded.quasi
    keys = [f"key{i}" for i, _ in enumerate(make_words(quasi), 1)]
    names = [domain.code for domain in sensitive]
    table, kept_cells = scratch.table("cells"), None
    scratch.execute("suppress/cells", cells=table, work=context.encoded.work, words=pack_words(quasi), sensitive=names)
    if pushed:
        kept_cells = _phase_one(context, table, keys, names, cut)
    statement = scratch.sql(
        "suppress/counts", cells=kept_cells or table, keys=keys, sensitive=names, kept=kept_cells is not None
    )
    types = ["int64"] * len(keys) + [d.code_array for d in sensitive] + ["int64"] * (1 + pushed)
    columns = [column.astype(np.int64, copy=False) for column in scratch.fetch_arrays(statement, types)]
    for scratch_table in (table, *([kept_cells] if kept_cells else [])):
        scratch.drop(scratch_table)
    return _cells(columns, quasi, sensitive)


def _phase_one(
    context: Context, table: TableRef, keys: Sequence[str], names: Sequence[str], cut: Shape | None
) -> TableRef:
    """The cells with the rows of each that phase one keeps, by SQL."""
    scratch, kept_table, k = context.scratch, context.scratch.table("kept_cells"), least_rows(context.requirements)
    if cut is not None:
        heights = scratch.table("heights")
        scratch.execute(
            "suppress/heights", heights=heights, cells=table, keys=keys, value=names[cut.value], p=cut.p, q=cut.q
        )
        scratch.execute("suppress/cut", cut=kept_table, cells=table, heights=heights, keys=keys, k=k)
        scratch.drop(heights)
        return kept_table
    below = []
    # What any row meets counts values, and with k alone the cells have none.
    requirements = [requirement for requirement in context.requirements if not requirement.shape.trivial]
    for i, requirement in enumerate(requirements):
        below.append(scratch.table(f"below{i}"))
        _make_failing(context, requirement, below[-1], table, keys, names)
    scratch.execute("suppress/whole", whole=kept_table, cells=table, below=below, keys=keys)
    for scratch_table in below:
        scratch.drop(scratch_table)
    return kept_table


def _make_failing(
    context: Context,
    requirement: Requirement,
    failing: TableRef,
    table: TableRef,
    keys: Sequence[str],
    names: Sequence[str],
) -> None:
    encoded = context.encoded
    whole = [domain.code for domain in encoded.sensitive]
    requirement.below(context.scratch, failing, Grouped(table, keys, names, "n", encoded.work, whole))


def _cells(columns: list[Longs], quasi: Sequence[Domain], sensitive: Sequence[Domain]) -> Cells:
    width = len(make_words(quasi))
    value, combinations = _values(columns[width : width + len(sensitive)], sensitive, len(columns[0]))
    order = _order([*columns[:width], value])
    columns, value = [column[order] for column in columns], value[order]
    new = np.zeros(len(value), np.bool_)
    new[:1] = True
    for key in columns[:width]:
        new[1:] |= key[1:] != key[:-1]
    group = np.cumsum(new) - 1
    codes = np.empty((len(quasi), int(new.sum())), np.int64)
    offset = 0
    for key, word in zip(columns, make_words(quasi), strict=False):
        rest_key = key[new]
        for j in range(len(word) - 1, -1, -1):
            rest_key, codes[offset + j] = np.divmod(rest_key, word[j].codes)
        offset += len(word)
    count, *kept_columns = columns[width + len(sensitive) :]
    return Cells(
        tuple(columns[:width]),
        tuple(columns[width : width + len(sensitive)]),
        count,
        group,
        codes,
        tuple(domain.codes for domain in quasi),
        value,
        combinations,
        kept_columns[0] if kept_columns else None,
    )


def _values(columns: Sequence[Longs], sensitive: Sequence[Domain], n: int) -> tuple[Longs, Longs]:
    """The combination of sensitive codes of every cell, and the combinations."""
    if not columns:
        return np.zeros(n, np.int64), np.zeros((0, 1), np.int64)
    if len(columns) == 1:
        return columns[0], np.arange(sensitive[0].codes, dtype=np.int64)[np.newaxis]
    pairs, value = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return value.reshape(-1).astype(np.int64), pairs


def _order(columns: list[Longs]) -> Longs:
    """The cells by these numbers. A single number made of two sorts several times as fast."""
    if len(columns) == 2:
        key, value = columns
        values = int(value.max(initial=0)) + 1
        if (int(key.max(initial=0)) + 1) * values < _WORD:
            return np.argsort(key * values + value)
    return np.lexsort(columns[::-1])


def attach(context: Context, cells: Cells, sensitive: Sequence[Domain], parts: Parts) -> TableRef:
    """Row -> class, a scratch table: the rows of a cell take the classes of the cell's parts in their order.

    Cost: a join of the rows with the cells; rows of cells that are divided are numbered as well.
    """
    scratch, table, places = (context.scratch, context.scratch.table("classes"), context.scratch.table("places"))
    order = np.lexsort((parts.number, parts.cell))
    cell, rows, number = parts.cell[order], parts.rows[order], parts.number[order]
    last = np.cumsum(rows)
    begins = np.searchsorted(cell, cell)
    after = last - rows - (last - rows)[begins]
    shared = cell[1:] == cell[:-1]
    divided = np.zeros(len(cell), np.int32)
    divided[1:] |= shared
    divided[:-1] |= shared
    keys = [f"key{i}" for i, _ in enumerate(cells.keys, 1)]
    names = [domain.code for domain in sensitive]
    scratch.engine.load_arrays(
        places,
        {
            **{name: column[cell] for name, column in zip(keys, cells.keys, strict=True)},
            **{name: column[cell].astype(np.int32) for name, column in zip(names, cells.sensitive, strict=True)},
            "cell": cell.astype(np.int32),
            "after": after.astype(np.int32),
            "upto": (after + rows).astype(np.int32),
            "class": number.astype(np.int32),
            "divided": divided,
        },
    )
    scratch.execute(
        "suppress/attach",
        assign=table,
        work=context.encoded.work,
        places=places,
        words=pack_words(context.encoded.quasi),
        sensitive=names,
        divided=bool(divided.any()),
    )
    scratch.drop(places)
    return table
