"""Policy of differentially private statistics, as frozen values; `sqlanon.spec` has the releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

NoiseLaw = Literal["auto", "laplace", "gaussian"]
"""The law of the noise; ``auto``: the one with the smaller standard deviations."""
BinsAs = Literal["label", "middle"]
"""What synthetic rows have of an interval: the text of its ends, or the number in the middle."""
Quantity = Literal["rows", "persons", "arrivals", "sum", "mean", "quantiles"]
"""Measured quantity of each group; ``arrivals``: persons, each in the groups of the night of its first rows."""


@dataclass(frozen=True, slots=True)
class BudgetSpec:
    """A budget of a kind of person, over all tables, releases and versions, for ever.

    Attributes:
        name: the budget's name in the ledger.
        persons: the tables that have rows of these persons, each with the columns that say whose row it is.
        epsilon, delta: total cost of all releases, at most; a delta of 0 allows Laplace noise only.
        anchor: a file outside of the database that has a copy of the ledger; None: a restored or copied database is not
            recognized.
    """

    name: str
    persons: tuple[tuple[str, tuple[str, ...]], ...]
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class NoisyTable:
    """A table of groups, published with the totals that GROUP BY ROLLUP has, or without any.

    ``of_rows``: synthetic rows are drawn of it.
    """

    name: str
    by: tuple[str, ...]
    totals: bool = True
    of_rows: bool = False


@dataclass(frozen=True, slots=True)
class NoisyMeasure:
    """A number that is published of each group.

    Attributes:
        name: the column of the view.
        quantity: the measured quantity.
        column: of a sum, a mean or quantiles, the source's column.
        low, high: values beyond are taken as these.
        unit: sums are of whole multiples of it, and so are the ends of steps.
        quantiles: which ones, each above 0 and below 1.
        steps: of quantiles: the range is divided into so many steps at most, whose rows are counted.
    """

    name: str
    quantity: Quantity
    column: str = ""
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)
    quantiles: tuple[Fraction, ...] = ()
    steps: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the view, each of which has two more for its interval."""
        if self.quantity == "arrivals":
            return (self.name, f"{self.name}_new")
        if self.quantity != "quantiles":
            return (self.name,)
        # In hundredths without the zeros at the end: p5, p50, p99_9.
        texts = (
            f"{float(100 * quantile):.6f}".rstrip("0").rstrip(".").replace(".", "_") for quantile in self.quantiles
        )
        return tuple(f"{self.name}_p{text}" for text in texts)

    @property
    def ends(self) -> tuple[Fraction, ...]:
        """Of quantiles: the ends of the steps, in multiples of the unit."""
        units = int((self.high - self.low) / self.unit)
        many = min(self.steps, units)
        return tuple(self.low + self.unit * (units * index // many) for index in range(many + 1))


@dataclass(frozen=True, slots=True)
class RowsSpec:
    """Synthetic rows that are drawn of noisy tables of pairs of columns.

    Attributes:
        target: the column that is in every table.
        pairs: the pairs of other columns, a tree; in the spec of a policy that leaves the choice to a paid measurement
            any tree is meant.
        chosen: whether a paid measurement chooses the pairs.
        bins: how the rows show an interval.
    """

    target: str
    pairs: tuple[tuple[str, str], ...]
    chosen: bool
    bins: BinsAs = "label"

    @property
    def tables(self) -> tuple[NoisyTable, ...]:
        """The tables that are measured for the rows."""
        return tuple(
            NoisyTable(", ".join((*pair, self.target)), (*pair, self.target), totals=False, of_rows=True)
            for pair in self.pairs
        )


@dataclass(frozen=True, slots=True)
class NoisySpec:
    """Differentially private statistics of one source.

    Groups with a hierarchy have it in `ReleaseSpec.columns`.

    Attributes:
        budget: the persons and the total cost.
        epsilon: cost of one version.
        tables: the published tables.
        values: groups that are listed, by column, each as the database writes it as text.
        bins: groups of numbers, by column: the ends of intervals, each with its lower end and without its upper one.
        measures: the published numbers of each group.
        groups: of a person's groups of one table so many are counted.
        rows: of a person's rows of one group so many are counted.
        noise: the law of the noise.
        show: groups of fewer persons, as far as the noisy number says, are marked as not shown; None: there is no mark.
        kept: publish the mean share of a person's rows that are counted.
        nights: so many versions, which `epsilon` pays together, have running counts of persons; None: each version is
            paid by itself.
        weight: all rows of a person are counted, scaled to this norm where they exceed it; then ``groups`` and ``rows``
            are 0. None: those bound what is counted.
        of_rows: the synthetic rows; their tables are the last ones of `tables`. None: there are none.
    """

    budget: BudgetSpec
    epsilon: Fraction
    tables: tuple[NoisyTable, ...]
    values: tuple[tuple[str, tuple[str, ...]], ...]
    bins: tuple[tuple[str, tuple[Fraction, ...]], ...]
    measures: tuple[NoisyMeasure, ...]
    groups: int
    rows: int
    noise: NoiseLaw = "auto"
    show: int | None = None
    kept: bool = True
    nights: int | None = None
    weight: int | None = None
    of_rows: RowsSpec | None = None

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """The name of each measure, and the source's column that it is of (``""``: of rows or persons)."""
        return tuple((measure.name, measure.column) for measure in self.measures)

    def with_pairs(self, pairs: Sequence[tuple[str, str]]) -> NoisySpec:
        """The same with these pairs of columns for synthetic rows."""
        assert self.of_rows is not None
        of_rows = replace(self.of_rows, pairs=tuple((first, second) for first, second in pairs))
        declared = (table for table in self.tables if not table.of_rows)
        return replace(self, tables=(*declared, *of_rows.tables), of_rows=of_rows)


def draws_rows(noisy: NoisySpec | None) -> bool:
    """Whether synthetic rows are published beside statistics."""
    return noisy is not None and noisy.of_rows is not None
