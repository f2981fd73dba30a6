"""Estimates and sound bounds of each aggregate, as SQL over the rows that `sqlanon.query.rewrite.box_rows` makes.

Of every row (a box, ``n`` times) each condition says: possible, certain, share. Sums take certain rows whole and uncertain
ones only if they help; AVG adds uncertain values one after the other, the most extreme first, and takes the best average of
all these prefixes: any set of uncertain rows with a better average would lose by what it lacks of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.parse.names import Scope
from sqlanon.query.rewrite.box_rows import FOUND, Rows
from sqlanon.query.rewrite.ordered_aggregates import INFINITE, NAN, Apart, average, distinct, matched, nan_or
from sqlanon.query.rewrite.sqltree import (
    FALSE,
    TRUE,
    ZERO,
    Tree,
    column,
    every,
    greatest,
    indicator,
    least,
    negate,
    plus,
    some,
    sql,
    times,
    when,
)
from sqlanon.query.rewrite.types import is_single, is_whole


@dataclass(frozen=True)
class Aggregate:
    """One aggregate of the query.

    Attributes:
        id: its number.
        kind: rows (COUNT(*)), count, distinct, sum, avg, min or max; error: by how much the sum or average of ``of`` may
            differ from the source's, which adds up in another order.
        condition: the number of its condition.
        term: the exact argument, a column of the rows; None for a box and for rows.
        box: the boxed argument.
        type: of its value in the source, for averages and where it is calculated with.
        argument: the type of its argument, as above.
        of: sum or avg, for an error.
    """

    id: int
    kind: str
    condition: int
    term: str | None = None
    box: Box | None = None
    type: exp.DataType | None = None
    argument: exp.DataType | None = None
    of: str = ""

    @property
    def undefined(self) -> bool:
        """Whether it is NULL over no rows."""
        return self.kind not in ("rows", "count", "distinct", "error")


class Sums:
    """The tables that sum up: one row a group, four columns an aggregate: estimate ``e``, ``l``, ``h``, and ``u``.

    ``u`` is 1 where the aggregate may be NULL.
    """

    def __init__(
        self, scope: Scope, rows: Rows, keys: Sequence[str], aggregates: Sequence[Aggregate]
    ) -> None:
        self._scope, self._rows, self._keys, self._aggregates = scope, rows, list(keys), aggregates
        self._means = bool(rows.wanted.means)

    def tables(self) -> list[tuple[str, exp.Expr]]:
        """``_found`` (rows under their conditions), the parts that need an order of their own, and their union ``_groups``."""
        made: list[tuple[str, exp.Expr]] = [(FOUND, self._found())]
        apart = [
            a for a in self._aggregates if a.kind in ("avg", "distinct") or self._shuffled(a) is not None
        ]
        names = [f"{end}{a.id}" for a in self._aggregates for end in "elhu"]
        main: dict[str, Tree] = {}
        for aggregate in self._aggregates:
            if aggregate not in apart:
                main |= self._plain(aggregate)
        branches = [self._branch(FOUND, main, names, typed=apart)]
        for aggregate in apart:
            steps, own = self._apart(aggregate)
            made += steps
            branches.append(self._branch(steps[-1][0], own, names, typed=()))
        if len(branches) == 1:
            made.append(("_groups", branches[0]))
            return made
        union: exp.Expr = branches[0]
        for branch in branches[1:]:
            union = exp.Union(this=union, expression=branch, distinct=False)
        made.append(("_parts", union))
        merged = exp.Select().select(
            *(column(key) for key in self._keys),
            *(exp.alias_(sql("MAX(:c)", c=column(c)), c, quoted=True) for c in names),
        )
        merged = merged.from_("_parts")
        made.append(
            ("_groups", merged.group_by(*(column(key) for key in self._keys)) if self._keys else merged)
        )
        return made

    def _branch(
        self, table: str, own: dict[str, Tree], names: Sequence[str], typed: Sequence[Aggregate]
    ) -> exp.Select:
        """One part of the union; the first says the types of the columns that it has not."""
        kinds: dict[str, str | exp.DataType] = {}
        for a in typed:
            bound = "BIGINT" if a.kind != "avg" else self._averaged(a)
            kinds |= {
                f"{end}{a.id}": "INT" if end == "u" else bound if end != "e" else "DOUBLE" for end in "elhu"
            }
        chosen: list[Tree] = [column(key) for key in self._keys]
        for name in names:
            tree = own.get(name) or (exp.cast(exp.null(), kinds[name]) if name in kinds else exp.null())
            chosen.append(exp.alias_(tree, name, quoted=True))
        made = exp.Select().select(*chosen).from_(table)
        if not self._keys:
            return made
        first = column("p0")
        made = made.where(first) if table == FOUND else made
        return made.group_by(*(column(key) for key in self._keys))

    def _found(self) -> exp.Select:
        """The rows, with ``p``, ``c`` and ``s`` of every condition and the values of every boxed argument."""
        rows = self._rows
        chosen: list[Tree] = []
        for i, key in enumerate(self._keys):
            chosen.append(exp.alias_(self._key(i), key, quoted=True))
        chosen.append(column("n"))
        chosen += [column(name) for box in self._groups() for name in (f"{box.id}_group", f"{box.id}_size")]
        for i, triple in enumerate(rows.triples):
            chosen += [
                exp.alias_(tree.copy(), f"{end}{i}", quoted=True)
                for end, tree in zip("pcs", (triple.possible, triple.certain, triple.share), strict=True)
            ]
        terms = [term for a in self._aggregates if (term := a.term) is not None]
        for term in dict.fromkeys(terms):
            partial = rows.grouped and term in rows.wanted.partial and term not in rows.wanted.raw
            ends = ("n", "min", "max", *(("s", "neg", "pos") if term in rows.wanted.summed else ()))
            chosen += [column(f"{term}_{end}") for end in ends] if partial else [column(term)]
        done = set()
        for a in self._aggregates:
            if a.box is not None and (a.box.id, a.condition) not in done:
                done.add((a.box.id, a.condition))
                chosen += self._values(a.box, a.condition)
        made = exp.Select().select(*chosen).from_(rows.last)
        if self._means:
            return made
        possible = some(triple.possible for triple in rows.triples)
        return made if possible is TRUE or exp.true() == possible else made.where(possible)

    def _key(self, i: int) -> Tree:
        return self._rows_keys[i].copy()

    def with_keys(self, trees: Sequence[Tree]) -> Sums:
        """Say what the keys are over the rows."""
        self._rows_keys = list(trees)
        return self

    def _values(self, box: Box, i: int) -> list[Tree]:
        """Of a boxed argument under a condition: its ends, its mean times its share, its share, possible, certain, open."""
        parts = self._rows.compiler.by_part(self._rows.conditions[i], box.id)
        known = [(part, triple) for part, triple in parts if part.low is not None]
        ways = [every([part.reach, triple.possible]) for part, triple in known]
        # Certain: the condition holds throughout, and no value is NULL.
        certain = [
            self._rows.triples[i].certain,
            *(negate(part.reach) for part, _ in parts if part.low is None),
        ]
        certain += [negate(part.null) for part, _ in known]
        name = f"{box.id}_{i}"
        # A CASE even where nothing can be: the ends keep their type.
        lows, highs = (
            [
                exp.Case(ifs=[exp.If(this=way.copy(), true=end.copy())])
                for way, (part, _) in zip(ways, known, strict=True)
                if (end := part.low if at == 0 else part.high) is not None
            ]
            for at in (0, 1)
        )
        shares = [times(part.share, triple.share) for part, triple in known]
        valued = [
            (share, part.middle)
            for share, (part, _) in zip(shares, known, strict=True)
            if part.middle is not None
        ]
        middles = [times(share, sql("COALESCE(:m, 0)", m=middle)) for share, middle in valued]
        # What is hidden is taken to be as what is shown: it has no middle, and does not count as 0.
        shown = [
            share if box.state is None else times(share, indicator(sql(":m IS NOT NULL", m=middle)))
            for share, middle in valued
        ]
        found: dict[str, Tree] = {
            "lo": least(lows), "hi": greatest(highs), "e": plus(middles), "w": plus(shares), "k": plus(shown), "p": some(ways),
            "c": every(certain), "o": some(every([way, part.open]) for way, (part, _) in zip(ways, known, strict=True)),
        }  # fmt: skip
        if box.id in self._rows.wanted.means and box.mean is not None:
            classes = [column(f"c{j}") for j in range(1, self._class_count() + 1)]
            group = [*classes, *(tree.copy() for tree in self._rows_keys)]
            mine = when(found["c"], column("n"), exp.Literal.number(0))
            inside_sum = exp.Window(this=sql("SUM(:m)", m=mine), partition_by=group)
            whole = exp.Window(this=sql("SUM(n)"), partition_by=[c.copy() for c in classes])
            full = exp.EQ(this=inside_sum, expression=whole)
            found["mean"] = when(full, column(f"{box.id}_mean"))
        return [exp.alias_(tree.copy(), f"{name}_{end}", quoted=True) for end, tree in found.items()]

    def _class_count(self) -> int:
        return len(self._scope.released.group_columns)

    # --- what one row gives to an aggregate -------------------------------------------------------------------------

    def _row(self, a: Aggregate) -> dict[str, Tree]:
        """Trees over ``_found``, by name.

        possible, certain, count (rows that are not NULL), share; sum (times share), low and high of the sum if the row is
        certain and if it is not; the smallest and largest value; open.
        """
        i = a.condition
        possible, certain, share, n = column(f"p{i}"), column(f"c{i}"), column(f"s{i}"), column("n")
        if a.box is not None:
            name = f"{a.box.id}_{i}"
            low, high = column(f"{name}_lo"), column(f"{name}_hi")
            found = {
                "possible": column(f"{name}_p"), "certain": column(f"{name}_c"), "count": n, "share": column(f"{name}_w"),
                "low": low, "high": high, "open": column(f"{name}_o"), "sum": column(f"{name}_e"), "shown": column(f"{name}_k"),
                "mean": column(f"{name}_mean") if a.box.id in self._rows.wanted.means and a.box.mean is not None else exp.null(),
            }  # fmt: skip
            if a.box.numeric:
                found["s_certain_low"], found["s_certain_high"] = (
                    self._counted(n, found["mean"], end, a.box) for end in (low, high)
                )
                zero = exp.Literal.number(0)
                found["s_neg"] = sql(":n * LEAST(:l, :z)", n=n, l=self._wide(low, a.box), z=zero)
                found["s_pos"] = sql(":n * GREATEST(:h, :z)", n=n, h=self._wide(high, a.box), z=zero)
            return found
        if a.term is None:
            return {"possible": possible, "certain": certain, "count": n, "share": share, "open": FALSE}
        term = a.term
        partial = (
            self._rows.grouped and term in self._rows.wanted.partial and term not in self._rows.wanted.raw
        )
        if partial:
            count, low, high = (column(f"{term}_{end}") for end in ("n", "min", "max"))
            total, neg, pos = (
                column(f"{term}_{end}") if term in self._rows.wanted.summed else exp.null()
                for end in ("s", "neg", "pos")
            )
        else:
            value = column(term)
            count = sql("CASE WHEN :x IS NULL THEN 0 ELSE :n END", x=value, n=n)
            total, low, high = sql(":n * :x", n=n, x=value), value, value
            neg, pos = sql(":n * LEAST(:x, 0)", n=n, x=value), sql(":n * GREATEST(:x, 0)", n=n, x=value)
        some_ = sql(":c > 0", c=count)
        return {
            "possible": every([possible, some_]), "certain": every([certain, some_]), "count": count, "share": share,
            "low": low, "high": high, "open": FALSE,
            "sum": sql(":s * CAST(:x AS DOUBLE)", s=share, x=total), "s_certain_low": total, "s_certain_high": total,
            "s_neg": neg, "s_pos": pos,
        }  # fmt: skip

    def _wide(self, tree: Tree, box: Box) -> Tree:
        """An end as a number whose sums do not overflow."""
        return exp.cast(tree.copy(), "DECIMAL(38, 0)") if box.field.kind == "integer" else tree

    def _counted(self, n: Tree, mean: Tree, end: Tree, box: Box) -> Tree:
        plain = sql(":n * :e", n=n, e=self._wide(end, box))
        if isinstance(mean, exp.Null):
            return plain
        return sql("COALESCE(:n * :m, CAST(:p AS DOUBLE))", n=n, m=mean, p=plain)

    # --- the aggregates that need no order --------------------------------------------------------------------------

    def _plain(self, a: Aggregate) -> dict[str, Tree]:
        row = self._row(a)
        zero = exp.Literal.number(0)
        certain_n = when(row["certain"], row["count"], zero)
        possible_n = when(row["possible"], row["count"], zero)
        if a.kind in ("rows", "count"):
            return {
                f"e{a.id}": sql("COALESCE(SUM(:n * :s), 0.0)", n=row["count"], s=row["share"]),
                f"l{a.id}": sql("COALESCE(SUM(:x), 0)", x=certain_n),
                f"h{a.id}": sql("COALESCE(SUM(:x), 0)", x=possible_n),
                f"u{a.id}": exp.Literal.number(0),
            }
        if a.kind == "error":
            error = self._error(a, row, possible_n)
            return {f"{end}{a.id}": error for end in "elh"} | {f"u{a.id}": exp.Literal.number(0)}
        surely = sql("SUM(:x) > 0", x=certain_n)
        unbounded = sql("BOOL_OR(:o)", o=row["open"]) if row["open"] is not FALSE else FALSE
        maybe = sql("CASE WHEN SUM(:x) > 0 THEN 0 ELSE 1 END", x=certain_n)
        if a.kind == "sum":
            low = sql(
                "SUM(:x)", x=when(row["certain"], row["s_certain_low"], when(row["possible"], row["s_neg"]))
            )
            high = sql(
                "SUM(:x)", x=when(row["certain"], row["s_certain_high"], when(row["possible"], row["s_pos"]))
            )
            # Of uncertain rows alone, at least one must be taken for there to be a sum.
            first = sql("MIN(:x)", x=when(row["possible"], row["low"]))
            last = sql("MAX(:x)", x=when(row["possible"], row["high"]))
            low = sql("CASE WHEN :s OR :f <= 0 THEN :l ELSE :f END", s=surely, f=first, l=low)
            high = sql("CASE WHEN :s OR :f >= 0 THEN :l ELSE :f END", s=surely, f=last, l=high)
            if self._floating(a):
                low, high = self._with_nan(a, row, low, high)
            weight = row["sum"] if a.box is None else sql(":n * :e", n=row["count"], e=row["sum"])
            estimate = sql("SUM(:e)", e=when(row["possible"], weight))
            if a.box is not None and a.box.state is not None:
                both = [
                    sql("SUM(:n * :s)", n=row["count"], s=when(row["possible"], row[s]))
                    for s in ("share", "shown")
                ]
                estimate = sql(":e * :w / NULLIF(:k, 0)", e=estimate, w=both[0], k=both[1])
        else:
            low, high, estimate = self._extremes(a, row, surely)
        none = sql("SUM(:x) > 0", x=possible_n)
        return {
            f"e{a.id}": when(none, estimate),
            f"l{a.id}": when(
                every([none, negate(sql("COALESCE(:u, FALSE)", u=unbounded))])
                if unbounded is not FALSE
                else none,
                low,
            ),
            f"h{a.id}": when(
                every([none, negate(sql("COALESCE(:u, FALSE)", u=unbounded))])
                if unbounded is not FALSE
                else none,
                high,
            ),
            f"u{a.id}": maybe,
        }

    def _error(self, a: Aggregate, row: dict[str, Tree], counted: Tree) -> Tree:
        """By how much two sums (averages) of the same doubles may differ: n times the unit of rounding, times all sizes.

        An average of few whole numbers is one exact division on every engine.
        """
        assert a.argument is not None
        low, high = (exp.cast(row[end].copy(), "DOUBLE") for end in ("low", "high"))
        largest = sql("MAX(:x)", x=when(row["possible"], sql("GREATEST(ABS(:l), ABS(:h))", l=low, h=high)))
        rows = sql("CAST(SUM(:n) AS DOUBLE)", n=counted)
        unit = exp.Literal.number("5e-7" if is_single(a.argument) else "1e-15")
        if a.of == "avg":
            error = sql(":n * :m * :u", n=rows, m=largest, u=unit)
            if is_whole(a.argument) and isinstance(row.get("mean", exp.null()), exp.Null):
                few = sql(":n < 2048 AND :n * :m < 9007199254740992", n=rows, m=largest)
                error = when(few, ZERO, error)
        else:
            sizes = sql(
                ":p - :n",
                p=exp.cast(row["s_pos"].copy(), "DOUBLE"),
                n=exp.cast(row["s_neg"].copy(), "DOUBLE"),
            )
            error = sql("SUM(:x) * :n * :u", x=when(row["possible"], sizes), n=rows, u=unit)
        return sql("COALESCE(:e, 0.0)", e=error)

    def _floating(self, a: Aggregate) -> bool:
        """Whether the argument may be infinite or no number."""
        if a.box is not None:
            return a.box.field.kind == "float"
        tree = next((tree for name, tree in self._scope.terms.values() if name == a.term), None)
        return tree is not None and self._scope.is_floating(tree)

    def _with_nan(self, a: Aggregate, row: dict[str, Tree], low: Tree, high: Tree) -> tuple[Tree, Tree]:
        """The bounds of a sum of floating point values: infinities of both signs add up to NaN, which nothing bounds."""
        ends = [exp.cast(row[end].copy(), "DOUBLE") for end in ("low", "high")]
        least_, most = (
            sql(f"{kind}(:x)", x=when(row["possible"], end))
            for kind, end in zip(("MIN", "MAX"), ends, strict=True)
        )
        maybe = sql(f":m = {NAN} OR (:l = -{INFINITE} AND :m >= {INFINITE})", l=least_, m=most)
        # What is certain of a row: of a box the end on this side, of exact values (many in one row) each of the two.
        up, down = (ends[0], ends[1]) if a.box is not None else (ends[1], ends[0])
        sure = sql(
            f"BOOL_OR(:c AND :u = {NAN}) OR (BOOL_OR(:c AND :u >= {INFINITE}) AND BOOL_OR(:c AND :d = -{INFINITE}))",
            c=row["certain"], u=up, d=down,
        )  # fmt: skip
        return nan_or(sure, maybe, low), nan_or(sure, maybe, high)

    def _extremes(self, a: Aggregate, row: dict[str, Tree], surely: Tree) -> tuple[Tree, Tree, Tree]:
        """MIN and MAX: the end that possible rows reach, and the one that certain rows force."""
        first, last, ours = ("MIN", "MAX", "low") if a.kind == "min" else ("MAX", "MIN", "high")
        theirs = "high" if ours == "low" else "low"
        reached = sql(f"{first}(:x)", x=when(row["possible"], row[ours]))
        # Of exact values that stand together in one row, all are there if the row is certain.
        forced = sql(f"{first}(:x)", x=when(row["certain"], row[theirs if a.box is not None else ours]))
        alone = sql(f"{last}(:x)", x=when(row["possible"], row[theirs]))
        other = when(surely, forced, alone)
        likely = sql(
            f"{first}(:x)", x=when(every([row["possible"], sql(":s >= 0.5", s=row["share"])]), row[ours])
        )
        estimate = sql("COALESCE(:l, :r)", l=likely, r=reached)
        return (reached, other, estimate) if a.kind == "min" else (other, reached, estimate)

    def _apart(self, a: Aggregate) -> Apart:
        keys = [column(key) for key in self._keys]
        if a.kind == "avg":
            return average(a.id, self._row(a), keys, self._averaged(a), floating=self._floating(a))
        if a.kind == "distinct":
            return distinct(a.id, column(a.term or ""), self._row(a), keys)
        box = self._shuffled(a)
        assert box is not None
        return matched(a.id, a.condition, box, keys)

    def _averaged(self, a: Aggregate) -> exp.DataType:
        """What an average is calculated in: published means are doubles."""
        meant = a.box is not None and a.box.id in self._rows.wanted.means
        return exp.DataType.build("DOUBLE") if a.type is None or meant else a.type

    def _groups(self) -> list[Box]:
        """The sensitive column of format anatomy, if the query asks for it."""
        return [box for box in self._scope.boxes.values() if box.shape == "group"]

    def _shuffled(self, a: Aggregate) -> Box | None:
        """The sensitive column, if a count of rows asks one thing of it and another of the exact columns."""
        if a.kind != "rows":
            return None
        formula = self._rows.conditions[a.condition]
        return next((box for box in self._groups() if self._rows.compiler.apart(formula, box.id)), None)
