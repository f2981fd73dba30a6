"""Writes the table of box rows: distinct boxes with counts, and the result of each condition for every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.query.boxes.box import VIEW
from sqlanon.query.boxes.class_key import class_key
from sqlanon.query.boxes.range_counts import count_line, select_line, select_lookup
from sqlanon.query.boxes.range_facts import is_line_shorter
from sqlanon.query.boxes.unroll import ROWS, BoxUnroller
from sqlanon.query.logic.class_counter import ClassCounter, Count, Venn
from sqlanon.query.logic.formula import Compiler, Triple, restrict
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.attained_rows import CLASS_ROWS, AttainingRows, find_attaining
from sqlanon.query.rewrite.class_bounds import is_counted, list_held_terms, rough_aggregates, terms_of_counts
from sqlanon.query.rewrite.class_counts import SolvedCounts
from sqlanon.query.rewrite.cut_classes import Results
from sqlanon.query.rewrite.domains import Domains, divide, join_domains, whole
from sqlanon.query.rewrite.kept_rows import find_kept, select_kept
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.rewrite.row_columns import find_listed_sets, list_needed_tests, list_shown_columns, sums_of
from sqlanon.query.rewrite.row_results import RowResults
from sqlanon.query.rewrite.separate_rows import separate
from sqlanon.query.rewrite.settled_classes import settle
from sqlanon.query.rewrite.settled_rows import can_settle, select_settled
from sqlanon.query.sql.sqltree import TRUE, Tree, column, every, is_true, named, select, some, sql, with_columns

BOXES = "_boxes"

Tables = tuple[tuple[str, exp.Expr], ...]
"""Tables of a WITH, in order."""


@dataclass(frozen=True)
class BoxRows:
    """The rows of the rewritten query.

    Attributes:
        tables: the tables that make them.
        last: the name of the last: a row for each distinct box, or box and group of GROUP BY, with ``n`` source rows.
        grouped: boxes are distinct, and partial terms are brought down to counts, ends and sums.
        triples: the result of every condition for a row (certain, possible, share), as trees over the last table.
        compiler: formulas to SQL over the last table and the columns of `written`.
        domains: divisions of the values of each box.
        tight: bounds are reached by some consistent source, but for those of ``rough``, by numbers of aggregates.
        counts: by the number of a condition, the least and largest number of rows of a class that satisfy it; a class
            has `CLASS_ROWS`. None where the attained values of classes are not published, and none for a condition
            that asks exact columns.
        venns: the cells of those conditions of ``counts`` that counts ask, if a solver may narrow their numbers; None:
            they are too many.
        sorts: for each of them the sort of a row (`Count.case`); -1 where the condition is settled.
        solved: results of the solver, by the same numbers.
        matched: by the number of a condition, the least and largest number of rows that satisfy it over all matchings.
        divided: several rows may be of the same class and group: see `classes`.
        class_columns: the columns of a row's class, where each row is of a single class.
        written: the results that are columns, over the last table.
        filtered: the rows are those that may satisfy WHERE, or one of its FILTERs.
        plan: the part of the query for these rows: all of it, or the aggregates that need no separate rows.
        beside: the rows of the other aggregates.
        notes: conditions for which the solver was not used, with reasons.
    """

    tables: Tables
    last: str
    grouped: bool
    triples: tuple[Triple, ...]
    compiler: Compiler
    domains: Domains
    tight: bool
    plan: QueryPlan
    counts: Mapping[int, Count] = field(default_factory=dict)
    venns: Mapping[int, Venn | None] = field(default_factory=dict)
    sorts: Mapping[int, Tree] = field(default_factory=dict)
    solved: Mapping[int, SolvedCounts] = field(default_factory=dict)
    matched: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    divided: bool = False
    rough: frozenset[int] = frozenset()
    class_columns: tuple[Tree, ...] = ()
    written: RowResults = field(default_factory=RowResults)
    filtered: bool = False
    beside: tuple[BoxRows, ...] = ()
    notes: tuple[str, ...] = ()

    def possible(self, condition: int) -> Tree:
        """Whether a row may satisfy a condition: of a class all rows may be known to have other values."""
        is_possible = self.triples[condition].possible
        return every([is_possible, self.attainable(condition)])

    def attainable(self, condition: int) -> Tree:
        """Whether some row of the class may satisfy a condition, by the values that its rows are known to have."""
        return sql(":h > 0", h=self.counts[condition].high) if condition in self.counts else TRUE

    def is_partial(self, term: str, plan: QueryPlan) -> bool:
        """Whether an exact term is held as counts, ends and sums in place of values."""
        return self.grouped and term in plan.partial and term not in plan.raw


def box_rows(scope: Scope, plan: QueryPlan, *, together: bool = False) -> BoxRows:
    """The first tables of the rewritten query, from the view.

    Args:
        scope: the names.
        plan: the plan of the query.
        together: all aggregates are computed from the same rows, else each from the fewest that are enough for it.

    Raises:
        RefusedQueryError: too many predicates over a listed column.
    """
    apart = not together and (plan.spread or find_attaining(scope.released).narrows(scope, plan))
    parts = separate(plan, scope.engine.dialect) if apart else [plan]
    first, *beside = (_make_rows(scope, part) for part in parts)
    rough = first.rough.union(*(part.rough for part in beside))
    return replace(first, beside=tuple(beside), rough=rough, tight=all(part.tight for part in (first, *beside)))


def _make_rows(scope: Scope, plan: QueryPlan) -> BoxRows:
    """The rows of some aggregates."""
    divided = divide(scope, plan)
    domains = join_domains(divided)
    lookups = domains.lookups
    by_class = find_attaining(scope.released).narrows(scope, plan)
    held_names = list_held_terms(plan)
    summed = {name: sums_of(tree, name, plan) for name, tree in plan.terms.items() if name not in held_names}
    kept_rows = find_kept(
        scope,
        plan,
        list_shown_columns(scope, plan, domains),
        summed,
        by_class=by_class,
        listed=find_listed_sets(scope, plan, domains),
    )
    grouped = bool(plan.means) or bool(lookups) or by_class or kept_rows is not None
    compilers = [division.compiler for division in (divided if plan.filters else divided * len(plan.conditions))]
    conditions = list(zip(compilers, plan.conditions, strict=True))
    own_rows = kept_rows is None and by_class and can_settle(scope, plan, domains)
    settled = settle(conditions, plan.tests.exact) if own_rows else None
    row_results = RowResults()
    own_compilers = {
        id(compiler): compiler.keeping(row_results.keep) if settled is None else compiler
        for compiler in (*compilers, domains.compiler)
    }
    attained = find_attaining(scope.released)
    triples, counts = _results(
        plan, [own_compilers[id(compiler)] for compiler in compilers], attained, by_class=by_class
    )
    terms = terms_of_counts(plan) if attained.reached else {}
    hard = [i for i, count in counts.items() if not count.tight and i in terms]
    venns = {i: ClassCounter(compilers[i]).draw_cells(plan.conditions[i]) for i in hard}
    sorts = {i: counts[i].case or exp.Literal.number(0) for i in hard}
    classes = _classes(scope, plan, by_class=by_class)
    class_columns = [f"c{i}" for i, _ in enumerate(classes, 1)]
    wide: list[Triple] = []
    if by_class and not plan.means:
        outer = conditions[:1] if plan.filters else conditions
        any_exact = dict.fromkeys(plan.tests.exact, True)
        wide = [compiler.triple(restrict(formula, any_exact)) for compiler, formula in outer]
    tables: list[tuple[str, exp.Expr]]
    reached = None
    if settled is not None:
        class_columns += settled.names
        plain_results = Results(triples, counts)
        tables, results = select_settled(scope, plan, domains, settled, wide, plain_results, venns.values())
        triples, counts = tuple(map(row_results.keep, results.triples)), dict(results.counts)
        sorts = settled.sort(sorts)
    else:
        if kept_rows is not None:
            first = select_kept(kept_rows, classes, rows=[CLASS_ROWS] if by_class else [])
        else:
            first = _first(scope, plan, domains, grouped=grouped, by_class=by_class)
        reached = _over_view(scope, plan, domains, wide) if wide else None
        first = first.where(reached, copy=False) if reached is not None else first
        tables = [(ROWS, first)]
    if lookups:
        tables += _join_lookups(scope, plan, domains, kept_rows.members if kept_rows is not None else {})
    counts = {
        i: replace(count, low=row_results.column(count.low), high=row_results.column(count.high))
        for i, count in counts.items()
    }
    keys = {key.name for key in plan.keys if isinstance(key, exp.Column)}
    return BoxRows(
        tuple(tables),
        tables[-1][0],
        grouped,
        triples,
        own_compilers[id(domains.compiler)],
        domains,
        domains.tight,
        plan,
        counts,
        venns,
        sorts,
        rough=rough_aggregates(scope, plan, domains, counts),
        divided=by_class and not keys.issuperset(list_held_terms(plan)),
        class_columns=tuple(column(name) for name in class_columns),
        filtered=reached is not None and not plan.tests.exact,
        written=row_results,
    )


def _results(
    plan: QueryPlan, compilers: Sequence[Compiler], attaining: AttainingRows, *, by_class: bool
) -> tuple[tuple[Triple, ...], dict[int, Count]]:
    """The results of the conditions for a row, and how many rows of its class satisfy them."""
    conditions = list(zip(compilers, plan.conditions, strict=True))
    counts = {
        i: ClassCounter(compiler).count_class(formula, column(CLASS_ROWS))
        for i, (compiler, formula) in enumerate(conditions)
        if by_class and is_counted(formula, plan)
    }
    return (
        tuple(compiler.triple(formula) for compiler, formula in conditions),
        {i: replace(count, tight=count.tight and attaining.reached) for i, count in counts.items()},
    )


def _over_view(scope: Scope, plan: QueryPlan, domains: Domains, triples: Sequence[Triple]) -> Tree | None:
    """SQL over the view for rows that may satisfy any of some conditions, so that other classes are not grouped.

    None if a later join decides.
    """
    shown = list_shown_columns(scope, plan, domains)
    reached = some(triple.possible for triple in triples)
    whole = exp.Paren(this=reached.copy())
    if is_true(reached) or any(node.table or node.name not in shown for node in whole.find_all(exp.Column)):
        return None
    return with_columns(reached, lambda column: shown[column.name].copy())


def _join_lookups(
    scope: Scope, plan: QueryPlan, domains: Domains, numbered: Mapping[str, exp.Select]
) -> list[tuple[str, exp.Expr]]:
    """The lookups, and the rows with the columns of each lookup; ``numbered``: see `BoxUnroller`."""
    buckets = {box: spread.bucket for box, spread in plan.spread.items() if spread.bucket is not None}
    unroll = BoxUnroller(scope, domains.tests, buckets, numbered)
    tables: list[tuple[str, exp.Expr]] = []
    expressions: list[Tree] = [sql("r.*")]
    joins = []
    for lookup in domains.lookups:
        name, members = f"_lookup_{lookup.name}", f"_values_{lookup.name}"
        if lookup.key is None:  # the values of a box are the same for every condition
            members = f"_values_{lookup.box.id}"
        along = lookup.plain and is_line_shorter(scope, lookup.box)
        if members not in dict(tables):
            tables.append((members, select_line(lookup.box) if along else unroll.members(lookup)))
        if along:
            tables.append((f"_along_{lookup.name}", count_line(lookup, members)))
        tables.append(
            (
                name,
                select_lookup(lookup, f"_along_{lookup.name}") if along else lookup.table(members, whole=whole(lookup)),
            )
        )
        expressions += [column(c, name) for c in lookup.given]
        pairs = exp.and_(*(exp.EQ(this=column(c, name), expression=column(c, "r")) for c in lookup.keys))
        side = None if lookup.key is not None else "LEFT"
        joins.append(exp.Join(this=exp.to_table(name), on=pairs, side=side))
    joined = select(expressions, exp.to_table(ROWS).as_("r"))
    joined.set("joins", joins)
    return [*tables, (BOXES, joined)]


def _first(scope: Scope, plan: QueryPlan, domains: Domains, *, grouped: bool, by_class: bool) -> exp.Select:
    """Boxes, exact terms and counts, from the view.

    ``by_class``: for each class apart, with the number of rows.
    """
    classes = _classes(scope, plan, by_class=by_class)
    shown = list_shown_columns(scope, plan, domains)
    expressions = [named(tree, name) for name, tree in shown.items()]
    held_names = list_held_terms(plan)
    partial = [(name, tree) for name, tree in plan.terms.items() if name not in held_names]
    expressions += [named(plan.terms[name].copy(), name) for name in held_names]
    expressions += [named(column(c, VIEW), f"c{i}") for i, c in enumerate(classes, 1)]
    # Expressions over the columns of a class have the same value in all rows of the class.
    fixed = {i for i, tree in enumerate(shown.values()) if all(c.name in classes for c in tree.find_all(exp.Column))}
    keys = [exp.Literal.number(i + 1) for i in range(len(expressions)) if i not in fixed] if grouped else []
    if grouped:
        expressions.append(named(sql("COUNT(*)"), "n"))
        if by_class:
            rows = find_attaining(scope.released).members()
            if list_held_terms(plan):  # which divide the rows of a class
                whole = [column(c, VIEW) for c in classes]
                rows = exp.cast(exp.Window(this=sql("SUM(:n)", n=rows), partition_by=whole), "BIGINT")
            expressions.append(named(rows, CLASS_ROWS))
        expressions += [
            named(summed, f"{name}_{end}")
            for name, tree in partial
            for end, summed in sums_of(tree, name, plan).items()
        ]
    else:
        expressions.append(named(exp.Literal.number(1), "n"))
        expressions += [named(tree.copy(), name) for name, tree in partial]
    query = select(
        expressions, scope.view(), where=[] if plan.means or by_class else list_needed_tests(plan), group=keys
    )
    if scope.joins:
        query.set("joins", [join.copy() for join in scope.joins])
    return query


def _classes(scope: Scope, plan: QueryPlan, *, by_class: bool) -> tuple[str, ...]:
    """The columns of the view that identify a class; none where rows are not grouped by class."""
    return class_key(scope) if plan.means or by_class else ()
