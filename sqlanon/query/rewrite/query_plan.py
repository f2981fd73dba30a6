"""The plan of a query: the value between reading a query and writing the SQL that answers it."""

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
from sqlanon.query.where.numbered_tests import Tests


@dataclass(frozen=True)
class Aggregate:
    """An aggregate of the query.

    Attributes:
        id: number of the aggregate.
        kind: rows (COUNT(*)), count, distinct, sum, avg, min, max, ratio, quantile or native; unsure: 1 where a row may
            qualify and need not; error: largest difference of the sum or average of ``of`` from the source's, which
            adds up in another order.
        condition: the number of the condition.
        term: the exact argument, a column of the rows; None for a box and for rows.
        box: the boxed argument.
        value: the argument that is calculated from boxes.
        type: type of the value in the source, for averages and in calculations.
        argument: the type of the argument, as above.
        of: sum or avg, for an error.
        known: of an average of exact values: it is known of every row whether it qualifies.
        ratio: the two aggregates of a ratio.
        at: the share of rows below a quantile; ``between``: it may lie between two values.
        native: an aggregate that the engine calculates itself from exact values of known rows.
        second: the second exact argument of such an aggregate.
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
        """The exact arguments."""
        return tuple(term for term in (self.term, self.second) if term is not None)

    @property
    def parts(self) -> tuple[Aggregate, ...]:
        """Itself, or the aggregates that a ratio takes of each row."""
        if self.ratio is None:
            return (self,)
        pairs = (pair for pair in (self.ratio.both, self.ratio.first, self.ratio.second) if pair is not None)
        return tuple(part for pair in pairs for part in pair if part is not None)

    @property
    def of_boxes(self) -> bool:
        """Whether the argument lies between ends."""
        return self.box is not None or self.value is not None

    @property
    def tight(self) -> bool:
        """Whether the ends are reached, if those of the argument and the conditions are."""
        rough = self.between or (self.kind == "distinct" and self.box is not None)
        return not rough and (self.value is None or self.value.exact_ends)

    @property
    def undefined(self) -> bool:
        """Whether it is NULL over no rows."""
        return self.kind not in ("rows", "count", "distinct", "error", "unsure")


Pair = tuple[Aggregate | None, Aggregate | None]


@dataclass(frozen=True)
class Ratio:
    """An aggregate divided by another.

    Attributes:
        factor: a number above 0 that the first is multiplied by.
        both: the two, of a row that meets both conditions.
        first, second: the first or second, of a row that meets that condition alone; None: there is no such row.
        some: the number of the condition that either is met.
    """

    factor: Tree
    both: Pair
    first: Pair | None
    second: Pair | None
    some: int


@dataclass(frozen=True)
class Check:
    """A query is refused if this is so of some group of the answer: the piece, and the reason."""

    tree: Tree
    node: Tree
    reason: str


@dataclass(frozen=True)
class Spread:
    """A box that GROUP BY spreads over values.

    Attributes:
        key: the expression over the value.
        inside: the number of the test that holds within a group.
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
class OrderTerm:
    """A term that a window is ordered by.

    Attributes:
        term: the estimate, with the direction.
        ends: the ends; None: it is the same in every source.
    """

    term: exp.Ordered
    ends: Quad | None = None

    @property
    def falls(self) -> bool:
        """Whether large values come first."""
        return bool(self.term.args.get("desc"))


@dataclass(frozen=True)
class Frame:
    """The groups that a window function takes, by places in the order of the window.

    Attributes:
        before, after: number of groups before and after the row's own; None: all of them.
        offset: distance in places of the group for LAG (below 0) and LEAD; None: other functions.
        default: result of LAG and LEAD where there is no such group; None: NULL.
        edge: ``first`` or ``last``, where a single end of the frame counts; None: other functions.
        type: type of a mean in the source.
    """

    before: int | None = 0
    after: int | None = 0
    offset: int | None = None
    default: Tree | None = None
    edge: str | None = None
    type: exp.DataType | None = None

    @property
    def picks(self) -> bool:
        """Whether it takes the value of a single group."""
        return self.offset is not None or self.edge is not None


@dataclass(frozen=True)
class WindowCall:
    """A window function over the groups.

    Attributes:
        id: number of the window function.
        kind: one of the ranks, count, sum, min, max, avg, or place: the value of a single group.
        partition, order: as written, over the keys and the columns of the aggregates.
        value: the summand of each group; ``nothing``: when that is NULL in every source.
        whole: the aggregate that has the same value over the rows of a whole partition, and its keys; None: there is
            none.
        frame: the groups that it takes, if not the whole partition or all up to the row's own.
        parts: number of parts for NTILE.
    """

    id: int
    kind: str
    partition: tuple[Tree, ...]
    order: tuple[OrderTerm, ...]
    value: Quad | None
    nothing: Tree
    whole: tuple[Tree, tuple[Tree, ...]] | None = None
    frame: Frame | None = None
    parts: int | None = None


@dataclass(frozen=True)
class Outputs:
    """The outputs of the query, over the columns of the aggregates and the keys ``g0``, ``g1``, ...

    Attributes:
        items: output name, and the value with bounds, or the exact value.
        having: whether the estimates pass; TRUE without a HAVING.
        sure: whether the group passes in every consistent source; ``may``: whether it does in some.
        order: the terms of ORDER BY.
        settled: whether the terms of ORDER BY have the same value in every consistent source.
        qualify: whether the estimates pass QUALIFY, ``qualified``: whether the group passes in every consistent source,
            ``qualifiable``: in some.
        types: types of the items in the source, if asked for.
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
    qualifiable: Tree = TRUE
    types: tuple[exp.DataType, ...] = ()
    windows: tuple[WindowCall, ...] = ()


@dataclass(frozen=True)
class GroupAggregate:
    """An aggregate of groups.

    Attributes:
        id: number of the aggregate.
        kind: rows, count, sum, avg, min or max.
        node: as written, bound, without FILTER.
        value: the argument from each group; None: the group itself.
        nothing: condition under which that is NULL in every source.
        sure, may: whether a group passes the FILTER in every source, in some; ``shown``: whether the estimate does.
        filtered: whether it has a FILTER.
        type: type of an average in the source.
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
    """Keys, conditions and aggregates of groups of groups.

    Attributes:
        keys: the terms that they are grouped by, over the keys of the groups.
        written: the same, bound.
        having, sure, may: whether a group passes HAVING and QUALIFY of the groups: by its estimate, in every source, in
            some.
        has_having: whether there is HAVING or QUALIFY.
        aggregates: the aggregates of the groups.
        checks: conditions that refuse the query, over the groups.
        groups: HAVING and window functions of the groups.
        first: number of first groups, and the term that is largest in them; None: not limited to first groups.
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
    """Conditions, terms and aggregates that a query needs of the rows.

    Attributes:
        conditions: the formula of WHERE, then those of every FILTER with it; each within a group of GROUP BY.
        tests: the tests of the formulas.
        terms: exact expressions, by the columns that the rows hold them in.
        keys: the terms of GROUP BY, as trees over the rows.
        spread: the boxes that GROUP BY spreads, by id.
        raw: exact terms that the rows must hold value by value.
        partial: exact terms of which counts and ends are enough, and sums of those in ``summed``.
        values: ids of boxes that are aggregated themselves.
        means: ids of boxes with published means that count.
        aggregates: by their numbers.
        present: counts the rows of a group; None without GROUP BY, where there is always a group.
        outputs: the outputs over the aggregates.
        checks: conditions that refuse the query.
        filters: where rows are counted only, the formula of each condition but WHERE's; each is then taken as if it
            were asked alone.
        direct: the items that are an aggregate and nothing else, and the aggregate's number.
        regroup: the second grouping of groups; None: not grouped again. Otherwise ``outputs`` are of the groups of
            groups.
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
        """Exact terms with values that are compared or added up, and not only counted: booleans have no order."""
        parts = (a for whole in self.aggregates for a in whole.parts)
        return frozenset(term for a in parts if a.kind not in ("rows", "count") for term in a.terms)
