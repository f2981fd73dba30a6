"""The tables of seconds and memory for ``docs/benchmarks.md``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.tables import Result, figures, number, read, source, table

STAGES = ("snapshot", "profile", "encode", "method", "recode", "verify", "publish")


def query(folder: Path) -> str:
    """Questions to a release against the same aggregates over its source."""
    result = read(folder, "query")
    if result is None:
        return ""
    total = result["summary"]
    head = (
        "question",
        "source (ms)",
        "release (ms)",
        "ratio",
        "outside of the database (ms)",
        "so the first time (ms)",
    )
    lines = [
        (
            f"`{one['sql']}`",
            *(f"{1000 * one[name]:.1f}" for name in ("source_s", "release_s")),
            f"{one['ratio']:.1f}",
            f"{1000 * one['own_s']:.1f}",
            f"{1000 * one['own_first_s']:.1f}",
        )
        for one in result["questions"]
    ]
    return (
        f"All together take {total['ratio']:.1f} times the processor time of the source; the median of the ratios is "
        f"{total['median_ratio']:.1f}, that of the time outside of the database {1000 * total['median_own_s']:.1f} ms. "
        f"A query is rewritten the first time that a connection asks it of a version: then they take "
        f"{total['ratio_first']:.1f} times, and {1000 * total['median_own_first_s']:.1f} ms. "
        f"The temporary tables of classes and values that a connection keeps of a version which it asks again took "
        f"{1000 * total['kept_s']:,.0f} ms once, which is in none of these figures."
        f"\n\n{table(head, lines)}\n\n{source(result)}"
    )


def speed(folder: Path) -> str:
    """Release against sort, where the time goes, and peak memory."""
    found = [json.loads(file.read_text()) for file in sorted(folder.glob("speed_*.json"))]
    if not found:
        return ""
    ratios = table(
        (
            "engine, table",
            "method, k",
            "rows",
            "sort (s)",
            "release (s)",
            "ratio",
            "at most",
            "sort (GiB)",
            "release (GiB)",
        ),
        [
            (
                *_case(one),
                f"{one['rows']:,}",
                f"{one['base_seconds']:.2f}",
                f"{one['release_seconds']:.2f}",
                f"**{one['ratio']:.1f}**",
                one["target_ratio"] or "-",
                *(_memory(one, case) for case in ("base", "release")),
            )
            for one in found
        ],
    )
    stages = table(
        ("seconds", "method, k", *STAGES),
        [(*_case(one), *(f"{one['stages'].get(stage, 0.0):.2f}" for stage in STAGES)) for one in found],
    )
    return "\n\n".join([ratios, stages, *dict.fromkeys(source(one) for one in found)])


def _case(one: Result) -> tuple[str, str]:
    return (
        f"{one['engine']}, {one['table']}",
        f"{one.get('method', 'mondrian').partition(':')[0]}, {one.get('k', 10)}",
    )


def _memory(result: Result, case: str) -> str:
    memory = result.get("memory") or {}
    if f"{case}_gib" not in memory:
        return "-"
    server = memory.get(f"{case}_server_gib")
    return f"{memory[f'{case}_gib']:.2f}" + (f" + server {server:.2f}" if server else "")


def columns(folder: Path) -> str:
    """Seconds by quasi columns."""
    result = read(folder, "columns")
    if result is None:
        return ""
    lines, most = [], f"{result['columns_grow']:.0f} times the columns"
    for method, one in result["methods"].items():
        for run in one["runs"]:
            spent, apart = run["cpu_seconds"], run["cpu_without_method"]
            lines.append((method, run["columns"], f"{apart:.1f}", f"{spent - apart:.1f}", f"{spent:.1f}"))
        grow = one["growth"]
        lines.append((method, most, f"**{grow['cpu_without_method']:.1f}x**", "", f"**{grow['cpu_seconds']:.1f}x**"))
    head = ("method", "quasi columns", "SQL around the method (processor s)", "method", "release")
    return f"{table(head, lines)}\n\n{source(result)}"


def scale(folder: Path) -> str:
    """Seconds and memory by size."""
    head = ("rows", "sort (s)", "release (s)", "peak memory (GiB)", "execution", "classes")
    return figures(
        folder,
        "scale",
        head,
        lambda result: (
            (
                f"{one['rows']:,}",
                f"{one['base_seconds']:.1f}",
                f"{one['seconds']:.1f}",
                f"{one['peak_gib']:.2f}",
                one["execution"],
                f"{one['classes']:,}",
            )
            for one in result["results"]
        ),
    )


def texts(folder: Path) -> str:
    """Memory that long texts need, against what is refused."""
    head = ("rows", "characters", "a block holds (MiB)", "estimate (MiB)", "least", "median", "most", "met")
    return figures(
        folder,
        "texts",
        head,
        lambda result: (
            (
                f"{one['rows']:,}",
                f"{one['characters']:,}",
                *(
                    f"{one['block_bytes'] * times / 2**20:,.0f}"
                    for times in (1, result["allowed"], one["least"], one["median"], one["most"])
                ),
                "yes" if one["most"] <= result["allowed"] else "**no**",
            )
            for one in result["cases"]
        ),
    )


def startup(folder: Path) -> str:
    """Wall time of fresh processes."""
    return figures(
        folder,
        "startup",
        ("what", "seconds", "at most"),
        lambda result: (
            ("`python -c pass`", f"{result['python']['seconds']:.2f}", "-"),
            ("`import sqlanon`", f"{result['import']['seconds']:.2f}", result["import"]["target"]),
            ("`sqlanon --help`", f"{result['help']['seconds']:.2f}", result["help"]["target"]),
            ("first release ever (compiles the kernels)", f"{result['kernels']['first']['seconds']:.1f}", "-"),
            ("the same in a new process, kernels cached", f"{result['kernels']['cached']['seconds']:.2f}", "-"),
        ),
    )


def growth(folder: Path) -> str:
    """Seconds per million rows by size, and the promises on SAL."""
    result = read(folder, "growth")
    if result is None:
        return ""
    rows = [
        (
            {"k": "integers, k=10", "l": f"SAL, l={result['l']}", "dual": f"SAL, d=3, E={result['e']}"}[one["part"]],
            "as it is" if one["rows"] is None else f"{one['rows']:,}",
            ", ".join([one["method"], *one.get("quasi", [])]),
            f"{one['memory'] >> 20} MiB" if one.get("memory") else "-",
            f"{one['seconds']:.2f}",
            one.get("target_seconds") or "-",
            f"**{one['seconds_per_million']:.2f}**",
            f"{one['stages']['method']:.2f}",
            f"{one['peak_gib']:.2f}",
            one["execution"],
        )
        for one in result["results"]
    ]
    head = (
        "table",
        "rows",
        "method",
        "memory budget",
        "release (s)",
        "at most",
        "s a million rows",
        "method (s)",
        "peak memory (GiB)",
        "execution",
    )
    return f"{table(head, rows)}\n\n![Growth](../benchmarks/results/growth.png)\n\n{source(result)}"


def attack(folder: Path) -> str:
    """Seconds of attacks by rows."""
    head = ("table", "rows", "boxes", "attack (processor s)", "grows as rows to the power of")
    return figures(
        folder,
        "attack",
        head,
        lambda result: (
            (
                one["table"],
                f"{one['rows']:,}",
                f"{one['boxes']:,}",
                f"{one['cpu_seconds']:.2f}",
                number(one.get("growth"), ".2f"),
            )
            for one in result["runs"]
        ),
    )


def attacks(folder: Path) -> str:
    """Risks of attacks with a control group, beside those of anonymeter."""
    head = ("table", "k", "attack", "risk (interval)", "anonymeter (interval)", "agree")

    def risk(one: dict[str, float]) -> str:
        return f"{one['risk']:.3f} ({one['low']:.3f} to {one['high']:.3f})"

    return figures(
        folder,
        "attacks",
        head,
        lambda result: (
            (
                one["table"],
                str(one["k"]),
                one["attack"],
                risk(one["ours"]),
                risk(one["anonymeter"]),
                "yes" if one["agree"] else "no",
            )
            for one in result["runs"]
        ),
    )


def attacks_timed(folder: Path) -> str:
    """Processor seconds of a trial with all attacks."""
    return figures(
        folder,
        "attacks_timed",
        ("rows", "release and attacks (processor s)"),
        lambda result: ((f"{one['rows']:,}", f"{one['cpu_seconds']:.0f}") for one in result["timed"]),
    )


def reports(folder: Path) -> str:
    """Processor seconds and memory of reports."""
    return figures(
        folder,
        "reports",
        ("rows", "quasi columns", "report", "processor s", "memory (GiB)", "page (kB)"),
        lambda result: (
            (
                f"{one['rows']:,}",
                one["quasi"],
                one["report"],
                f"{one['cpu_seconds']:.1f}",
                f"{one['memory'] / 2**30:.1f}",
                f"{one['characters'] / 1000:.0f}",
            )
            for one in result["runs"]
        ),
    )


def models(folder: Path) -> str:
    """Seconds of every privacy model against k alone."""
    head = (
        "privacy",
        "release (processor s)",
        "times k alone",
        "times k alone, by the clock",
        "at most",
        "classes",
        "GCP",
    )
    return figures(
        folder,
        "models",
        head,
        lambda result: (
            (
                one["model"] if one["model"] == "k" else f"k and {one['model']}",
                f"{one['cpu_seconds']:.2f}",
                f"**{one['cpu_times']:.2f}**",
                f"{one['times']:.2f}",
                "-" if one["model"] == "k" else f"{result['promised']:g}",
                f"{one['classes']:,}",
                f"{one['gcp']:.3f}",
            )
            for one in result["runs"]
        ),
    )


SECTIONS: Mapping[str, Callable[[Path], str]] = {
    "speed": speed,
    "columns": columns,
    "scale": scale,
    "growth": growth,
    "startup": startup,
    "query": query,
    "attack": attack,
    "attacks": attacks,
    "attacks_timed": attacks_timed,
    "reports": reports,
    "models": models,
}
