"""What was promised of speed, loss, time and memory, next to what the result files say; for ``docs/benchmarks.md``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report_freeform import FORMS, NAMES
from benchmarks.tables import contender, read

ENGINES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark"}
LARGE, LARGE_SECONDS, LARGE_GIB = 100_000_000, 100, 8
"""Rows of the large table, the seconds of its release and its peak memory."""
RELEASE_MS, ASK_MS = 55, 10
"""Of a release of 40 rows in DuckDB, and of a simple question to a small release."""
STARS = {
    ("occ", 2): 30_500,
    ("occ", 6): 86_000,
    ("occ", 10): 137_000,
    ("sal", 2): 66_000,
    ("sal", 6): 168_000,
    ("sal", 10): 260_000,
}
"""Hidden values of the cascade, at most, by table and l."""
STAR_SECONDS = {("sal", 2): 0.3, ("sal", 6): 0.5, ("sal", 10): 1.0}
"""Its processor seconds, at most."""
DIVERGENCE = {("occ", 2): 1.01, ("occ", 6): 2.05, ("occ", 10): 2.5}
"""KL-divergence of its releases, at most."""

Goal = tuple[str, str, str, bool]
"""What it is of, what was measured, what was wanted, whether it is reached."""


def goals(folder: Path) -> Iterator[Goal]:
    """All goals that result files of a folder are about."""
    for some in (
        _speed,
        _loss,
        _seconds,
        _large,
        _small,
        _search,
        _lattice,
        _stars,
        _freeform,
        _counts,
        _frozen,
        _evaluation,
    ):
        yield from some(folder)


def _speed(folder: Path) -> Iterator[Goal]:
    for file in sorted(folder.glob("speed_*.json")):
        one = json.loads(file.read_text())
        if one["target_ratio"] and (one["engine"] != "spark" or one["rows"] == 5_000_000):
            method = one["method"].partition(":")[0]
            what = f"speed of `{method}`, k={one['k']}, {ENGINES[one['engine']]}, {one['table']}"
            what += f", {one['rows']:,} rows" if one["engine"] == "spark" else ""
            ratio, goal = one["ratio"], one["target_ratio"]
            yield what, f"{ratio:.2f}x", f"{goal:g}x", ratio <= goal


def _loss(folder: Path) -> Iterator[Goal]:
    result = read(folder, "loss")
    for one in result["results"] if result else ():
        if one.get("target"):
            found, goal = one["evaluator"]["range_ncp"], one["target"]
            what = f"range NCP of `{contender(one)}`, k={one['k']}, {one['table']}"
            yield what, f"{found:.4f}", f"{goal:g}", found <= goal
    result = read(folder, "nominal")
    for one in result["results"] if result else ():
        if one.get("target"):
            value = f"{one['evaluator']['set_ncp']:.4f}"
            yield (f"set loss of `{one['contender']}`, k={one['k']}, Adult", value, f"{one['target']:g}", one["met"])


def _seconds(folder: Path) -> Iterator[Goal]:
    result = read(folder, "growth")
    for one in result["results"] if result else ():
        if one.get("target_seconds"):
            found, goal = one["seconds"], one["target_seconds"]
            yield (
                f"release by `{one['method']}`, SAL, part {one['part']}",
                f"{found:.1f} s",
                f"{goal:g} s",
                found <= goal,
            )
    result = read(folder, "startup")
    for name in ("import", "help") if result else ():
        one = result[name] if result else {}
        yield (f"startup, {name}", f"{one['seconds']:.2f} s", f"{one['target']:g} s", one["seconds"] <= one["target"])


def _large(folder: Path) -> Iterator[Goal]:
    result = read(folder, "scale")
    for one in result["results"] if result else ():
        if one["rows"] == LARGE and one.get("seconds"):
            seconds, gib = one["seconds"], one["peak_gib"]
            what = f"{LARGE:,} rows of integers, DuckDB"
            yield f"{what}, seconds", f"{seconds:.0f} s", f"{LARGE_SECONDS} s", seconds <= LARGE_SECONDS
            yield f"{what}, peak memory", f"{gib:.1f} GiB", f"{LARGE_GIB} GiB", gib <= LARGE_GIB


def _small(folder: Path) -> Iterator[Goal]:
    result = read(folder, "release")
    if result and "duckdb" in result["engines"]:
        median = result["engines"]["duckdb"]["median_ms"]
        yield "a release of 40 rows, DuckDB", f"{median:.0f} ms", f"{RELEASE_MS} ms", median <= RELEASE_MS
    result = read(folder, "ask")
    for one in result["engines"].get("duckdb", ()) if result else ():
        if one["question"] == "count":
            median = one["median_ms"]
            yield "a simple question, DuckDB", f"{median:.1f} ms", f"{ASK_MS} ms", median <= ASK_MS


def _search(folder: Path) -> Iterator[Goal]:
    result = read(folder, "search")
    for one in result["results"] if result else ():
        for run in one["runs"]:
            if run.get("goal"):
                what = f"loss after `refine: {{search: {run['trials']}}}`, k={one['k']}, {one['table']}"
                yield what, f"{run['loss']:.4f}", f"{run['goal']:g}", run["loss"] <= run["goal"]


def _lattice(folder: Path) -> Iterator[Goal]:
    result = read(folder, "lattice")
    for one in result["results"] if result else ():
        limits = (
            ("LM", one.get("lm"), one.get("most_lm")),
            ("processor seconds", one.get("processor_seconds"), one.get("most_seconds")),
        )
        for what, found, most in limits:
            if found is not None and most is not None:
                asked = f"k={one['k']}" if one.get("k") else f"l={one['l']}"
                yield (
                    f"{what} of `{one['method']}`, {asked}, {one['part']}",
                    f"{found:.4f}",
                    f"{most:g}",
                    found <= most,
                )


def _stars(folder: Path) -> Iterator[Goal]:
    """Goals of the cascade, by table and l."""
    wanted = (
        ("xiao_l", "stars", STARS, ",.0f"),
        ("xiao_l", "processor_seconds", STAR_SECONDS, ".2f"),
        ("xiao_kld-l", "kld", DIVERGENCE, ".3f"),
    )
    for file, what, most, form in wanted:
        result = read(folder, file)
        for one in result["results"] if result else ():
            goal = most.get((one["data"], one["l"])) if one["contender"].startswith("cascade") else None
            if goal is not None and one.get(what) is not None:
                name = f"{what.replace('_', ' ')} of the cascade, l={one['l']}, {one['data']}"
                yield name, format(one[what], form), f"{goal:,}", one[what] <= goal


def _freeform(folder: Path) -> Iterator[Goal]:
    result = read(folder, "freeform")
    for one in result["results"] if result else ():
        for name, most in one["wanted"].items():
            what = f"{NAMES[name]} of `freeform`, {one['case']}, {one['rows']:,} rows"
            yield what, format(one[name], FORMS[name]), f"{most:g}", one["met"][name]


def _counts(folder: Path) -> Iterator[Goal]:
    """Errors and widths of COUNT queries over `freeform`, as shares of those over `tree`.

    The queries are over two, three and four columns together.
    """
    result = read(folder, "freeform_counts")
    if not result:
        return
    for text in dict.fromkeys(one["text"] for one in result["results"]):
        for what, most in result["wanted"].items():
            of_freeform, of_tree = (
                sum(one[what] for one in result["results"] if (one["text"], one["system"]) == (text, system))
                for system in (result["judged"], "tree")
            )
            judged = result["judged"].replace(", ", ":block=")
            name = f"{what} of counts over `{judged}`, of that over `tree`, text as {text}"
            yield name, f"{of_freeform / of_tree:.3f}", f"{most:g}", of_freeform <= most * of_tree


def _frozen(folder: Path) -> Iterator[Goal]:
    """What frozen refreshes cost and lose."""
    cost, drift = read(folder, "frozen_cost"), read(folder, "frozen_drift")
    if cost:
        found, most = cost["cpu_seconds_ratio"], cost["goal"]
        what = f"processor seconds of a frozen refresh, of a full one's, {cost['rows']:,} rows"
        yield what, f"{found:.2f}", f"{most:.2f}", found <= most
    for one in drift["runs"] if drift else ():
        for what, name in (("ratio", "ratio"), ("waiting", "mean_waiting")):
            found, most = one[name], drift["goal"][what] if drift else 0
            yield f"{what} after thirty nights, {one['setting']}", f"{found:.3g}", f"{most:g}", found <= most


def _evaluation(folder: Path) -> Iterator[Goal]:
    result = read(folder, "evaluation")
    for one in result["results"] if result else ():
        if most := result["wanted"].get(one["release"]) if result else None:
            found = one["seconds"]
            yield f"evaluation, {one['release']}", f"{found:.1f} s", f"{most} s", found <= most
