"""What a query needs of a release's rows: the value between reading the query and writing the SQL that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.buckets import Bucket
from sqlanon.query.boxes.runs import Runs
from sqlanon.query.logic.formula import Formula
from sqlanon.query.rewrite.row_expressions import RowExpression
from sqlanon.query.sql.sqltree import TRUE, Tree
from sqlanon.query.where.predicates import Tests


@dataclass(frozen=True)
class Aggregate:
    """One aggregate of the query.

    Attributes:
        id: its number.
        kind: rows (COUNT(*)), count, distinct, sum, avg, min, max, ratio, quantile or native; unsure: 1 where a row may
            qualify and need not; error: by how much the sum or average of ``of`` may differ from the source's, which
            adds up in another order.
        condition: the number of its condition.
        term: the exact argument, a column of the rows; None for a box and for rows.
        box: the boxed argument.
        value: the argument that is calculated of boxes.
        type: of its value in the source, for averages and where it is calculated with.
        argument: the type of its argument, as above.
        of: sum or avg, for an error.
        known: of an average of exact values: it is known of every row whether it qualifies.
        ratio: of which two aggregates, for a ratio.
        at: of a quantile, the share of rows below it; ``between``: it may lie between two values.
        native: what the engine calculates itself of exact values of rows that are known.
        second: the second exact argument of such a one.
    """

    id: int
    kind: str
    condition: int
    term: str | None = None
    box: Box | None = None
    value: RowExpression | None = None
    type: exp.DataType | None = None
    argument: exp.DataType | None = None
    of: str = ""
    known: bool = False
    ratio: Ratio | None = None
    at: Fraction | None = None
    between: bool = False
    native: Tree | None = None
    second: str | None = None

    @property
    def terms(self) -> tuple[str, ...]:
        """Its exact arguments."""
        return tuple(one for one in (self.term, self.second) if one is not None)

    @property
    def parts(self) -> tuple[Aggregate, ...]:
        """Itself, or the aggregates that a ratio takes of each row."""
        if self.ratio is None:
            return (self,)
        pairs = (pair for pair in (self.ratio.both, self.ratio.first, self.ratio.second) if pair is not None)
        return tuple(part for pair in pairs for part in pair if part is not None)

    @property
    def of_boxes(self) -> bool:
        """Whether its argument lies between ends."""
        return self.box is not None or self.value is not None

    @property
    def tight(self) -> bool:
        """Whether its ends are reached, as far as those of its argument and the conditions go."""
        rough = self.between or (self.kind == "distinct" and self.box is not None)
        return not rough and (self.value is None or self.value.exact_ends)

    @property
    def undefined(self) -> bool:
        """Whether it is NULL over no rows."""
        return self.kind not in ("rows", "count", "distinct", "error", "unsure")


Pair = tuple[Aggregate | None, Aggregate | None]


@dataclass(frozen=True)
class Ratio:
    """One aggregate divided by another.

    Attributes:
        factor: a number above 0 that the first is multiplied by.
        both: the two, of a row that meets both conditions.
        first, second: the one, of a row that meets its condition alone; None: there is no such row.
        some: the number of the condition that one of the two is met.
    """

    factor: Tree
    both: Pair
    first: Pair | None
    second: Pair | None
    some: int


@dataclass(frozen=True)
class Check:
    """A query is refused if this is so of some group of its answer: the piece, and why."""

    tree: Tree
    node: Tree
    reason: str


@dataclass(frozen=True)
class Spread:
    """A box that GROUP BY spreads over its values.

    Attributes:
        key: the expression over the value.
        inside: the number of the test that holds within one group.
        bucket: the steps or runs that it is spread in; None: value by value.
    """

    key: Tree
    inside: int
    bucket: Bucket | Runs | None = None


@dataclass(frozen=True)
class Quad:
    """Estimate, low, high, and 1 where it may be undefined; ``tight``: as tight as the aggregates in it."""

    estimate: Tree
    low: Tree
    high: Tree
    undefined: Tree
    tight: bool = True


@dataclass(frozen=True)
class Sorting:
    """A term that a window is ordered by.

    Attributes:
        term: its estimate, with the direction.
        ends: its ends; None: it is the same in every source.
    """

    term: exp.Ordered
    ends: Quad | None = None

    @property
    def falls(self) -> bool:
        """Whether large values come first."""
        return bool(self.term.args.get("desc"))


@dataclass(frozen=True)
class Frame:
    """Which groups a window function takes, by their places in the order of its window.

    Attributes:
        before, after: how many groups before and after the row's own; None: all of them.
        offset: of LAG (below 0) and LEAD how many places the one group is away; None: other functions.
        default: what LAG and LEAD give where there is no such group; None: NULL.
        edge: ``first`` or ``last``, where one end of the frame alone counts; None: other functions.
        type: of a mean in the source.
    """

    before: int | None = 0
    after: int | None = 0
    offset: int | None = None
    default: Tree | None = None
    edge: str | None = None
    type: exp.DataType | None = None

    @property
    def picks(self) -> bool:
        """Whether it takes the value of one group."""
        return self.offset is not None or self.edge is not None


@dataclass(frozen=True)
class Over:
    """A window function over the groups.

    Attributes:
        id: its number.
        kind: one of the ranks, count, sum, min, max, avg, or place: the value of one group.
        partition, order: as written, over the keys and the columns of the aggregates.
        value: what is added up of each group; ``nothing``: when that is NULL in every source.
        whole: the aggregate that has the same value over the rows of a whole partition, and its keys; None: there is
            none.
        frame: which groups it takes, where that is not the whole partition or all up to the row's own.
        parts: of NTILE, into how many the groups are divided.
    """

    id: int
    kind: str
    partition: tuple[Tree, ...]
    order: tuple[Sorting, ...]
    value: Quad | None
    nothing: Tree
    whole: tuple[Tree, tuple[Tree, ...]] | None = None
    frame: Frame | None = None
    parts: int | None = None


@dataclass(frozen=True)
class Outputs:
    """What the query shows of its groups, over the columns of the aggregates and the keys ``g0``, ``g1``, ...

    Attributes:
        items: output name, and its value with bounds, or its exact value.
        having: whether the estimates pass; TRUE without a HAVING.
        sure: whether the group passes in every consistent source; ``may``: whether it does in some.
        order: the terms of ORDER BY.
        settled: whether the terms of ORDER BY have one value in every consistent source.
        qualify: whether the estimates pass QUALIFY, ``qualified``: whether the group passes in every consistent source.
        types: of the items in the source, where they are asked for.
        windows: the window functions in it.
    """

    items: tuple[tuple[str, Tree | Quad], ...]
    having: Tree
    sure: Tree
    may: Tree
    order: tuple[exp.Ordered, ...]
    settled: Tree
    qualify: Tree = TRUE
    qualified: Tree = TRUE
    types: tuple[exp.DataType, ...] = ()
    windows: tuple[Over, ...] = ()


@dataclass(frozen=True)
class GroupAggregate:
    """One aggregate of groups.

    Attributes:
        id: its number.
        kind: rows, count, sum, avg, min or max.
        node: as it was written, bound, without its FILTER.
        value: what each group gives; None: the group itself.
        nothing: when that is NULL in every source.
        sure, may: whether a group passes the FILTER in every source, in some; ``shown``: whether its estimate does.
        filtered: whether it has a FILTER.
        type: of an average in the source.
    """

    id: int
    kind: str
    node: exp.Expr
    value: Quad | None
    nothing: Tree
    sure: Tree
    may: Tree
    shown: Tree
    filtered: bool
    type: exp.DataType | None


@dataclass(frozen=True)
class Regroup:
    """What groups of groups need of the groups.

    Attributes:
        keys: the terms that they are grouped by, over the keys of the groups.
        written: the same, bound.
        having, sure, may: whether a group passes HAVING and QUALIFY of the groups: by its estimate, in every source, in
            some.
        has_having: whether there is one of them.
        aggregates: the aggregates of the groups.
        checks: what refuses the query, over the groups.
        groups: their HAVING and window functions.
        first: of the first groups alone: how many, and what they have most of; None: of others as well.
    """

    keys: tuple[Tree, ...]
    written: tuple[Tree, ...]
    having: Tree
    sure: Tree
    may: Tree
    has_having: bool
    aggregates: tuple[GroupAggregate, ...]
    checks: tuple[Check, ...]
    groups: Outputs
    first: tuple[int, Tree | None] | None = None


@dataclass(frozen=True)
class QueryPlan:
    """What a query needs of the rows.

    Attributes:
        conditions: the formula of WHERE, then those of every FILTER with it; each within one group of GROUP BY.
        tests: the tests of the formulas.
        terms: exact expressions, by the columns that the rows hold them in.
        keys: the terms of GROUP BY, as trees over the rows.
        spread: the boxes that GROUP BY spreads, by id.
        raw: exact terms that the rows must hold value by value.
        partial: exact terms of which counts and ends are enough, and sums of those in ``summed``.
        values: ids of boxes that are aggregated themselves.
        means: ids of boxes whose published means count.
        aggregates: by their numbers.
        present: counts the rows of a group; None without GROUP BY, where there is always one group.
        outputs: what becomes of them.
        checks: what refuses the query.
        filters: where rows are counted only, the formula of each condition but WHERE's; each is then taken as if it
            were asked alone.
        direct: the items that are an aggregate and nothing else, and its number.
        regroup: how the groups are grouped again; None: they are not. Then ``outputs`` are of the groups of groups.
    """

    conditions: tuple[Formula, ...]
    tests: Tests
    terms: Mapping[str, Tree]
    keys: tuple[Tree, ...]
    spread: Mapping[str, Spread]
    raw: frozenset[str]
    partial: frozenset[str]
    summed: frozenset[str]
    values: frozenset[str]
    means: frozenset[str]
    aggregates: tuple[Aggregate, ...]
    present: Aggregate | None
    outputs: Outputs
    checks: tuple[Check, ...] = ()
    filters: tuple[Formula, ...] = ()
    direct: Mapping[str, int] = field(default_factory=dict)
    regroup: Regroup | None = None

    @property
    def ordered(self) -> frozenset[str]:
        """Exact terms whose values are compared or added up, and not only counted: booleans have no order."""
        parts = (a for whole in self.aggregates for a in whole.parts)
        return frozenset(term for a in parts if a.kind not in ("rows", "count") for term in a.terms)
