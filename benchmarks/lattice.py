"""The local search on a large lattice: seconds, memory and loss on a generated hospital's table, nearly all rows different."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.generators import NESTED, load_duckdb, nested_hierarchies
from benchmarks.record import RESULTS, Record, options
from examples.sources import duckdb_url

MOST_SECONDS, MOST_GIB = 60, 4
"""Processor seconds of the method and GiB of the process that are meant to suffice for 100,000 rows."""


def main(words: list[str] | None = None) -> int:
    """Release the table; 1 if it took longer or more memory than is meant to suffice."""
    import duckdb

    import sqlanon

    parser = options(__doc__, RESULTS / "lattice.json")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--k", type=int, default=10)
    args = parser.parse_args(words)
    record = Record("lattice")
    with duckdb_url() as url, TemporaryDirectory(prefix="sqlanon-hierarchies-") as folder:
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            load_duckdb(connection, NESTED, args.rows)
        with sqlanon.connect(url) as db:
            start = time.process_time()
            report = db.anonymize(
                NESTED.name, **NESTED.roles(), hierarchies=nested_hierarchies(Path(folder)), k=args.k,
                method="fulldomain:search=local", publish="release.nested", seed=1,
            ).report  # fmt: skip
            seconds = time.process_time() - start
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = {
        "rows": report.rows, "k": args.k, "classes": report.classes, "lm": report.loss.lm, "processor_seconds": seconds,
        "method_seconds": report.seconds["method"], "gib": gib, "met": seconds <= MOST_SECONDS and gib <= MOST_GIB,
    }  # fmt: skip
    print(
        f"{report.rows:,} rows, k={args.k}: LM {report.loss.lm:.4f}, {seconds:.1f} s, {gib:.1f} GiB, met: {found['met']}"
    )
    record.write(args.out, results=[found])
    return 0 if found["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
