"""The tables of ``docs/benchmarks.md``, ``docs/ghinita2009.md``, ``docs/xiao2010.md``, ``docs/fulldomain.md`` and the README, made from the JSON in ``results/`` so that
no figure is ever typed.

``python -m benchmarks.report`` rewrites them; ``--check`` only says (exit code 1) whether they are up to date.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import report_divergence, report_ghinita, report_lattice, report_readme, report_xiao
from benchmarks.record import RESULTS
from benchmarks.tables import Result, contender, number, read, source, table

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs" / "benchmarks.md"
STAGES = ("snapshot", "profile", "encode", "method", "recode", "verify", "publish")


def query(folder: Path) -> str:
    """Questions to a release against the same aggregates over its source."""
    result = read(folder, "query")
    if result is None:
        return ""
    lines = [
        (
            f"`{one['sql']}`",
            f"{one['source_s']:.3f}",
            f"{one['release_s']:.3f}",
            f"{one['ratio']:.1f}",
            f"{one['allowed_ratio']}x" if one["allowed_ratio"] else f"{one['allowed_s']} s",
            "yes" if one["met"] else "**no**",
        )
        for one in result["questions"]
    ]
    head = ("question", "source (s)", "release (s)", "ratio", "at most", "met")
    return f"{table(head, lines)}\n\n{source(result)}"


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
        [
            (
                *_case(one),
                *(f"{one['stages'].get(stage, 0.0):.2f}" for stage in STAGES),
            )
            for one in found
        ],
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
        lines.append((method, most, f"**{grow['cpu_without_method']:.1f}x**", "", f"**{grow['cpu_seconds']:.1f}x**"))  # fmt: skip
    head = ("method", "quasi columns", "SQL around the method (processor s)", "method", "release")
    return f"{table(head, lines)}\n\n{source(result)}"


def scale(folder: Path) -> str:
    """Seconds and memory by size."""
    file = folder / "scale.json"
    if not file.is_file():
        return ""
    result = json.loads(file.read_text())
    rows = [
        (
            f"{one['rows']:,}",
            f"{one['base_seconds']:.1f}",
            f"{one['seconds']:.1f}",
            f"{one['peak_gib']:.2f}",
            one["execution"],
            f"{one['classes']:,}",
        )
        for one in result["results"]
    ]
    head = ("rows", "sort (s)", "release (s)", "peak memory (GiB)", "execution", "classes")
    return f"{table(head, rows)}\n\n{source(result)}"


def startup(folder: Path) -> str:
    """Wall time of fresh processes."""
    file = folder / "startup.json"
    if not file.is_file():
        return ""
    result = json.loads(file.read_text())
    kernels = result["kernels"]
    rows = [
        ("`python -c pass`", f"{result['python']['seconds']:.2f}", "-"),
        ("`import sqlanon`", f"{result['import']['seconds']:.2f}", result["import"]["target"]),
        ("`sqlanon --help`", f"{result['help']['seconds']:.2f}", result["help"]["target"]),
        ("first release ever (compiles the kernels)", f"{kernels['first']['seconds']:.1f}", "-"),
        ("the same in a new process, kernels cached", f"{kernels['cached']['seconds']:.2f}", "-"),
    ]
    return f"{table(('what', 'seconds', 'at most'), rows)}\n\n{source(result)}"


def loss(folder: Path) -> str:
    """Range NCP of every contender, as the independent evaluator sees it."""
    result = read(folder, "loss")
    if result is None:
        return ""
    rows = [
        (
            one["table"],
            one["k"],
            contender(one),
            f"**{one['evaluator']['range_ncp']:.4f}**",
            one.get("target", "-"),
            f"{one['evaluator']['classes']:,}",
            f"{one['evaluator']['c_avg']:.2f}",
            f"{one['method_seconds']:.2f}",
        )
        for one in result["results"]
    ]
    head = ("table", "k", "method", "Range NCP", "at most", "classes", "C_AVG", "method (s)")
    return f"{table(head, rows)}\n\n{source(result)}"


def nominal(folder: Path) -> str:
    """Loss by sets, as the independent evaluator sees it, beside the best peer."""
    result = read(folder, "nominal")
    if result is None:
        return ""
    rows = [
        (
            one["k"],
            one["contender"],
            f"**{one['evaluator']['set_ncp']:.4f}**",
            number(one["target"], ".4f"),
            number(one["peer"], ".4f"),
            f"{one['gcp']:.4f}",
            f"{one['evaluator']['classes']:,}",
            f"{one['method_seconds']:.2f}",
        )
        for one in result["results"]
    ]
    head = ("k", "method", "set loss", "goal", "best peer", "GCP (numbers by range)", "classes", "method (s)")
    return f"{table(head, rows)}\n\n{source(result)}"


def refine(folder: Path) -> str:
    """What refine gains and what it costs."""
    result = read(folder, "refine")
    if result is None:
        return ""
    rows = [
        (
            one["table"],
            f"{one['rows']:,}",
            one["k"],
            one["method"].partition(":")[0],
            f"{one['gcp']:.4f}",
            f"**{one['refined_gcp']:.4f}**",
            f"{one['gain']:.1%}",
            f"{one['method_seconds']:.2f}",
            f"{one['refine_seconds']:.2f}",
            f"{one['refine_seconds'] / one['rows'] * 1e6:.1f}",
        )
        for one in result["results"]
    ]
    head = (
        "table",
        "rows",
        "k",
        "method",
        "GCP",
        "refined",
        "gain",
        "method (s)",
        "refine (s)",
        "s a million rows",
    )
    return f"{table(head, rows)}\n\n{source(result)}"


def search(folder: Path) -> str:
    """What the search of refine gains and what it costs, by its trials."""
    result = read(folder, "search")
    if result is None:
        return ""
    rows = [
        (
            one["table"],
            one["k"],
            run["trials"],
            f"**{run['loss']:.4f}**",
            f"{run['goal']:.4f}" if run.get("goal") else "-",
            f"{run['classes']:,}",
            f"{run['search_seconds']:.1f}" if "search_seconds" in run else "-",
        )
        for one in result["results"]
        for run in one["runs"]
    ]
    head = ("table", "k", "search", "loss", "at most", "classes", "search (processor s)")
    return f"{table(head, rows)}\n\n{source(result)}"


def growth(folder: Path) -> str:
    """Seconds per million rows by size, and the promises on SAL."""
    result = read(folder, "growth")
    if result is None:
        return ""
    rows = [
        (
            {"k": "integers, k=10", "l": f"SAL, l={result['l']}", "dual": f"SAL, d=3, E={result['e']}"}[
                one["part"]
            ],
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
    head = ("table", "rows", "method", "memory budget", "release (s)", "at most", "s a million rows", "method (s)",
            "peak memory (GiB)", "execution")  # fmt: skip
    return f"{table(head, rows)}\n\n![Growth](../benchmarks/results/growth.png)\n\n{source(result)}"


def lefevre(folder: Path) -> str:
    """C_DM and C_AVG at every point."""
    result = read(folder, "lefevre")
    if result is None:
        return ""
    found = [
        {**one, "contender": one.get("contender") or f"{one['variant']}, {one['cut']}"}
        for one in result["results"]
    ]
    names = list(dict.fromkeys(one["contender"] for one in found))
    rows = []
    for figure, x in sorted({(one["figure"], one["x"]) for one in found}):
        here = {one["contender"]: one for one in found if (one["figure"], one["x"]) == (figure, x)}
        cells = [_sizes(here[name]) for name in names]
        rows.append((figure.removeprefix("figure").replace("_", " "), f"{x:g}", *cells))
    return f"{table(('figure', 'x', *names), rows)}\n\n{source(result)}"


def _sizes(one: Result) -> str:
    """C_DM and C_AVG; where the best was not proven, the C_DM that no such release is below. Results have six digits."""
    bound = one.get("dm_bound")
    left = f" (no less than {bound:.3g})" if bound is not None and bound < one["dm"] * (1 - 1e-5) else ""
    return f"{one['dm']:.3g} / {one['c_avg']:.2f}{left}"


Sections = Mapping[str, Callable[[Path], str]]
SECTIONS: Sections = {
    "speed": speed,
    "columns": columns,
    "scale": scale,
    "growth": growth,
    "startup": startup,
    "loss": loss,
    "nominal": nominal,
    "refine": refine,
    "search": search,
    "lefevre": lefevre,
    "ghinita": report_ghinita.everything,
    "query": query,
    "kld": report_divergence.kld,
    "lefevre17": report_divergence.figure17,
}
PAGES: Mapping[Path, Sections] = {
    DOCS: SECTIONS,
    ROOT / "docs" / "ghinita2009.md": {**report_ghinita.SECTIONS, **report_divergence.SECTIONS},
    ROOT / "docs" / "xiao2010.md": report_xiao.SECTIONS,
    ROOT / "docs" / "fulldomain.md": report_lattice.SECTIONS,
    ROOT / "README.md": report_readme.SECTIONS,
}


def render(text: str, folder: Path, sections: Sections = SECTIONS) -> str:
    """The document with every ``<!-- figures: NAME -->`` section made anew."""
    for name, section in sections.items():
        opening, closing = f"<!-- figures: {name} -->\n", "<!-- end -->"
        before, rest = text.split(opening, 1)
        text = (
            f"{before}{opening}{section(folder) or 'Not measured yet.'}\n{closing}{rest.split(closing, 1)[1]}"
        )
    return text


def main(words: list[str] | None = None) -> int:
    """Rewrite or check the document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args(words)
    old = []
    for page, sections in PAGES.items():
        text = page.read_text()
        made = render(text, RESULTS, sections)
        if made != text:
            old.append(page.name)
            if not args.check:
                page.write_text(made)
    if args.check:
        print(
            f"older than the results: {', '.join(old)}: python -m benchmarks.report" if old else "up to date"
        )
        return int(bool(old))
    return 0


if __name__ == "__main__":
    sys.exit(main())
