"""Growth of the time of `refine: {search: 4}`, one round, with the rows.

The tables are SAL and copies of it, `tree`, k=10, each run in a process of its own.

A copy has the ages of the one before it, all of them raised by so much that no two copies overlap: equal rows would
lose nothing, and nothing would be searched. Seconds are the processor's, of all threads; those of the search are the
difference to the same release without trials. A process first releases 1,000 rows, which loads the kernels.
"""

from __future__ import annotations

from typing import Any

from benchmarks.growth import figures, warm
from benchmarks.loss import SAL
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import data_folder, duckdb_url, load_csv

K, TRIALS = 10, 4


def measured(copies: int, threads: int, limit: int | None) -> dict[str, Any]:
    """The table in so many copies, of ``limit`` rows each, without trials and with a round of them."""
    import duckdb

    with duckdb_url() as url:
        load_csv(url, "loaded", data_folder() / SAL.file)
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            apart = "r * (SELECT max(age) - min(age) + 1 FROM loaded)"
            connection.execute(
                f"CREATE TABLE {SAL.name} AS SELECT t.* REPLACE (CAST(age + {apart} AS INTEGER) AS age) "
                f"FROM (FROM loaded LIMIT {limit or 2**62}) AS t, range({copies}) AS copy(r)"
            )
            rows = connection.execute(f"SELECT count(*) FROM {SAL.name}").fetchall()[0][0]
            connection.execute("DROP TABLE loaded")
        warm(url, SAL.name)
        roles = {"quasi": SAL.quasi, "sensitive": SAL.sensitive, "rest": "drop", "k": K, "method": "tree"}
        runs = [
            {"trials": trials, **figures(url, SAL.name, {**roles, "refine": {"search": trials}}, threads)}
            for trials in (0, TRIALS)
        ]
    seconds = runs[1]["cpu_seconds"] - runs[0]["cpu_seconds"]
    return {"copies": copies, "rows": rows, "runs": runs, "search_seconds": seconds}


def main(words: list[str] | None = None) -> int:
    """Measure every number of copies; 1 if a class is below k."""
    parser = options(__doc__, RESULTS / "search_rows.json")
    parser.add_argument("--copies", default="1,4,10", help="comma list")
    parser.add_argument("--rows", type=int, help="of each copy; default: all 500,000")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(words)
    if not has_data():
        return 0
    record, results = Record("search_rows"), []
    for copies in map(int, args.copies.split(",")):
        one = measured(copies, args.threads, args.rows)
        results.append(one)
        print(
            f"{one['rows']:>10,} rows: the search takes {one['search_seconds']:.2f} processor s, "
            f"{one['search_seconds'] / one['rows'] * 1e6:.2f} s a million, peak {one['runs'][1]['peak_gib']:.2f} GiB",
            flush=True,
        )
    record.write(args.out, k=K, trials=TRIALS, threads=args.threads, results=results)
    return int(any(run["min_class"] < K for one in results for run in one["runs"]))


if __name__ == "__main__":
    raise SystemExit(main())
