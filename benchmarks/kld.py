"""Seconds of KL-divergence on SAL, l=10.

It takes the group-bys of two of its 7 quasi columns, and the joint distribution at d=4.

What is promised: all 21 group-bys in 30 seconds, the joint divergence in 60 (docs/workloads.md says how it is
computed). Beside the seconds by the clock are those of the processor, all threads together (on Linux), for machines
that are not at rest.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.papers.ghinita.data import QUASI
from benchmarks.record import RESULTS, Record, options
from examples.sources import SAL, DataMissingError, data_folder, duckdb_url, load_csv, postgres_missing, postgres_url

METHODS = ("tree", "hilbert", "mondrian:variant=strict,cut=median", "anatomy")
CASES = (("two columns", 7, 2, 30.0), ("joint, d=4", 4, 4, 60.0))
"""What is measured: name, quasi columns of the release, columns of a group-by, seconds promised."""


def processor_seconds(db: Any) -> float:
    """What this process has used, all threads together, and with it the local server's session on PostgreSQL."""
    used = time.process_time()
    if db.engine.dialect == "postgres":
        (session,) = db.engine.fetch("SELECT pg_backend_pid()")[0]
        fields = Path(f"/proc/{session}/stat").read_text().rpartition(")")[2].split()
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def measure(url: str, methods: tuple[str, ...], rows: int, repeat: int) -> list[dict[str, Any]]:
    """The least seconds of every case, by the clock and of the processor."""
    import sqlanon
    from sqlanon.evaluate.divergence import average_divergence, level, measure_divergence
    from sqlanon.evaluate.subject import find_subject

    found = []
    with sqlanon.connect(url) as db:
        db.engine.execute(f"CREATE TABLE sal AS SELECT * FROM sal_all LIMIT {rows}")
        for method in methods:
            more: dict[str, Any] = {"format": "anatomy"} if method == "anatomy" else {"k": 1}
            for name, d, size, promised in CASES:
                db.anonymize(
                    "sal",
                    quasi=QUASI[:d],
                    sensitive="salary",
                    rest="drop",
                    l=10,
                    method=method,
                    seed=1,
                    name="kld",
                    publish="release.kld",
                    allow_weaker=True,
                    **more,
                )
                on = find_subject(db.engine, "kld")
                group_bys = level(on.quasi, size)
                seconds, processor = [], []
                for _ in range(repeat):
                    start, used = time.perf_counter(), processor_seconds(db)
                    result = measure_divergence(db.engine, on, group_bys, "salary")
                    seconds.append(time.perf_counter() - start)
                    processor.append(processor_seconds(db) - used)
                found.append(
                    {
                        "case": name,
                        "method": method,
                        "rows": rows,
                        "group_bys": len(group_bys),
                        "kld": average_divergence(result),
                        "seconds": min(seconds),
                        "promised": promised,
                        "processor_seconds": min(processor),
                    }
                )
                print(f"{method}, {name}: {min(seconds):.1f} s of {promised:g} s", flush=True)
    return found


def main(words: list[str] | None = None) -> int:
    """Measure; 1 if a promise is broken."""
    parser = options(__doc__, None)
    parser.add_argument("--engine", choices=("duckdb", "postgres"), default="duckdb")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--methods", help="methods, separated by semicolons", default=";".join(METHODS))
    args = parser.parse_args(words)
    try:
        folder = data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    if args.engine == "postgres" and (reason := postgres_missing()):
        print(reason)
        return 0
    record = Record("kld")
    with ExitStack() as stack:
        url = stack.enter_context(postgres_url() if args.engine == "postgres" else duckdb_url())
        load_csv(url, "sal_all", folder / SAL)
        found = measure(url, tuple(args.methods.split(";")), args.rows, args.repeat)
    record.write(args.out or RESULTS / f"kld_{args.engine}.json", engine=args.engine, results=found)
    return 0 if all(one["seconds"] <= one["promised"] for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
