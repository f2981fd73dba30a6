"""Answers of releases as rows: estimates under the names of the query, and bounds where they are asked for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from sqlanon.query.answer import Answer, Bounded
from sqlanon.query.parse.parse import Query
from sqlanon.query.rewrite.window_functions import has_aggregate
from sqlanon.query.union_all import parse_parts, read_union
from sqlanon.serve.client_tables import ServedTable
from sqlanon.serve.notices import notices_of
from sqlanon.serve.refusals import QueryText, ServeError
from sqlanon.serve.texts import ENDS, Output
from sqlanon.serve.values import FLOAT8, NUMBERS, Column, Result, Type, find_type, type_of

CERTAIN = "certain"


@dataclass(frozen=True)
class Cell:
    """A column of the result: a column of the answer, or a bound of the column.

    Attributes:
        name: as the client sees it.
        item: the answer's column; "": whether the row is certain.
        end: low or high; "": the value or estimate.
    """

    name: str
    item: str
    end: str = ""


def read(query: QueryText, dialect: str) -> list[Query]:
    """The SELECTs of a query.

    Raises:
        RefusedQueryError: there is no SELECT, or no release answers one of them.
    """
    return [part.queries[0] for part in parse_parts(read_union(query.text, dialect), dialect)]


def cells(names: Sequence[str], aggregates: Collection[str], outputs: Sequence[Output], *, bounds: bool) -> list[Cell]:
    """The columns of a result.

    Args:
        names: the answer's columns.
        aggregates: those that have bounds.
        outputs: outputs of the client's SELECT list, from `sqlanon.serve.texts.take_bounds`; empty: the names.
        bounds: add both ends of each aggregate, and whether a row is certain.

    Raises:
        ServeError: a bound is asked for of a column that does not exist, or that has no bounds.
    """
    folded = {name.lower(): name for name in names}
    listed, remaining = [], iter(names)
    for output in outputs or [Output()] * len(names):
        if not output.item:
            listed.append(Cell(item := next(remaining), item))
            continue
        spelled = folded.get(output.item.lower())
        if spelled is None:
            raise ServeError("42703", f'column "{output.name}" does not exist', position=output.position)
        if spelled not in aggregates:
            raise ServeError(
                "42703",
                f'column "{spelled}" has no bounds: its values are those of the source',
                position=output.position,
            )
        listed.append(Cell(output.name, spelled, output.end))
    if not bounds:
        return listed
    requested = {(cell.item, cell.end) for cell in listed}
    wide = []
    for cell in listed:
        wide.append(cell)
        if cell.item in aggregates and not cell.end:
            wide += [Cell(f"{cell.name}_{end}", cell.item, end) for end in ENDS if (cell.item, end) not in requested]
    wide.append(Cell(CERTAIN, ""))
    twice = Counter(cell.name.lower() for cell in wide)
    added = [cell.name for cell in wide if cell not in listed]
    duplicate = next((name for name in added if twice[name.lower()] > 1), None)
    if duplicate is not None:  # nobody shall confuse them
        raise ServeError(
            "42701", f'"{duplicate}" is the name of a bound and of a column', "give the column another name"
        )
    return wide


def has_bounds(query: Query) -> list[str]:
    """The columns of a query that have bounds, before it is asked: those of whole groups."""
    return [name for name, node in query.items if has_aggregate(node)]


def select_types(text: str, queries: Sequence[Query], served: ServedTable, dialect: str) -> str | None:
    """A query over no rows, with the column types of a text; None: it joins tables that are not served.

    Args:
        text: the text; the columns of a UNION have the common types of the SELECTs.
        queries: the SELECTs.
        served: the table that they ask.
        dialect: the dialect of the text.
    """
    if any(query.joins for query in queries):
        return None
    tree = Dialect.get_or_raise(dialect).parse(text)[0]
    if tree is None:
        return None
    listed = ", ".join(f"CAST(NULL AS {kind or 'TEXT'}) AS {_name(name)}" for name, kind in served.source_types)
    names = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        if not table.db and table.name.lower() in names:
            continue
        inner = Dialect.get_or_raise(dialect).parse(f"SELECT {listed}")[0]
        assert inner is not None
        alias = exp.TableAlias(this=exp.to_identifier(table.alias or table.name, quoted=True))
        table.replace(exp.Subquery(this=inner, alias=alias))
    return tree.sql(dialect=dialect, comments=False)


def _name(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql()


def columns_of(cells: Sequence[Cell], types: Mapping[str, Type], aggregates: Collection[str]) -> tuple[Column, ...]:
    """The columns of a result with their types.

    Args:
        cells: the columns.
        types: types of the query's columns over the source.
        aggregates: those that have bounds: numbers of them are doubles, as estimates are.
    """
    columns = []
    for cell in cells:
        kind = types[cell.item] if cell.item else find_type("boolean")
        columns.append(Column(cell.name, FLOAT8 if cell.item in aggregates and kind in NUMBERS else kind))
    return tuple(columns)


def types_by_names(query: Query, names: Sequence[str]) -> dict[str, Type]:
    """Types of a query's columns, as a database names them."""
    return {name: find_type(kind) for (name, _), kind in zip(query.items, names, strict=True)}


def types_by_values(answer: Answer) -> dict[str, Type]:
    """Types of an answer's columns, from the values alone."""
    types = {}
    for name in answer.columns:
        values = [row[name] for row in answer.rows]
        plain = [value.estimate if isinstance(value, Bounded) else value for value in values]
        kind = type_of(plain)
        unknown = name in answer.aggregates and all(value is None for value in plain)
        types[name] = FLOAT8 if unknown else kind
    return types


def result(answer: Answer, cells: Sequence[Cell], columns: tuple[Column, ...]) -> Result:
    """The rows of an answer, and notices for the reader."""
    rows = [
        [
            _outward(_value(row, cell), cell.end, column.type) if cell.item else certain
            for cell, column in zip(cells, columns, strict=True)
        ]
        for row, certain in zip(answer.rows, answer.certain, strict=True)
    ]
    shown = {cell.item for cell in cells if cell.end} >= set(answer.aggregates)
    return Result(f"SELECT {len(rows)}", columns, rows, notices_of(answer, shown=shown))


def _outward(value: object, end: str, kind: Type) -> object:
    """A bound as a double that still bounds: whole numbers beyond 2^53 and decimals lie between two doubles."""
    if not end or kind is not FLOAT8 or isinstance(value, float) or not isinstance(value, int | Decimal):
        return value
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    if end == "low":
        return math.nextafter(near, -math.inf) if near > value else near
    return math.nextafter(near, math.inf) if near < value else near


def _value(row: Mapping[str, object], cell: Cell) -> object:
    value = row[cell.item]
    if not isinstance(value, Bounded):
        return value
    return getattr(value, cell.end or "estimate")
