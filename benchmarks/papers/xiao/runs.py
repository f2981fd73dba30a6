"""Make the releases of an experiment, and average what is measured of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isinf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.kept import Kept
from benchmarks.papers.ghinita.data import Loaded, table
from benchmarks.papers.xiao.experiments import TDS, Point
from benchmarks.papers.xiao.intervals import intervals
from benchmarks.points import means, measured
from benchmarks.processor import processor

if TYPE_CHECKING:
    from sqlanon.database import Database

FIGURES = ("stars", "share", "kld", "classes", "processor_seconds", "seconds")


def run(database: Loaded, points: Iterable[Point], kept: Kept, seed: int) -> list[dict[str, Any]]:
    """Every point's figures, measured or kept from before, as means over the projections."""
    import sqlanon

    todo = list(points)
    with TemporaryDirectory(prefix="sqlanon-hierarchies-") as folder, sqlanon.connect(database.url) as db:
        numbers = intervals(db, todo[0].data.name, Path(folder))

        def release(point: Point, source: str) -> dict[str, Any]:
            named = database.of(point.quasi)
            if point.who == TDS:
                named |= {column: file for column, file in numbers.items() if column in point.quasi}
            return _released(db, named, point, seed, source)

        found = measured(
            db,
            todo,
            kept,
            lambda point: table(point.data, point.rows),
            release,
            lambda point: replace(point, l=2),
            _shown,
        )
    return means(todo, found, FIGURES, _facts)


def _released(db: Database, hierarchies: dict[str, Path], point: Point, seed: int, source: str) -> dict[str, Any]:
    """Release once. What cannot be released is noted, and the others go on."""
    from sqlanon.errors import SqlanonError
    from sqlanon.evaluate.divergence import average_divergence, measure_divergence
    from sqlanon.evaluate.subject import find_subject

    start = time.perf_counter()
    try:
        with processor() as used:
            report = db.anonymize(
                source,
                quasi=point.quasi,
                sensitive=point.data.sensitive,
                rest="drop",
                k=1,
                l=point.l,
                method=point.who.method,
                seed=seed,
                hierarchies=hierarchies,
                name="xiao",
                publish="release.xiao",
                allow_weaker=True,
                **point.who.more,
            ).report
        seconds = time.perf_counter() - start
        stars, kld = report.loss.stars, None
        if point.divergence and source != "warm":
            kld = average_divergence(
                measure_divergence(db.engine, find_subject(db.engine, "xiao"), [point.quasi], point.data.sensitive)
            )
    except SqlanonError as refused:
        print(f"{type(refused).__name__}: {refused}", flush=True)
        return {"refused": type(refused).__name__}
    return {
        "stars": stars,
        "share": None if stars is None else stars / (report.rows * len(point.quasi)),
        "kld": None if kld is None or isinf(kld) else kld,
        "classes": report.classes,
        "phase": report.search.get("phase"),
        # TP+ runs another method inside, which is noted first.
        "processor_seconds": used[-1],
        "seconds": seconds,
        "verified": report.verified,
    }


def _facts(point: Point, done: Sequence[dict[str, Any]]) -> dict[str, Any]:
    phases = Counter(str(one["phase"]) for one in done if one["phase"])
    return {"l": point.l, "phases": dict(sorted(phases.items()))}


def _shown(one: dict[str, Any]) -> str:
    stars = "" if one["stars"] is None else f" {one['stars']:,} stars"
    kld = "" if one["kld"] is None else f" KLD {one['kld']:.3f}"
    return f"{stars}{kld} {one['processor_seconds']:.2f} s"
