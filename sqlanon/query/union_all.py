"""Several queries as one: their SELECTs are asked one after the other, and their rows put below one another."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from sqlanon.query.answer import Answer, Bounded
from sqlanon.query.parse.parse import Groupings, Query, parse_groupings, read_count
from sqlanon.query.refusal import refuse
from sqlanon.query.value_order import NAN, ValueOrder

_MOST_EXACT = 2**53
"""Doubles hold all whole numbers up to this one."""


@dataclass(frozen=True)
class Union:
    """The SELECTs of a UNION ALL, and the clauses for all rows together.

    Attributes:
        text: the whole query.
        parts: the texts of the SELECTs, each with the CTEs that it reads; a query without UNION is the only part.
        order, limit, offset: clauses for all rows together.
        distinct: number of first parts in which equal rows are one: those up to the last UNION without ALL.
    """

    text: str
    parts: tuple[str, ...]
    order: tuple[exp.Ordered, ...] = ()
    limit: int | None = None
    offset: int | None = None
    distinct: int = 0


def parse_parts(union: Union, dialect: str) -> list[Groupings]:
    """The queries of a union's SELECTs; those with equal rows merged may list rows: their values are then groups.

    Raises:
        RefusedQueryError: see `sqlanon.query.parse.parse.parse_groupings`.
    """
    return [parse_groupings(part, dialect, distinct=i < union.distinct) for i, part in enumerate(union.parts)]


def read_union(text: str, dialect: str) -> Union:
    """The SELECTs of a UNION ALL or UNION; a query without UNION is the only part.

    Raises:
        RefusedQueryError: an ORDER BY, LIMIT or OFFSET around it with other terms than columns and whole numbers.
    """
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(text)
    except SqlglotError:
        return Union(text, (text,))  # the parser explains it
    tokens = [token for token in tokens if token.token_type is not TokenType.SEMICOLON]
    outside = _outside(tokens)
    cuts = _cuts(outside)
    if not cuts:
        return Union(text, (text,))
    begin, prefixes = _read_ctes(text, tokens, outside)
    last = cuts[-1][1]
    around = [token for token in outside if token.token_type in _AROUND and token.start > last]
    stop = around[0].start if around else tokens[-1].end + 1
    early = next((token for token in outside if token.token_type in _AROUND and token.start < last), None)
    if early is not None:
        refuse(text, None, "ORDER BY and LIMIT come after the last SELECT of a UNION, or in parentheses")
    ends = [begin, *(place for start, end, _ in cuts for place in (start, end)), stop]
    parts = tuple(_part(text[ends[i] : ends[i + 1]], prefixes, dialect) for i in range(0, len(ends), 2))
    union = Union(text, parts, distinct=max((i + 2 for i, (_, _, once) in enumerate(cuts) if once), default=0))
    return _with_order(union, text[stop : tokens[-1].end + 1], dialect) if around else union


def _cuts(outside: Sequence[Token]) -> list[tuple[int, int, bool]]:
    """Start and end of each UNION, and whether equal rows are merged; empty if there are other set operations."""
    cuts = []
    for token, after in pairwise(outside):
        if token.token_type is not TokenType.UNION:
            continue
        if after.token_type in (TokenType.ALL, TokenType.DISTINCT):
            cuts.append((token.start, after.end + 1, after.token_type is TokenType.DISTINCT))
        elif after.token_type in (TokenType.SELECT, TokenType.FROM, TokenType.L_PAREN):
            cuts.append((token.start, token.end + 1, True))
        else:
            return []
    return cuts


_AROUND = (TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH)


def _part(text: str, prefixes: Sequence[tuple[str, str]], dialect: str) -> str:
    """A SELECT, without parentheses around it, after the CTEs that it reads."""
    text = text.strip()
    tokens = Dialect.get_or_raise(dialect).tokenize(text)
    if len(_outside(tokens)) == 2 and text.startswith("("):
        text = text[1:-1].strip()
    read_text = text
    needed: list[str] = []
    for name, cte in reversed(prefixes):
        words = {token.text.lower() for token in Dialect.get_or_raise(dialect).tokenize(read_text)}
        if name in words:
            needed.insert(0, cte)
            read_text += f" {cte}"
    return f"WITH {', '.join(needed)} {text}" if needed else text


def _read_ctes(text: str, tokens: Sequence[Token], outside: Sequence[Token]) -> tuple[int, list[tuple[str, str]]]:
    """Where the first SELECT begins, and the CTEs before it: their names and texts."""
    if outside[0].token_type is not TokenType.WITH:
        return 0, []
    if outside[1].token_type is TokenType.RECURSIVE:
        refuse(text, None, "WITH RECURSIVE is not answered over a release")
    depth, index, begin = 0, 1, 1
    ctes: list[tuple[str, str]] = []
    while index < len(tokens):
        token = tokens[index]
        if depth == 0 and index > begin and token.token_type in (TokenType.SELECT, TokenType.COMMA, TokenType.FROM):
            ctes.append((tokens[begin].text.lower(), text[tokens[begin].start : tokens[index - 1].end + 1]))
            begin = index + 1
            if token.token_type is not TokenType.COMMA:
                return token.start, ctes
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        index += 1
    return refuse(text, None, "WITH is followed by a SELECT")


def _with_order(union: Union, tail: str, dialect: str) -> Union:
    try:
        parsed = sqlglot.parse_one(f"SELECT 1 {tail}", read=dialect)
    except SqlglotError:
        refuse(union.text, None, "after a UNION there are ORDER BY, LIMIT and OFFSET")
    allowed = {"expressions", "order", "limit", "offset", "kind"}
    if not isinstance(parsed, exp.Select) or any(value for name, value in parsed.args.items() if name not in allowed):
        refuse(union.text, None, "after a UNION there are ORDER BY, LIMIT and OFFSET")
    order = parsed.args.get("order")
    numbers = [read_count(union.text, parsed.args.get(name)) for name in ("limit", "offset")]
    return replace(union, order=tuple(order.expressions) if order else (), limit=numbers[0], offset=numbers[1])


def arrange(
    values: ValueOrder,
    query: Query,
    answer: Answer,
    order: Sequence[exp.Ordered],
    limit: int | None,
    offset: int | None,
) -> Answer:
    """The rows of an answer in an order, and the first of them.

    A row stays certain under LIMIT if all rows are listed, the order goes by values that are the same in every
    consistent source, and no more rows than fit are before it or equal to it.

    Args:
        values: sorts them as the database does.
        query: the first SELECT; terms may repeat its items.
        answer: the rows.
        order: terms: names, numbers or repetitions of columns.
        limit: most rows, or None.
        offset: rows to leave out before, or None.

    Raises:
        RefusedQueryError: a term that is no column, or one whose order is not known.
    """
    rows = list(zip(answer.rows, answer.certain, strict=True))
    columns = [_column(query, answer, term.this) for term in order]
    ranks = [_ranks(values, answer, name, term) for name, term in zip(columns, order, strict=True)]
    places = sorted(range(len(rows)), key=lambda i: tuple(rank[i] for rank in ranks))
    if limit is None and not offset:
        positions, certain = places, [rows[i][1] for i in places]
    else:
        listed = not answer.unlisted_groups and not answer.unsettled_groups
        settled = bool(order) and listed and all(_is_exact(answer, name) for name in columns)
        positions = places[offset or 0 :][: limit if limit is not None else len(rows)]
        keys = [tuple(rank[i] for rank in ranks) for i in range(len(rows))]
        most = limit if limit is not None else len(rows)
        every = listed and len(rows) <= most
        sure = [every or (settled and sum(key <= keys[i] for key in keys) <= most) for i in positions]
        certain = [rows[i][1] and fits and not offset for i, fits in zip(positions, sure, strict=True)]
    return replace(answer, rows=tuple(rows[i][0] for i in positions), certain=tuple(certain))


def _column(query: Query, answer: Answer, node: exp.Expr) -> str:
    """The column of an answer that a term of ORDER BY means."""
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        if 1 <= int(node.this) <= len(answer.columns):
            return answer.columns[int(node.this) - 1]
    elif isinstance(node, exp.Column) and not node.table:
        matches = [name for name in answer.columns if name.lower() == node.name.lower()]
        if matches:
            return matches[0]
    same = [name for name, item in query.items if item == node]
    if not same:
        refuse(query.text, node, "rows of several SELECTs or groupings are ordered by columns of the answer")
    return same[0]


def _is_exact(answer: Answer, name: str) -> bool:
    return all(not isinstance(row[name], Bounded) or row[name].exact for row in answer.rows)


def _ranks(order: ValueOrder, answer: Answer, name: str, term: exp.Ordered) -> list[int]:
    """The place of each row by a column; equal values have equal places."""
    cells = [row[name] for row in answer.rows]
    values = [_one_nan(cell.estimate if isinstance(cell, Bounded) else cell) for cell in cells]
    falls = bool(term.args.get("desc"))
    ordered = order.sort(answer.columns.index(name), [value for value in values if value is not None])
    if falls:
        ordered.reverse()
    first = bool(term.args.get("nulls_first"))
    place = {value: i + 1 for i, value in enumerate(ordered)}
    return [(0 if first else len(ordered) + 1) if value is None else place[value] for value in values]


def _one_nan(value: Any) -> Any:  # noqa: ANN401 - an engine's value
    """The value; NaN is a single object, as it is a single value of engines, above all others."""
    return NAN if isinstance(value, float | Decimal) and math.isnan(value) else value


def _outside(tokens: Sequence[Token]) -> list[Token]:
    """The tokens that are in no parentheses."""
    depth, outside = 0, []
    for token in tokens:
        depth -= token.token_type is TokenType.R_PAREN
        if depth == 0:
            outside.append(token)
        depth += token.token_type is TokenType.L_PAREN
    return outside


def merge_answers(text: str, answers: Sequence[Answer]) -> Answer:
    """The rows of several answers as one, under the names of the first.

    Raises:
        RefusedQueryError: the answers differ in columns, or in columns with bounds.
    """
    first = answers[0]
    shape = [name in first.aggregates for name in first.columns]
    rows = []
    for answer in answers:
        if [name in answer.aggregates for name in answer.columns] != shape:
            _refuse_columns(text)
        rows += [dict(zip(first.columns, (row[name] for name in answer.columns), strict=True)) for row in answer.rows]
    for name in first.columns:
        _check_kinds(text, name, [row[name] for row in rows])
    return replace(
        first,
        rows=tuple(rows),
        certain=tuple(sure for answer in answers for sure in answer.certain),
        sql="\nUNION ALL\n".join(answer.sql for answer in answers),
        unlisted_groups=any(answer.unlisted_groups for answer in answers),
        unsettled_groups=any(answer.unsettled_groups for answer in answers),
        left_out=max(answer.left_out for answer in answers),
        unlike=next((answer.unlike for answer in answers if answer.unlike is not None), None),
    )


def check_types(text: str, answers: Sequence[Answer], types: Sequence[Sequence[exp.DataType]]) -> None:
    """Refuse columns whose values an engine would convert, also where a SELECT gives no row.

    Args:
        text: the query, for messages.
        answers: the answers to the SELECTs.
        types: of each SELECT the types of the columns; none where they are not known.

    Raises:
        RefusedQueryError: types of one column that have a common type with other values, or other numbers of columns.
    """
    described, names = [kinds for kinds in types if kinds], answers[0].columns
    if any(len(kinds) != len(names) for kinds in described):
        _refuse_columns(text)
    for name, column_types in zip(names, zip(*described, strict=True), strict=True) if described else ():
        kinds = [kind for kind in column_types if not kind.is_type("NULL")]
        if not _keep_values(kinds):
            _refuse_types(text, name)
        if any(kind.is_type("DOUBLE") for kind in kinds):
            position = names.index(name)
            cells = [row[answer.columns[position]] for answer in answers for row in answer.rows]
            _check_kinds(text, name, cells, has_doubles=True)


_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128")
_MOST_DIGITS = 38
"""Digits of a decimal type, at most: the common type of others has fewer after the point."""


def _keep_values(kinds: Sequence[exp.DataType]) -> bool:
    """Whether values of these types are equal in the common type: one type, texts, or numbers of many digits."""
    if len(set(kinds)) <= 1 or all(kind.is_type("TEXT", "VARCHAR") for kind in kinds):
        return True
    if not all(kind.is_type(*_WHOLE, "DOUBLE", "DECIMAL") for kind in kinds):
        return False
    sizes = [[int(size.name) for size in kind.expressions] for kind in kinds if kind.is_type("DECIMAL")]
    decimals = [(size[0], size[1]) for size in sizes if len(size) == 2]  # PostgreSQL has decimals without a size
    if len(decimals) < len(sizes) or not decimals:
        return True
    return max(width - scale for width, scale in decimals) + max(scale for _, scale in decimals) <= _MOST_DIGITS


def _refuse_columns(text: str) -> None:
    refuse(text, None, "the SELECTs of a UNION need as many columns each, with aggregates in the same places")


def _refuse_types(text: str, name: str) -> None:
    refuse(text, None, f"the SELECTs of a UNION give column {name} different types: cast it to one of them")


def _check_kinds(text: str, name: str, cells: Sequence[Any], *, has_doubles: bool = False) -> None:
    """Refuse a column whose values an engine would convert: it has one type for the rows of all SELECTs."""
    ends = [end for cell in cells for end in ((cell.low, cell.high) if isinstance(cell, Bounded) else (cell,))]
    values: list[Any] = [end for end in ends if end is not None]
    has_doubles = has_doubles or any(isinstance(value, float) for value in values)
    large = any(isinstance(value, int | Decimal) and not -_MOST_EXACT <= value <= _MOST_EXACT for value in values)
    if len(set(map(_kind, values))) > 1 or (has_doubles and large):
        _refuse_types(text, name)


def _kind(value: object) -> object:
    """The kind of a value: numbers are one, and times with a zone another than those without."""
    if isinstance(value, datetime.datetime):
        return datetime.datetime, value.tzinfo is None
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return float
    return type(value)


def drop_columns(answer: Answer, names: Sequence[str]) -> Answer:
    """An answer without some columns."""
    if not names:
        return answer
    return replace(
        answer,
        columns=tuple(name for name in answer.columns if name not in names),
        aggregates=tuple(name for name in answer.aggregates if name not in names),
        rows=tuple({name: cell for name, cell in row.items() if name not in names} for row in answer.rows),
    )
