"""The points of a paper's experiments, one release each, and their means over the projections.

They are measured, or kept from an interrupted run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from benchmarks.kept import Kept

if TYPE_CHECKING:
    from benchmarks.papers.ghinita.contenders import Contender
    from benchmarks.papers.ghinita.data import Data
    from sqlanon.database import Database

WARM = 1000
INFEASIBLE = "InfeasibleError"

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Point:
    """One release. ``x`` is the varied parameter's value."""

    experiment: str
    data: Data
    x: float
    rows: int
    quasi: tuple[str, ...]
    who: Contender

    @property
    def key(self) -> tuple[object, ...]:
        """What its figures depend on."""
        raise NotImplementedError


P = TypeVar("P", bound=Point)


def measured(
    db: Database,
    points: Sequence[P],
    kept: Kept,
    source: Callable[[P], str],
    release: Callable[[P, str], Figures],
    warm: Callable[[P], P],
    shown: Callable[[Figures], str],
) -> list[Figures]:
    """Every point's figures. A refusal for another reason than the table is not kept.

    Args:
        db: has the tables.
        points: in turn.
        kept: what was measured before.
        source: the table of a point.
        release: releases once from a table; ``refused`` has the name of the error, if there was one.
        warm: the point with less asked, for a few rows that every contender releases first, so that compilation is not
            measured.
        shown: figures in a few words.
    """
    found, done = [], set[str]()
    for number, point in enumerate(points, 1):
        one = kept.get(*point.key)
        if one is None:
            if not done:
                db.engine.execute(f"CREATE TABLE warm AS SELECT * FROM {source(point)} LIMIT {WARM}")
            if point.who.name not in done:
                release(warm(point), "warm")
                done.add(point.who.name)
            one = release(point, source(point))
            if one.get("refused") in (None, INFEASIBLE):
                kept.add(one, *point.key)
            what = f"{point.experiment} {point.data.name} x={point.x:g} d={len(point.quasi)} {point.who.name}"
            print(f"{number} of {len(points)}: {what}: {one.get('refused') or shown(one).strip()}", flush=True)
        found.append(one)
    return found


def means(
    points: Sequence[P],
    found: Sequence[Figures],
    figures: Sequence[str],
    facts: Callable[[P, Sequence[Figures]], Figures],
) -> list[Figures]:
    """One line for every table, x and contender.

    It has the means of ``figures``, and the ``facts`` of the released points.
    """
    groups: dict[tuple[str, float, str, int], list[tuple[P, Figures]]] = {}
    for point, one in zip(points, found, strict=True):
        key = (point.data.name, point.x, point.who.name, point.rows)
        groups.setdefault(key, []).append((point, one))
    lines = []
    for (data, x, name, rows), group in groups.items():
        point, refused = group[0][0], [one["refused"] for _, one in group if "refused" in one]
        done = [one for _, one in group if "refused" not in one]
        line: Figures = {
            "data": data,
            "x": x,
            "contender": name,
            "method": point.who.method,
            "rows": rows,
            "d": len(point.quasi),
            "projections": len(group),
            "infeasible": refused.count(INFEASIBLE),
            "failed": len(refused) - refused.count(INFEASIBLE),
            "verified": all(one["verified"] for one in done),
            **facts(point, done),
        }
        for figure in figures:
            values = [one[figure] for one in done if one[figure] is not None]
            line[figure] = fmean(values) if values else None
        lines.append(line)
    return lines
