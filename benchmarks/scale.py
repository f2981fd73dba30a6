"""Growth: seconds and peak memory of one release of the integer table on DuckDB, from a million rows to fifty.

Each size runs in a process of its own, so that its peak memory is its own. The promise: 50,000,000 rows within 16 GiB.
"""

from __future__ import annotations

from benchmarks.generators import TABLES
from benchmarks.memory import measure
from benchmarks.record import RESULTS, Record, options
from benchmarks.speed import base, loaded

LIMIT_GIB = 16.0


def main(words: list[str] | None = None) -> None:
    """Measure every size asked for, smallest first."""
    parser = options(__doc__, RESULTS / "scale.json")
    parser.add_argument("--rows", default="1000000,2000000,5000000,10000000,20000000,50000000", help="comma list")
    parser.add_argument("--table", choices=sorted(TABLES), default="integers")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--method", default="mondrian")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", type=int, help="memory budget in bytes; default: sqlanon chooses")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one case")
    args = parser.parse_args(words)
    record = Record("scale")
    table = TABLES[args.table]
    release = {**table.roles(), "k": args.k, "method": args.method}
    common = {"threads": args.threads, "memory": args.memory}
    results = []
    with loaded("duckdb", table, 1000) as url:  # compiles, or the first size would pay for it
        measure({"url": url, "source": table.name, "options": release, **common}, args.timeout)
    for rows in sorted(int(word) for word in args.rows.split(",")):
        with loaded("duckdb", table, rows) as url:
            sort = measure({"url": url, "statements": [base(table), "DROP TABLE s"], **common}, args.timeout)
            done = measure({"url": url, "source": table.name, "options": release, **common}, args.timeout)
        report = done["report"]
        one = {
            "rows": rows,
            "base_seconds": sort["seconds"],
            "base_gib": sort["peak_rss"] / 2**30,
            "seconds": done["seconds"],
            "peak_gib": done["peak_rss"] / 2**30,
            "within_limit": done["peak_rss"] <= LIMIT_GIB * 2**30,
            "rows_per_second": rows / done["seconds"],
            "stages": report["seconds"],
            "classes": report["classes"],
            "min_class": report["min_class"],
            "verified": report["verified"],
            "execution": report["execution"],
        }
        results.append(one)
        print(
            f"{rows:>11,} rows: {one['seconds']:8.1f} s, {one['peak_gib']:5.2f} GiB, {report['execution']}", flush=True
        )
    record.write(args.out, table=args.table, k=args.k, threads=args.threads, limit_gib=LIMIT_GIB, results=results)


if __name__ == "__main__":
    main()
