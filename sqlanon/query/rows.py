"""The rewritten rows: distinct boxes with counts, the lookups of listed boxes, and what each condition says of every row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.query.boxes import VIEW, Box
from sqlanon.query.formula import Compiler, Domain, Formula, Triple, both, tests_in
from sqlanon.query.intervals import Interval
from sqlanon.query.members import MOST_GROUPS, Contained, Lookup, Test, constants_of, outcomes, steps
from sqlanon.query.predicates import Tests
from sqlanon.query.refuse import refuse
from sqlanon.query.scope import Scope
from sqlanon.query.terms import Tree, column, sql, string, table_of

ROWS, BOXES, FOUND = "_rows", "_boxes", "_found"


@dataclass
class Wanted:
    """What the rest of the query needs of the rows.

    Attributes:
        keys: the expressions of GROUP BY: exact ones, as columns of the rows.
        spread: boxes that GROUP BY spreads: the box's id, and the expression over its value.
        raw: exact terms that must stand in the rows value by value.
        partial: exact terms of which sums and counts are enough.
        values: boxes that are aggregated themselves.
        means: boxes whose published means count.
    """

    spread: dict[str, Tree] = field(default_factory=dict)
    raw: set[str] = field(default_factory=set)
    partial: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    means: set[str] = field(default_factory=set)


class Rows:
    """Builds the first tables of the rewritten query.

    Args:
        scope: the names; every expression is bound already.
        tests: the tests.
        conditions: the formula of WHERE, then those of every FILTER with it.
        wanted: see `Wanted`.
    """

    def __init__(self, scope: Scope, tests: Tests, conditions: Sequence[Formula], wanted: Wanted) -> None:
        self.scope, self.tests, self.wanted = scope, tests, wanted
        self.ctes: list[tuple[str, exp.Expr]] = []
        self.tight = not tests.relaxed and scope.released.format != "anatomy"
        self._inside = {box: tests.fresh() for box in wanted.spread}
        self.conditions = [both([formula, *self._inside.values()]) for formula in conditions]
        self._exact = {number: scope.term(tree) for number, tree in tests.exact.items()}
        used = frozenset().union(*(tests_in(formula) for formula in self.conditions))
        self._used = [test for number, test in tests.boxed.items() if number in used]
        self.domains: dict[str, Domain] = {}
        self._of: dict[str, list[Domain]] = {}
        boxed: dict[int, str] = {number: box for box, number in self._inside.items()}
        for box in scope.boxes.values():
            own = [test for test in self._used if test.box == box.id]
            # A value of a box that is not known may pass any predicates but not any set of them.
            self.tight &= box.state is None or box.shape == "interval" or _simple(own)
            apart = tests.relaxed or (box.shape != "interval" and outcomes(box, own) is None)
            if apart and box.id not in wanted.spread and len(own) > 1:
                self.tight = False
                for test in own:
                    name = f"{box.id} {test.id}"
                    self.domains[name] = self._domain(box, [test], str(test.id))
                    boxed[test.id] = name
                    self._of.setdefault(box.id, []).append(self.domains[name])
                own = []
            boxed |= {test.id: box.id for test in own}
            self.domains[box.id] = self._domain(box, own, "")
            self._of.setdefault(box.id, []).append(self.domains[box.id])
        self.compiler = Compiler(self._exact, boxed, self.domains, tests.loose, relaxed=tests.relaxed)
        spread = [d for d in self.domains.values() if isinstance(d, Lookup) and d.key is not None]
        # Of a box that is not known, no more is decided within a group of several values than that it may be.
        self.tight &= all(domain.box.state is None or _whole(domain) for domain in spread)
        self.triples: list[Triple] = [self.compiler.triple(formula) for formula in self.conditions]

    @property
    def grouped(self) -> bool:
        """Whether rows are brought down to distinct boxes with counts before anything else."""
        return bool(self.wanted.means) or any(isinstance(domain, Lookup) for domain in self.domains.values())

    def _domain(self, box: Box, tests: list[Test], suffix: str) -> Domain:
        spread = self._inside.get(box.id)
        values = box.id in self.wanted.values
        if spread is None and box.shape == "interval":
            told = box if box.id in self.wanted.means else replace(box, mean=None)
            return Interval(told, [c for test in tests if (c := test.comparison) is not None], "")
        if spread is None and box.shape == "set" and _simple(tests):
            return Contained(box, tests, "", suffix)
        ways = outcomes(box, tests)
        if ways is None:
            refuse(
                self.scope.text, None,
                f"column {box.field.name} is compared in more than {MOST_GROUPS} ways at once; ask fewer questions of it",
            )  # fmt: skip
        return Lookup(
            box, ways, tests, "", spread, self.wanted.spread.get(box.id), values=values, suffix=suffix
        )

    def tables(self) -> list[tuple[str, exp.Expr]]:
        """The tables up to ``_found``: a row a distinct box, with a column each for what every condition says of it."""
        first = self._first()
        lookups = [domain for domain in self.domains.values() if isinstance(domain, Lookup)]
        made: list[tuple[str, exp.Expr]] = [(ROWS, first)]
        joined = exp.Select().select(sql("r.*")).from_(exp.to_table(ROWS).as_("r"))
        for lookup in lookups:
            name, members = f"_lookup_{lookup.name}", f"_values_{lookup.name}"
            made.append((members, self._members(lookup)))
            made.append((name, lookup.table(members, whole=_whole(lookup))))
            joined = joined.select(*(column(c, name) for c in lookup.given))
            pairs = exp.and_(*(exp.EQ(this=column(c, name), expression=column(c, "r")) for c in lookup.keys))
            joined = joined.join(
                exp.to_table(name), on=pairs, join_type="" if lookup.key is not None else "left"
            )
        if lookups:
            made.append((BOXES, joined))
        return made

    @property
    def last(self) -> str:
        """The table that `tables` ends with."""
        return BOXES if any(isinstance(domain, Lookup) for domain in self.domains.values()) else ROWS

    def _first(self) -> exp.Select:
        """Boxes, exact terms and counts, from the view."""
        scope, wanted = self.scope, self.wanted
        told: dict[str, Tree] = {}
        for box in scope.boxes.values():
            keyed = self._keyed(box)
            for domain in self._of[box.id]:
                told |= domain.columns()
            if keyed:
                plain = constants_of(box)
                told |= {
                    f"{box.id}_{part}": sql(
                        "COALESCE(:x, :c)", x=tree, c=plain.get(part, self._no_members(box))
                    )
                    for part, tree in box.parts.items()
                }
            if box.state is not None:
                told[f"{box.id}_state"] = box.state
                if keyed and box.point is not None:
                    told[f"{box.id}_state"] = sql(
                        "CASE WHEN :x IS NULL THEN 'all' ELSE 'none' END", x=box.point
                    )
            if box.id in wanted.means and box.mean is not None:
                told[f"{box.id}_mean"] = box.mean
        chosen: list[Tree] = [exp.alias_(tree.copy(), name, quoted=True) for name, tree in told.items()]
        partial = []
        for name, tree in scope.terms.values():
            if name in wanted.partial and name not in wanted.raw and not self._is_test(name):
                partial.append((name, tree))
            else:
                chosen.append(exp.alias_(tree.copy(), name, quoted=True))
        if wanted.means:
            chosen += [
                exp.alias_(column(c, VIEW), f"c{i}", quoted=True)
                for i, c in enumerate(self._class_columns(), 1)
            ]
        made = exp.Select().select(*chosen).from_(exp.to_table("x").as_(VIEW))
        made.args["from_"].this.replace(table_of(scope.released.view.ref, VIEW))
        for join in scope.joins:
            made = made.join(join.copy())
        if self.grouped:
            made = made.select(exp.alias_(sql("COUNT(*)"), "n", quoted=True))
            for name, tree in partial:
                made = made.select(
                    *(exp.alias_(t, f"{name}_{end}", quoted=True) for end, t in _sums(tree).items())
                )
            if chosen:
                made = made.group_by(*(exp.Literal.number(i + 1) for i in range(len(chosen))))
        else:
            made = made.select(exp.alias_(exp.Literal.number(1), "n", quoted=True))
            made = made.select(*(exp.alias_(tree.copy(), name, quoted=True) for name, tree in partial))
        if not wanted.means:
            where = self._needed()
            made = made.where(*where) if where else made
        return made

    def _keyed(self, box: Box) -> bool:
        """Whether its keys must not be NULL: GROUP BY spreads it, and it may hold NULL."""
        domain = self.domains[box.id]
        return isinstance(domain, Lookup) and domain.key is not None and box.state is not None

    def _needed(self) -> list[Tree]:
        """Exact tests that every row has to pass: they shrink the rows before the grouping."""
        formula = self.conditions[0]
        parts = formula[1] if isinstance(formula, tuple) and formula[0] == "and" else [formula]
        return [
            self.tests.exact[p]
            for p in sorted(p for p in parts if isinstance(p, int) and not isinstance(p, bool))
            if p in self.tests.exact
        ]

    def _is_test(self, name: str) -> bool:
        return any(tree.name == name for tree in self._exact.values())

    def _class_columns(self) -> list[str]:
        return [c for own in self.scope.released.fields if own.role == "quasi" for c in own.published]

    def _no_members(self, box: Box) -> Tree:
        if "set" not in box.parts or box.state is None:
            return exp.null()
        return sql("CAST([] AS TEXT[])")

    def _members(self, lookup: Lookup) -> exp.Expr:
        """Every distinct box, unrolled into its values ``v`` of weight ``w``."""
        box = lookup.box
        made = self._unrolled(box)
        if lookup.key is None or box.state is None:
            return made
        keys = [f"{box.id}_{part}" for part in box.parts]
        if box.point is not None:
            return self._points(box, keys)
        plain = constants_of(box)
        empty = [
            exp.alias_(plain.get(part, self._no_members(box)), f"{box.id}_{part}", quoted=True)
            for part in box.parts
        ]
        name = f"{box.id}_state"
        known = made.select(exp.alias_(string("none"), name, quoted=True))
        listed = exp.Select().select(column("v", "g")).distinct().from_(made.copy().subquery("g"))
        unknown = (
            exp.Select()
            .select(
                *empty,
                exp.alias_(column("v", "d"), "v", quoted=True),
                sql("1 AS w"),
                sql("TRUE AS u"),
                column("state", "t").as_(name, quoted=True),
            )
            .from_(listed.subquery("d"))
            .join(
                exp.select("*")
                .from_(sql("(SELECT 'some' AS state UNION ALL SELECT 'any' AS state)"))
                .subquery("t"),
                join_type="cross",
            )
        )
        null = (
            exp.Select()
            .select(
                *(tree.copy() for tree in empty),
                exp.null().as_("v", quoted=True),
                sql("1 AS w"),
                sql("t.state = 'some' AS u"),
                column("state", "t").as_(name, quoted=True),
            )
            .from_(
                exp.select("*")
                .from_(sql("(SELECT 'some' AS state UNION ALL SELECT 'all' AS state)"))
                .subquery("t")
            )
        )
        return known.union(unknown, distinct=False).union(null, distinct=False)

    def _points(self, box: Box, keys: list[str]) -> exp.Expr:
        """Format points: a row may have any value that is printed, and the estimate takes the one that is shown."""
        name = f"{box.id}_state"
        value = {"lo": f"{box.id}_lo", "set": f"{box.id}_set", "node": f"{box.id}_node"}[
            next(iter(box.parts))
        ]
        shown: Tree = column(value, "k")
        shown = sql(":s[1]", s=shown) if "set" in box.parts else shown
        own = sql("CASE WHEN :n = 'none' THEN :v END", n=column(name, "k"), v=shown)
        points = exp.Select().select(*(column(key, "k") for key in [*keys, name]), exp.alias_(own, "v", quoted=True)).distinct().from_(
            exp.to_table(ROWS).as_("k"))  # fmt: skip
        return exp.Select().select(
            *(column(key, "p") for key in [*keys, name]), exp.alias_(column("v", "o"), "v", quoted=True),
            sql("CASE WHEN p.v IS NOT DISTINCT FROM o.v THEN 1 ELSE 0 END AS w"), sql("TRUE AS u"),
        ).from_(points.subquery("p")).join(points.copy().subquery("o"), join_type="cross")  # fmt: skip

    def _unrolled(self, box: Box) -> exp.Select:
        keys = {part: f"{box.id}_{part}" for part in box.parts}
        rest = [sql("1 AS w"), sql("FALSE AS u")]
        if box.shape == "group":
            view = self.scope.released.sensitive
            assert view is not None
            return exp.Select().select(
                column(self.scope.released.group or "", "s").as_(keys["group"], quoted=True),
                column(box.field.name, "s").as_("v", quoted=True), exp.alias_(column("count", "s"), "w", quoted=True), rest[1],
            ).from_(table_of(view.ref, "s"))  # fmt: skip
        if box.shape in ("node", "order"):
            leaves = _values("d", ("i", "v"), enumerate(box.values))
            value = self._typed(box, column("v", "d"))
            if box.shape == "node":
                nodes = _values("n", ("label", "low", "high"), box.nodes)
                return exp.Select().select(column("label", "n").as_(keys["node"], quoted=True), value.as_("v", quoted=True), *rest).from_(
                    nodes).join(leaves, on=sql("d.i BETWEEN n.low AND n.high"))  # fmt: skip
            low, high = (_values(name, ("i", "v"), enumerate(box.values)) for name in ("a", "b"))
            ends = [
                self._typed(box, column("v", name)).as_(keys[part], quoted=True)
                for name, part in (("a", "lo"), ("b", "hi"))
            ]
            return exp.Select().select(*ends, value.as_("v", quoted=True), *rest).from_(low).join(high, on=sql("a.i <= b.i")).join(
                leaves, on=sql("d.i BETWEEN a.i AND b.i"))  # fmt: skip
        distinct = (
            exp.Select()
            .select(*(column(key, "k") for key in keys.values()))
            .distinct()
            .from_(exp.to_table(ROWS).as_("k"))
        )
        if box.state is not None and box.point is None:
            distinct = distinct.where(sql(":s = 'none'", s=column(f"{box.id}_state", "k")))
        kept = [column(key, "k") for key in keys.values()]
        if box.shape == "set":
            value = exp.Unnest(expressions=[column(keys["set"], "k")])
            return (
                exp.Select()
                .select(*kept, exp.alias_(value, "v", quoted=True), *rest)
                .from_(distinct.subquery("k"))
            )
        first, last, value = steps(box, column(keys["lo"], "k"), column(keys["hi"], "k"))
        series = sql("SELECT 1 FROM a CROSS JOIN LATERAL GENERATE_SERIES(:f, :l) AS s(i)", f=first, l=last)
        series.set("expressions", [*kept, exp.alias_(value, "v", quoted=True), *rest])
        series.args["from_"].this.replace(distinct.subquery("k"))
        assert isinstance(series, exp.Select)
        return series

    def _typed(self, box: Box, value: Tree) -> Tree:
        """A declared value, in the source's type."""
        if box.type is not None:
            return exp.cast(value, box.type)
        if box.field.kind in ("text", "enum", "other"):
            return value
        return exp.cast(value, exp.DataType.build(box.field.source_type, dialect=self.scope.engine.dialect))


def _simple(tests: Sequence[Test]) -> bool:
    """Whether the tests ask for constants and NULL only, so that it is known which of them hold together."""
    plain = ("=", "<>", "null", "known")
    return all(test.comparison is not None and test.comparison.op in plain for test in tests)


def _whole(lookup: Lookup) -> bool:
    """GROUP BY asks for the column itself."""
    return lookup.key is not None and isinstance(lookup.key, exp.Column)


def _sums(tree: Tree) -> dict[str, Tree]:
    """What partial sums keep of an exact term."""
    return {
        "n": sql("COUNT(:x)", x=tree), "s": sql("SUM(:x)", x=tree), "neg": sql("SUM(LEAST(:x, 0))", x=tree),
        "pos": sql("SUM(GREATEST(:x, 0))", x=tree), "min": sql("MIN(:x)", x=tree), "max": sql("MAX(:x)", x=tree),
    }  # fmt: skip


def _values(alias: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> exp.Expr:
    tuples = [
        exp.Tuple(
            expressions=[string(v) if isinstance(v, str) else exp.Literal.number(int(str(v))) for v in row]
        )
        for row in rows
    ]
    return exp.Subquery(
        this=exp.Select(expressions=[exp.Star()]).from_(
            exp.Values(expressions=tuples, alias=exp.TableAlias(this=exp.to_identifier(f"{alias}0"), columns=[exp.to_identifier(n) for n in names]))
        ),
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )  # fmt: skip
