"""Making the releases of an experiment, one after the other, and the means of their figures over the projections."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from benchmarks.ghinita.data import Loaded, table
from benchmarks.ghinita.experiments import Point
from benchmarks.kept import Kept

if TYPE_CHECKING:
    from sqlanon.database import Database
    from sqlanon.results import RunReport

LOSSES = (
    "gcp", "il1", "il_inf", "il_sum", "weighted_max_ncp", "avg_ncp", "weighted_avg_volume", "c_avg",
)  # fmt: skip
FIGURES = (*LOSSES, "pm", "classes", "min_class", "max_class", "method_seconds", "seconds")


WARM = 1000
INFEASIBLE = "InfeasibleError"


def run(database: Loaded, points: Iterable[Point], kept: Kept, seed: int) -> list[dict[str, Any]]:
    """Every point's figures, measured or kept from before.

    Every contender first releases a few rows, so that loading its kernels and compiling its SQL is not in the figures.
    """
    import sqlanon

    todo, found = list(points), []
    warm: set[str] = set()
    with sqlanon.connect(database.url) as db:
        for number, point in enumerate(todo, 1):
            one = kept.get(*point.key)
            if one is None:
                if not warm:
                    source = table(point.data, point.rows, point.alpha)
                    db.engine.execute(f"CREATE TABLE warm AS SELECT * FROM {source} LIMIT {WARM}")
                if point.who.name not in warm:
                    least = {"k": 10} if point.k else {"l": 2} if point.l else {"e": point.e}
                    _released(db, database, replace(point, **least), seed, "warm")
                    warm.add(point.who.name)
                source = table(point.data, point.rows, point.alpha)
                one = _released(db, database, point, seed, source)
                if one.get("refused") in (
                    None,
                    INFEASIBLE,
                ):  # another refusal is not a finding about the table
                    kept.add(one, *point.key)
                print(f"{number} of {len(todo)}: {_shown(point, one)}", flush=True)
            found.append(one)
    return _means(todo, found)


def _released(db: Database, database: Loaded, point: Point, seed: int, source: str) -> dict[str, Any]:
    """Release once. What cannot be released is noted, and the others go on."""
    from sqlanon.errors import SqlanonError

    asked: dict[str, Any] = {"k": point.k} if point.k else {"k": 1, "l": point.l}
    if point.e is not None:
        asked = {"max_loss": point.e, "maximize": "l", "at_least": {"l": 1}}
    start = time.perf_counter()
    try:
        report = db.anonymize(
            source,
            quasi=point.quasi,
            sensitive=point.data.sensitive,
            rest="drop",
            hierarchies=database.of(point.quasi) if point.taxonomies else {},
            method=point.who.method,
            seed=seed,
            name="ghinita",
            publish="release.ghinita",
            allow_weaker=True,
            **asked,
            **point.who.more,
        ).report
    except SqlanonError as refused:
        print(f"{type(refused).__name__}: {refused}", flush=True)
        return {"refused": type(refused).__name__}
    return _measures(report, point.who.exact) | {"seconds": time.perf_counter() - start}


def _measures(report: RunReport, exact: bool) -> dict[str, Any]:
    losses = asdict(report.loss)
    return {
        **{name: None if exact else losses[name] for name in LOSSES},
        "pm": next(iter(report.pm.values()), None),
        "classes": report.classes,
        "min_class": report.min_class,
        "max_class": report.max_class,
        "method_seconds": report.seconds["method"],
        "verified": report.verified,
    }


def _means(points: Sequence[Point], found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for every x and contender."""
    groups: dict[tuple[float, str, int], list[tuple[Point, dict[str, Any]]]] = {}
    for point, one in zip(points, found, strict=True):
        groups.setdefault((point.x, point.who.name, point.rows), []).append((point, one))
    lines = []
    for (x, name, rows), group in groups.items():
        point = group[0][0]
        done = [one for _, one in group if "refused" not in one]
        line: dict[str, Any] = {
            "data": point.data.name, "x": x, "contender": name, "method": point.who.method, "rows": rows,
            "k": point.k, "l": point.l, "e": point.e, "d": len(point.quasi),
            "projections": len(group), "failed": sum(one.get("refused", INFEASIBLE) != INFEASIBLE for _, one in group),
            "infeasible": sum(one.get("refused") == INFEASIBLE for _, one in group), "verified": all(one["verified"] for one in done),
        }  # fmt: skip
        for figure in FIGURES:
            values = [one[figure] for one in done if one[figure] is not None]
            line[figure] = fmean(values) if values else None
        lines.append(line)
    return lines


def _shown(point: Point, one: dict[str, Any]) -> str:
    what = f"{point.experiment} {point.data.name} x={point.x:g} d={len(point.quasi)} {point.who.name}"
    if "refused" in one:
        return f"{what}: {one['refused']}"
    loss = "" if one["gcp"] is None else f" GCP {one['gcp']:.4f}"
    private = "" if one["pm"] is None else f" PM {one['pm']:.2f}"
    return f"{what}:{loss}{private} {one['method_seconds']:.2f} s of {one['seconds']:.2f} s"
