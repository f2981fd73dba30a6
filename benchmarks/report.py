"""The tables of ``docs/benchmarks.md``, made from the JSON in ``results/`` so that no figure is ever typed.

``python -m benchmarks.report`` rewrites them; ``--check`` only says (exit code 1) whether they are up to date.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS

DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
STAGES = ("snapshot", "profile", "encode", "method", "recode", "verify", "publish")
Result = dict[str, Any]


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def _source(result: Result) -> str:
    machine, versions = result["machine"], result["versions"]
    engine = "psycopg" if result.get("engine") == "postgres" else "duckdb"
    return (
        f"`{result['command']}`, {result['date']}, Python {versions['python']}, {engine} {versions[engine]}, "
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']} GiB."
    )


def speed(folder: Path) -> str:
    """Release against sort, where the time goes, and peak memory."""
    found = [json.loads(file.read_text()) for file in sorted(folder.glob("speed_*.json"))]
    if not found:
        return ""
    ratios = _table(
        (
            "engine, table",
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
                f"{one['engine']}, {one['table']}",
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
    stages = _table(
        ("seconds", *STAGES),
        [
            (
                f"{one['engine']}, {one['table']}",
                *(f"{one['stages'].get(stage, 0.0):.2f}" for stage in STAGES),
            )
            for one in found
        ],
    )
    return "\n\n".join([ratios, stages, *dict.fromkeys(_source(one) for one in found)])


def _memory(result: Result, case: str) -> str:
    memory = result.get("memory") or {}
    if f"{case}_gib" not in memory:
        return "-"
    server = memory.get(f"{case}_server_gib")
    return f"{memory[f'{case}_gib']:.2f}" + (f" + server {server:.2f}" if server else "")


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
    return f"{_table(head, rows)}\n\n{_source(result)}"


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
    return f"{_table(('what', 'seconds', 'at most'), rows)}\n\n{_source(result)}"


def loss(folder: Path) -> str:
    """Range NCP of every variant, as the independent evaluator sees it."""
    file = folder / "loss.json"
    if not file.is_file():
        return ""
    result = json.loads(file.read_text())
    rows = [
        (
            one["table"],
            one["k"],
            f"{one['variant']}, {one['cut']}",
            f"**{one['evaluator']['range_ncp']:.4f}**",
            one.get("target", "-"),
            f"{one['evaluator']['classes']:,}",
            f"{one['evaluator']['c_avg']:.2f}",
            f"{one['method_seconds']:.2f}",
        )
        for one in result["results"]
    ]
    head = ("table", "k", "Mondrian", "Range NCP", "at most", "classes", "C_AVG", "method (s)")
    return f"{_table(head, rows)}\n\n{_source(result)}"


def lefevre(folder: Path) -> str:
    """C_AVG at the ends of every sweep; the rest is in the pictures."""
    file = folder / "lefevre.json"
    if not file.is_file():
        return ""
    result = json.loads(file.read_text())
    rows = []
    for figure in sorted({one["figure"] for one in result["results"]}):
        points = [one for one in result["results"] if one["figure"] == figure]
        for x in sorted({one["x"] for one in points}):
            here = {(one["variant"], one["cut"]): one for one in points if one["x"] == x}
            order = (("strict", "median"), ("strict", "loss"), ("relaxed", "median"), ("relaxed", "loss"))
            cells = [f"{here[key]['dm']:.3g} / {here[key]['c_avg']:.2f}" for key in order]
            rows.append((figure.removeprefix("figure").replace("_", " "), f"{x:g}", *cells))
    head = ("figure", "x", "strict, median", "strict, loss", "relaxed, median", "relaxed, loss")
    return f"{_table(head, rows)}\n\n{_source(result)}"


SECTIONS: dict[str, Callable[[Path], str]] = {
    "speed": speed,
    "scale": scale,
    "startup": startup,
    "loss": loss,
    "lefevre": lefevre,
}


def render(text: str, folder: Path) -> str:
    """The document with every ``<!-- figures: NAME -->`` section made anew."""
    for name, section in SECTIONS.items():
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
    text = DOCS.read_text()
    made = render(text, RESULTS)
    if args.check:
        print(
            "up to date"
            if made == text
            else f"{DOCS.name} is older than the results: python -m benchmarks.report"
        )
        return int(made != text)
    DOCS.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
