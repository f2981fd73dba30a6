"""The shape of a statistics release: columns with levels, margins and measures to publish."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.column_spec import Hierarchy
from sqlanon.engines.base import TableRef
from sqlanon.errors import PolicyError
from sqlanon.spec import ReleaseSpec
from sqlanon.statistics.must_show import Levels, find_levels
from sqlanon.statistics.neighbour import Alike, Neighbour
from sqlanon.statistics.part_weights import Weighed
from sqlanon.statistics.sum_columns import ShapeSum, read_stored_sums, shape_sums
from sqlanon.table.encode import Domain
from sqlanon.table.reading import Reading
from sqlanon.table.scratch import Scratch

MOST_MARGINS = 4096
"""The most margins of a release: the limit of sets in a GROUP BY of PostgreSQL."""
MOST_CELLS = 2**31
"""Combinations of nodes, at most."""
PLAIN = ("integer", "text", "enum", "boolean", "date")
"""Kinds of columns that are published as they are: their texts are equal where the values are, and nowhere else."""


@dataclass(frozen=True, slots=True)
class ShapeColumn:
    """A column of the cells.

    Attributes:
        name: the column's name in the source and the view.
        alias: name of the values in the staged table.
        type: SQL type of the published values; with a hierarchy they are texts.
        levels: number of levels below the total.
        paths: with a hierarchy the table of nodes; see statistics/paths.
        place: place of the column, from 1.
        nodes: number of nodes of all levels, the total included.
        as_text: the staged values are compared as texts.
    """

    name: str
    alias: str
    type: str
    levels: int
    paths: TableRef | None
    place: int
    nodes: int
    as_text: bool = False

    @property
    def level(self) -> str:
        """Name of the published column of levels."""
        return f"level_{self.name}"


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns, margins and measures to publish.

    Attributes:
        columns: the columns of the cells.
        margins: per margin the level of each column; as a level, the number of levels is the total.
        tables: per table the places of the columns, and the margins.
        measures: per published number the name, and the column of the cells: ``n`` (rows) or ``persons``.
        threshold: cells of fewer persons are small.
        insiders: persons who are alone in a cell are taken into account.
        bounds: bounds of hidden cells are published.
        person: alias of the persons' numbers in the staged table.
        version: the number of the version.
        sums: the columns whose sums are published.
        neighbour: the release of rows that readers have as well.
        cohort: new rows of a version that follows, at least; 0: none is to follow.
        fewest: the same of a version that time alone asks for.
        follows: the rows are the new ones of a version that follows.
        least_rows: readers know that there are so many rows, as no version has fewer.
        show: margins whose cells must be shown.
        patterns: persons have several rows, and those of a cell are counted by patterns; see `patterns`.
    """

    columns: tuple[ShapeColumn, ...]
    margins: tuple[tuple[int, ...], ...]
    tables: tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], ...]
    measures: tuple[tuple[str, str], ...]
    threshold: int
    insiders: bool
    bounds: bool
    person: str
    version: int
    sums: tuple[ShapeSum, ...] = ()
    neighbour: Neighbour | None = None
    cohort: int = 0
    fewest: int = 0
    least_rows: int = 1
    follows: bool = False
    show: tuple[Levels, ...] = ()
    patterns: bool = False

    @property
    def counted(self) -> str:
        """The summed column of the cells; with several measures all are equal, unless there are patterns."""
        return "n" if self.has_rows or self.patterns or self.neighbour is not None else "persons"

    @property
    def bounded(self) -> str:
        """The measure of the bounds that are compared with witnesses of the summed column; empty: there is none."""
        names = [name for name, column in self.measures if column == self.counted or not self.patterns]
        return names[0] if names else ""

    @property
    def alike(self) -> Alike:
        """What witnesses keep of the rows of persons in the classes of a release of rows."""
        return self.neighbour.persons.alike if self.patterns and self.neighbour is not None else ""

    @property
    def weighed(self) -> tuple[Weighed, ...]:
        """The counted columns whose values witnesses let weigh no more than a release of rows promises of persons."""
        return self.neighbour.persons.weighed if self.patterns and self.neighbour is not None else ()

    @property
    def has_rows(self) -> bool:
        """Whether numbers of rows are published."""
        return any(column == "n" for _, column in self.measures)

    @property
    def followed(self) -> bool:
        """Whether other versions are to follow."""
        return self.cohort > 0

    def of_new_rows(self, version: int, came: int) -> Shape:
        """The shape of the new rows of a version that follows; readers know how many they are at least.

        None of them is in the release of rows that readers have as well.
        """
        least = self.cohort if came >= self.cohort else self.fewest
        return replace(self, version=version, follows=True, least_rows=least, neighbour=None)

    def of_first_rows(self, version: int) -> Shape:
        """The shape of the rows of the first version."""
        return replace(self, version=version, follows=False, least_rows=self.threshold)

    @property
    def finest(self) -> list[tuple[int, ...]]:
        """The margins of whole tables at their finest levels."""
        return [
            tuple(0 if column.place in places else column.levels for column in self.columns)
            for places, _ in self.tables
        ]

    def context(self) -> dict[str, Any]:
        """Parameters that templates take of it."""
        return {
            "columns": list(self.columns),
            "margins": [list(margin) for margin in self.margins],
            "tables": [
                {"columns": list(places), "margins": [list(margin) for margin in margins]}
                for places, margins in self.tables
            ],
            "measures": [
                {
                    "name": name,
                    "low": f"{name}_low",
                    "high": f"{name}_high",
                    "tight": f"{name}_tight",
                    "column": column,
                    "place": place,
                    "bounded": name == self.bounded,
                }
                | dict(zip(("bottom", "top", "sure"), self.bounds_of(column), strict=True))
                for place, (name, column) in enumerate(self.measures, 1)
            ],
            "counted": self.counted,
            "threshold": self.threshold,
            "bounds": self.bounds,
            "tight": self.bounds,
            "person": self.person,
            "version": self.version,
            "sums": [summed.context() for summed in self.sums],
            **({} if self.neighbour is None else self.neighbour.context()),
        }

    def bounds_of(self, column: str) -> tuple[str, str, str]:
        """The columns of a number's bounds in the table of hidden cells."""
        return ("least", "most", "sure") if self.patterns and column == "persons" else ("low", "high", "tight")

    def key_columns(self) -> list[str]:
        """The columns of keys of atoms."""
        return [f"v{column.place}_{level}" for column in self.columns for level in range(column.levels)]

    def margin_name(self, levels: Sequence[int]) -> str:
        """A margin for messages: the columns, those of hierarchies with their levels."""
        names = [
            column.name if column.paths is None else f"{column.name} (level {level})"
            for column, level in zip(self.columns, levels, strict=True)
            if level < column.levels
        ]
        return " x ".join(names) or "the grand total"


def shape_of(
    spec: ReleaseSpec, domains: Mapping[str, Domain], person: str, version: int, summed: Sequence[Reading] = ()
) -> Shape:
    """The shape of a release; tables of hierarchies are not made yet.

    Args:
        spec: the release.
        domains: domain of each column by name, in the order of the cells.
        person: alias of the persons' numbers.
        version: the number of the version.
        summed: the columns of the sums, in their order.

    Raises:
        PolicyError: a column's type cannot be published, or there are too many margins or cells.
    """
    statistics = spec.statistics
    assert statistics is not None
    columns = tuple(_column(spec, name, domain, place) for place, (name, domain) in enumerate(domains.items(), 1))
    places = {name.lower(): place for place, name in enumerate(domains, 1)}
    tables = []
    for table in statistics.tables:
        table_places = tuple(sorted(places[name.lower()] for name in table.by))
        # The number of margins is known before any is made.
        many = most = 1
        for column in columns:
            many *= column.levels + 1 if column.place in table_places else 1
            most *= column.nodes if column.place in table_places else 1
        if many > MOST_MARGINS:
            raise PolicyError(f"{spec.name}: table {table.name} has {many} margins; at most {MOST_MARGINS}")
        if most > MOST_CELLS:
            raise PolicyError(
                f"{spec.name}: table {table.name} has {most} cells with those that may be empty; at most {MOST_CELLS}: "
                "leave out a column, or give it a hierarchy and coarser values in a view"
            )
        tables.append(_margins_of(columns, table.by))
    margins = tuple(dict.fromkeys(margin for _, some in tables for margin in some))
    if len(margins) > MOST_MARGINS:
        raise PolicyError(f"{spec.name}: the tables have {len(margins)} margins; at most {MOST_MARGINS}")
    names = {"count": "n", "persons": "persons"}
    measures = tuple((name, names[kind]) for name, kind in statistics.measures)
    return Shape(
        columns,
        margins,
        tuple(tables),
        measures,
        statistics.threshold,
        statistics.insiders == "alone",
        statistics.has_ends,
        person,
        version,
        shape_sums(spec.name, statistics.sums, summed),
        least_rows=statistics.threshold,
        cohort=statistics.cohort or 0,
        fewest=find_fewest(statistics.cohort, statistics.cohort_every, statistics.threshold),
        show=find_levels(spec.name, statistics.show, [(column.name, column.levels) for column in columns]),
    )


def find_fewest(cohort: int | None, every: int | None, threshold: int) -> int:
    """New rows of a version that follows, at least: of such as time alone asks for; 0: none is to follow."""
    return cohort or 0 if every is None else threshold + 1


def read_stored_shape(
    policy: Mapping[str, Any],
    levels: Sequence[tuple[str, int]],
    version: int,
    scales: Sequence[int] = (),
    neighbour: Neighbour | None = None,
    *,
    patterns: bool = False,
) -> Shape:
    """The shape of a version, without the fields for counting rows.

    Args:
        policy: ``statistics`` of the policy, as the catalog keeps it.
        levels: the columns in the order of the cells, and how many levels each has below the total.
        version: the number of the version.
        scales: digits after the point of the sums.
        neighbour: the release of rows that readers have as well.
        patterns: persons have several rows.
    """
    columns = tuple(ShapeColumn(name, "", "", height, None, place, 0) for place, (name, height) in enumerate(levels, 1))
    tables = tuple(_margins_of(columns, [str(name) for name in table["by"]]) for table in policy["tables"])
    names = {"count": "n", "persons": "persons"}
    return Shape(
        columns,
        tuple(dict.fromkeys(margin for _, some in tables for margin in some)),
        tables,
        tuple((str(name), names[kind]) for name, kind in policy["measures"]),
        int(policy["threshold"]),
        policy["insiders"] == "alone",
        policy["bounds"] == "exact" or bool(policy.get("other")),
        "",
        version,
        read_stored_sums(policy.get("sums", ()), scales),
        neighbour,
        int(policy.get("cohort") or 0),
        find_fewest(policy.get("cohort"), policy.get("cohort_every"), int(policy["threshold"])),
        int(policy["threshold"]),
        patterns=patterns,
    )


def _margins_of(
    columns: Sequence[ShapeColumn], by: Sequence[str]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The places of a table's columns, and the table's margins."""
    folded = {name.lower() for name in by}
    table_places = tuple(column.place for column in columns if column.name.lower() in folded)
    levels = [range(column.levels + 1) if column.place in table_places else (column.levels,) for column in columns]
    return table_places, tuple(itertools.product(*levels))


def _column(spec: ReleaseSpec, name: str, domain: Domain, place: int) -> ShapeColumn:
    reading = domain.reading
    hierarchy = reading.spec.hierarchy
    if isinstance(hierarchy, Hierarchy):
        nodes = sum(len({path[level:] for path in hierarchy.levels}) for level in range(hierarchy.height + 1))
        return ShapeColumn(
            name, reading.alias, "VARCHAR", hierarchy.height, None, place, nodes + domain.has_null, reading.as_text
        )
    kind, column = reading.column.kind, reading.column
    if kind not in PLAIN or column.own_operators or not column.deterministic:
        raise PolicyError(
            f"{spec.name}: column {name} has type {column.shown_type}, whose values have no text of their own each; "
            f"statistics take {', '.join(PLAIN)} in deterministic collations: cast it in a view, or give it a hierarchy"
        )
    type_of = "VARCHAR" if kind in ("text", "enum") else reading.value_type
    return ShapeColumn(name, reading.alias, type_of, 1, None, place, domain.codes + 1)


def with_paths(scratch: Scratch, shape: Shape, domains: Mapping[str, Domain]) -> Shape:
    """The same shape with tables of the hierarchies' nodes."""
    new_columns = []
    for column, domain in zip(shape.columns, domains.values(), strict=True):
        hierarchy = domain.reading.spec.hierarchy
        if not isinstance(hierarchy, Hierarchy):
            new_columns.append(column)
            continue
        labels, paths = scratch.table(f"labels{column.place}"), scratch.table(f"paths{column.place}")
        text = scratch.engine.capabilities.text_type
        names = [(f"l{level}", text) for level in range(column.levels)]
        scratch.engine.load_rows(labels, names, (path[: column.levels] for path in hierarchy.levels))
        scratch.execute(
            "statistics/paths", paths=paths, labels=labels, type=domain.reading.value_type, levels=column.levels
        )
        new_columns.append(replace(column, paths=paths))
    return replace(shape, columns=tuple(new_columns))
