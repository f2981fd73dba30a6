"""The rewritten rows: distinct boxes with counts, the lookups of listed boxes, and what each condition says of every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.query.boxes.box import VIEW, Box
from sqlanon.query.boxes.interval import Interval
from sqlanon.query.boxes.listed import Lookup
from sqlanon.query.boxes.set_constants import Contained
from sqlanon.query.boxes.steps import Bucket
from sqlanon.query.boxes.unroll import ROWS, Unroll, constants_of, no_members
from sqlanon.query.parse.names import Scope
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.sqltree import Tree, column, sql
from sqlanon.query.where.cases import MOST_GROUPS, Test, outcomes
from sqlanon.query.where.formula import Compiler, Domain, Formula, Triple, both, tests_in
from sqlanon.query.where.predicates import Tests

BOXES, FOUND = "_boxes", "_found"


@dataclass
class Wanted:
    """What the rest of the query needs of the rows.

    Attributes:
        keys: the expressions of GROUP BY: exact ones, as columns of the rows.
        spread: boxes that GROUP BY spreads: the box's id, and the expression over its value.
        buckets: those of them that are spread in steps.
        raw: exact terms that must stand in the rows value by value.
        partial: exact terms of which counts and ends are enough, and sums of those in ``summed``.
        values: boxes that are aggregated themselves.
        means: boxes whose published means count.
    """

    spread: dict[str, Tree] = field(default_factory=dict)
    buckets: dict[str, Bucket] = field(default_factory=dict)
    raw: set[str] = field(default_factory=set)
    partial: set[str] = field(default_factory=set)
    summed: set[str] = field(default_factory=set)
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
        self.tight = not tests.relaxed and not scope.released.form.facts.paired
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
        for triple in tests.loose.values():
            for tree in (triple.possible, triple.certain, triple.share):
                wanted.raw |= {found.name for found in tree.find_all(exp.Column)} & wanted.partial
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
        bucket = self.wanted.buckets.get(box.id)
        # The ends of a bucket are those that its values come near to, not always ones that they have.
        self.tight &= bucket is None or not (values or box.state is not None)
        key = bucket.key if bucket is not None else self.wanted.spread.get(box.id)
        return Lookup(
            box, ways, tests, "", spread, key, values=values, suffix=suffix, bucketed=bucket is not None
        )

    def tables(self) -> list[tuple[str, exp.Expr]]:
        """The tables up to ``_found``: a row a distinct box, with a column each for what every condition says of it."""
        first = self._first()
        lookups = [domain for domain in self.domains.values() if isinstance(domain, Lookup)]
        made: list[tuple[str, exp.Expr]] = [(ROWS, first)]
        unroll = Unroll(self.scope, self._used, self.wanted.buckets)
        joined = exp.Select().select(sql("r.*")).from_(exp.to_table(ROWS).as_("r"))
        for lookup in lookups:
            name, members = f"_lookup_{lookup.name}", f"_values_{lookup.name}"
            made.append((members, unroll.members(lookup)))
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
                    f"{box.id}_{part}": sql("COALESCE(:x, :c)", x=tree, c=plain.get(part, no_members(box)))
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
                for i, c in enumerate(scope.released.group_columns, 1)
            ]
        made = exp.Select().select(*chosen).from_(exp.to_table("x").as_(VIEW))
        made.args["from_"].this.replace(scope.view())
        for join in scope.joins:
            made = made.join(join.copy())
        if self.grouped:
            made = made.select(exp.alias_(sql("COUNT(*)"), "n", quoted=True))
            for name, tree in partial:
                made = made.select(
                    *(
                        exp.alias_(t, f"{name}_{end}", quoted=True)
                        for end, t in _sums(tree, summed=name in wanted.summed).items()
                    )
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


def _simple(tests: Sequence[Test]) -> bool:
    """Whether the tests ask for constants and NULL only, so that it is known which of them hold together."""
    plain = ("=", "<>", "null", "known")
    return all(test.comparison is not None and test.comparison.op in plain for test in tests)


def _whole(lookup: Lookup) -> bool:
    """GROUP BY asks for the column itself."""
    return lookup.key is not None and isinstance(lookup.key, exp.Column) and not lookup.bucketed


def _sums(tree: Tree, *, summed: bool) -> dict[str, Tree]:
    """What is kept of an exact term in place of its values; sums only where they are asked: not all types have them."""
    kept = {"n": sql("COUNT(:x)", x=tree), "min": sql("MIN(:x)", x=tree), "max": sql("MAX(:x)", x=tree)}
    if summed:
        kept |= {
            "s": sql("SUM(:x)", x=tree), "neg": sql("SUM(LEAST(:x, 0))", x=tree), "pos": sql("SUM(GREATEST(:x, 0))", x=tree),
        }  # fmt: skip
    return kept
