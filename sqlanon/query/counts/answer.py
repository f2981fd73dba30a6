"""The answer to a SELECT over a release of counts.

Conditions, keys and weights are computed by the database for each finest cell, with known values, in the types of
the source. The remaining work is sums of numbers of cells with whole weights: `sqlanon.statistics.reach` bounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.query.answer import Answer, Bounded
from sqlanon.query.counts.of_persons import PersonReader
from sqlanon.query.counts.of_sums import SumReader
from sqlanon.query.counts.release import MEASURE, PERSON, ReleasedCounts, ReleasedSum
from sqlanon.query.counts.shown_cells import choose_table, read_finest, read_seen
from sqlanon.query.counts.system import QuerySystem, read_system
from sqlanon.query.functions.aggregates import counts_rows, is_average, is_count, is_sum
from sqlanon.query.functions.comparisons import is_equality, is_inequality
from sqlanon.query.parse.bind import BoundQuery, bind
from sqlanon.query.parse.engine_check import check_valid
from sqlanon.query.parse.parse import Query
from sqlanon.query.parse.published_groups import KINDS, cast_published, find_term, refuse_clauses
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import Tree, column, named, select, sql, table_of
from sqlanon.sqltext.trees import port_tree
from sqlanon.statistics.reach import MOST_WEIGHT, End
from sqlanon.statistics.reader_cells import Label, SeenCells

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Longs
    from sqlanon.engines.base import Engine
    from sqlanon.query.release import Field


MOST_ATOMS = 200_000
"""Finest cells that a query is asked of, at most."""
ASKED = "count(*), count(x), count(DISTINCT person), sum(x), sum(measure) and avg(sum), each with FILTER or without"
"""Queries that have an answer, for refusals."""


@dataclass(frozen=True)
class _CountAggregate:
    """An aggregate.

    Attributes:
        weight: of a row, NULL where it does not count.
        sums: it is NULL of no rows.
        of: the column of published sums; None: rows or persons are added up.
        average: it is an average of them.
        persons: the published number of persons, where these do not add up: of each row it counts the persons once.
    """

    weight: Tree
    sums: bool
    of: ReleasedSum | None = None
    average: bool = False
    persons: str | None = None


def answer_counts(
    engine: Engine, query: Query, released: ReleasedCounts, *, seconds: Callable[[], float], rows: int
) -> Answer:
    """Answer a query over counts: exactly where shown cells give it, with bounds of all tables elsewhere.

    Args:
        engine: the database.
        query: a SELECT; the caller applies ORDER BY, LIMIT and OFFSET.
        released: the release.
        seconds: time left, in seconds.
        rows: most rows of the answer.

    Raises:
        RefusedQueryError: the query, or a piece of it, has no answer over counts.
        UnsupportedError: bounds of hidden cells need HiGHS, and it is not installed.

    Cost: the cells are read once for each version, and the finest cells once for each query; for each aggregate of each
    group that shown cells do not give two linear programs, which end at the deadline with wider bounds.
    """
    refuse_clauses(query, f"are not answered over counts: ask {ASKED}, with WHERE and GROUP BY")
    released = released.with_person
    bound = bind(engine, query, released)
    _check_person(bound, {field.name for field in released.fields if field.role == PERSON})
    check_valid(bound)
    return _Reader(engine, bound, released, seconds).answer(rows)


class _Reader:
    """Reads a bound query."""

    def __init__(
        self, engine: Engine, bound: BoundQuery, released: ReleasedCounts, seconds: Callable[[], float]
    ) -> None:
        self._engine, self._bound, self._released, self._seconds = engine, bound, released, seconds
        self._text, self._scope = bound.query.text, bound.scope
        self._fields = {field.name: field for field in released.fields}
        self._finest: npt.NDArray[np.float64] | None = None
        self._system: QuerySystem | None = None
        self._persons: dict[str, PersonReader] = {}

    def answer(self, most: int) -> Answer:
        bound = self._bound
        items: list[int | _CountAggregate] = []
        for (_, tree), (_, written_item) in zip(bound.items, bound.query.items, strict=True):
            if tree.find(exp.AggFunc) is None:
                items.append(find_term(bound, tree, written_item, f"counts ask {ASKED}"))
            else:
                items.append(self._read(tree, written_item))
        asked_items = [item for item in items if isinstance(item, _CountAggregate)]
        weights = [item.weight for item in asked_items]
        trees = [*([bound.where] if bound.where is not None else []), *bound.groups, *weights]
        used_columns = self._check_columns(trees)
        columns = choose_table(self._released, used_columns)
        if columns is None:
            names = ", ".join(used_columns)
            refuse(self._text, None, f"no table of the release has these columns together: {names}")
        added = self._released.summed is not None
        rows_seen = read_seen(self._engine, self._released, columns) if added else None
        persons = dict.fromkeys(item.persons for item in asked_items if item.persons is not None)
        if rows_seen is None and not persons:
            persons = {self._released.measures[0][0]: None}
        self._persons = {name: PersonReader(self._engine, self._released, columns, name, rows_seen) for name in persons}
        seen = rows_seen if rows_seen is not None else next(iter(self._persons.values())).seen
        self._finest = read_finest(self._engine, self._released, columns)
        if len(seen.atoms) > MOST_ATOMS:
            refuse(self._text, None, f"the table has more than {MOST_ATOMS:,} finest cells")
        text = self._write([column.name for column in columns], weights)
        rows = self._engine.fetch(Statement("query", text), max_rows=MOST_ATOMS)
        if rows_seen is not None:
            self._system = read_system(self._engine, self._released, columns)
            self._system.reach.within(self._seconds)
        return self._assemble(items, text, _FoundCells(rows, seen, len(columns), len(bound.groups)), most)

    def _assemble(self, items: Sequence[int | _CountAggregate], text: str, cells: _FoundCells, most: int) -> Answer:
        names = [name for name, _ in self._bound.query.items]
        groups = cells.groups()
        if not self._bound.groups:
            groups = groups or [[]]
        if len(groups) > most:
            refuse(self._text, None, f"the answer has more than {most:,} rows")
        rows = []
        for group in groups:
            row: dict[str, Any] = {}
            position = 0
            for name, item in zip(names, items, strict=True):
                if isinstance(item, _CountAggregate):
                    weights = cells.weights(group, position)
                    if item.persons is not None:
                        row[name] = self._count_persons(item, weights, cells.seen)
                    else:
                        row[name] = self._bound_item(item, weights, len(cells.seen.least))
                    position += 1
                else:
                    row[name] = cells.key(group, item)
            rows.append(row)
        aggregates = tuple(name for name, item in zip(names, items, strict=True) if isinstance(item, _CountAggregate))
        return Answer(tuple(names), aggregates, tuple(rows), tuple(True for _ in rows), text)

    def _bound_item(self, item: _CountAggregate, weights: Sequence[tuple[int, Any]], cells: int) -> Bounded:
        system = self._system
        assert system is not None
        weighted = [(atom, weight) for atom, weight in weights if weight is not None]
        if not weighted and item.sums:
            return Bounded(None, None, None, tight=False, undefined_possible=True)
        total_weights = np.zeros(cells, np.int64)
        for atom, weight in weighted:
            if isinstance(weight, bool) or not isinstance(weight, int) or abs(weight) >= MOST_WEIGHT:
                refuse(self._text, None, f"over counts sums are of whole numbers below {MOST_WEIGHT:,}")
            total_weights[atom] += weight
        if item.of is not None:
            sums = SumReader(system, self._released.sums.index(item.of), item.of)
            return sums.average(total_weights) if item.average else sums.sum(total_weights)
        low, high = system.rows(total_weights)
        exact = low.value is not None and low.value == high.value
        if self._released.changed:  # which numbers give a published one may say more
            return Bounded(self._estimate(total_weights, low, high), low.value, high.value, tight=False, exact=exact)
        tight = exact or (system.tight and low.table is not None and high.table is not None)
        return Bounded(_middle(low, high), low.value, high.value, tight, exact)

    def _count_persons(self, item: _CountAggregate, weights: Sequence[tuple[int, Any]], seen: SeenCells) -> Bounded:
        assert item.persons is not None
        reader = self._persons[item.persons]
        places = [reader.seen.places[seen.atoms[atom]] for atom, weight in weights if weight is not None]
        if not places and item.sums:
            return Bounded(None, None, None, tight=False, undefined_possible=True)
        inside = np.zeros(len(reader.seen.atoms), bool)
        inside[places] = True
        return reader.count(inside)

    def _estimate(self, weight: Longs, low: End, high: End) -> int | None:
        """The sum of the published numbers, where these add up; but never outside of the bounds."""
        if self._finest is None or low.value is None or high.value is None:
            return _middle(low, high)
        return min(max(round(float(weight @ self._finest)), low.value), high.value)

    def _read(self, tree: Tree, expr: exp.Expr) -> _CountAggregate:
        node = tree.unnest()
        condition = None
        if isinstance(node, exp.Filter):
            node, condition = node.this, node.expression.this
        argument = node.this.unnest() if isinstance(node.this, exp.Expr) else None
        if counts_rows(node) and not node.expressions:
            self._check_counted(expr)
            return _CountAggregate(_where(exp.Literal.number(1), condition), sums=False)
        if isinstance(argument, exp.Distinct) and is_count(node) and self._is_person(argument.expressions):
            return self._read_persons(expr, condition)
        if argument is None or isinstance(argument, exp.Distinct) or node.expressions:
            return refuse(self._text, expr, f"over counts ask {ASKED}")
        if is_count(node):
            self._check_counted(expr)
            return _CountAggregate(
                _where(sql("CASE WHEN :x IS NOT NULL THEN 1 END", x=argument), condition), sums=False
            )
        summed = self._find_sum(argument)
        if summed is not None and is_average(node):
            self._check_counted(expr)
            return _CountAggregate(_where(exp.Literal.number(1), condition), True, summed, average=True)
        if is_sum(node):
            if summed is not None:
                return _CountAggregate(_where(exp.Literal.number(1), condition), True, summed)
            if isinstance(argument, exp.Column) and self._fields[argument.name].role == MEASURE:
                kinds = dict(self._released.measures)
                if self._released.patterns and kinds.get(argument.name) == "persons":
                    return _CountAggregate(_where(exp.Literal.number(1), condition), True, persons=argument.name)
                return _CountAggregate(_where(exp.Literal.number(1), condition), sums=True)
            self._check_counted(expr)
            return _CountAggregate(_where(argument, condition), sums=True)
        return refuse(self._text, expr, f"over counts ask {ASKED}")

    def _is_person(self, counted: Sequence[exp.Expr]) -> bool:
        """Whether distinct values of the column that says whose row it is are counted, and nothing else."""
        (first, *others) = [term.unnest() for term in counted]
        return not others and isinstance(first, exp.Column) and self._fields[first.name].role == PERSON

    def _read_persons(self, expr: exp.Expr, condition: Tree | None) -> _CountAggregate:
        """The number of persons, by their measure."""
        measure = self._released.counted_persons
        if measure is None:
            names = ", ".join(f"{name} ({kind})" for name, kind in self._released.measures)
            refuse(
                self._text,
                expr,
                f"the release has no measure of persons: it has {names}; publish one (persons: persons)",
            )
        if self._released.null_person:
            name = self._released.person
            refuse(
                self._text,
                expr,
                f"rows without a {name} are counted as persons (null_person), and count(DISTINCT {name}) leaves them "
                f"out: ask sum({measure})",
            )
        persons = measure if self._released.patterns else None
        return _CountAggregate(_where(exp.Literal.number(1), condition), sums=False, persons=persons)

    def _find_sum(self, argument: exp.Expr) -> ReleasedSum | None:
        """The column whose published sums are asked."""
        name = argument.name if isinstance(argument, exp.Column) else None
        return next((summed for summed in self._released.sums if summed.name == name), None)

    def _check_counted(self, node: exp.Expr) -> None:
        if "count" not in {what for _, what in self._released.measures}:
            names = ", ".join(name for name, _ in self._released.measures)
            refuse(self._text, node, f"the release counts persons, and no rows: ask sum({names})")

    def _check_columns(self, trees: Sequence[Tree]) -> list[str]:
        """The columns that are read, each for something that their published text decides."""
        used_names: dict[str, None] = {}
        for tree in trees:
            for node in tree.find_all(exp.Column):
                field = self._fields[node.name]
                if field.role == MEASURE:
                    refuse(self._text, None, self._describe_number(field))
                reason = _unreadable(field, node)
                if reason:
                    refuse(self._text, None, f"column {field.name}: {reason}")
                used_names[field.name] = None
        return list(used_names)

    def _describe_number(self, published_field: Field) -> str:
        """Why a published number is no column of conditions, and the query to ask instead."""
        if all(summed.name != published_field.name for summed in self._released.sums):
            return f"{published_field.name} is a number of cells: ask sum({published_field.name}), or count(*)"
        name = [field.name for field in self._fields.values() if field.published == published_field.published][-1]
        return f"{name} is published in sums of cells alone: ask sum({name}) or avg({name})"

    def _write(self, columns: Sequence[str], weights: Sequence[Tree]) -> str:
        """SQL for each finest cell that meets the condition: labels, number of the group, keys, weights."""
        bound, dialect = self._bound, self._engine.dialect
        keys = [named(column(f"_label{index}", "released"), f"k{index}") for index in range(len(columns))]
        order = [exp.Ordered(this=term.copy()) for term in bound.groups]
        number: Tree = exp.Literal.number(1)
        if order:
            number = exp.Window(this=exp.DenseRank(), order=exp.Order(expressions=order))
        terms = [named(term.copy(), f"g{index}") for index, term in enumerate(bound.groups)]
        listed = [named(weight.copy(), f"w{index}") for index, weight in enumerate(weights)]
        where = [bound.where.copy()] if bound.where is not None else []
        query = select([*keys, named(number, "group"), *terms, *listed], self._atoms(columns), where=where)
        return port_tree(query, dialect).sql(dialect=dialect, pretty=True)

    def _atoms(self, columns: Sequence[str]) -> exp.Expr:
        """The finest cells of a table, under the source's names and types."""
        inside = set(columns)
        listed, where = [], []
        for place, name in enumerate(columns):
            field = self._fields[name]
            listed.append(named(exp.cast(column(name, "v"), "VARCHAR"), f"_label{place}"))
            listed.append(named(cast_published(self._scope, field, column(name, "v")), name))
        for counted_column in self._released.columns:
            level = exp.Literal.number(0 if counted_column.name in inside else counted_column.levels)
            where.append(exp.EQ(this=column(f"level_{counted_column.name}", "v"), expression=level))
        return select(listed, table_of(self._released.view.ref, "v"), where=where).subquery("released")


@dataclass(frozen=True)
class _FoundCells:
    """The finest cells that were found: labels, the number of the group, keys, weights."""

    rows: Sequence[Sequence[Any]]
    seen: SeenCells
    columns: int
    keys: int

    def groups(self) -> list[list[int]]:
        """The rows of each group, in the order of the keys."""
        places_by_number: dict[int, list[int]] = {}
        for place, row in enumerate(self.rows):
            places_by_number.setdefault(int(row[self.columns]), []).append(place)
        return [places_by_number[number] for number in sorted(places_by_number)]

    def key(self, group: Sequence[int], place: int) -> Any:  # noqa: ANN401 - an engine's value
        """The value of a key."""
        return self.rows[group[0]][self.columns + 1 + place]

    def weights(self, group: Sequence[int], place: int) -> list[tuple[int, Any]]:
        """The atoms of a group with weights for an aggregate."""
        places = self.seen.places
        position = self.columns + 1 + self.keys + place
        weighted = [(places[self._labels(row)], self.rows[row][position]) for row in group]
        return [(atom + part * len(places), weight) for part in range(self.seen.times) for atom, weight in weighted]

    def _labels(self, row: int) -> tuple[Label, ...]:
        return tuple(None if label is None else str(label) for label in self.rows[row][: self.columns])


def _check_person(bound: BoundQuery, person: Collection[str]) -> None:
    """Refuse the column that says whose row it is wherever its distinct values are not counted."""
    for tree in [
        *([bound.where] if bound.where is not None else []),
        *bound.groups,
        *(tree for _, tree in bound.items),
    ]:
        for node in tree.find_all(exp.Column):
            if node.name in person and node.find_ancestor(exp.Distinct) is None:
                name = node.name
                refuse(bound.query.text, None, f"the release has no column {name}: ask count(DISTINCT {name})")


def _where(weight: Tree, condition: Tree | None) -> Tree:
    return weight if condition is None else sql("CASE WHEN :c THEN :w END", c=condition, w=weight)


def _unreadable(field: Field, column: exp.Column) -> str:
    """Why a column cannot be read in this place; "": it can."""
    above = column.parent
    if isinstance(above, exp.Is):
        return ""
    if field.kind not in KINDS:
        return f"a value of its type ({field.kind}) is not known by its text; ask by other columns"
    if not field.deterministic:
        return "the source compares it by a collation, and the release holds texts; ask whether it is NULL"
    compared = above is not None and (is_equality(above) or is_inequality(above) or isinstance(above, exp.In))
    if field.kind == "enum" and above is not None and not compared:
        return "the release holds this enum as text, without its order; ask with = or IN, or group by it"
    return ""


def _middle(low: End, high: End) -> int | None:
    """The estimate: the middle of the bounds; with a single bound, that bound."""
    if low.value is None or high.value is None:
        return low.value if high.value is None else high.value
    return (low.value + high.value) // 2
