"""Inputs of the metrics on request.

They are counts of source rows, cumulated over domains and joined with the cells of a release.

R is the published *cell* of a row in a column: the values that the row may have. F(R) are the rows of the
source with a value in R; F(R, s) those of them with the sensitive value s. NULL is a value. Suppressed rows have
every value in their cells. No row leaves the database: every statement gives sums. Logarithms are of base 2 here,
natural in SQL.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlanon.engines.rows import number
from sqlanon.loss.row_losses import measure_classification
from sqlanon.table.wide_tables import Part, join_parts, split_runs

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.loss.joint import Joint
    from sqlanon.loss.values import Groups, LostRows
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.domain import Domain
    from sqlanon.table.scratch import Scratch

_LARGEST = 700.0
"""Logarithm of a product that a double holds."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Sums over all rows of the source; by quasi column where they are tuples.

    Attributes:
        combinations: of the product of |R| over columns.
        values: of (|R| - 1) / (|A| - 1), 0 where |A| is 1.
        levels: of the published level over the height of the hierarchy.
        bits: of log2 F(R).
    """

    combinations: float
    values: tuple[float, ...]
    levels: tuple[float, ...]
    bits: tuple[float, ...]


class Facts:
    """Sums over the cells of a release; each is computed when a metric first reads it.

    Args:
        scratch: the run.
        classed: rows with the class and, of every quasi and sensitive column, the code.
        regions: table (class, n, and of every quasi column first_, last_, level_; see the template formats/regions);
            None: every row shows its own values.
        groups: classes that publish the same.
        lost: the suppressed rows.
        joint: counts of pairs of values.

    Cost: of the cells a join of the classes with the domains of all columns; of a sensitive column two joins and a sort
    of the pairs (class, sensitive value) for every quasi column.
    """

    def __init__(
        self,
        scratch: Scratch,
        classed: ClassedRows,
        regions: TableRef | None,
        groups: Groups,
        lost: LostRows,
        joint: Joint,
    ) -> None:
        self._scratch = scratch
        self._classed = classed.table
        self._regions = regions
        self.groups, self.lost, self.joint = groups, lost, joint
        self.rows = classed.encoded.rows
        self.quasi, self.sensitive = classed.encoded.quasi, classed.encoded.sensitive

    @cached_property
    def values(self) -> tuple[OfValue, ...]:
        """Facts about each sensitive column."""
        return tuple(OfValue(self, domain) for domain in self.sensitive)

    @cached_property
    def source_bits(self) -> tuple[float, ...]:
        """Of every quasi column the sum over rows of log2 F({v}), v the row's own value."""
        return tuple(self.logarithms(domain.table) for domain in self.quasi)

    @cached_property
    def cells(self) -> Cells:
        """The sums over cells."""
        nothing = (0.0,) * len(self.quasi)
        if self._regions is None:
            return Cells(float(self.rows), nothing, nothing, self.source_bits)
        table = self._cell_table(self._regions)
        sizes = [domain.codes for domain in self.quasi]
        possible = sum(math.log(size) for size in sizes)
        codes = [domain.code for domain in self.quasi]
        row = self.fetch("loss/ambiguity", cells=table, columns=codes, exact=possible < _LARGEST)
        combinations = row[0] + self.lost.left_out * math.exp(min(possible, _LARGEST))
        values, levels, bits = [], [], []
        for some in split_runs(self.quasi):
            columns = [{"code": domain.code, "others": max(domain.codes - 1, 1)} for domain in some]
            row = self.fetch("loss/cell_sums", cells=table, columns=columns)
            for index, domain in enumerate(some):
                values.append(row[3 * index] + self.lost.left_out * (domain.codes > 1))
                levels.append(row[3 * index + 1] + self.lost.left_out)
                bits.append(row[3 * index + 2] / math.log(2) + self.lost.left_out * math.log2(self.rows))
        return Cells(combinations, tuple(values), tuple(levels), tuple(bits))

    @cached_property
    def members(self) -> dict[str, TableRef]:
        """Of the nominal columns the codes of the sets of classes (class, code), where no interval has them."""
        tables: dict[str, TableRef] = {}
        for domain in self.quasi:
            if self._regions is not None and domain.reading.treatment == "nominal":
                table = tables[domain.code] = self._scratch.table(f"{domain.code}_cell_members")
                self._scratch.execute(
                    "loss/members", members=table, regions=self._regions, classed=self._classed, column=domain.code
                )
        return tables

    @property
    def regions(self) -> TableRef | None:
        """See the class."""
        return self._regions

    def histogram(self, value: str) -> TableRef:
        """A scratch table (class, value, n): the values of a sensitive code column in the classes."""
        table = self._scratch.table(f"{value}_histogram")
        self._scratch.execute("loss/histogram", histogram=table, classed=self._classed, value=value)
        return table

    def classification(self, value: str) -> float:
        """CM of a sensitive column of the stage."""
        return measure_classification(self._scratch, self._classed, self.groups, value, self.lost, self.rows)

    def squares(self, domain: Domain) -> tuple[float, float]:
        """Of an ordered column the squared distances of rows from the means of their groups, and from that of all."""
        first = int(domain.has_null)
        total = self.fetch("loss/squared_spread", domain=domain.table, first=first)[0]
        inside, kept_rows = self.fetch(
            "loss/squared_error",
            classed=self._classed,
            groups=self.groups,
            domain=domain.table,
            column=domain.code,
            first=first,
            starred=self.lost.starred,
        )
        return inside + total - kept_rows, total

    def logarithms(self, counted: TableRef) -> float:
        """The sum of n log2 n over a table."""
        return self.fetch("loss/logarithms", counted=counted)[0] / math.log(2)

    def fetch(self, name: str, **context: Any) -> list[float]:
        """The one row of a query, as floats."""
        return [number(cell) for cell in self._scratch.fetch(name, **context)[0]]

    def inside(self, histogram: TableRef, joint: TableRef, domain: Domain) -> float:
        """The sum over rows with a class of log2 F(R, s), for a quasi column."""
        asked_table, upto = (self._scratch.table(f"{domain.code}_{part}") for part in ("asked", "upto"))
        with self._scratch.together():
            self._scratch.execute(
                "loss/asked", asked=asked_table, histogram=histogram, regions=self._regions, column=domain.code
            )
            self._scratch.execute("loss/upto", upto=upto, asked=asked_table, joint=joint)
            total = self.fetch("loss/inside", asked=asked_table, upto=upto)[0]
            if domain.code in self.members:
                total += self.fetch(
                    "loss/inside_members", histogram=histogram, members=self.members[domain.code], joint=joint
                )[0]
            for table in (asked_table, upto):
                self._scratch.drop(table)
        return total / math.log(2)

    def _cell_table(self, regions: TableRef) -> TableRef:
        """A table (class, n, and of every quasi column size_, inside_: |R| and F(R), and level_)."""
        parts: list[Part] = []
        for index, some in enumerate(split_runs(self.quasi)):
            columns = [self._column(domain) for domain in some]
            table = self._scratch.table(f"cells_{index}")
            self._scratch.execute("loss/cells", cells=table, regions=regions, columns=columns)
            names = [f"{part}_{domain.code}" for domain in some for part in ("size", "inside", "level")]
            parts.append((table, names if index else ["n", *names]))
        return join_parts(self._scratch, "cells", "class", parts)

    def _column(self, domain: Domain) -> dict[str, object]:
        cumulated = self._scratch.table(f"{domain.code}_cumulated")
        self._scratch.execute("loss/cumulated", cumulated=cumulated, domain=domain.table)
        return {"code": domain.code, "cumulated": cumulated, "members": self.members.get(domain.code)}


class OfValue:
    """Facts about a sensitive column; computed when a metric first reads them."""

    def __init__(self, facts: Facts, domain: Domain) -> None:
        self._facts = facts
        self._domain = domain
        self.name = domain.reading.name

    @cached_property
    def histogram(self) -> TableRef:
        """The values in the classes."""
        return self._facts.histogram(self._domain.code)

    @cached_property
    def entropy(self) -> float:
        """H(Y) of the source, in bits."""
        rows = self._facts.rows
        return math.log2(rows) - self._facts.logarithms(self._domain.table) / rows

    @cached_property
    def source_open(self) -> tuple[float, ...]:
        """Of every quasi column the sum over rows of -log2 F({v}, s) / F({v}), v and s the row's own values."""
        return tuple(
            bits - self._facts.logarithms(self._joint(domain))
            for domain, bits in zip(self._facts.quasi, self._facts.source_bits, strict=True)
        )

    @cached_property
    def open(self) -> tuple[float, ...]:
        """Of every quasi column the sum over rows of -log2 F(R, s) / F(R)."""
        facts = self._facts
        if facts.regions is None:
            return self.source_open
        beyond = 0.0
        if facts.lost.left_out:
            rows = facts.fetch("loss/left_out", domain=self._domain.table, histogram=self.histogram)
            beyond = rows[0] / math.log(2)
        return tuple(
            bits - facts.inside(self.histogram, self._joint(domain), domain) - beyond
            for domain, bits in zip(facts.quasi, facts.cells.bits, strict=True)
        )

    @cached_property
    def group_entropies(self) -> tuple[float, float, float]:
        """Facts about the published groups.

        They are the number of groups, the sum of their entropies in bits, and the sum of rows x entropy.
        """
        row = self._facts.fetch("loss/entropies", histogram=self.histogram, groups=self._facts.groups)
        return row[0], row[1] / math.log(2), row[2] / math.log(2)

    @cached_property
    def classification(self) -> float:
        """CM."""
        return self._facts.classification(self._domain.reading.alias)

    def _joint(self, domain: Domain) -> TableRef:
        return self._facts.joint.tables[domain.code, self._domain.code]
