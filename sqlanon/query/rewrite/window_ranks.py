"""Bounds of ranks: for each group of an answer, the number of groups that are ahead of it.

The rank of a group is 1 plus the number of groups ahead. The lower bound counts the groups that are in every answer and
ahead in every source, the upper bound those that may be in the answer and are ahead in some source.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqlanon.query.functions import aggregates
from sqlanon.query.rewrite.query_plan import OrderTerm, WindowCall
from sqlanon.query.rewrite.window_functions import MOST_RANKED
from sqlanon.query.sql.sqltree import TRUE, Tree, column, every, make_table, named, negate, select, some, sql, when

MARKED = "_marked"
"""The table of the groups with the terms of windows."""
COUNT_ALL = ("percent_rank", "cume_dist", "ntile")
"""Places that depend on the groups behind, too."""
_NUMBER = exp.Literal.number


def join_left(table: exp.Expr, on: Tree) -> exp.Join:
    """A left join."""
    return exp.Join(this=table, on=on, side="LEFT")


def match_columns(alias: str, first: str, other: str, second: str) -> Tree:
    """Whether two columns are equal, where NULL equals NULL."""
    return exp.NullSafeEQ(this=column(alias, first), expression=column(other, second))


def partition_of(over: WindowCall) -> list[Tree]:
    """The terms by which a window divides the groups."""
    return [column(f"p{over.id}_{i}", "m") for i in range(len(over.partition))]


def count_ahead(over: WindowCall) -> exp.Select:
    """For every group, the number of others in the partition ahead of it: ``low`` in every source, ``high`` in some.

    Where the others count as well, ``rest_low`` and ``rest_high`` are those that are not ahead.
    """
    terms = list(enumerate(over.order))

    def mark(name: str, table: str) -> Tree:
        return column(name, table)

    def is_known(i: int) -> Tree:
        return every(sql(":u = 0", u=mark(f"o{over.id}_{i}u", table)) for table in "om")

    def before(i: int, term: OrderTerm, first: str = "o", second: str = "m") -> Tree:
        if term.ends is None:
            return sql(":a < :b", a=mark(f"o{over.id}_{i}", first), b=mark(f"o{over.id}_{i}", second))
        ends, word = ("lh", ">") if term.falls else ("hl", "<")
        return sql(
            f"COALESCE(:a {word} :b AND :k, FALSE)",
            a=mark(f"o{over.id}_{i}{ends[0]}", first),
            b=mark(f"o{over.id}_{i}{ends[1]}", second),
            k=is_known(i),
        )

    def may_be_before(i: int, term: OrderTerm) -> Tree:
        if term.ends is None:
            return before(i, term)
        ends, word = ("hl", "<=") if term.falls else ("lh", ">=")
        return sql(
            f"NOT COALESCE(:a {word} :b AND :k, FALSE)",
            a=mark(f"o{over.id}_{i}{ends[0]}", "o"),
            b=mark(f"o{over.id}_{i}{ends[1]}", "m"),
            k=is_known(i),
        )

    def same(i: int, term: OrderTerm) -> Tree:
        if term.ends is None:
            return sql(":a = :b", a=mark(f"o{over.id}_{i}", "o"), b=mark(f"o{over.id}_{i}", "m"))
        parts = {f"{table}{end}": mark(f"o{over.id}_{i}{end}", table) for table in "om" for end in "lh"}
        return sql("COALESCE(:ol = :oh AND :ml = :mh AND :ol = :ml AND :k, FALSE)", k=is_known(i), **parts)

    def may_be_same(i: int, term: OrderTerm) -> Tree:
        if term.ends is None:
            return same(i, term)
        return negate(some([before(i, term), before(i, term, "m", "o")]))

    def in_order(tied: Callable[[int, OrderTerm], Tree], ahead: Callable[[int, OrderTerm], Tree]) -> Tree:
        """The first term in which two groups differ decides."""
        return some(every([*(tied(j, other_term) for j, other_term in terms[:i]), ahead(i, term)]) for i, term in terms)

    surely, maybe = in_order(same, before), in_order(may_be_same, may_be_before)
    if over.kind in ("row_number", "ntile", "cume_dist"):  # of groups that are tied any may come first
        maybe = some([maybe, every(may_be_same(i, term) for i, term in terms)])
    if over.kind == "cume_dist":  # and all count
        surely = some([surely, every(same(i, term) for i, term in terms)])
    literal_one, none = _NUMBER(1), exp.null()
    low, high = (
        sql("COUNT(:x)", x=when(every([sql("o.sure"), surely]), literal_one, none)),
        sql("COUNT(:x)", x=when(every([sql("o.may"), maybe]), literal_one, none)),
    )
    if over.kind == "dense_rank":
        low, high = _distinct(over, surely, maybe)
    pairs = [
        sql("o.id <> m.id"),
        *(match_columns(f"p{over.id}_{i}", "o", f"p{over.id}_{i}", "m") for i in range(len(over.partition))),
    ]
    # Too many groups are refused by a check of the answer; they are not compared before.
    other_rows = select([sql("*")], MARKED, where=[sql("(SELECT COUNT(*) FROM _groups) <= :n", n=_NUMBER(MOST_RANKED))])
    rest: list[Tree] = []
    if over.kind in COUNT_ALL:
        behind = {"rest_low": [sql("o.sure"), negate(maybe)], "rest_high": [sql("o.may"), negate(surely)]}
        rest = [
            named(sql("COUNT(:x)", x=when(every(parts), literal_one, none)), name) for name, parts in behind.items()
        ]
    query = select(
        [sql("m.id AS id"), named(low, "low"), named(high, "high"), *rest],
        exp.alias_(make_table(MARKED), "m", table=True),
        group=[sql("m.id")],
    )
    query.set("joins", [join_left(other_rows.subquery("o"), every(pairs))])
    return query


def _distinct(over: WindowCall, surely: Tree, maybe: Tree) -> tuple[Tree, Tree]:
    """Number of values ahead.

    Each exact value counts once; of the others the lower bound counts at least one value, the upper bound each.
    """
    sure, may = every([sql("o.sure"), surely]), every([sql("o.may"), maybe])
    some_sure = sql("MAX(CASE WHEN :x THEN 1 ELSE 0 END)", x=sure)
    if len(over.order) > 1:
        return some_sure, sql("COUNT(CASE WHEN :x THEN 1 END)", x=may)
    name, exact = f"o{over.id}_0", over.order[0].ends is None
    value = column(name if exact else f"{name}l", "o")
    met = (
        TRUE
        if exact
        else sql(
            "COALESCE(:l = :h AND :u = 0, FALSE)",
            l=value,
            h=column(f"{name}h", "o"),
            u=column(f"{name}u", "o"),
        )
    )
    each = "COUNT(DISTINCT CASE WHEN :x THEN :v END)"
    low = sql(f"GREATEST({each}, :s)", x=every([sure, met]), v=value, s=some_sure)
    high = sql(f"{each} + COUNT(CASE WHEN :y THEN 1 END)", x=every([may, met]), v=value, y=every([may, negate(met)]))
    return low, high


def rank_columns(over: WindowCall) -> list[Tree]:
    """The columns of a rank."""
    function = aggregates.rank_of(over.kind, over.parts)
    order = [_order_by_estimate(over, i, term) for i, term in enumerate(over.order)]
    order += [exp.Ordered(this=sql("m.id"))] if over.kind in ("row_number", "ntile") else []
    estimate = exp.Window(
        this=function, partition_by=[sql("m.shown"), *partition_of(over)], order=exp.Order(expressions=order)
    )
    columns = {
        "e": estimate,
        "l": _place_group(over, "low", "rest_high"),
        "h": _place_group(over, "high", "rest_low"),
        "u": sql("CASE WHEN m.sure THEN 0 ELSE 1 END"),
    }
    return [named(tree, f"w{end}{over.id}") for end, tree in columns.items()]


def _place_group(over: WindowCall, ahead: str, rest: str) -> Tree:
    """The place of a group, by how many are ahead of it and how many are not.

    Every place rises with those ahead, and a part of all falls with the rest.
    """
    a, b = (column(name, f"_ahead_{over.id}") for name in (ahead, rest))
    if over.kind == "percent_rank":
        return sql("COALESCE(CAST(:a AS DOUBLE) / NULLIF(:a + :b, 0), 0)", a=a, b=b)
    if over.kind == "cume_dist":
        return sql("CAST(:a + 1 AS DOUBLE) / (:a + :b + 1)", a=a, b=b)
    if over.kind != "ntile":
        return sql("1 + :a", a=a)
    # Of n groups in k parts the first n % k parts have a group more than the others.
    assert over.parts is not None
    count, parts = sql(":a + :b + 1", a=a, b=b), _NUMBER(over.parts)
    each, larger = _quotient(count, parts), sql(":n % :k", n=count, k=parts)
    within = sql(":r * (:q + 1)", r=larger, q=each)
    return when(
        sql(":a < :w", a=a, w=within),
        sql("1 + :x", x=_quotient(a, sql(":q + 1", q=each))),
        sql("1 + :r + :x", r=larger, x=_quotient(sql(":a - :w", a=a, w=within), sql("GREATEST(:q, 1)", q=each))),
    )


def _quotient(number: Tree, by: Tree) -> Tree:
    """The whole quotient of numbers that are not negative; engines divide whole numbers differently."""
    return sql("CAST((:n - :n % :k) / :k AS BIGINT)", n=number, k=by)


def _order_by_estimate(over: WindowCall, i: int, term: OrderTerm) -> exp.Ordered:
    estimated = term.term.copy()
    if term.ends is None:
        return exp.Ordered(this=column(f"o{over.id}_{i}", "m"))
    estimated.set("this", column(f"o{over.id}_{i}e", "m"))
    return estimated
