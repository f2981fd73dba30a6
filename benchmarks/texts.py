"""Memory that a release of long texts needs, in blocks of rows as the engine holds them, in JSON.

    python -m benchmarks.texts [--runs N]

A table with one insensitive column of long texts, no longer than a block, is released on DuckDB with 2 threads and no
limit of memory, in a process that has released the same table with texts of one character before. The peak in addition
to that is divided by what the block holds: `guard_texts` refuses what would need more than `COPIES` times as much.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import duckdb

from benchmarks.memory import measure
from benchmarks.record import RESULTS, Record, options
from sqlanon.release.prepare.width_limits import COPIES

CASES = ((400, 100_000), (400, 300_000), (400, 960_000), (2000, 40_000))
"""Rows, and characters of each text."""


def blocks(folder: Path, rows: int, length: int, runs: int) -> dict[str, object]:
    """Blocks that the runs of one case had in memory at their peaks: least, median and most."""
    place = folder / f"texts_{rows}_{length}.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute(
            f"CREATE TABLE fat AS SELECT i AS id, i % 4 AS q, repeat(chr(97 + CAST(i % 3 AS INTEGER)), {length}) AS "
            f"note FROM range({rows}) AS g(i);CREATE TABLE slim AS SELECT id, q, left(note, 1) AS note FROM fat"
        )
    case = {
        "url": f"duckdb:///{place}",
        "threads": 2,
        "source": "fat",
        "warm": "slim",
        "options": {"quasi": "q", "insensitive": "note", "identifiers": "id", "k": 2, "memory": "900GiB"},
    }
    held = length * rows
    peaks = []
    for _ in range(runs):
        made = measure(case)
        peaks.append((made["peak_rss"] - made["connected_rss"]) / held)
    return {
        "rows": rows,
        "characters": length,
        "block_bytes": held,
        "least": min(peaks),
        "median": median(peaks),
        "most": max(peaks),
    }


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = options(__doc__, RESULTS / "texts.json")
    parser.add_argument("--runs", type=int, default=5, help="of each case; default: 5")
    parser.add_argument("--quick", action="store_true", help="the first case alone")
    args = parser.parse_args(words)
    record, found = Record("texts"), []
    with tempfile.TemporaryDirectory() as folder:
        for rows, length in CASES[:1] if args.quick else CASES:
            one = blocks(Path(folder), rows, length, args.runs)
            found.append(one)
            print(f"{rows} rows of {length} characters: {one['least']:.1f} to {one['most']:.1f} blocks")
    record.write(args.out, runs=args.runs, allowed=COPIES, cases=found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
