"""Making the releases of an experiment, one after the other, and the means of their figures over the projections."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from benchmarks.kept import Kept
from benchmarks.papers.ghinita.data import Loaded, table
from benchmarks.papers.ghinita.experiments import Point
from benchmarks.points import means, measured

if TYPE_CHECKING:
    from sqlanon.database import Database
    from sqlanon.results import RunReport

LOSSES = ("gcp", "il1", "il_inf", "il_sum", "weighted_max_ncp", "avg_ncp", "weighted_avg_volume", "c_avg")
FIGURES = (*LOSSES, "pm", "classes", "min_class", "max_class", "method_seconds", "seconds")


def run(database: Loaded, points: Iterable[Point], kept: Kept, seed: int) -> list[dict[str, Any]]:
    """Every point's figures, measured or kept from before, as means over the projections."""
    import sqlanon

    todo = list(points)
    with sqlanon.connect(database.url) as db:
        found = measured(
            db,
            todo,
            kept,
            lambda point: table(point.data, point.rows, point.alpha),
            lambda point, source: _released(db, database, point, seed, source),
            _easier,
            _shown,
        )
    return means(todo, found, FIGURES, lambda point, _: {"k": point.k, "l": point.l, "e": point.e})


def _easier(point: Point) -> Point:
    least: dict[str, Any] = {"k": 10} if point.k else {"l": 2} if point.l else {"e": point.e}
    return replace(point, **least)


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


def _shown(one: dict[str, Any]) -> str:
    loss = "" if one["gcp"] is None else f" GCP {one['gcp']:.4f}"
    private = "" if one["pm"] is None else f" PM {one['pm']:.2f}"
    return f"{loss}{private} {one['method_seconds']:.2f} s of {one['seconds']:.2f} s"
