"""KL-divergence of a release from its source, by definition: every released row is spread over the values of its box.

Cells and shares are in dictionaries, as exact fractions; released rows are read as they are published.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.domains import Quasi, Table, as_fraction, number_key
from tests.oracle.recode import quoted, text

Row = Mapping[str, Any]
Key = Any
"""A value of a column such that equal values have equal keys; NULL is None."""


@dataclass(frozen=True)
class Found:
    """KLD of one group-by: infinite where the release expects nobody in a cell of the source."""

    kld: float
    cells: int
    missed: int
    missed_rows: int


@dataclass(frozen=True)
class Spread:
    """Values that the source holds among those a part may represent, and how many it may represent in all.

    ``beside``: half of it is NULL.
    """

    keys: frozenset[Key]
    size: int
    beside: bool = False

    def shares(self, held: frozenset[Key]) -> dict[Key, Fraction]:
        """The share of every value."""
        own = {key: Fraction(1, self.size * (1 + self.beside)) for key in self.keys}
        return own | ({None: Fraction(1, 2)} if self.beside and None in held else {})


def key_of(column: Quasi, value: Any) -> Key:
    """The key of a value of the source or the release."""
    return None if value is None else column.key(value)


def held(column: Quasi) -> frozenset[Key]:
    """The values of the source, NULL among them if it is there."""
    return frozenset(key_of(column, value) for value in column.values)


def anything(column: Quasi, declared: bool) -> Spread:
    """Any value: those that are declared if any are, else those of the source; NULL if the source holds it."""
    if column.kind == "hierarchy":
        size = len(column.tree.leaves) + column.has_null
    elif declared:
        assert column.order is not None
        size = len(column.order) + column.has_null
    else:
        size = len(held(column))
    return Spread(held(column), size)


def between(column: Quasi, low: Any, high: Any, declared: bool) -> Spread:
    """A closed range: every integer or day in it, every value of a declared order, else the values of the source."""
    first, last = column.key(low), column.key(high)
    keys = frozenset(key for key in held(column) - {None} if first <= key <= last)
    whole = isinstance(low, int | dt.date) and not isinstance(low, bool | dt.datetime)
    if column.kind == "number" and whole:
        return Spread(keys, int(as_fraction(high) - as_fraction(low)) + 1)
    return Spread(keys, last - first + 1 if declared else len(keys))


def under(column: Quasi, node: str) -> Spread:
    """All leaves of the file under the largest node of that label."""
    paths = column.tree.paths
    level = max(
        (level for path in paths.values() for level, label in enumerate(path) if label == node),
        key=lambda level: column.tree.under(level, node),
    )
    leaves = frozenset(column.key(leaf) for leaf, path in paths.items() if path[level] == node)
    return Spread(leaves & held(column), len(leaves))


def among(column: Quasi, members: Sequence[str]) -> Spread:
    """The values of a set."""
    keys = frozenset(column.key(member) for member in members)
    return Spread(keys & held(column), len(keys))


def one(column: Quasi, value: Any) -> Spread:
    """A single value, or NULL."""
    return Spread(frozenset([key_of(column, value)]) & held(column), 1)


def ranges(column: Quasi, row: Row, declared: bool) -> Spread:
    state = row.get(f"{column.name}_null", "none")
    if state == "some" and column.kind not in ("nominal", "hierarchy") and row[f"{column.name}_lo"] is not None:
        beside = between(column, row[f"{column.name}_lo"], row[f"{column.name}_hi"], declared)
        return Spread(beside.keys, beside.size, beside=True)
    if state != "none":
        return anything(column, declared) if state == "some" else one(column, None)
    if column.kind == "nominal":
        return among(column, row[column.name])
    if column.kind == "hierarchy":
        return under(column, row[column.name])
    return between(column, row[f"{column.name}_lo"], row[f"{column.name}_hi"], declared)


def labels(column: Quasi, row: Row, declared: bool) -> Spread:
    label = row[column.name]
    if label in ("*", "NULL"):
        return anything(column, declared) if label == "*" else one(column, None)
    if column.kind == "hierarchy":
        nodes = {node for path in column.tree.paths.values() for node in path}
        return under(column, next(node for node in nodes if quoted(node) == label))
    if column.kind == "nominal":
        members = label[1:-1] if label[0] == "{" else label
        return among(column, next(split(members, {quoted(value): value for value in column.domain})))
    ends = {text(value): value for value in column.domain}
    if label in ends:
        return between(column, ends[label], ends[label], declared)
    low, high = next(split(label[1:-1], ends))
    return between(column, low, high, declared)


def split(texts: str, known: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Every way to read a comma list of known texts."""
    for each, value in known.items():
        if texts == each:
            yield [value]
        elif texts.startswith(each + ", "):
            yield from ([value, *rest] for rest in split(texts[len(each) + 2 :], known))


def points(column: Quasi, row: Row, _: bool) -> Spread:
    return one(column, row[column.name])


def suppressed(column: Quasi, row: Row, declared: bool) -> Spread:
    value = row[column.name]
    star = row.get(f"{column.name}_suppressed", value is None)
    return anything(column, declared) if star else one(column, value)


FORMATS: dict[str, Callable[[Quasi, Row, bool], Spread]] = {
    "ranges": ranges,
    "labels": labels,
    "points": points,
    "suppressed": suppressed,
}


def sensitive_key(value: Any) -> Key:
    """Equal sensitive values have equal keys; NULL is one of them."""
    return None if value is None else value if isinstance(value, str) else number_key(value)


def truth(table: Table, columns: Sequence[int], sensitive: int | None) -> Counter[Any]:
    """The P cube: rows of the source by cell and sensitive value."""
    chosen = [table.quasi[i] for i in columns]
    values = table.sensitive[sensitive].values if sensitive is not None else (None,) * table.rows
    return Counter(
        (*(key_of(c, c.values[row]) for c in chosen), sensitive_key(values[row])) for row in range(table.rows)
    )


def spread_out(
    rows: Sequence[Row],
    kind: str,
    table: Table,
    columns: Sequence[int],
    sensitive: int | None,
    declared: frozenset[str],
) -> dict[Any, Fraction]:
    """The Q cube over values that the source holds: every row counts evenly in every cell of its box.

    Args:
        rows: the release, column to value.
        kind: its format.
        table: the source.
        columns: which quasi columns make the cells.
        sensitive: which sensitive column, or None.
        declared: quasi columns whose order the policy lists, so that its values are known.
    """
    cube: dict[Any, Fraction] = defaultdict(Fraction)
    for row in rows:
        value = sensitive_key(row[table.sensitive[sensitive].name]) if sensitive is not None else None
        cells: dict[Any, Fraction] = {(): Fraction(1)}
        for i in columns:
            column = table.quasi[i]
            part = FORMATS[kind](column, row, column.name in declared)
            shares = part.shares(held(column))
            cells = {(*cell, key): share * own for cell, share in cells.items() for key, own in shares.items()}
        for cell, share in cells.items():
            cube[*cell, value] += share
    return cube


def exact(rows: Sequence[Row], counted: Sequence[Row], table: Table, columns: Sequence[int]) -> dict[Any, Fraction]:
    """The Q cube of format anatomy: a row has each sensitive value of its group with the value's share."""
    name = table.sensitive[0].name
    groups: dict[Any, dict[Any, int]] = defaultdict(dict)
    for each in counted:
        groups[each["group_id"]][sensitive_key(each[name])] = each["count"]
    cube: dict[Any, Fraction] = defaultdict(Fraction)
    for row in rows:
        cell = tuple(key_of(table.quasi[i], row[table.quasi[i].name]) for i in columns)
        group = groups[row["group_id"]]
        for value, count in group.items():
            cube[*cell, value] += Fraction(count, sum(group.values()))
    return cube


def kld(p: Mapping[Any, int], q: Mapping[Any, Fraction], released: int) -> Found:
    """The sum over P's cells of P ln(P / Q), both normalized."""
    rows = sum(p.values())
    missed = [n for cell, n in p.items() if not q.get(cell)]
    terms = [n / rows * math.log(Fraction(n, rows) / (q[cell] / released)) for cell, n in p.items() if q.get(cell)]
    return Found(math.inf if missed else math.fsum(terms), len(p), len(missed), sum(missed))
