"""Groups by terms that read columns with ranges and other columns: first by the parts, then by the terms.

``plan || city`` is grouped by plan and city first, and groups with the same text are merged. Counts and sums are added,
least and greatest values compared; other aggregates cannot be merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions.aggregates import aggregate_of, is_count, total_of
from sqlanon.query.functions.calendar_keys import common_key
from sqlanon.query.functions.spellings import zero_for_null
from sqlanon.query.normalize.expression_subqueries import Scalar
from sqlanon.query.normalize.kinds import AGGREGATED
from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.parse.source_types import SourceTypes
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.condition_codes import CONDITIONS, MOST_CONDITIONS, code_of, result_of
from sqlanon.query.sql.sqltree import Tree
from sqlanon.query.sql.types import is_float

_ADDED = ("count", "sum", "min", "max")


def split_mixed(bound: BoundQuery) -> BoundQuery:
    """The query over the parts of the terms of GROUP BY, if a term mixes columns; else the query itself.

    Raises:
        RefusedQueryError: an aggregate that is none of those of the parts.
    """
    mixed = [term for term in bound.groups if _is_mixed(term)]
    clauses = [*(node for _, node in bound.items), *(o.this for o in bound.order)]
    clauses += [node for node in (bound.having, bound.qualify) if node is not None]
    if not mixed or bound.regroup is not None or any(node.find(exp.Window) for node in clauses):
        return bound
    parts: list[Tree] = []
    for term in bound.groups:
        parts += [part for part in (_parts(term) if term in mixed else [term]) if part not in parts]
    coded = _code_conditions(bound.scope, parts)
    for tree, code in coded.values():
        parts = [part for part in parts if part != tree]
        parts += [code] if code not in parts else []
    places = [(term, _with_codes(term, coded)) for term in bound.groups]
    types = SourceTypes(bound.scope)

    def again(node: Tree) -> Tree:
        paren = exp.Paren(this=node.copy())
        for term, place in places:
            for occurrence in [
                part for part in paren.walk() if part == term and part.find_ancestor(*AGGREGATED) is None
            ]:
                occurrence.replace(place.copy())
        for occurrence in list(_aggregates(paren)):
            occurrence.replace(_add_groups(bound.query.text, occurrence, types))
        whole: Tree = paren.this
        plain: Tree = whole.pop()
        return plain

    def order_term(term: exp.Ordered) -> exp.Ordered:
        ordered_term = term.copy()
        ordered_term.set("this", again(term.this))
        return ordered_term

    return replace(
        bound,
        items=tuple((name, again(node)) for name, node in bound.items),
        groups=tuple(parts),
        having=None if bound.having is None else again(bound.having),
        order=tuple(order_term(term) for term in bound.order),
        regroup=tuple(place for _, place in places),
    )


def _is_mixed(term: Tree) -> bool:
    boxes = boxes_in(term)
    return bool(boxes) and (len(boxes) > 1 or any(node.table != "_box" for node in term.find_all(exp.Column)))


def _parts(term: Tree) -> Iterator[Tree]:
    """The largest parts of a term that read columns of one kind: a column with ranges, or exact columns."""
    if term.find(exp.Column) is None or isinstance(term, exp.Identifier):
        return
    if not _is_mixed(term) and not isinstance(term, exp.If):
        yield term.unnest().copy()
        return
    for value in term.args.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Expr):
                yield from _parts(part)


def _code_conditions(scope: Scope, parts: list[Tree]) -> dict[int, tuple[Tree, Tree]]:
    """Several conditions on a column as a single number, with a base 3 digit for each.

    Returns:
        By the number of a part the part, and the number's expression.
    """
    codes: dict[int, tuple[Tree, Tree]] = {}
    for name in dict.fromkeys(box for part in parts for box in boxes_in(part)):
        same = [i for i, part in enumerate(parts) if boxes_in(part) == [name]]
        if len(same) < 2 or common_key([parts[i] for i in same], scope.box(name).value) is not None:
            continue
        if len(same) > MOST_CONDITIONS or not all(isinstance(parts[i].unnest(), CONDITIONS) for i in same):
            continue
        code = code_of([parts[i] for i in same])
        for i in same:
            codes[i] = (parts[i], code)
    return codes


def _with_codes(term: Tree, coded: dict[int, tuple[Tree, Tree]]) -> Tree:
    """A term with the results of conditions from a number."""
    paren = exp.Paren(this=term.copy())
    places: dict[str, int] = {}
    replacements: list[tuple[Tree, Tree]] = []
    for tree, code in coded.values():
        key = code.sql()
        place = places[key] = places.get(key, -1) + 1
        read_off = result_of(code, place, sum(other_code == code for _, other_code in coded.values()))
        replacements += [(part, read_off) for part in paren.walk() if part == tree]
    for part, case in replacements:  # after all are found: each has the conditions in it
        part.replace(case.copy())
    whole: Tree = paren.this
    plain: Tree = whole.pop()
    return plain


def _aggregates(node: Tree) -> Iterator[Tree]:
    """The aggregates of an expression, with their FILTERs."""
    for call in node.find_all(exp.AggFunc):
        if not isinstance(call, Scalar):
            yield call.parent if isinstance(call.parent, exp.Filter) else call


def _add_groups(text: str, node: Tree, types: SourceTypes) -> Tree:
    """The aggregate of all groups that a group is made of."""
    inner = node.this if isinstance(node, exp.Filter) else node
    aggregate = aggregate_of(inner)
    if aggregate is None or aggregate.kind not in _ADDED or isinstance(inner.this, exp.Distinct) or inner.expressions:
        refuse(
            text,
            node,
            "grouped by a term of several columns, one of them with ranges, there are count, sum, min and max; group "
            "by the columns one by one for others",
        )
    extreme = aggregate.kind in ("min", "max")
    zero: Tree = type(inner)(this=node.copy()) if extreme else total_of(node.copy())
    if is_count(inner):  # of no rows it is 0, and a group has some
        zero = zero_for_null(zero)
    if extreme or (isinstance(node.parent, exp.Paren) and node.parent.parent is None):
        return zero
    kind = exp.DataType.build("BIGINT") if is_count(inner) else types.of(inner, inner)
    return zero if is_float(kind) else exp.cast(zero, kind)
