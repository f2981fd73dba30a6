"""The answer to a SELECT over noisy statistics: sums of published groups, and intervals of the bounded answer.

Conditions and keys are computed by the database for each finest group, with declared values. Noise has no bounds,
so that an answer has none: it has an interval that contains the bounded answer with a probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.noisy.published_values import INTERVAL, PERSONS, width_of
from sqlanon.query.answer import Answer, Bounded, NoiseInterval
from sqlanon.query.functions.aggregates import AggregateDefinition
from sqlanon.query.functions.quantile_forms import quantile_of
from sqlanon.query.functions.registry import definition_of
from sqlanon.query.noisy.bins import list_groups, list_names_left
from sqlanon.query.noisy.groups import Groups, read_groups, table_of_columns
from sqlanon.query.noisy.release import MEASURE, NoisyMeasured, ReleasedNoisy
from sqlanon.query.parse.bind import BoundQuery, bind
from sqlanon.query.parse.engine_check import check_valid
from sqlanon.query.parse.published_groups import KINDS, cast_published, find_term, refuse_clauses
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import Tree, column, named, select, sql, table_of
from sqlanon.sqltext.trees import port_tree

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.engines.base import Engine
    from sqlanon.noisy.bounding_effect import Held
    from sqlanon.query.parse.parse import Query
    from sqlanon.query.release import Field


MOST_GROUPS = 200_000
"""Finest groups that a query is asked of, at most."""
INSIDE = "released"
"""The table of the finest groups in the SQL that runs."""
ADDED = ("rows", "sum")
"""Numbers that add up over groups."""


@dataclass(frozen=True)
class _NoisyAggregate:
    """An aggregate: the published measure, the column, and the condition of FILTER, or TRUE."""

    measured: NoisyMeasured
    column: str
    condition: Tree
    written: exp.Expr


def answer_noisy(engine: Engine, query: Query, released: ReleasedNoisy, *, interval: float | None, rows: int) -> Answer:
    """Answer a query over noisy statistics.

    Args:
        engine: the database.
        query: a SELECT; the caller applies ORDER BY, LIMIT and OFFSET.
        released: the release.
        interval: the probability with which an interval contains the bounded answer; None: as published.
        rows: most rows of the answer.

    Raises:
        RefusedQueryError: the query, or a piece of it, has no answer over these groups.

    Cost: the rows of a table are read once for each version, and the finest groups once for each query; a sum that is
    no published group takes time linear in their number.
    """
    refuse_clauses(query, "are not answered over noisy statistics: noise would decide them")
    bound = bind(engine, query, released)
    check_valid(bound)
    return _Reader(engine, bound, released, INTERVAL if interval is None else interval).answer(rows)


class _Reader:
    """Reads a bound query."""

    def __init__(self, engine: Engine, bound: BoundQuery, released: ReleasedNoisy, interval: float) -> None:
        self._engine, self._bound, self._released, self._interval = engine, bound, released, interval
        self._text = bound.query.text
        self._fields = {field.name: field for field in released.fields}
        self._bins = {
            dimension.name: (dimension, self._fields[dimension.name].kind == "integer")
            for dimension in released.dimensions
            if dimension.values is None
        }

    def answer(self, most: int) -> Answer:
        bound = self._bound
        items: list[int | _NoisyAggregate] = []
        for (_, tree), (_, written_item) in zip(bound.items, bound.query.items, strict=True):
            if tree.find(exp.AggFunc) is None:
                items.append(find_term(bound, tree, written_item, f"noisy statistics ask {self._forms()}"))
            else:
                items.append(self._read(tree, written_item))
        asked_items = [item for item in items if isinstance(item, _NoisyAggregate)]
        trees = [
            *([bound.where] if bound.where is not None else []),
            *bound.groups,
            *(item.condition for item in asked_items),
        ]
        used_columns = self._check_columns(trees)
        table = table_of_columns(self._released, used_columns)
        if table is None:
            refuse(self._text, None, f"no table of the release has these columns together: {', '.join(used_columns)}")
        groups = read_groups(self._engine, self._released, table)
        if groups.levels[-1].size > MOST_GROUPS:
            refuse(self._text, None, f"the table has more than {MOST_GROUPS:,} finest groups")
        text = self._write(groups, asked_items)
        rows = self._engine.fetch(Statement("query", text), max_rows=MOST_GROUPS)
        return self._assemble(items, f"-- of the table {table.name}\n{text}", rows, groups, most)

    def _assemble(
        self,
        items: Sequence[int | _NoisyAggregate],
        text: str,
        results: Sequence[Sequence[Any]],
        groups: Groups,
        most: int,
    ) -> Answer:
        names, many, keys = [name for name, _ in self._bound.query.items], len(groups.dimensions), self._bound.groups
        cells_by_group: dict[tuple[Any, ...], list[tuple[int, Sequence[Any]]]] = {}
        for cells in results:
            labels = tuple(None if cell is None else str(cell) for cell in cells[:many])
            key = tuple(cells[many : many + len(keys)])
            cells_by_group.setdefault(key, []).append((groups.places[labels], cells[many + len(keys) :]))
        if not cells_by_group and not keys:
            cells_by_group[()] = []
        if len(cells_by_group) > most:
            refuse(self._text, None, f"the answer has more than {most:,} rows")
        rows = []
        for key, group_cells in sorted(
            cells_by_group.items(), key=lambda pair: min((place for place, _ in pair[1]), default=0)
        ):
            row: dict[str, Any] = {}
            position = 0
            for name, item in zip(names, items, strict=True):
                if isinstance(item, _NoisyAggregate):
                    leaves = np.array([place for place, inside in group_cells if inside[position]], np.int64)
                    row[name] = self._estimate(item, leaves, groups)
                    position += 1
                else:
                    row[name] = key[item]
            rows.append(row)
        aggregates = tuple(name for name, item in zip(names, items, strict=True) if isinstance(item, _NoisyAggregate))
        certain = tuple(not keys for _ in rows)
        return Answer(tuple(names), aggregates, tuple(rows), certain, text, unlisted_groups=bool(keys))

    def _estimate(self, item: _NoisyAggregate, leaves: Longs, groups: Groups) -> Bounded:
        measured = item.measured
        if not len(leaves):  # of rows in other groups nothing is known
            return Bounded(None, None, None, tight=False, undefined_possible=True)
        node = groups.node_of(leaves)
        if measured.of in ADDED or (measured.of in PERSONS and self._released.groups == 1):
            return self._add_up(measured, leaves, groups)
        if node is None:
            why = (
                "a person may be in several groups, so that numbers of persons do not add up"
                if measured.of in PERSONS
                else f"{'means' if measured.of == 'mean' else measured.of} do not add up"
            )
            refuse(self._text, item.written, f"{why}: ask it of one published group, or of each")
        level, place = node
        numbers = groups.values[level]
        value, low, high = (float(numbers[f"{item.column}{end}"][place]) for end in ("", "_low", "_high"))
        if np.isnan(value):
            refuse(self._text, item.written, "several groups of the view have the texts of this one")
        if measured.of in PERSONS:
            deviation = groups.deviations(measured.name, "persons", self._released.law)[level]
            return self._place_interval(value, deviation, self._find_held(measured, leaves, groups), counts=True)
        if self._interval != INTERVAL:
            refuse(self._text, item.written, f"this has a published interval of {INTERVAL} alone")
        return _make_bounded(value, NoiseInterval(INTERVAL, low, high, 0.0, before_bounding=measured.held))

    def _add_up(self, measured: NoisyMeasured, leaves: Longs, groups: Groups) -> Bounded:
        weights = np.zeros(groups.levels[-1].size)
        weights[leaves] = 1.0
        part = "persons" if measured.of in PERSONS else measured.of
        deviations = groups.deviations(measured.name, part, self._released.law)
        deviation = groups.deviation(deviations, weights)
        value = float(groups.values[-1][measured.name][leaves].sum())
        unit = float(measured.unit) if measured.of == "sum" else 1.0
        before_bounding = self._find_held(measured, leaves, groups)
        return self._place_interval(value, deviation, before_bounding, unit, counts=measured.of != "sum")

    def _find_held(self, measured: NoisyMeasured, leaves: Longs, groups: Groups) -> Held:
        """The ends of the interval that hold before bounding: of all persons both, as each of them is counted."""
        all_persons = measured.of in PERSONS and len(leaves) == groups.levels[-1].size
        return "both" if all_persons and self._released.groups else measured.held

    def _place_interval(
        self, value: float, deviation: float, held_values: Held, unit: float = 1.0, *, counts: bool
    ) -> Bounded:
        width = unit * width_of(self._released.law, deviation, 1 - self._interval)
        low, high = value - width, value + width
        if counts:  # a number below 0 is none
            low, high = max(low, 0.0), max(high, 0.0)
        return _make_bounded(value, NoiseInterval(self._interval, low, high, 0.0, before_bounding=held_values))

    def _read(self, tree: Tree, expr: exp.Expr) -> _NoisyAggregate:
        node = tree.unnest()
        condition: Tree = exp.true()
        if isinstance(node, exp.Filter):
            node, condition = node.this, node.expression.this
        definition = definition_of(node)
        argument = node.this.unnest() if isinstance(node.this, exp.Expr) else None
        kind = definition.kind if isinstance(definition, AggregateDefinition) else ""
        share = quantile_of(node)
        if share is not None:
            quantile = self._find_quantile(share[0], argument)
        else:
            measured = None if node.expressions else self._find(kind, argument)
            quantile = None if measured is None else (measured, measured.name)
        if quantile is None:
            return refuse(self._text, expr, f"the release does not have this; it has {self._forms()}")
        return _NoisyAggregate(*quantile, condition, expr)

    def _find_quantile(self, share: Fraction, argument: exp.Expr | None) -> tuple[NoisyMeasured, str] | None:
        """The published quantile of a column."""
        name = argument.name.lower() if isinstance(argument, exp.Column) else ""
        candidates = [
            measure
            for measure in self._released.measures
            if measure.of == "quantiles" and measure.column.lower() == name
        ]
        return next(
            ((candidate, column) for candidate in candidates for column, has in candidate.published if has == share),
            None,
        )

    def _find(self, kind: str, argument: exp.Expr | None) -> NoisyMeasured | None:
        """The published number that an aggregate is of."""
        if kind == "count":
            matching = [
                measure
                for measure in self._released.measures
                if measure.of == "rows" and isinstance(argument, exp.Star)
            ]
            return next(iter(matching), None)
        if not isinstance(argument, exp.Column) or kind not in ("sum", "avg"):
            return None
        name, of = argument.name.lower(), "mean" if kind == "avg" else "sum"
        for measure in self._released.measures:
            if measure.of == of and measure.column.lower() == name:
                return measure
        measures = (measure for measure in self._released.measures if measure.name.lower() == name)
        return next((measure for measure in measures if (measure.of == "mean") == (kind == "avg")), None)

    def _forms(self) -> str:
        """The aggregates that have an answer."""
        forms = {
            "rows": "count(*)",
            "persons": "sum({name})",
            "arrivals": "sum({name})",
            "sum": "sum({column})",
            "mean": "avg({column})",
        }
        quantile = "percentile_cont({share}) WITHIN GROUP (ORDER BY {column})"
        accepted_forms = (
            forms.get(measure.of, quantile).format(name=measure.name, column=measure.column, share=float(share or 0))
            for measure in self._released.measures
            for _, share in measure.published
        )
        return ", ".join(dict.fromkeys(accepted_forms))

    def _check_columns(self, trees: Sequence[Tree]) -> list[str]:
        """The columns of groups that are read, each in an expression that the declared text decides."""
        used_names: dict[str, None] = {}
        for tree in trees:
            for node in tree.find_all(exp.Column):
                field = self._fields[node.name]
                if field.role == MEASURE:
                    refuse(self._text, None, f"{field.name} is a number of groups: ask {self._forms()}")
                reason = self._unreadable(field, node)
                if reason:
                    refuse(self._text, None, f"column {field.name}: {reason}")
                used_names[field.name] = None
        return list(used_names)

    def _unreadable(self, field: Field, column: exp.Column) -> str:
        """Why a column cannot be read in this place; "": it can."""
        if isinstance(column.parent, exp.Is):
            return "rows whose value is NULL, or not declared, are in no group"
        if field.kind not in KINDS:
            return f"a value of its type ({field.kind}) is not known by its text; ask by other columns"
        if not field.deterministic:
            return "the source compares it by a collation, and the release holds texts"
        return ""

    def _write(self, groups: Groups, items_asked: Sequence[_NoisyAggregate]) -> str:
        """Of each finest group that the condition holds for: labels, keys, and whether each aggregate counts it."""
        bound, dialect = self._bound, self._engine.dialect
        terms = [
            column(f"_bin_{term.name}", INSIDE)
            if isinstance(term, exp.Column) and term.name in self._bins
            else self._decide(term)
            for term in bound.groups
        ]
        conditions = [self._decide(item.condition) for item in items_asked]
        where = [] if bound.where is None else [self._decide(bound.where)]
        remaining = list_names_left([*terms, *conditions, *where], self._bins)
        if remaining:
            what = f"column {remaining[0]} is published in groups: compare it with their ends, or group by it"
            refuse(self._text, None, what)
        labels = [named(column(f"_label{index}", INSIDE), f"k{index}") for index in range(len(groups.dimensions))]
        keys = [named(term.copy(), f"g{index}") for index, term in enumerate(terms)]
        expressions = [
            named(sql("COALESCE(:c, FALSE)", c=condition), f"w{index}") for index, condition in enumerate(conditions)
        ]
        query = select([*labels, *keys, *expressions], self._finest(groups), where=where)
        return port_tree(query, dialect).sql(dialect=dialect, pretty=True)

    def _decide(self, tree: Tree) -> Tree:
        return list_groups(self._text, tree, self._bins, INSIDE)

    def _finest(self, groups: Groups) -> exp.Expr:
        """The finest groups of a table, under the source's names and types."""
        listed = []
        for place, dimension in enumerate(groups.dimensions):
            field = self._fields[dimension.name]
            text = exp.cast(column(field.name, "v"), "VARCHAR")
            listed.append(named(text, f"_label{place}"))
            if field.name in self._bins:
                listed += [named(text.copy(), f"_bin_{field.name}"), named(exp.null(), field.name)]
            else:
                listed.append(named(cast_published(self._bound.scope, field, column(field.name, "v")), field.name))
        where = [
            exp.EQ(this=column("table", "v"), expression=exp.Literal.string(groups.table.name)),
            exp.EQ(this=column("level", "v"), expression=exp.Literal.number(len(groups.levels) - 1)),
        ]
        if self._released.night is not None:
            where.append(exp.EQ(this=column("night", "v"), expression=exp.Literal.number(self._released.night)))
        return select(listed, table_of(self._released.view.ref, "v"), where=where).subquery(INSIDE)


def _make_bounded(value: float, interval: NoiseInterval) -> Bounded:
    """An answer without bounds: noise has none."""
    return Bounded(value, None, None, tight=False, interval=interval)
