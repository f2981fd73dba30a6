"""Bounded answers: each person's rows are bounded in SQL, added up, and verified by queries that bound nothing.

The exact answers are arrays of this process; no table that stays has them, and no error, log or report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.engines.base import Bind, Column, Relation, TableRef
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.noisy.levels import Dimension, decimal_text
from sqlanon.noisy.shape import KEPT_STEPS, WEIGHT_STEPS, Series, Shape, Table
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

WEIGHED = {"persons": "weighed", "centered": "sum"}
"""Weighed parts that noisy/norms reads from other columns: distances from the middle are weighed, not values."""
NUMBERS = ("integer", "float", "decimal")


@dataclass(frozen=True, slots=True)
class CodedSource:
    """The source as codes of groups and values in units: scratch tables, dropped at the end of the run.

    Attributes:
        table: as noisy/coded makes it.
        bounded: the table from noisy/bounded for each table of the shape.
        nodes: for each table, the group at each level of each finest group.
        valued: the places of the measures that are sums and means, in the order of their aliases.
    """

    table: TableRef
    bounded: tuple[TableRef, ...]
    nodes: tuple[TableRef, ...]
    valued: tuple[int, ...]

    def alias(self, measure: int) -> int:
        """The number of a measure's columns; 0: it has none."""
        return self.valued.index(measure) + 1 if measure in self.valued else 0


def check_columns(shape: Shape, person: Sequence[str], source: Relation) -> dict[str, Column]:
    """The columns of the source that are read, by the names in the policy; no rows are read.

    Raises:
        PolicyError: the source is a view, or a column is missing or has a type that cannot be measured.
    """
    release = shape.release
    if source.is_view:
        raise PolicyError(
            f"{release}: {source.ref} is a view: it may rank persons, or average over them, and then bounding its rows "
            "bounds nothing. Name the table that has the persons' own rows"
        )
    by_name = {column.name.lower(): column for column in source.columns}
    checked = {}
    measured = [measure.column for measure in shape.spec.measures if measure.column]
    ranged = [dimension.name for dimension in shape.dimensions if dimension.values is None]
    for name in [*person, *(dimension.name for dimension in shape.dimensions), *measured]:
        column = by_name.get(name.lower())
        if column is None:
            raise PolicyError(f"{release}: {source.ref} has no column {name}")
        checked[name] = column
        if name in person and not column.deterministic:
            raise PolicyError(
                f"{release}: column {name} says whose row it is, and its collation takes different texts as equal: "
                "one person would count as several"
            )
        if name in {*measured, *ranged} and column.kind not in NUMBERS:
            raise PolicyError(
                f"{release}: column {name} has type {column.shown_type}; sums, means and bins are of numbers"
            )
        if name not in {*measured, *ranged} and (_is_foreign(column) or column.own_operators):
            raise PolicyError(
                f"{release}: column {name} has type {column.shown_type}, whose values have no text of their own"
            )
    return checked


def _is_foreign(column: Column) -> bool:
    """Whether equal values may have different texts."""
    return column.kind == "other" and column.type.lower() != "uuid"


def _is_wide(column: Column) -> bool:
    """Whether a comparison with the decimal numbers of a policy could leave the digits of the column's type."""
    return column.kind == "decimal" or column.type.upper().endswith("HUGEINT")


def bound_rows(scratch: Scratch, shape: Shape, person: Sequence[str], source: Relation, secret: str) -> CodedSource:
    """Code the rows of the source, and bound each person's contribution to each table: `code_rows`, `bound_coded`."""
    return bound_coded(scratch, shape, code_rows(scratch, shape, person, source), secret)


def code_rows(scratch: Scratch, shape: Shape, person: Sequence[str], source: Relation) -> TableRef:
    """Code the rows of the source: a scratch table as noisy/coded makes it.

    Args:
        scratch: the run.
        shape: the measurements; which tables there are makes no difference.
        person: the columns that identify the person of a row.
        source: the table.

    Cost: a scan of the source.
    """
    columns = check_columns(shape, person, source)
    read_table = source.ref if scratch.engine.transactions else _copy_source(scratch, source.ref, columns)
    coded = scratch.table("coded")
    measures = []
    for place in _find_valued(shape):
        measure = shape.spec.measures[place]
        measures.append(
            {
                "name": columns[measure.column].name,
                "wide": _is_wide(columns[measure.column]),
                "float": columns[measure.column].kind == "float",
                "plain": columns[measure.column].kind == "integer" and measure.unit == 1,
                "low": decimal_text(measure.low),
                "high": decimal_text(measure.high),
                "unit": decimal_text(measure.unit),
                "quarter": decimal_text(measure.unit / 4),
                "least": int(measure.low / measure.unit),
                "most": int(measure.high / measure.unit),
            }
        )
    scratch.execute(
        "noisy/coded",
        coded=coded,
        source=read_table,
        person=[{"name": columns[name].name, "kind": columns[name].kind} for name in person],
        dimensions=[
            {
                "name": columns[dimension.name].name,
                "groups": None if dimension.values is None else _load_groups(scratch, place, dimension),
                "ends": [decimal_text(end) for end in dimension.ends],
                "wide": _is_wide(columns[dimension.name]),
                "clipped": dimension.clipped,
            }
            for place, dimension in enumerate(shape.dimensions)
        ],
        measures=measures,
    )
    names = [columns[name].name for name in person]
    if scratch.count("noisy/joined", coded=coded, source=read_table, person=names):
        raise PrivacyViolation(f"{shape.release}: coded rows are not the rows of the source")
    return coded


def _copy_source(scratch: Scratch, source: TableRef, columns: Mapping[str, Column]) -> TableRef:
    """One state of the columns that are read, where no transaction gives it."""
    copied = scratch.table("snapshot")
    names = list(dict.fromkeys(column.name for column in columns.values()))
    scratch.execute("noisy/snapshot", copied=copied, source=source, columns=names)
    return copied


def _find_valued(shape: Shape) -> tuple[int, ...]:
    """The places of the measures that are sums and means."""
    return tuple(place for place, measure in enumerate(shape.spec.measures) if measure.quantity in ("sum", "mean"))


def bound_coded(scratch: Scratch, shape: Shape, coded: TableRef, secret: str) -> CodedSource:
    """Bound each person's contribution to each table.

    Args:
        scratch: the run.
        shape: the measurements.
        coded: as `code_rows` makes it.
        secret: key for the choice of a person's rows.

    Cost: for each table two sorts of the rows.
    """
    valued = _find_valued(shape)
    bounded, nodes = [], []
    for number, table in enumerate(shape.tables):
        bounded_table = scratch.table(f"bounded{number}")
        template, binds = _statement_of(shape, "bounded", secret)
        scratch.execute(template, binds, bounded=bounded_table, **_context(shape, coded, number, valued))
        bounded.append(bounded_table)
        levels = scratch.table(f"nodes{number}")
        arrays = {"cell": np.arange(table.leaves, dtype=np.int64)}
        arrays |= {f"l{place}": level.node for place, level in enumerate(table.levels)}
        scratch.engine.load_arrays(levels, arrays)
        nodes.append(levels)
    return CodedSource(coded, tuple(bounded), tuple(nodes), valued)


def _statement_of(shape: Shape, name: str, secret: str) -> tuple[str, dict[str, Bind] | None]:
    """The template that bounds rows, or does so again, and its bindings; a weight chooses no rows and needs no key."""
    if shape.spec.weight is None:
        return f"noisy/{name}", {"secret": secret}
    return f"noisy/{name}_by_weight", None


def _context(shape: Shape, coded: TableRef, number: int, valued: Sequence[int]) -> dict[str, Any]:
    table = shape.tables[number]
    columns = [{"code": f"c{place + 1}", "size": len(shape.dimensions[place].leaves)} for place in table.columns]
    if shape.spec.weight is not None:
        summed = [
            {
                "alias": f"m{index + 1}",
                "middle": _middle(shape, measure) if shape.spec.measures[measure].quantity == "mean" else None,
            }
            for index, measure in enumerate(valued)
        ]
        return {
            "coded": coded,
            "columns": columns,
            "measures": summed,
            "weight": shape.spec.weight,
            "steps": WEIGHT_STEPS,
        }
    return {
        "coded": coded,
        "columns": columns,
        "needed": [f"c{place + 1}" for place in shape.complete],
        "number": number,
        "measures": [f"m{place + 1}" for place in range(len(valued))],
        "groups": shape.spec.groups,
        "rows": shape.spec.rows,
    }


def _load_groups(scratch: Scratch, place: int, dimension: Dimension) -> TableRef:
    listed, groups = scratch.table(f"listed{place}"), scratch.table(f"groups{place}")
    assert dimension.values is not None
    text = scratch.engine.capabilities.text_type
    scratch.engine.load_rows(listed, [("code", "INTEGER"), ("value", text)], enumerate(dimension.values))
    scratch.execute("noisy/groups", groups=groups, listed=listed)
    return groups


def verify_norms(scratch: Scratch, shape: Shape, coded: CodedSource) -> None:
    """Every person's own part of every sum is within the norm for which noise is drawn.

    Raises:
        PrivacyViolation: it is not.

    Cost: a grouping of the bounded rows by person for each level of each table.
    """
    for number, table in enumerate(shape.tables):
        for level in range(len(table.levels)):
            norms = [
                {
                    "part": WEIGHED.get(series.part, series.part) if shape.spec.weight is not None else series.part,
                    "alias": coded.alias(series.measure),
                    "middle": _middle(shape, series.measure),
                    "l1": series.l1,
                    "l2": series.l2,
                }
                for series in shape.series
                if series.measure is not None and (series.table, series.level) == (number, level)
            ]
            beyond = scratch.count(
                "noisy/norms", bounded=coded.bounded[number], nodes=coded.nodes[number], level=level, norms=norms
            )
            if beyond:
                raise PrivacyViolation(f"{shape.release}: a person contributes more than the noise is drawn for")


def _middle(shape: Shape, measure: int) -> int:
    """Twice the middle of a measure's range, in units."""
    declared = shape.spec.measures[measure]
    return int((declared.low + declared.high) / declared.unit)


def read_answers(scratch: Scratch, shape: Shape, coded: CodedSource, secret: str) -> list[Longs]:
    """The exact answers of every series, int64[groups] each.

    Raises:
        PrivacyViolation: a second query gives others.

    Cost: for each table two groupings of the rows.
    """
    names = [f"{kind}{place + 1}" for place in range(len(coded.valued)) for kind in ("v", "s")]
    sums: list[dict[str, Longs]] = []
    for number, table in enumerate(shape.tables):
        weighed = shape.spec.weight is not None
        query = scratch.sql("noisy/answers", bounded=coded.bounded[number], values=["n", *names], weighed=weighed)
        template, binds = _statement_of(shape, "again", secret)
        again = scratch.sql(template, binds, **_context(shape, coded.table, number, coded.valued))
        kinds = ["int64"] * (3 + len(names))
        first, second = scratch.fetch_arrays(query, kinds), scratch.fetch_arrays(again, kinds)
        if not all(np.array_equal(column, repeated) for column, repeated in zip(first, second, strict=True)):
            raise PrivacyViolation(f"{shape.release}: a second query does not give the same bounded answers")
        cell, *values = first
        sums.append({})
        for name, value in zip(["persons", "n", *names], values, strict=True):
            sums[-1][name] = np.zeros(table.leaves, np.int64)
            sums[-1][name][cell] = value
    answers = []
    for series in shape.series:
        if series.measure is None:
            continue
        table = shape.tables[series.table]
        if series.part == "persons" and shape.spec.weight is None:
            answers.append(_count_persons(scratch, coded, series, table))
            continue
        leaves = _leaves(shape, coded, series, sums[series.table])
        node, size = table.levels[series.level].node, table.levels[series.level].size
        answers.append(leaves if series.level == len(table.levels) - 1 else _add_up(leaves, node, size))
    if shape.spec.kept:
        tables = [
            {"bounded": bounded_table, "columns": [f"c{place + 1}" for place in table.columns]}
            for bounded_table, table in zip(coded.bounded, shape.tables, strict=True)
            if table.steps_of is None
        ]
        parts = 1 if shape.spec.weight is None else WEIGHT_STEPS
        kept_steps, persons = scratch.numbers(
            "noisy/kept", coded=coded.table, tables=tables, steps=KEPT_STEPS, parts=parts
        )
        answers += [np.array([kept_steps], np.int64), np.array([persons], np.int64)]
    return answers


def _leaves(shape: Shape, coded: CodedSource, series: Series, sums: dict[str, Longs]) -> Longs:
    if series.part in ("rows", "persons"):
        return sums["n" if series.part == "rows" else "persons"]
    assert series.measure is not None
    alias = coded.alias(series.measure)
    if series.part == "centered" and shape.spec.weight is None:
        return 2 * sums[f"s{alias}"] - _middle(shape, series.measure) * sums[f"v{alias}"]
    return sums[f"{'v' if series.part == 'values' else 's'}{alias}"]


def _add_up(leaves: Longs, node: Longs, size: int) -> Longs:
    total = np.zeros(size, np.int64)
    np.add.at(total, node, leaves)
    return total


def _count_persons(scratch: Scratch, coded: CodedSource, series: Series, table: Table) -> Longs:
    query = scratch.sql(
        "noisy/persons", bounded=coded.bounded[series.table], nodes=coded.nodes[series.table], level=series.level
    )
    node, persons = scratch.fetch_arrays(query, ["int64", "int64"])
    counts = np.zeros(table.levels[series.level].size, np.int64)
    counts[node.astype(np.int64)] = persons
    return counts
