"""A release of noisy statistics as readers see it: groups, tables, measures and noise, by the metadata alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Relation, Row
from sqlanon.noisy.bounding_effect import Held, find_held_ends
from sqlanon.noisy_spec import NoisyMeasure
from sqlanon.query.release import Field, ReaderRelease, make_dimension, read_cell_facts

if TYPE_CHECKING:
    from sqlanon.noisy.accounting import Law
    from sqlanon.noisy.levels import Dimension

MEASURE = "measure"
"""The role of a published number, and of a column that is measured."""


@dataclass(frozen=True)
class NoisyMeasured:
    """A published number: rows, persons, or a sum, a mean or quantiles of a column.

    Attributes:
        name: the measure's.
        of: the kind of measure.
        column: the source's column, or "".
        unit: sums are whole multiples of the unit.
        published: the columns of the view, and for quantiles the share of each.
        held: the ends of its intervals that hold before bounding as well.
    """

    name: str
    of: str
    column: str
    unit: Fraction
    published: tuple[tuple[str, Fraction | None], ...]
    held: Held = ""


@dataclass(frozen=True)
class NoisyTableRead:
    """A published table: columns, whether it has totals, and the scale of the noise by level, measure and part."""

    name: str
    by: tuple[str, ...]
    totals: bool
    scales: Mapping[tuple[int, str, str], Fraction]


@dataclass(frozen=True)
class ReleasedNoisy(ReaderRelease):
    """A release of noisy statistics.

    Attributes:
        dimensions: the columns of groups.
        tables: the published tables.
        measures: the published numbers.
        law: distribution of the noise.
        groups: the most groups of a person in each table; 0: any number.
        night: of running counts the last night, of whose rows queries are asked.
    """

    dimensions: tuple[Dimension, ...] = ()
    tables: tuple[NoisyTableRead, ...] = ()
    measures: tuple[NoisyMeasured, ...] = ()
    law: Law = "gaussian"
    groups: int = 1
    night: int | None = None


def describe_noisy(view: Relation, rows: Sequence[Row]) -> ReleasedNoisy:
    """The release that the metadata rows of a view describe.

    Raises:
        UnsupportedError: an older sqlanon made it, and the metadata lack groups and types.
    """
    from sqlanon.noisy.metadata import read_dimension  # which needs arrays

    missing = "what its groups are; read its rows as they are, each is a group"
    facts = read_cell_facts(view, rows, missing)
    statistics: Mapping[str, Any] = facts["statistics"]
    fields, dimensions = [], []
    for row in rows:
        if row[1] == "dimension":
            fields.append(make_dimension(row, facts))
            dimensions.append(read_dimension(row))
    measures = tuple(_read_measure(measure_facts) for measure_facts in statistics["measures"])
    known_names = {field.name.lower() for field in fields}
    for name in [name for measure in measures for name in (measure.name, measure.column) if name]:
        if name.lower() not in known_names:
            known_names.add(name.lower())
            fields.append(Field(name, MEASURE, "", "float", "DOUBLE PRECISION", (name,)))
    tables = tuple(
        NoisyTableRead(
            table["name"],
            tuple(table["by"]),
            table["totals"],
            {
                (
                    scale["level"],
                    scale["measure"],
                    "steps" if scale["table"] != table["name"] else scale["of"],
                ): Fraction(scale["scale"])
                for scale in statistics["scales"]
                if scale["table"] in (table["name"], f"{table['name']}, steps of {scale['measure']}")
            },
        )
        for table in statistics["tables"]
    )
    return ReleasedNoisy(
        view,
        "labels",
        tuple(fields),
        source=str(facts["source"]),
        metadata=tuple(rows),
        token=str(facts["token"]),
        dimensions=tuple(dimensions),
        tables=tables,
        measures=measures,
        law=statistics["noise"],
        groups=int(statistics["contributions"].get("groups", 0)),
        night=statistics.get("running", {}).get("night"),
    )


def _read_measure(metadata: Mapping[str, Any]) -> NoisyMeasured:
    shares = tuple(map(Fraction, metadata.get("quantiles", ())))
    low, high = map(Fraction, metadata["range"] or (0, 0))
    measure = NoisyMeasure(metadata["name"], metadata["of"], low=low, high=high, quantiles=shares)
    published = tuple(zip(measure.columns, shares or (None,) * len(measure.columns), strict=True))
    unit = Fraction(metadata["unit"] or 1)
    return NoisyMeasured(
        metadata["name"], metadata["of"], metadata["column"] or "", unit, published, find_held_ends(measure)
    )
