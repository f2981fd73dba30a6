"""The bound E of the dual problem: a policy's words as numbers for kernels (Ghinita et al. 2009, section 2.5).

The weighted NCP of a class is compared on integer positions, as every decision is: a class of exactly E is within it,
and none above E + `SLACK` is. With one quasi column, and for E = 0, the comparison is exact; so are extents in a
column's own units. NULL together with values is the whole domain: NCP 1 of that column, and never within an extent.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.bounds import OVER, Bounds
from sqlanon.kernels.extent import ORDERED, SCALE, TREE
from sqlanon.methods.base import Context
from sqlanon.methods.shared.exact_values import Measures, read_measures
from sqlanon.spec import Accuracy
from sqlanon.table.domain import Domain
from sqlanon.table.geometry import kind_of
from sqlanon.table.tree import tree_of

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

SLACK = Fraction(2, SCALE)
"""How much the NCP of a class may exceed E, from rounded positions, with two quasi columns or more."""


def list_unmeasurable(accuracy: Accuracy, quasi: Sequence[Domain]) -> list[str]:
    """Extents that cannot be measured, one line each: no such quasi column, or a column without distances."""
    domains = {domain.reading.name: domain for domain in quasi}
    problems = []
    for name, extent in accuracy.extents:
        domain = _find(name, quasi)
        if domain is None:
            problems.append(f"max_extent: {name} is not a quasi column; quasi columns are {', '.join(domains)}")
        elif domain.reading.treatment == "nominal":
            problems.append(
                f"max_extent: {name} is nominal and has no extent; give it an order or a hierarchy, or use max_loss"
            )
        elif extent < 0:
            problems.append(f"max_extent: {name}: an extent is at least 0")
    if accuracy.per_class_ncp is not None and accuracy.per_class_ncp < 0:
        problems.append("max_loss: per_class_ncp is at least 0")
    return problems


def list_extents(accuracy: Accuracy, quasi: Sequence[Domain]) -> dict[str, Fraction]:
    """The extent of every code column with an extent."""
    shares: dict[str, Fraction] = {}
    for name, extent in accuracy.extents:
        domain = _find(name, quasi)
        assert domain is not None, "unbounded has refused it"
        shares[domain.code] = min(extent, shares.get(domain.code, extent))
    return shares


def bounds_of(context: Context) -> Bounds:
    """The run's bound as kernels take it. Cost: O(codes)."""
    accuracy, quasi = context.accuracy, context.encoded.quasi
    assert accuracy is not None
    extents = list_extents(accuracy, quasi)
    limit = accuracy.per_class_ncp
    total = OVER - 1
    tables: list[Longs | None] = []
    for domain in quasi:
        until = None
        if domain.code in extents:
            until = _find_last_codes(context, domain, extents[domain.code])
        if limit == 0:
            until = np.arange(domain.codes, dtype=np.int64)
        elif limit is not None and len(quasi) == 1 and limit < 1:
            exact = _until_share(context, domain, limit)
            until = exact if until is None or exact is None else np.minimum(until, exact)
        tables.append(until)
    if limit is not None and (len(quasi) > 1 or tables[0] is None):
        weights = sum(domain.reading.spec.weight for domain in quasi)
        rounded = sum(d.reading.spec.weight for d in quasi if kind_of(d) == ORDERED)
        total = min(limit.numerator * weights * SCALE // limit.denominator + rounded, OVER - 1)
    return pack_bounds(total, tables, [domain.codes for domain in quasi])


def pack_bounds(total: int, tables: Sequence[Longs | None], codes: Sequence[int]) -> Bounds:
    """Bounds from one ``until`` table an attribute, None where it has no separate bound."""
    start = np.full(len(tables), -1, np.int64)
    parts = [np.zeros(1, np.int64)]
    past = 1
    for a, table in enumerate(tables):
        if table is not None:
            start[a], past = past, past + len(table)
            parts.append(table)
    base = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.asarray(codes, np.int64))])
    return Bounds(total, np.concatenate(parts), start, base)


def on_line(context: Context) -> tuple[Longs, int, int]:
    """The only quasi column as a line, for solvers that need one: positions by code, the bound, the range.

    Positions are exact as far as their range has at most 61 bits; a longer range loses the last digits.
    """
    (domain,) = context.encoded.quasi
    line = read_measures(context.scratch, domain)
    accuracy = context.accuracy
    limit = line.range
    if accuracy is not None:
        for extent in list_extents(accuracy, (domain,)).values():
            limit = min(limit, extent.numerator * line.unit // extent.denominator)
        share = accuracy.per_class_ncp
        if share is not None:
            limit = min(limit, share.numerator * line.range // share.denominator)
    finite = [value for value in line.values if value is not None]
    excess = max(line.range.bit_length() - 61, 0)
    places = np.array([(value - finite[0]) >> excess for value in finite], np.int64)
    return places, (limit >> excess) + (excess > 0), line.range >> excess


def _find(name: str, quasi: Sequence[Domain]) -> Domain | None:
    """A quasi column by the exact name, or by the only name that differs in case."""
    exact = [domain for domain in quasi if domain.reading.name == name]
    folded = [domain for domain in quasi if domain.reading.name.lower() == name.lower()]
    if exact:
        return exact[0]
    return folded[0] if len(folded) == 1 else None


def _find_last_codes(context: Context, domain: Domain, extent: Fraction) -> Longs:
    """Per code the last code within an extent in the column's own units."""
    if kind_of(domain) == TREE:
        return _until_node(domain, int(extent))
    return _shift_nodes(domain, read_measures(context.scratch, domain).last_within(extent))


def _until_share(context: Context, domain: Domain, share: Fraction) -> Longs | None:
    """Per code the last code within a share of the domain, below 1; None for sets, which have members, not ends."""
    kind = kind_of(domain)
    if kind == TREE:
        return _until_node(domain, domain.size * share.numerator // share.denominator)
    if kind != ORDERED:
        return None
    line = read_measures(context.scratch, domain)
    if line.range == 0:
        return np.arange(domain.codes, dtype=np.int64)
    finite = [value for value in line.values if value is not None]
    if len(finite) < len(line.values):
        # Infinities and NaN score as the ends of the finite values do.
        first = next(index for index, value in enumerate(line.values) if value is not None)
        above = len(line.values) - first - len(finite)
        line = Measures([finite[0]] * first + finite + [finite[-1]] * above, line.unit)
    return _shift_nodes(domain, line.last_within(share * line.range / line.unit))


def _until_node(domain: Domain, leaves: int) -> Longs:
    """Per leaf the last leaf of the largest ancestor with at most so many leaves."""
    tree = tree_of(domain)
    last = np.arange(domain.size, dtype=np.int64)
    for node, size in zip(tree.node, tree.leaves, strict=True):
        last = np.where(size <= leaves, node + size - 1, last)
    return _shift_nodes(domain, last.tolist())


def _shift_nodes(domain: Domain, last: Sequence[int]) -> Longs:
    """The last code of each code's node, by code; NULL, code 0 if present, is a separate node."""
    null = int(domain.has_null)
    return np.array([0] * null + [last_code + null for last_code in last], dtype=np.int64)
