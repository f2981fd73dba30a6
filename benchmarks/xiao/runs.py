"""Make the releases of an experiment, and average what is measured of them."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import isinf
from statistics import fmean
from typing import TYPE_CHECKING, Any

from benchmarks.ghinita.data import Loaded, table
from benchmarks.ghinita.runs import INFEASIBLE, WARM
from benchmarks.kept import Kept
from benchmarks.xiao.experiments import Point

if TYPE_CHECKING:
    from sqlanon.database import Database

FIGURES = ("stars", "share", "kld", "classes", "processor_seconds", "seconds")
_PHASE = re.compile(r"TP ended in phase (\d)")


def run(database: Loaded, points: Iterable[Point], kept: Kept, seed: int) -> list[dict[str, Any]]:
    """Every point's figures, measured or kept from before. Every contender first releases a few rows, so that it is compiled."""
    import sqlanon

    todo, found = list(points), []
    warm: set[str] = set()
    with sqlanon.connect(database.url) as db:
        for number, point in enumerate(todo, 1):
            one = kept.get(*point.key)
            if one is None:
                source = table(point.data, point.rows)
                if not warm:
                    db.engine.execute(f"CREATE TABLE warm AS SELECT * FROM {source} LIMIT {WARM}")
                if point.who.name not in warm:
                    _released(db, database, point, seed, "warm", 2)
                    warm.add(point.who.name)
                one = kept.add(_released(db, database, point, seed, source, point.l), *point.key)
                print(f"{number} of {len(todo)}: {_shown(point, one)}", flush=True)
            found.append(one)
    return _means(todo, found)


@contextmanager
def processor() -> Iterator[list[float]]:
    """Note the processor seconds of every method that runs meanwhile, all threads together."""
    from sqlanon.methods import Method

    used: list[float] = []
    plain = Method.assign

    def timed(self: Method, context: Any) -> Any:
        start = time.process_time()
        try:
            return plain(self, context)
        finally:
            used.append(time.process_time() - start)

    Method.assign = timed  # type: ignore[method-assign]
    try:
        yield used
    finally:
        Method.assign = plain  # type: ignore[method-assign]


def _released(
    db: Database, database: Loaded, point: Point, seed: int, source: str, l: int  # noqa: E741 - the paper's symbol
) -> dict[str, Any]:  # fmt: skip
    """Release once. What cannot be released is noted, and the others go on."""
    from sqlanon.errors import SqlanonError
    from sqlanon.evaluate.divergence import divergence, mean
    from sqlanon.evaluate.subject import subject

    start = time.perf_counter()
    try:
        with processor() as used:
            report = db.anonymize(
                source, quasi=point.quasi, sensitive=point.data.sensitive, rest="drop", k=1, l=l, method=point.who.method, seed=seed,
                hierarchies=database.of(point.quasi), name="xiao", publish="release.xiao", allow_weaker=True, **point.who.more,
            ).report  # fmt: skip
        seconds = time.perf_counter() - start
        phase = next((int(found[1]) for note in report.notes if (found := _PHASE.search(note))), None)
        stars, kld = report.loss.stars, None
        if point.divergence and source != "warm":
            kld = mean(divergence(db.engine, subject(db.engine, "xiao"), [point.quasi], point.data.sensitive))
    except SqlanonError as refused:
        print(f"{type(refused).__name__}: {refused}", flush=True)
        return {"refused": type(refused).__name__}
    return {
        "stars": stars,
        "share": None if stars is None else stars / (report.rows * len(point.quasi)),
        "kld": None if kld is None or isinf(kld) else kld,
        "classes": report.classes,
        "phase": phase,
        # TP+ runs another method inside, which is noted first.
        "processor_seconds": used[-1],
        "seconds": seconds,
        "verified": report.verified,
    }


def _means(points: Sequence[Point], found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for every x and contender."""
    groups: dict[tuple[str, int, str], list[tuple[Point, dict[str, Any]]]] = {}
    for point, one in zip(points, found, strict=True):
        groups.setdefault((point.data.name, point.x, point.who.name), []).append((point, one))
    lines = []
    for (data, x, name), group in groups.items():
        point = group[0][0]
        done = [one for _, one in group if "refused" not in one]
        line: dict[str, Any] = {
            "data": data, "x": x, "contender": name, "method": point.who.method, "rows": point.rows, "l": point.l,
            "d": len(point.quasi), "projections": len(group),
            "infeasible": sum(one.get("refused") == INFEASIBLE for _, one in group),
            "failed": sum(one.get("refused", INFEASIBLE) != INFEASIBLE for _, one in group),
            "verified": all(one["verified"] for one in done),
            "phases": dict(sorted(Counter(str(one["phase"]) for one in done if one["phase"]).items())),
        }  # fmt: skip
        for figure in FIGURES:
            values = [one[figure] for one in done if one[figure] is not None]
            line[figure] = fmean(values) if values else None
        lines.append(line)
    return lines


def _shown(point: Point, one: dict[str, Any]) -> str:
    what = f"{point.experiment} {point.data.name} x={point.x} d={len(point.quasi)} {point.who.name}"
    if "refused" in one:
        return f"{what}: {one['refused']}"
    stars = "" if one["stars"] is None else f" {one['stars']:,} stars"
    kld = "" if one["kld"] is None else f" KLD {one['kld']:.3f}"
    return f"{what}:{stars}{kld} {one['processor_seconds']:.2f} s"
