"""Format anatomy: exact rows in one table, the sensitive values of each group of rows in another (Xiao & Tao 2006).

A group is a class of any method's assignment, so that this is also the permutation publishing of Ghinita et al. (2009).
The number of a group is drawn: the method's own number could reveal the place of the class in an order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.declared import REQUIREMENTS
from sqlanon.engines.rows import read_integers
from sqlanon.errors import PolicyError
from sqlanon.formats.base import Cell, Field, Format, RecodedClasses
from sqlanon.formats.grouping import Grouping, RowGroups
from sqlanon.formats.layout import COUNT, GROUP, Layout, Names, PublishedColumn
from sqlanon.formats.levels import AS_BOXES, NOT_ASKED, CoverTightness, Levels
from sqlanon.loss import reconstruction_error
from sqlanon.sqltext import identifier

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.results import LossReport
    from sqlanon.spec import FormatSpec, ReleaseSpec
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.domain import Domain
    from sqlanon.table.encode import EncodedTable
    from sqlanon.table.reading import Reading, Roles
    from sqlanon.table.scratch import Scratch


class Anatomy(Format):
    """See docs/formats.md."""

    def names(self, reading: Reading, *, mean: bool, nulls: bool) -> Names:
        return Names(value=reading.name)

    def layout(self, roles: Roles, quasi: Sequence[Domain], form: FormatSpec) -> Layout:
        """The rows have the group as their last column; the sensitive values are in the table of groups."""
        base_layout = super().layout(roles, quasi, form)
        values = tuple(PublishedColumn("s", reading.alias, reading.name) for reading in roles.sensitive)
        group = PublishedColumn("r", GROUP, GROUP)
        return Layout(
            base_layout.names, (*base_layout.columns, group), (group, *values, PublishedColumn("n", COUNT, COUNT))
        )

    def of_quasi(self, reading: Reading, names: Names) -> list[PublishedColumn]:
        """See `Format.of_quasi`: as it is."""
        return [PublishedColumn("s", reading.alias, reading.name, reading.column.kind)]

    def of_kept(self, reading: Reading) -> list[PublishedColumn]:
        return [] if reading.spec.role == "sensitive" else super().of_kept(reading)

    def problems(self, spec: ReleaseSpec, roles: Roles) -> list[str]:
        """One sensitive column, groups that are diverse in it, and no k that the format cannot keep."""
        name, problems = self.facts.name, []
        if len(roles.sensitive) != 1:
            names = ", ".join(reading.name for reading in roles.sensitive) or "none"
            problems.append(
                f"{spec.name}: format {name} takes exactly one sensitive column, and there are {len(roles.sensitive)} "
                f"({names}); give the others another role, or choose another format"
            )
        if not any(spec.privacy.value(key) for key, requirement in REQUIREMENTS.items() if requirement.sensitive):
            problems.append(
                f"{spec.name}: format {name} protects by l-diversity alone; ask for l (or distinct_l), such as l: 2"
            )
        if spec.privacy.k > 1 and not spec.privacy.presence_disclosed:
            problems.append(
                f"{spec.name}: format {name} publishes exact quasi columns, which meet no k and show who is in the "
                "table; say privacy: {presence: disclosed} to accept that (k then counts the rows of a group), "
                "leave k out, or choose another format"
            )
        return problems

    def warnings(self, spec: ReleaseSpec) -> tuple[str, ...]:
        """The format keeps no k."""
        k = f"k = {spec.privacy.k} counts the rows of a group and hides nobody; " if spec.privacy.k > 1 else ""
        disclosure = "presence is disclosed: the quasi columns are exact, so who knows them sees who is in the table; "
        return (f"{disclosure}{k}only the sensitive value is protected, by l",)

    def recode(
        self,
        scratch: Scratch,
        classed: ClassedRows,
        form: FormatSpec,
        spans: TableRef | None,
        seed: int,
        levels: Levels = AS_BOXES,
    ) -> RecodedClasses:
        """Number the classes at random; nothing of the rows is recoded.

        Cost: a GROUP BY over the rows; one integer a class through memory.
        """
        if levels:
            raise PolicyError(
                "format anatomy publishes quasi values as they are, and this method generalizes them; use the format "
                "ranges, labels or suppressed, or another method"
            )
        import numpy as np

        from sqlanon.kernels.random import seed_state, shuffle

        boxes, released = scratch.table("boxes"), scratch.table("released")
        encoded = classed.encoded
        codes = [domain.code for domain in encoded.quasi]
        scratch.execute("recode/groups", boxes=boxes, classed=classed.table, columns=codes)
        classes = scratch.fetch_arrays(scratch.sql("recode/classes", boxes=boxes), ["int32"])[0]
        numbers = np.arange(1, len(classes) + 1)
        # A separate stream: the numbers are published, and must not reveal other draws from the seed.
        digest = hashlib.sha256(f"group numbers {seed}".encode()).digest()
        shuffle(seed_state(int.from_bytes(digest[:8], "big")), numbers)
        group_numbers = numbers.astype(np.int32)
        groups = RowGroups(released)
        scratch.engine.load_arrays(
            released, {groups.key: classes.astype(np.int32), GROUP: group_numbers, groups.group: group_numbers}
        )
        row = scratch.fetch("recode/sizes", boxes=boxes, released=released, groups=groups)[0]
        count, smallest, largest, *_ = read_integers(row)
        layout = self.layout(encoded.roles, encoded.quasi, form)
        return RecodedClasses(boxes, released, self, layout, count, smallest, largest, groups)

    def count_covered(
        self,
        scratch: Scratch,
        classed: ClassedRows,
        recoded: RecodedClasses,
        least: CoverTightness = NOT_ASKED,
    ) -> None:
        """See `Format.count_covered`: the predicate is equality.

        The staged values themselves are published, and verify compares the written rows.
        """

    def regions(self, scratch: Scratch, encoded: EncodedTable, recoded: RecodedClasses) -> None:
        """Quasi values are published as they are."""

    def loss(self, scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, measured: LossReport) -> LossReport:
        """Loss of the tie between rows and values."""
        (alias,) = (domain.reading.alias for domain in classed.encoded.sensitive)
        return replace(measured, rce=reconstruction_error(scratch, classed.table, alias))

    def grouping(self, rows: TableRef, counted: TableRef | None, layout: Layout) -> Grouping:
        """The table of sensitive values is the table of groups."""
        assert counted is not None
        return Grouping(counted, (GROUP,), COUNT)

    def cell(self, field: Field, shape: str, view: str) -> Cell:
        """The sensitive column: any value of the row's group."""
        return Cell({"group": f'"{view}".{identifier(GROUP)}'})
