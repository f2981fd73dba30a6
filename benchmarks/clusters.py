"""Clustering in blocks.

It measures seconds per million rows of `kmember` and `mdav` on DuckDB, and peak memory, each run in a process of its
own.

The integer table, k=10, blocks of 4,096 rows. The cost of a block is fixed, so that time shall be linear in the rows.
Processor seconds are those of the whole release, of all threads; a process first releases 1,000 rows, which loads the
kernels.
"""

from __future__ import annotations

from benchmarks.generators import INTEGERS
from benchmarks.growth import figures, warm
from benchmarks.record import RESULTS, Record, options
from benchmarks.speed import loaded

METHODS = ("kmember:block=4096", "mdav:block=4096")
K = 10


def main(words: list[str] | None = None) -> int:
    """Measure every size asked for; 1 if a class is below k."""
    parser = options(__doc__, RESULTS / "clusters.json")
    parser.add_argument("--rows", default="1000000,5000000", help="comma list")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(words)
    record, results = Record("clusters"), []
    for rows in sorted(int(word) for word in args.rows.split(",")):
        with loaded("duckdb", INTEGERS, rows) as url:
            warm(url, INTEGERS.name)
            for method in args.methods:
                release = {**INTEGERS.roles(), "k": K, "method": method}
                one = figures(url, INTEGERS.name, release, args.threads)
                one |= {"rows": rows, "method": method, "cpu_per_million": one["cpu_seconds"] / rows * 1e6}
                results.append(one)
                print(
                    f"{rows:>11,} rows, {method}: {one['cpu_per_million']:.1f} processor s a million, "
                    f"{one['peak_gib']:.2f} GiB",
                    flush=True,
                )
    record.write(args.out, k=K, threads=args.threads, results=results)
    return int(any(one["min_class"] < K for one in results))


if __name__ == "__main__":
    raise SystemExit(main())
