"""What frozen refreshes lose and cost: the integer table night after night, `tree`, k=10.

``drift``: 30,000 rows, thirty nights in three settings, cohorts of three nights, without limits. Every night the GCP of
what is published (of the view, by this benchmark itself, against the ranges of the night's source) beside that of a
fresh release of the same rows; the shares of rows that wait, are stale or are retained; the failing groups of
`Database.history`; in the first nights the failing rows of full refreshes with a key; and the night on which each limit
would have stopped the run. The curve: the same with cohorts of 1 to 10 nights, 1 % new a night.

``year``: the setting with all changes, without l, for 365 nights of a small table, compared with a fresh release in
every thirtieth.

``cost``: processor seconds and clock of a run after one night of changes, frozen with a cohort that is published, and
full with a key. The two take turns in one process, and of each the run with the fewest processor seconds counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.nights import SETTINGS, K, Setting, Source, gcp, published, spec_of
from benchmarks.record import RESULTS, Record, options
from examples.sources import duckdb_url

DRIFT_ROWS, COST_ROWS = 30_000, 5_000_000
NIGHTS = 30
YEAR_ROWS, YEAR = 1_000, 365
"""Rows and nights of the part year."""
COHORT = 3
"""Nights of a cohort."""
CURVE = (1, 2, 3, 5, 10)
LIMITS = ("max_stale", "max_retained", "max_waiting")
SHARES = (0.05, 0.1, 0.2)
KEYED = 5
"""Nights of full refreshes with a key."""
GOAL, WAITING = 1.65, 0.03
"""GCP as a multiple of that of a fresh release, and the share of rows that wait meanwhile, at most."""
COST_GOAL = 1 / 3
"""Of the processor seconds of a full run with a key, at most."""


def cohort_rows(rows: int, setting: Setting, nights: int) -> int:
    """Rows of a cohort that is published every so many nights.

    They are half a night fewer than the new rows, as some that wait are deleted.
    """
    return max(round((nights - 0.5) * setting.new * rows), K)


def drift(
    setting: Setting,
    rows: int,
    nights: int,
    cohort: int,
    *,
    diverse: int | None = None,
    keyed: int = KEYED,
    fresh: int = 1,
) -> dict[str, Any]:
    """One lineage: so many nights after the first version.

    It is compared with a fresh release in every ``fresh``-th night, and in the last.
    """
    source = Source(rows)
    frozen = spec_of("frozen", l=diverse, cohort=cohort_rows(rows, setting, cohort))
    anew, full = spec_of("fresh", key=False, l=diverse), spec_of("full", l=diverse)
    lines: list[dict[str, Any]] = []
    with sqlanon.connect("duckdb:///:memory:", threads=2) as db:
        for night in range(nights + 1):
            if night:
                source.night(setting)
            source.write(db)
            found = db.run(frozen).lineage
            assert found is not None
            one: dict[str, Any] = {"night": night, "rows": source.rows, "published": found.published}
            one["gcp"] = gcp(published(db, "frozen"), source)
            one |= {"stale": found.stale / found.published, "retained": found.retained / found.published}
            one |= {"waiting": found.unpublished / source.rows, "rows_waiting": found.waiting}
            one |= {"refused": found.refused, "gone": found.gone}
            if night % fresh == 0 or night == nights:
                db.run(anew)
                one["fresh_gcp"] = gcp(published(db, "fresh"), source)
                one["ratio"] = one["gcp"] / one["fresh_gcp"]
            if night <= keyed:
                history = db.run(full).history
                one["full_failing"] = history[-1].failing if history else None
            lines.append(one)
        for pair in db.history("frozen"):
            lines[pair.new - 1]["failing"] = pair.failing
    last, waits = lines[-1], [one["waiting"] for one in lines[1:]]
    return {
        "setting": setting.title,
        "l": diverse,
        "cohort_nights": cohort,
        "cohort_rows": cohort_rows(rows, setting, cohort),
        "ratio": last["ratio"],
        "mean_waiting": sum(waits) / len(waits),
        "most_waiting": max(waits),
        "stale": last["stale"],
        "retained": last["retained"],
        "failing": sum(one.get("failing", 0) for one in lines),
        "stopped": stopped(lines),
        "nights": lines,
    }


def stopped(lines: Sequence[dict[str, Any]]) -> dict[str, dict[str, int | None]]:
    """The first night on which each limit would have stopped the run; None: none of these nights."""
    return {
        limit: {
            f"{most:g}": next((one["night"] for one in lines if one[limit.removeprefix("max_")] > most), None)
            for most in SHARES
        }
        for limit in LIMITS
    }


def drifts(rows: int, nights: int, cohorts: Sequence[int]) -> dict[str, list[dict[str, Any]]]:
    """All settings, and the curve."""
    runs = []
    for setting in SETTINGS:
        for diverse in (None, 2):
            runs.append(drift(setting, rows, nights, COHORT, diverse=diverse))
            _said(runs[-1])
    curve = []
    for cohort in cohorts:
        one = drift(SETTINGS[0], rows, nights, cohort, keyed=-1, fresh=nights)
        del one["nights"], one["stopped"]
        curve.append(one)
        _said(one)
    return {"runs": runs, "curve": curve}


def year(rows: int, nights: int) -> dict[str, Any]:
    """All changes over many nights. Of these those are kept that were compared with a fresh release."""
    one = drift(SETTINGS[-1], rows, nights, COHORT, keyed=-1, fresh=NIGHTS)
    one["nights"] = [night for night in one["nights"] if "ratio" in night]
    _said(one)
    return one


def _said(one: dict[str, Any]) -> None:
    print(
        f"{one['setting']}, l = {one['l']}, cohorts of {one['cohort_nights']} nights: GCP {one['ratio']:.3f} times "
        f"fresh, waiting {one['mean_waiting']:.2%} (at most {one['most_waiting']:.2%}), stale {one['stale']:.2%}, "
        f"retained {one['retained']:.2%}, failing {one['failing']}",
        flush=True,
    )


def cost(rows: int, repeat: int) -> dict[str, Any]:
    """A run after one night of all changes, frozen and full: ``repeat`` nights."""
    _costs(2_000, 1)  # kernels are compiled, and modules imported
    runs = _costs(rows, repeat)
    best = {
        way: min((one for one in runs if one["way"] == way), key=lambda one: float(one["cpu_seconds"]))
        for way in ("full", "frozen")
    }
    ratios = {f"{what}_ratio": best["frozen"][what] / best["full"][what] for what in ("cpu_seconds", "seconds")}
    print(
        f"{rows:,} rows: frozen {ratios['cpu_seconds_ratio']:.3f} of full by processor, {ratios['seconds_ratio']:.3f} "
        "by clock"
    )
    return {"rows": rows, **ratios, "goal": COST_GOAL, "best": best, "runs": runs}


def _costs(rows: int, repeat: int) -> list[dict[str, Any]]:
    setting, source = SETTINGS[-1], Source(rows)
    specs = {"full": spec_of("full"), "frozen": spec_of("frozen", cohort=cohort_rows(rows, setting, 1))}
    runs = []
    with duckdb_url() as url, sqlanon.connect(url, threads=2) as db:
        for night in range(repeat + 1):
            if night:
                source.night(setting)
            source.write(db)
            for way, spec in specs.items():
                clock, used = time.perf_counter(), time.process_time()
                report = db.run(spec)
                one: dict[str, Any] = {"way": way, "night": night, "rows": source.rows}
                one |= {"cpu_seconds": time.process_time() - used, "seconds": time.perf_counter() - clock}
                one["stages"] = dict(report.seconds)
                if report.lineage:
                    one |= {"entered": report.lineage.entered, "stale": report.lineage.stale}
                if report.history:
                    one["failing"] = report.history[-1].failing
                print(f"{way}, night {night}: {one['cpu_seconds']:.2f} processor s, {one['seconds']:.2f} s", flush=True)
                if night:
                    runs.append(one)
    return runs


def main(words: list[str] | None = None) -> None:
    """Measure and write the results, one file a part."""
    parser = options(__doc__, RESULTS)
    parser.add_argument("--only", default="drift,year,cost", help="parts, comma list")
    parser.add_argument("--rows", type=int, default=COST_ROWS, help="of the part cost")
    parser.add_argument("--nights", type=int, default=NIGHTS, help="of the part drift")
    parser.add_argument("--repeat", type=int, default=2, help="nights of the part cost; the best one counts")
    parser.add_argument("--quick", action="store_true", help="few rows, few nights")
    args = parser.parse_args(words)
    parts, unknown = args.only.split(","), set(args.only.split(",")) - {"drift", "year", "cost"}
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; parts are drift, year, cost")
    few = [f"--{name}" for name in ("rows", "nights", "repeat") if getattr(args, name) < 1]
    if few:
        parser.error(f"{', '.join(few)}: at least 1")
    rows, nights, cohorts, many, repeat = DRIFT_ROWS, args.nights, CURVE, args.rows, args.repeat
    small, long = YEAR_ROWS, YEAR
    if args.quick:
        rows, nights, cohorts, many, repeat = 2_000, 3, (1, 3), 5_000, 1
        small, long = 1_000, 3
    out: Path = args.out
    if "drift" in parts:
        record = Record("frozen")
        found = drifts(rows, nights, cohorts)
        record.write(
            out / "frozen_drift.json", rows=rows, k=K, goal={"ratio": GOAL, "waiting": WAITING}, limits=SHARES, **found
        )
    if "year" in parts:
        record = Record("frozen")
        record.write(out / "frozen_year.json", rows=small, k=K, limits=SHARES, **year(small, long))
    if "cost" in parts:
        record = Record("frozen")
        record.write(out / "frozen_cost.json", k=K, **cost(many, repeat))


if __name__ == "__main__":
    main()
