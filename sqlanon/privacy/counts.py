"""Rows of every value in every class of a table, read from the table itself.

`Requirement.measure` of most models reads them.

One query groups the table; computations on the counts are here and in the models' files, apart from tallies
and `below`. Over persons the same is computed of weights: a person weighs one in a class, split over the rows there, in
integers of one unit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.privacy.base import Grouped, Measured, Requirement, Values
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Flags, Longs

MOST_VALUES = 10_000_000
"""Different values of a sensitive column whose texts are read, at most."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The values of one column in the classes of a table.

    Attributes:
        start: int64[classes], where each class begins in the arrays that follow.
        value: int64[m], the number of the value, by ascending values, NULL first.
        n: int64[m], rows of the class with that value, or their weight: then objects where it does not fit 31 bits.
        table: of each value the weight in the table, in the same unit; None: the classes' sum.
        values: meaning of the numbers of values; None unless a model reads values.
    """

    start: Longs
    value: Longs
    n: Longs
    table: Longs | None = None
    values: Values | None = None

    @property
    def rows(self) -> Longs:
        """int64[classes], rows of each class."""
        import numpy as np

        return np.add.reduceat(self.n, self.start) if len(self.start) else self.n[:0]

    @property
    def size(self) -> Longs:
        """int64[m], rows of the class that each belongs to."""
        import numpy as np

        return np.repeat(self.rows, np.diff(np.append(self.start, len(self.n))))

    @property
    def whole(self) -> Longs:
        """int64[values], rows of each value in the table."""
        import numpy as np

        if self.table is not None:
            return self.table
        totals = np.zeros(int(self.value.max(initial=-1)) + 1, np.int64)
        np.add.at(totals, self.value, self.n)
        return totals

    @property
    def share(self) -> Doubles:
        """float64[m], the share that each is of its class."""
        import numpy as np

        return np.asarray(self.n / self.size, np.float64)

    @property
    def reference(self) -> Doubles:
        """float64[values], the share of each value in the table."""
        import numpy as np

        whole = self.whole
        return np.asarray(whole / int(whole.sum()), np.float64)

    def some(self, flags: Flags) -> Longs:
        """int64[classes], for how many values of each class this is so."""
        import numpy as np

        return np.add.reduceat(flags.astype(np.int64), self.start) if len(self.start) else self.n[:0]


def count_values(
    engine: Engine, target: TableRef, classes: Sequence[str], value: str, count: str | None = None
) -> Counts:
    """Count the values of a column in the groups over ``classes``; arguments as those of `Requirement.measure`.

    Cost: a grouping of the table, a sort of its groups, and memory for three numbers a group.
    """
    import numpy as np

    query = statement("verify/values", engine.dialect, target=target, classes=list(classes), value=value, count=count)
    group, number, n = (
        array.astype(np.int64, copy=False) for array in engine.fetch_arrays(query, ["int64", "int64", "int64"])
    )
    if len(group) and (np.diff(group) < 0).any():
        order = np.argsort(group, kind="stable")
        group, number, n = group[order], number[order], n[order]
    start = np.flatnonzero(np.diff(group, prepend=-1)).astype(np.int64)
    return Counts(start, number, n)


def count_compared(engine: Engine, target: TableRef, group: str, value: str, count: str) -> Counts:
    """The same of a table whose rows with NULL in ``group`` are those of the source: `Counts.table` is made of them.

    Cost: as `count_values`.
    """
    import numpy as np

    query = statement("verify/compared_values", engine.dialect, target=target, group=group, value=value, count=count)
    of_class, number, n = (
        array.astype(np.int64, copy=False) for array in engine.fetch_arrays(query, ["int64", "int64", "int64"])
    )
    order = np.argsort(of_class, kind="stable")
    of_class, number, n = of_class[order], number[order], n[order]
    past = int(np.count_nonzero(of_class < 0))
    table = np.zeros(int(number.max(initial=-1)) + 1, np.int64)
    table[number[:past]] = n[:past]
    start = np.flatnonzero(np.diff(of_class[past:], prepend=-1)).astype(np.int64)
    return Counts(start, number[past:], n[past:], table)


def count_persons(
    engine: Engine,
    target: TableRef,
    classes: Sequence[str],
    value: str,
    person: str,
    count: str | None = None,
) -> Counts:
    """The same of persons: in each class, and in the table, a person weighs one, split over the rows there.

    Weights are exact: integers of the unit 1 / L, with L the least common multiple of the numbers of rows that persons
    have.

    Cost: groupings of the table by class, person and value, and by person and value.
    """
    import numpy as np

    query = statement(
        "verify/person_values",
        engine.dialect,
        target=target,
        classes=list(classes),
        person=person,
        value=value,
        count=count,
    )
    group, number, rows_of, n = (
        array.astype(np.int64, copy=False) for array in engine.fetch_arrays(query, ["int64"] * 4)
    )
    unit = math.lcm(*map(int, np.unique(rows_of)))
    # The weight of all persons, in this unit, has to fit 31 bits as numbers of rows do.
    whole = group < 0
    small = float(unit) * float((n[whole] / rows_of[whole]).sum()) < 1 << 30 if unit < 1 << 30 else False
    kind = np.int64 if small else object
    weight = n.astype(kind) * (unit // rows_of.astype(kind))
    order = np.lexsort((number, group))
    group, number, weight = group[order], number[order], weight[order]
    first = np.flatnonzero((np.diff(group, prepend=-2) != 0) | (np.diff(number, prepend=-1) != 0))
    weight = np.add.reduceat(weight, first) if len(first) else weight
    group, number = group[first], number[first]
    past = int(np.count_nonzero(group < 0))
    start = np.flatnonzero(np.diff(group[past:], prepend=-1)).astype(np.int64)
    return Counts(start, number[past:], weight[past:], weight[:past])


@dataclass(frozen=True, slots=True)
class GroupShares:
    """The shares of the values in groups over persons, as `OfCounts.inside` sees them.

    Attributes:
        group: int64[m], ascending.
        value: int64[m], the number of the value.
        share: float64[m], the share of the group.
        reference: float64[values], the share of each value in the table.
        table: the same exactly; empty unless the model compares with the table.
        values: meaning of the numbers of values; None unless the model reads values.
    """

    group: Longs
    value: Longs
    share: Doubles
    reference: Doubles
    table: Mapping[int, Fraction]
    values: Values | None = None

    def sums(self, of: Doubles) -> Doubles:
        """float64[groups], the sum over the values of each group."""
        import numpy as np

        return np.bincount(self.group, of).astype(np.float64)


class OfCounts(Requirement):
    """A requirement that decides by the rows of each value of one column in a class, or by their weight."""

    __slots__ = ()

    column: str
    value: int
    within: tuple[int, ...]

    @abstractmethod
    def judge(self, counts: Counts) -> Measured:
        """Level reached by counts of at least one class; see `Requirement.measure`."""

    @abstractmethod
    def inside(self, shares: GroupShares) -> Doubles:
        """Margin of each group under the requirement, as shares, float64[groups]; below 0 it fails.

        The error is less than 1e-9.
        """

    @abstractmethod
    def holds(self, shares: Mapping[int, Fraction], table: Mapping[int, Fraction], values: Values | None) -> bool:
        """Whether a group with these shares meets the requirement exactly, given those of the table where it compares.

        ``values`` as those of `GroupShares`.
        """

    def of_hashes(self) -> Self:
        """The largest demand for values that are hashes, of which only equality is known.

        It reads no values.
        """
        return self

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        """See `Requirement.measure`; the shares of the table are those of ``rows``, or of the source's rows there."""
        if rows.of_source:
            value, (group,) = rows.names[self.value], rows.groups
            assert rows.count is not None
            counts = count_compared(engine, rows.table, group, value, rows.count)
            return self.judge_within(counts, engine, rows.table, value)
        by, value = [*rows.groups, *(rows.names[i] for i in self.within)], rows.names[self.value]
        counts = count_values(engine, rows.table, by, value, rows.count)
        return self.judge_within(counts, engine, rows.table, value)

    def judge_within(self, counts: Counts, engine: Engine, target: TableRef, value: str) -> Measured:
        """Level reached by counts of the column ``value`` of a table; see `Requirement.measure`."""
        if not len(counts.n):
            return Measured(Fraction(0), 0)
        if self.reads_values:
            shown = read_texts(engine, target, value)
            counts = replace(counts, values=Values(shown, range(len(shown)), ordered=True))
        return self.judge(counts)


def read_texts(engine: Engine, target: TableRef, value: str) -> list[str | None]:
    """The values of a column as text, in the order of their numbers in `count_values`."""
    query = statement("verify/value_texts", engine.dialect, target=target, value=value)
    text_of = {read_integer(number): text for number, text in engine.fetch(query, max_rows=MOST_VALUES)}
    return [None if text_of[i] is None else str(text_of[i]) for i in range(len(text_of))]
