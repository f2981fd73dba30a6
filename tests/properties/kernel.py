"""Runs the product's Mondrian kernel on a table of the oracle, without a database: thousands of tables a second."""

from __future__ import annotations

import numpy as np

from sqlanon.kernels import extent as ex
from sqlanon.kernels.mondrian import divide, grow, grow_by_median, score
from sqlanon.kernels.requirements import Demands, demands_of
from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.shared.kernel_input import bare_of, make_room
from sqlanon.privacy.base import Coded, beyond_rows
from sqlanon.privacy.requirements import make_requirements
from sqlanon.spec import PrivacySpec
from tests.oracle.domains import Quasi, Table
from tests.oracle.requirements import Privacy


def product_codes(column: Quasi) -> list[int]:
    """Codes as the product numbers them: from 0, NULL first if there is one, a leaf by its place in the file."""
    null = int(column.has_null)
    if column.kind == "hierarchy":
        return [0 if v is None else column.tree.leaves.index(v) + null for v in column.values]
    return [code - 1 + null for code in column.codes]


def _tree_levels(column: Quasi) -> list[int]:
    """Per level above the leaves: the number of each leaf's node, then the extent of that node."""
    packed: list[int] = []
    tree = column.tree
    for level in range(1, len(next(iter(tree.paths.values())))):
        labels = [tree.paths[leaf][level] for leaf in tree.leaves]
        packed += [labels.index(label) for label in labels]
        packed += [labels.count(label) * ex.SCALE // len(labels) for label in labels]
    return packed


def geometry(table: Table) -> tuple[ex.Geometry, np.ndarray]:
    """The packed attributes, and how many codes each has."""
    facts, packed, word = [], [], 0
    for column in table.quasi:
        null = int(column.has_null)
        own: list[int] = []
        levels = words = 0
        if column.kind == "hierarchy":
            kind = ex.TREE
            own = _tree_levels(column)
            levels = len(own) // (2 * column.size)
        elif column.kind == "nominal":
            kind = ex.SET if column.size <= ex.MASK_LIMIT else ex.SPAN
            words = (column.size + null + 63) // 64 if kind == ex.SET else 0
            own = [count * ex.SCALE // max(column.size, 1) for count in range(column.size + null + 1)]
        else:
            kind = ex.ORDERED
            own = [0] * null + column.positions
        size = max(column.size, 1)
        facts.append((kind, size, null, column.weight, len(packed), levels, word, word + words, 0))
        packed += own
        word += words
    domains = [column.size + int(column.has_null) for column in table.quasi]
    shape = ex.Geometry(np.array(facts, np.int64), np.array(packed or [0], np.int64))
    return shape, np.array(domains, np.int64)


def demands(table: Table, privacy: Privacy) -> Demands:
    """The requirements as arrays."""
    names = tuple(str(j) for j in range(len(table.sensitive)))
    asked = make_requirements(
        PrivacySpec(k=privacy.k, l=privacy.l, distinct_l=privacy.distinct_l, joint=privacy.joint), names
    )
    columns = [np.array([codes[j] for codes in table.sa_codes], np.int32) for j in range(len(names))]
    coded = Coded(table.rows, columns, [int(column.max(initial=0)) + 1 for column in columns])
    return demands_of(privacy.k, [one.tally(coded) for one in beyond_rows(asked)])


def kernel_mondrian(table: Table, privacy: Privacy, variant: str, cut: str) -> list[list[int]]:
    """The kernel's classes, as lists of row numbers, left before right."""
    rows, spare, shape, domains = _bare(table)
    first, bounds = np.zeros(table.rows, np.bool_), np.array([0, table.rows])
    relaxed, median = variant == "relaxed", cut == "median"
    asked = demands(table, privacy)
    if median:
        grow_by_median(rows, spare, first, bounds, shape, asked, relaxed, 0)
    else:
        grow(rows, spare, first, bounds, shape, asked, domains, relaxed, 0)
    return _classes(rows.number, first)


def counted_mondrian(table: Table, privacy: Privacy) -> list[list[int]]:
    """The same for strict cuts by loss, each chosen as large partitions' are."""
    rows, spare, shape, domains = _bare(table)
    first, asked = np.zeros(table.rows, np.bool_), demands(table, privacy)
    open_parts = [(0, table.rows)]
    while open_parts:
        start, stop = open_parts.pop()
        part = rows.part(start, stop)
        _, _, j, cut = score(part, shape, asked, domains, 0, len(domains))
        if j < 0:
            first[start] = True
            continue
        middle = start + divide(part, spare.part(start, stop), j, cut)
        open_parts += [(start, middle), (middle, stop)]
    return _classes(rows.number, first)


def grouped_mondrian(table: Table, k: int, *, counted: bool) -> list[list[int]]:
    """The same for k alone, where rows of equal codes are one row with a count."""
    columns = [product_codes(column) for column in table.quasi]
    groups: dict[tuple[int, ...], list[int]] = {}
    for row, codes in enumerate(zip(*columns, strict=True)):
        groups.setdefault(codes, []).append(row)
    shape, domains = geometry(table)
    n, d = len(groups), len(columns)
    bare = bare_of(np.array(list(groups), np.int32).T.copy(), np.arange(n, dtype=np.int32), shape)
    rows = bare._replace(count=np.array([len(members) for members in groups.values()], np.int32))
    first, spare, asked = np.zeros(n, np.bool_), make_room(n, d, shape, counted=True), demands_of(k, [])
    if counted:
        _, _, j, cut = score(rows, shape, asked, domains, 0, d)
        bounds = [0, divide(rows, spare, j, cut), n] if j >= 0 else [0, n]
    else:
        bounds = [0, n]
    grow(rows, spare, first, np.array(bounds), shape, asked, domains, False, 0)
    members = list(groups.values())
    return [[row for g in some for row in members[g]] for some in _classes(rows.number, first)]


def _bare(table: Table) -> tuple[TreeRows, TreeRows, ex.Geometry, np.ndarray]:
    """Rows, room for them, and what the kernel knows of the attributes."""
    columns = [product_codes(column) for column in table.quasi]
    # Rows are in the tie-break order: all codes, occurrence number, SA codes, row.
    order = sorted(
        range(table.rows), key=lambda r: ([c[r] for c in columns], table.occurrence[r], table.sa_codes[r], r)
    )
    shape, domains = geometry(table)
    rows = bare_of(np.array(columns, np.int32), np.array(order, np.int32), shape)
    return rows, make_room(table.rows, len(columns), shape), shape, domains


def _classes(numbers: np.ndarray, first: np.ndarray) -> list[list[int]]:
    classes: list[list[int]] = []
    for row, starts in zip(numbers.tolist(), first.tolist(), strict=True):
        if starts:
            classes.append([])
        classes[-1].append(row)
    return classes
