"""Releases in another database or lake: processor seconds and peak memory of runs that send rows, beside others.

Each case runs in a process of its own, in turns with the others; the figure of a case is its fastest turn. Seconds are
those of sqlanon's process: a server of PostgreSQL spends its own.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.generators import TABLES
from benchmarks.memory import measure
from benchmarks.record import RESULTS, Record, options
from benchmarks.speed import loaded


def main(words: list[str] | None = None) -> None:
    """Measure every size asked for, smallest first."""
    parser = options(__doc__, RESULTS / "publish_to.json")
    parser.add_argument("--rows", default="1000000", help="comma list")
    parser.add_argument("--table", choices=sorted(TABLES), default="integers")
    parser.add_argument("--method", default="mondrian")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args(words)
    record, table = Record("publish_to"), TABLES[args.table]
    asked = {**table.roles(), "k": args.k, "method": args.method}
    results: list[dict[str, Any]] = []
    for rows in sorted(int(word) for word in args.rows.split(",")):
        with (
            loaded("duckdb", table, rows) as file,
            loaded("postgres", table, rows) as server,
            loaded("postgres", table, 10) as analysts,
            tempfile.TemporaryDirectory() as folder,
        ):
            copy = f"duckdb:///{Path(folder) / 'analysts.duckdb'}"
            lake = f"delta:{folder}/of_"
            targets = (None, analysts, copy, lake)
            cases = [(url, target) for url in (file, server) for target in targets]
            runs: dict[int, list[dict[str, Any]]] = {}
            for turn in range(args.repeat + 1):
                for case, (url, target) in enumerate(cases):
                    release = asked | {"name": f"r{case}", "publish": f"release.r{case}", "publish_to": target}
                    if target == lake:
                        release["publish_to"] = f"{lake}{url.partition(':')[0]}"
                    measured = measure({"url": url, "source": table.name, "options": release, "threads": 2}, 3600)
                    if turn:  # the first one compiles, and fills the system's cache
                        runs.setdefault(case, []).append(measured)
            for case, (url, target) in enumerate(cases):
                best = min(runs[case], key=lambda run: run["cpu_seconds"])
                results.append(
                    {
                        "rows": rows,
                        "source": url.partition(":")[0],
                        "target": target.partition(":")[0] if target else None,
                        "cpu_seconds": best["cpu_seconds"],
                        "peak_gib": best["peak_rss"] / 2**30,
                        "stages": best["report"]["seconds"],
                        "verified": best["report"]["verified"],
                    }
                )
                shown = f"{results[-1]['source']} to {results[-1]['target'] or 'itself'}"
                print(f"{rows:>11,} rows, {shown:24}: {best['cpu_seconds']:6.2f} processor seconds", flush=True)
    record.write(args.out, table=args.table, k=args.k, results=results)


if __name__ == "__main__":
    main()
