"""Classes at the levels that a method decides, in place of their own boxes.

Their cells are nodes of hierarchies, or any value at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlanon.formats.levels import Levels
from sqlanon.table.tree import hierarchy_of, load_ancestors
from sqlanon.table.wide_tables import Part, join_parts, split_runs

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.table.domain import Domain
    from sqlanon.table.scratch import Scratch


def height_of(domain: Domain) -> int:
    """The level at which a quasi column publishes any value: the root of the hierarchy, 1 without a hierarchy."""
    return hierarchy_of(domain).height if domain.reading.treatment == "hierarchy" else 1


def key_of(domain: Domain, *, leveled: bool) -> str:
    """The column of the boxes by which the set of a class is found."""
    if domain.fits_bits:
        return f"set_{domain.code}"
    return f"key_{domain.code}" if leveled and domain.reading.treatment == "nominal" else "class"


def generalize(scratch: Scratch, quasi: Sequence[Domain], spans: TableRef, levels: Levels) -> TableRef:
    """The boxes of the classes at their levels, in codes (see the template).

    Args:
        scratch: the run.
        quasi: the quasi columns.
        spans: the classes' own boxes.
        levels: the method's choice of levels.

    Cost: a join of the classes with the levels, and for every hierarchy column a join with leaves times height.
    """
    parts: list[Part] = []
    for place, some in enumerate(split_runs(quasi)):
        columns = []
        for domain in some:
            node = domain.reading.treatment == "hierarchy"
            columns.append(
                {
                    "code": domain.code,
                    "last": domain.codes - 1,
                    "height": height_of(domain),
                    "nulls": domain.has_null,
                    "node": node,
                    "tree": load_ancestors(scratch, domain) if node and levels.table is not None else None,
                    "key": key_of(domain, leveled=True),
                }
            )
        table = scratch.table(f"generalized_{place}")
        scratch.execute(
            "recode/generalized",
            generalized=table,
            spans=spans,
            levels=levels.table,
            starred=levels.starred,
            columns=columns,
        )
        names = [] if place else ["n"]
        for column in columns:
            names += [f"{part}_{column['code']}" for part in ("lo", "hi", "at")]
            names += [str(column["key"])] if column["key"] != "class" else []
        parts.append((table, names))
    return join_parts(scratch, "generalized", "class", parts)
