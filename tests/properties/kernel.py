"""Runs the product's Mondrian kernel on a table of the oracle, without a database: thousands of tables a second."""

from __future__ import annotations

import numpy as np

from sqlanon.kernels import extent as ex
from sqlanon.kernels.mondrian import grow
from sqlanon.kernels.requirements import Demands, demands_of
from sqlanon.methods.shared.kernel_input import room, rows_of
from sqlanon.privacy import Coded, beyond_rows, requirements
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
            own = [0] * null + [column.position(value) for value in column.domain]
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
    asked = requirements(
        PrivacySpec(k=privacy.k, l=privacy.l, distinct_l=privacy.distinct_l, joint=privacy.joint), names
    )
    columns = [np.array([codes[j] for codes in table.sa_codes], np.int32) for j in range(len(names))]
    coded = Coded(table.rows, columns, [int(column.max(initial=0)) + 1 for column in columns])
    return demands_of(privacy.k, [one.tally(coded) for one in beyond_rows(asked)])


def kernel_mondrian(table: Table, privacy: Privacy, variant: str, cut: str) -> list[list[int]]:
    """The kernel's classes, as lists of row numbers, left before right."""
    columns = [product_codes(column) for column in table.quasi]
    # Rows stand in the tie-break order: all codes, occurrence number, SA codes, row.
    order = sorted(
        range(table.rows),
        key=lambda r: ([c[r] for c in columns], table.occurrence[r], table.sa_codes[r], r),
    )
    codes = np.array(columns, np.int32)
    first = np.zeros(table.rows, np.bool_)
    shape, domains = geometry(table)
    relaxed, median = variant == "relaxed", cut == "median"
    rows = rows_of(codes, np.array(order, np.int32), shape)
    grow(
        rows,
        room(table.rows, len(columns), shape),
        first,
        shape,
        demands(table, privacy),
        domains,
        relaxed,
        median,
        0,
    )
    classes: list[list[int]] = []
    for row, starts in zip(rows.number.tolist(), first.tolist(), strict=True):
        if starts:
            classes.append([])
        classes[-1].append(row)
    return classes
