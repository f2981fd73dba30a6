"""Neighbouring groups merged until the bounds of each are narrow enough: fewer groups, each with sound bounds.

The query is asked again with steps of the term of GROUP BY, so that bounds are those of the merged groups and not sums
of ends: a row that may be in several of them counts once.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import parenthesize

if TYPE_CHECKING:
    from sqlanon.query.answer import Answer
    from sqlanon.query.parse.parse import Query

Groups = list[list[Any]]
"""The values of the merged groups, in order."""
_ELSEWHERE = 1_000_000_000
"""The number of the group of values that are in no merged one."""


def merge_groups(query: Query, percent: float, ask: Callable[[Query], Answer], columns: Collection[str]) -> Answer:
    """The answer with neighbouring groups merged until each is narrow.

    Args:
        query: grouped by a single term, which is an item as well; the other items are aggregates.
        percent: greatest width of bounds, in percent of the estimate.
        ask: answers a query.
        columns: names that mean a column in GROUP BY, in lower case.

    Returns:
        The groups in order; the term's cell of a merged group is a text, and `Answer.merged` has its values.

    Raises:
        RefusedQueryError: the query has another form, or no answer.

    Cost: two queries a round, of pairs of neighbours; a round about halves the number of groups that are too wide.
    """
    name, term = _key(query, columns)
    first = ask(replace(query, order=()))
    values = [row[name] for row in first.rows]
    present = [value for value in values if value is not None]
    if any(isinstance(value, list | dict | tuple) for value in present):
        refuse(query.text, None, "groups whose keys are lists or records are not merged; group by a part of them")
    endless = any(isinstance(value, float | Decimal) and not math.isfinite(value) for value in present)
    if endless and any(width * 100 > percent for width in _widths(first)):
        refuse(query.text, None, "groups whose keys are NaN or infinite are not merged; leave them out by WHERE")
    ordered = not endless and all(
        isinstance(value, int | float | Decimal | dt.date) and not isinstance(value, bool) for value in present
    )
    groups: Groups = [[value] for value in (sorted(present) if ordered else present)]
    widths = dict(zip(values, _widths(first), strict=True))
    wide = [widths[group[0]] for group in groups]

    def measure(tried: Groups) -> list[float]:
        answer = ask(_group_by_steps(query, name, term, tried, ordered=ordered))
        widths = {row[name]: width for row, width in zip(answer.rows, _widths(answer), strict=True)}
        return [widths.get(i, 0.0) for i in range(len(tried))]

    before = len(groups)
    while any(width * 100 > percent for width in wide) and len(groups) > 1:
        groups, wide = _merge(groups, wide, percent, measure)
    if len(groups) == before:
        return _label(first, name, groups, stepped=False)
    answer = ask(_group_by_steps(query, name, term, groups, ordered=ordered))
    if any(row[name] == _ELSEWHERE for row in answer.rows):
        reason = "keys of this type cannot be written as constants, by which groups are merged; group by a cast of them"
        refuse(query.text, None, reason)
    if not {row[name] for row in answer.rows} <= {None, *range(len(groups))} or (None not in values) is not (
        None not in [row[name] for row in answer.rows]
    ):
        refuse(query.text, None, "the release was replaced while groups were merged; ask again")
    return _label(answer, name, groups, stepped=True)


def _key(query: Query, columns: Collection[str]) -> tuple[str, exp.Expr]:
    """The name and the expression of the item that the query is grouped by."""
    form = "groups are merged of a query with one term in GROUP BY, which is an item of the SELECT too"
    clauses = (query.having, query.qualify, query.limit, query.offset, query.regroup)
    if len(query.groups) != 1 or any(clause is not None and clause != 0 for clause in clauses):
        refuse(query.text, None, f"{form}, without HAVING, LIMIT and grouping sets")
    term = query.groups[0].unnest()
    matches = [(name, node.unnest()) for name, node in query.items if node.unnest() == term]
    if not matches and isinstance(term, exp.Column) and not term.table and term.name.lower() not in columns:
        matches = [(name, node.unnest()) for name, node in query.items if name.lower() == term.name.lower()]
    rest = [node for name, node in query.items if name not in dict(matches)]
    if len(matches) != 1 or not all(node.find(exp.AggFunc) for node in rest):
        refuse(query.text, None, form)
    if any(node.find(exp.Window) for node in rest):
        refuse(query.text, None, "groups that are ranked or added up by window functions are not merged")
    return matches[0]


def _widths(answer: Answer) -> list[float]:
    """The width of the widest aggregate of each row."""
    cells = [[row[name] for name in answer.aggregates] for row in answer.rows]
    return [max((math.inf if cell.width is None else cell.width for cell in row), default=0.0) for row in cells]


def _merge(
    groups: Groups, widths: Sequence[float], percent: float, measure: Callable[[Groups], list[float]]
) -> tuple[Groups, list[float]]:
    """Merge pairs of neighbours where either is too wide: first where both are, then the narrowest results."""
    pairs: dict[int, float] = {}
    for first in (0, 1):
        starts = range(first, len(groups) - 1, 2)
        tried = [groups[i] + groups[i + 1] for i in starts]
        pairs |= dict(zip(starts, measure(tried), strict=True)) if tried else {}
    wide = [width * 100 > percent for width in widths]
    unions: dict[int, float] = {}
    for i in sorted(pairs, key=lambda i: (wide[i] + wide[i + 1] < 2, pairs[i], i)):
        if (wide[i] or wide[i + 1]) and not unions.keys() & {i - 1, i, i + 1}:
            unions[i] = pairs[i]
    merged = [
        (groups[i] + groups[i + 1], unions[i]) if i in unions else (groups[i], widths[i])
        for i in range(len(groups))
        if i - 1 not in unions
    ]
    return [group for group, _ in merged], [width for _, width in merged]


def _group_by_steps(query: Query, name: str, term: exp.Expr, groups: Groups, *, ordered: bool) -> Query:
    """The query by the numbers of the merged groups."""
    turns = []
    for i, group in enumerate(groups):
        ends = [_constant(value) for value in (group[0], group[-1])]
        inside: exp.Expr = exp.Between(this=parenthesize(term.copy()), low=ends[0], high=ends[1])
        if not ordered:
            inside = exp.In(this=parenthesize(term.copy()), expressions=[_constant(value) for value in group])
        turns.append(exp.If(this=inside, true=exp.Literal.number(i)))
    present = exp.Not(this=exp.Is(this=parenthesize(term.copy()), expression=exp.null()))
    turns.append(exp.If(this=present, true=exp.Literal.number(_ELSEWHERE)))
    step = exp.Case(ifs=turns)
    items = tuple((item_name, step.copy() if item_name == name else node) for item_name, node in query.items)
    return replace(query, items=items, groups=(step,), order=())


def _constant(value: Any) -> exp.Expr:  # noqa: ANN401 - an engine's value
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, int | float | Decimal):
        literal = exp.Literal.number(str(abs(value)))
        return exp.Neg(this=literal) if value < 0 else literal
    if isinstance(value, dt.datetime):
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "TIMESTAMP")
    if isinstance(value, dt.date):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    return exp.Literal.string(str(value))


def _label(answer: Answer, name: str, groups: Groups, *, stepped: bool) -> Answer:
    """The answer with the values of groups in place of their numbers, in order."""
    place = {i: i for i in range(len(groups))} if stepped else {group[0]: i for i, group in enumerate(groups)}
    order = sorted(range(len(answer.rows)), key=lambda index: place.get(answer.rows[index][name], len(groups)))
    rows, merged = [], []
    for index in order:
        value = answer.rows[index][name]
        group = groups[place[value]] if value in place else [value]
        rows.append(answer.rows[index] | {name: group[0] if len(group) == 1 else f"{group[0]} .. {group[-1]}"})
        merged.append(tuple(group))
    return replace(
        answer, rows=tuple(rows), certain=tuple(answer.certain[index] for index in order), merged=tuple(merged)
    )
