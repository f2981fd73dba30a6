"""Conditions on columns with intervals of numbers as groups: each becomes a list of groups, or is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from sqlanon.noisy.levels import Dimension, decimal_text
from sqlanon.query.functions.comparisons import MIRROR, SIGNS
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import Tree, column, string

Ends = Sequence[Fraction]


def list_groups(text: str, tree: Tree, bins: Mapping[str, tuple[Dimension, bool]], alias: str) -> Tree:
    """A condition in which every comparison of a column with a number asks for groups that lie inside as a whole.

    Args:
        text: the query, for messages.
        tree: a bound expression.
        bins: for each column with intervals as groups, the groups, and whether the column has whole numbers.
        alias: the table with the groups as text in columns ``_bin_<name>``.

    Raises:
        RefusedQueryError: a comparison divides a group, or the column is asked otherwise.
    """

    def change(node: exp.Expr) -> exp.Expr:
        column_node = _column_of(node, bins)
        if column_node is None:
            return node
        dimension, whole = bins[column_node.name]
        inside = _inside(node, column_node, dimension, whole=whole)
        if inside is None:
            ends = ", ".join(map(decimal_text, dimension.ends))
            refuse(
                text,
                None,
                f"column {dimension.name} is published in groups with the ends {ends}: compare it with these alone, as "
                f"in {dimension.name} < {decimal_text(dimension.ends[-1])}",
            )
        bin_column = column(f"_bin_{dimension.name}", alias)
        return exp.In(this=bin_column, expressions=[string(leaf) for leaf in inside]) if inside else exp.false()

    return tree.copy().transform(change, copy=False)


def _column_of(node: exp.Expr, bins: Mapping[str, object]) -> exp.Column | None:
    """The column of intervals that a condition asks; None: it asks none, or another node is the condition."""
    if not isinstance(node, exp.Between | exp.In) and type(node) not in MIRROR:
        return None
    sides = [node.this, node.args.get("expression")]
    for side in sides:
        plain = side.unnest() if isinstance(side, exp.Expr) else None
        if isinstance(plain, exp.Column) and plain.name in bins:
            return plain
    return None


def _inside(node: exp.Expr, column: exp.Column, dimension: Dimension, *, whole: bool) -> list[str] | None:
    """The groups with all numbers satisfying the condition; None: it divides a group, or compares no numbers."""
    parts: list[list[tuple[str, exp.Expr]]]
    if isinstance(node, exp.Between):
        parts = [[(">=", node.args["low"]), ("<=", node.args["high"])]]
    elif isinstance(node, exp.In):
        if node.args.get("query") is not None or not node.expressions:
            return None
        parts = [[("=", expression)] for expression in node.expressions]
    elif node.this.unnest() is column:
        parts = [[(SIGNS[type(node)], node.expression)]]
    else:
        parts = [[(SIGNS[MIRROR[type(node)]], node.this)]]
    places: set[int] = set()
    for part in parts:
        groups = [_satisfy(sign, _number(tree), dimension.ends, whole=whole) for sign, tree in part]
        if any(group is None for group in groups):
            return None
        places |= set.intersection(*(group for group in groups if group is not None))
    return [dimension.leaves[place] for place in sorted(places)]


def _satisfy(sign: str, bound: Fraction | None, ends: Ends, *, whole: bool) -> set[int] | None:
    """The intervals that satisfy a comparison; None: the comparison divides an interval."""
    if bound is None:
        return None
    places = range(len(ends) - 1)
    if sign in ("=", "<>"):
        if not whole:
            return None
        if bound.denominator != 1:
            return set() if sign == "=" else set(places)
        below = _satisfy("<", bound, ends, whole=True)
        above = _satisfy(">", bound, ends, whole=True)
        if below is None or above is None:
            return None
        return below | above if sign == "<>" else set(places) - below - above
    # All four compare with a single cut: the numbers below it are on one side, it and those above on the other.
    cut = bound
    if sign in ("<=", ">"):
        if not whole:
            return None
        cut = Fraction(math.floor(bound) + 1)
    elif whole:
        cut = Fraction(math.ceil(bound))
    group_ends = [Fraction(math.ceil(end)) for end in ends] if whole else list(ends)
    if any(low < cut < high for low, high in itertools.pairwise(group_ends)):
        return None
    below_cut = {place for place in places if group_ends[place] < cut}
    return below_cut if sign in ("<", "<=") else set(places) - below_cut


def _number(tree: exp.Expr) -> Fraction | None:
    """A constant of a query; None: it is none."""
    plain = tree.unnest()
    if isinstance(plain, exp.Neg):
        inner = _number(plain.this)
        return None if inner is None else -inner
    if isinstance(plain, exp.Literal) and not plain.is_string:
        try:
            return Fraction(str(plain.this))
        except ValueError:
            return None
    return None


def list_names_left(trees: Iterable[Tree], bins: Mapping[str, object]) -> list[str]:
    """Columns of intervals that are still read by their values."""
    return [node.name for tree in trees for node in tree.find_all(exp.Column) if node.name in bins]
