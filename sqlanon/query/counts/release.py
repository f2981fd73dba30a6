"""A release of counts as readers see it: columns, levels, tables and measures, by the metadata alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.engines.base import Relation, Row
from sqlanon.query.release import Field, ReaderRelease, make_dimension, read_cell_facts
from sqlanon.statistics.amounts import Range
from sqlanon.statistics.reader_cells import Label, SeenColumn
from sqlanon.statistics_spec import STATUS

MEASURE = "measure"
"""The role of a published number."""
PERSON = "person"
"""The role of the column that says whose row it is: it is not published, and queries count its values alone."""


@dataclass(frozen=True, slots=True)
class ReleasedSum:
    """A column's published sums.

    Attributes:
        name: in the view.
        scale: digits after the point; a unit is 1 of the last.
        of: the range of a row, in units.
    """

    name: str
    scale: int
    of: Range


@dataclass(frozen=True)
class ReleasedCounts(ReaderRelease):
    """A release of counts; each cell of whole tables is rows of known values.

    Attributes:
        columns: the levels of each field that is no measure.
        tables: the columns of each published table.
        measures: the counted things of each published number.
        changed: published numbers are not the true ones, which lie between published bounds.
        added: published numbers add up.
        status: of cells without their true number: hidden, rounded or perturbed.
        sums: the columns whose sums are published.
        bounded: bounds of hidden numbers are published; with several versions they are those of the last.
        earlier: readers had versions of earlier lineages, which may say more.
        together: bounds are of readers who have the rows of another release as well.
        versions: with versions that follow one another, those whose rows are in it; else empty.
        patterns: persons have several rows in several cells, so that they do not add up.
        person: the source's column that says whose row it is; None: it is several, or not known.
        null_person: rows of which it is NULL are counted as persons, whom ``count(DISTINCT person)`` leaves out.
    """

    columns: tuple[SeenColumn, ...] = ()
    tables: tuple[tuple[str, ...], ...] = ()
    measures: tuple[tuple[str, str], ...] = ()
    sums: tuple[ReleasedSum, ...] = ()
    changed: bool = False
    added: bool = True
    status: str = "hidden"
    bounded: bool = False
    earlier: bool = False
    together: bool = False
    versions: tuple[int, ...] = ()
    patterns: bool = False
    person: str | None = None
    null_person: bool = False

    @property
    def with_person(self) -> ReleasedCounts:
        """The release with the column of persons among the fields, unless one has that name."""
        if self.person is None or any(field.name.lower() == self.person.lower() for field in self.fields):
            return self
        return replace(self, fields=(*self.fields, Field(self.person, PERSON, "", "text", "VARCHAR", ())))

    @property
    def counted_persons(self) -> str | None:
        """The published number of persons; None: there is none."""
        return next((name for name, kind in self.measures if kind == "persons"), None)

    @property
    def summed(self) -> str | None:
        """The first published number that adds up; None: none does."""
        return next((name for name, kind in self.measures if kind == "count" or not self.patterns), None)

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns to read with a number: its bounds, where these are all that is published, or its version."""
        name = self.summed or self.measures[0][0]
        if self.changed:
            return f"{name}_low", f"{name}_high"
        if self.together and self.bounded and not self.several:
            return f"{name}_low", f"{name}_high"
        if self.several:
            return (f"{name}_low", f"{name}_high", "as_of") if self.bounded else ("as_of",)
        return ()

    @property
    def whole(self) -> bool:
        """Whether the cells are all that readers have: true numbers of one version, and none before it."""
        return not (self.several or self.changed or self.earlier)

    @property
    def several(self) -> bool:
        """Whether numbers may be of several versions."""
        return len(self.versions) > 1


def describe_counts(view: Relation, rows: Sequence[Row]) -> ReleasedCounts:
    """The release of counts that the metadata rows of a view describe.

    Raises:
        UnsupportedError: an older sqlanon made it, and the metadata lack types and levels.
    """
    missing = "of which types its columns are; read its rows as they are, each is a cell"
    facts = read_cell_facts(view, rows, missing)
    statistics: Mapping[str, Any] = facts["statistics"]
    fields, columns, sums = [], [], []
    for row in rows:
        name, role = str(row[0]), str(row[1])
        if name == "":
            continue
        if role == MEASURE:
            fields.append(Field(name, MEASURE, "", "integer", "BIGINT", (name,)))
            if str(row[2]) == "sum":
                sum_facts = json.loads(str(row[6]))
                sums.append(
                    ReleasedSum(name, int(sum_facts["scale"]), Range(int(sum_facts["low"]), int(sum_facts["high"])))
                )
            continue
        declared = json.loads(str(row[6]))
        fields.append(make_dimension(row, facts))
        paths: dict[Label, tuple[Label, ...]] = {path[0]: tuple(path) for path in declared["paths"]}
        columns.append(SeenColumn(name, int(declared["levels"]), paths))
    dimensions = {column.name.lower() for column in columns}
    summed_columns = {str(described["column"]): name for name, described in statistics.get("sums", {}).items()}
    fields += [  # a sum is asked by its column too
        Field(column, MEASURE, "", "integer", "BIGINT", (name,))
        for column, name in summed_columns.items()
        if column.lower() not in {*dimensions, name.lower()}
    ]
    return ReleasedCounts(
        view,
        "labels",
        tuple(fields),
        source=str(facts["source"]),
        metadata=tuple(rows),
        token=str(facts["token"]),
        columns=tuple(columns),
        tables=tuple(tuple(table["by"]) for table in statistics["tables"]),
        measures=tuple(statistics["measures"].items()),
        changed=statistics["method"] != "suppress",
        status=STATUS[statistics["method"]],
        added=statistics.get("additive", True),
        earlier=bool(statistics.get("earlier")),
        bounded=statistics.get("bounds") == "exact",
        together=bool(statistics.get("together")),
        sums=tuple(sums),
        versions=tuple(map(int, statistics.get("versions", ()))),
        patterns=bool(statistics.get("patterns")),
        person=persons[0] if len(persons := list(map(str, statistics.get("person", ())))) == 1 else None,
        null_person=bool(statistics.get("null_person")),
    )
