"""Bounds a share: rows with a property among rows with another, where the first have the second as well.

Of the rows of a class N have both properties, and S the second alone: N + S have the second. Each of the three numbers
has bounds, by the attained values of the class. The share of all classes rises with every N and falls with every S. The
largest N permits the smallest S: N is at most h(N) and at most h(N + S) - l(S), and with that N the smallest S is the
larger of l(S) and l(N + S) - N, which a smaller N does not lower. So the classes reach their parts of the largest share
independently, without a search; the smallest share is the mirror image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.rewrite.class_counts import SolvedCounts, sum_classes
from sqlanon.query.rewrite.ordered_aggregates import Apart
from sqlanon.query.rewrite.query_plan import Ratio
from sqlanon.query.sql.sqltree import Tree, as_type, column, sql, when

Row = Mapping[str, Tree]
_NAMES = ("n", "s", "d")


def is_share(ratio: Ratio) -> bool:
    """Whether it counts rows above and below, and those above are among those below."""
    parts = [part for pair in (ratio.both, ratio.second or ()) for part in pair if part is not None]
    return ratio.first is None and ratio.second is not None and all(a.kind == "rows" for a in parts)


def share(
    number: int,
    factor: Tree,
    rows: tuple[Row, Row, Row],
    keys: Sequence[Tree],
    classes: Sequence[Tree],
    solved: Sequence[SolvedCounts | None] = (None, None, None),
) -> Apart:
    """The columns ``l``, ``h``, ``u`` of a share.

    Args:
        number: number of the aggregate.
        factor: a number above 0 that the share is multiplied by.
        rows: the contribution of a row to the counts N, S, and N + S.
        keys: the groups.
        classes: the columns of a class; empty: each row is a class.
        solved: the solver's results for each of the counts.
    """
    steps: list[tuple[str, exp.Expr]] = []
    ends: dict[str, Tree] = {}
    parts: dict[str, tuple[Row, SolvedCounts | None]] = {}
    for name, row, exact in zip(_NAMES, rows, solved, strict=True):
        zero = exp.Literal.number(0)
        low = row.get("fewest", when(row["certain"], row["count"], zero))
        high = row.get("most", when(row["possible"], row["count"], zero))
        ends |= {f"{name}l": low, f"{name}h": high}
        parts[name] = ({**row, "fewest": low, "most": high}, exact)
    if classes:
        steps = sum_classes(f"_share_{number}", parts, keys, classes)
        ends = {name: column(name) for name in ends}
    most = sql("GREATEST(LEAST(:nh, :dh - :sl), 0)", **_of(ends, "nh", "dh", "sl"))
    least_rest = sql("GREATEST(:sl, :dl - :n, 0)", **_of(ends, "sl", "dl"), n=most)
    least = sql("GREATEST(:nl, :dl - :sh, 0)", **_of(ends, "nl", "dl", "sh"))
    most_rest = sql("GREATEST(LEAST(:sh, :dh - :n), 0)", **_of(ends, "sh", "dh"), n=least)
    there = sql("SUM(:d) > 0", d=ends["dh"])
    # Where no row is sure to be there, those that may be are all of a single kind.
    low, high = (
        when(
            there,
            sql(
                f"COALESCE(:f * CAST(SUM(:n) AS DOUBLE) / NULLIF(CAST(SUM(:n) + SUM(:s) AS DOUBLE), 0), :f * {alone})",
                f=as_type(factor, "DOUBLE"),
                n=above,
                s=rest,
            ),
        )
        for above, rest, alone in ((least, most_rest, 1), (most, least_rest, 0))
    )
    return steps, {
        f"e{number}": sql("CAST(NULL AS DOUBLE)"),
        f"l{number}": low,
        f"h{number}": high,
        f"u{number}": sql("CASE WHEN SUM(:d) > 0 THEN 0 ELSE 1 END", d=ends["dl"]),
    }


def _of(ends: Mapping[str, Tree], *names: str) -> dict[str, Tree]:
    return {name: ends[name] for name in names}
