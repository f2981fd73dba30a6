"""ROLLUP, CUBE and GROUPING SETS: a query for each set of terms, with the rows put below one another."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

from sqlglot import exp

from sqlanon.query.functions.spellings import is_grouping
from sqlanon.query.normalize.kinds import AGGREGATED
from sqlanon.query.normalize.names import name_alone
from sqlanon.query.refusal import refuse

MOST = 64
"""Most groupings of a query."""


class MissingTerm(exp.Expression, exp.Func):
    """A term that a grouping has not, inside an expression: a NULL of the type of the term."""

    arg_types: ClassVar = {"this": True}


def split_groupings(text: str, select: exp.Select) -> list[exp.Select]:
    """The queries of a GROUP BY, one for each grouping; a plain GROUP BY has a single query.

    A term that is not in a grouping is NULL in the grouping's rows, outside aggregates; GROUPING shows which terms are
    missing. A grouping without terms has a single row, even for no rows.

    Raises:
        RefusedQueryError: more than `MOST` groupings, or window functions over all of them.
    """
    group = select.args.get("group")
    parts = _list_parts(group) if group is not None else []
    if group is None or all(isinstance(part, exp.Expr) for part in parts):
        return [select]
    clauses = [*select.expressions, *(select.args[n] for n in ("having", "order", "qualify") if select.args.get(n))]
    window = next((node for clause in clauses for node in clause.find_all(exp.Window)), None)
    if window is not None:
        refuse(text, window, "window functions over several groupings are not answered; ask one query for each")
    ways: list[list[tuple[exp.Expr, ...]]] = [[(part,)] if isinstance(part, exp.Expr) else part for part in parts]
    count = 1
    for choices in ways:
        count *= len(choices)
    if count > MOST:
        refuse(text, group, f"at most {MOST} groupings are answered in one query; ask fewer")
    every = list(dict.fromkeys(term for choices in ways for way in choices for term in way))
    return [
        _select_grouping(select, [term for way in combination for term in way], every)
        for combination in itertools.product(*ways)
    ]


def list_order_terms(select: exp.Select) -> tuple[str, ...]:
    """Add an item to a SELECT with several groupings for each term of its ORDER BY that is no column of the answer.

    Rows of several groupings are sorted by columns of the answer. The terms become the names of the new items.

    Returns:
        The names of the new items, which are no columns of the answer.
    """
    order = select.args.get("order")
    aliases: list[str] = []
    for term in order.expressions if order is not None else ():
        if isinstance(term.this, exp.Literal) or _is_name(select, term.this):
            continue
        same = next(
            (
                expression.alias
                for expression in select.expressions
                if expression.alias and expression.unalias() == term.this
            ),
            None,
        )
        if same is None:
            aliases.append(f"order by {len(aliases) + 1}")
            select.append("expressions", exp.alias_(term.this.copy(), aliases[-1], quoted=True))
        term.set("this", exp.column(same or aliases[-1], quoted=True))
    return tuple(aliases)


def _is_name(select: exp.Select, node: exp.Expr) -> bool:
    """Whether a term of ORDER BY is the name of an item."""
    is_bare = isinstance(node, exp.Column) and not node.table
    return is_bare and any(item.alias_or_name.lower() == node.name.lower() for item in select.expressions)


def _list_parts(group: exp.Expr) -> list[exp.Expr | list[tuple[exp.Expr, ...]]]:
    """The parts of GROUP BY: terms, and lists of sets of terms."""
    entries: list[exp.Expr | list[tuple[exp.Expr, ...]]] = []
    for key in ("expressions", "rollup", "cube", "grouping_sets"):
        for entry in group.args.get(key) or ():
            if isinstance(entry, exp.Rollup | exp.Cube | exp.GroupingSets):
                entries.append(_ways(entry))
            else:
                entries.append(entry)
    return entries


def _ways(node: exp.Expr) -> list[tuple[exp.Expr, ...]]:
    units = [_terms(expression) for expression in node.expressions]
    if isinstance(node, exp.Rollup):
        return [tuple(t for unit in units[:n] for t in unit) for n in range(len(units), -1, -1)]
    if isinstance(node, exp.Cube):
        signs = itertools.product((True, False), repeat=len(units))
        return [tuple(t for unit, is_in in zip(units, way, strict=True) if is_in for t in unit) for way in signs]
    ways: list[tuple[exp.Expr, ...]] = []
    for expression in node.expressions:
        ways += (
            _ways(expression)
            if isinstance(expression, exp.Rollup | exp.Cube | exp.GroupingSets)
            else [tuple(_terms(expression))]
        )
    return ways


def _terms(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return [part.unnest() for part in node.expressions]
    return [node.unnest()]


def _select_grouping(select: exp.Select, terms: Sequence[exp.Expr], every: Sequence[exp.Expr]) -> exp.Select:
    single = select.copy()
    kept_terms = list(dict.fromkeys(terms))
    single.set("group", exp.Group(expressions=[term.copy() for term in kept_terms]) if kept_terms else None)
    missing = [term for term in every if term not in kept_terms]
    single.set("expressions", [_item(single, item, kept_terms, missing) for item in single.expressions])
    if single.args.get("having"):
        single.args["having"].set("this", _without(single.args["having"].this, kept_terms, missing))
    aggregated = single.args.get("having") or any(item.find(*AGGREGATED) for item in single.expressions)
    if not kept_terms and not aggregated:  # a single row, of constants
        single.set(
            "having", exp.Having(this=exp.GTE(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0)))
        )
    for name in ("order", "limit", "offset"):
        single.set(name, None)
    return single


def _item(select: exp.Select, item: exp.Expr, terms: Sequence[exp.Expr], missing: Sequence[exp.Expr]) -> exp.Expr:
    original = item.unalias()
    changed = _without(original.copy(), terms, missing)
    is_name = any(isinstance(t, exp.Column) and not t.table and t.name.lower() == item.alias.lower() for t in missing)
    if is_name and changed == original:  # the term is the item's own name, unless a table has such a column
        changed = exp.null()
        name_alone(select, item)
    return exp.alias_(changed, item.alias_or_name, quoted=True) if item.alias_or_name else changed


def _without(node: exp.Expr, terms: Sequence[exp.Expr], missing: Sequence[exp.Expr]) -> exp.Expr:
    """An expression of a row of a grouping: NULL for missing terms, and the value of GROUPING."""
    whole = exp.Paren(this=node.copy())
    for occurrence in [part for part in whole.walk() if is_grouping(part)]:
        bits = [int(expression.unnest() not in terms) for expression in occurrence.expressions]
        occurrence.replace(exp.Literal.number(sum(bit << (len(bits) - 1 - i) for i, bit in enumerate(bits))))
    for occurrence in _outermost(whole.this, [*terms, *missing]):
        if occurrence in missing:
            is_whole = occurrence is whole.this
            occurrence.replace(exp.null() if is_whole else MissingTerm(this=occurrence.copy()))
    plain: exp.Expr = whole.this
    return plain.pop()


def _outermost(node: exp.Expr, terms: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The parts of an expression that are terms, and in no other term, nor in an aggregate or a FILTER."""
    if node in terms:
        return [node]
    if isinstance(node, AGGREGATED):
        return []
    outermost: list[exp.Expr] = []
    for value in node.args.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Expr):
                outermost += _outermost(part, terms)
    return outermost
