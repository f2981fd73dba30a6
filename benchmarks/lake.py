"""Lake tables: processor seconds of a release from Delta, Iceberg and Parquet files, beside those from a DuckDB table.

Each case runs in a process of its own, in turns with the others; the figure of a case is its fastest turn. The promise:
at most 1.3 times the processor seconds from the DuckDB table.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.generators import TABLES
from benchmarks.memory import measure
from benchmarks.record import RESULTS, Record, options
from benchmarks.speed import loaded

LIMIT = 1.3
WARMED = 50_000_000
"""Rows above which no turn goes before the measured ones: compiling is less than 1 % of such a run."""


def write_lake(folder: Path, file: str, table: str, files: int) -> dict[str, str]:
    """Write a table of a DuckDB file in each format.

    Args:
        folder: where to.
        file: the DuckDB file.
        table: its table.
        files: how many files each format has.

    Returns:
        the source's name by format.
    """
    import deltalake
    from pyiceberg.catalog import load_catalog

    with duckdb.connect(file, read_only=True) as connection:
        rows = connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
        each = -(-rows // files)
        catalog = load_catalog(
            "lake", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/iceberg"
        )
        catalog.create_namespace("bench")
        (folder / "parquet").mkdir()
        for i in range(files):
            part = connection.sql(f"FROM {table} LIMIT {each} OFFSET {i * each}").to_arrow_table()
            deltalake.write_deltalake(folder / "delta", part, mode="append")
            catalog.create_table_if_not_exists("bench.rows", schema=part.schema).append(part)
            connection.register("part", part)
            connection.execute(f"COPY part TO '{folder}/parquet/{i}.parquet'")
    for name, value in {"TYPE": "sql", "URI": f"sqlite:///{folder}/catalog.db"}.items():
        os.environ[f"PYICEBERG_CATALOG__LAKE__{name}"] = value
    return {
        "delta": f"delta:{folder}/delta",
        "iceberg": "iceberg:lake/bench.rows",
        "parquet": f"parquet:{folder}/parquet",
    }


def main(words: list[str] | None = None) -> None:
    """Measure every size asked for, smallest first."""
    parser = options(__doc__, RESULTS / "lake.json")
    parser.add_argument("--rows", default="1000000,5000000", help="comma list")
    parser.add_argument("--table", choices=sorted(TABLES), default="integers")
    parser.add_argument("--method", default="mondrian")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--formats", default="delta,iceberg,parquet", help="comma list")
    parser.add_argument("--files", type=int, default=4, help="files of each lake table")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", type=int, help="the bound of the database's memory, in bytes")
    args = parser.parse_args(words)
    record, table = Record("lake"), TABLES[args.table]
    asked = {**table.roles(), "k": args.k, "method": args.method}
    results: list[dict[str, Any]] = []
    for rows in sorted(int(word) for word in args.rows.split(",")):
        with loaded("duckdb", table, rows) as url, tempfile.TemporaryDirectory() as folder:
            names = write_lake(Path(folder), url.removeprefix("duckdb:///"), table.name, args.files)
            sources = {"duckdb": table.name} | {name: names[name] for name in args.formats.split(",")}
            runs: dict[str, list[dict[str, Any]]] = {}
            for turn in range(rows > WARMED, args.repeat + 1):
                for name, source in sources.items():
                    release = asked | {"name": name, "publish": f"release.{name}"}
                    bounds = {"threads": args.threads, "memory": args.memory}
                    done = measure({"url": url, "source": source, "options": release, **bounds}, 3600)
                    if turn:  # the first one compiles, and fills the system's cache
                        runs.setdefault(name, []).append(done)
            base, used = (min(one[key] for one in runs["duckdb"]) for key in ("seconds", "cpu_seconds"))
            for name, done in runs.items():
                best = min(done, key=lambda one: one["seconds"])
                cpu = min(one["cpu_seconds"] for one in done)
                ratio = cpu / used
                results.append(
                    {
                        "rows": rows,
                        "source": name,
                        "seconds": best["seconds"],
                        "cpu_seconds": cpu,
                        "ratio": ratio,
                        "ratio_of_seconds": best["seconds"] / base,
                        "within_limit": ratio <= LIMIT,
                        "peak_gib": best["peak_rss"] / 2**30,
                        "stages": best["report"]["seconds"],
                        "classes": best["report"]["classes"],
                        "verified": best["report"]["verified"],
                    }
                )
                print(f"{rows:>11,} rows, {name:8}: {cpu:7.2f} processor seconds, {ratio:5.2f}", flush=True)
    record.write(
        args.out, table=args.table, k=args.k, files=args.files, memory=args.memory, limit=LIMIT, results=results
    )


if __name__ == "__main__":
    main()
