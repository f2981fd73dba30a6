"""Linear growth of a release on DuckDB.

It measures seconds per million rows and peak memory, each size in a process of its own.

Three parts. ``k``: the integer table, 62,500 rows doubled up to 16,000,000, by `tree` and `hilbert`, in memory and with
a memory budget far below what the table needs (the engine computes keys and sorts, the solver reads a stream). ``l``:
rows drawn from SAL with replacement, 125,000 to 4,000,000, l=10, and SAL as it is against its promise. ``dual``: SAL
with 3 quasi-identifiers under a bound of 0.3 on the NCP of a class, l as large as it allows, against its promise.

A process first releases 1,000 rows, so that loading the kernels and compiling the SQL is not in the figures. What an
interrupted run has measured is kept; the same command goes on, ``--fresh`` starts anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generators import INTEGERS
from benchmarks.kept import Kept
from benchmarks.loss import SAL
from benchmarks.memory import measure
from benchmarks.record import RESULTS, Record, options
from benchmarks.speed import loaded
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv

SIZES = tuple(62_500 << step for step in range(9))
DRAWN = tuple(125_000 << step for step in range(6))
SMALL = 32 << 20
"""The small memory budget, bytes: 16,000,000 rows need 100 times as much."""
ROW_BYTES = 250
"""What a row of the integer table needs in memory, about."""
WARM = 1000
L = 10
E = 0.3
SECONDS = {"l": 6.0, "dual": 20.0}
"""Seconds promised for SAL's 500,000 rows, from source to verified release here."""
THREES = (("age", "education", "country"), ("age", "sex", "education"), ("sex", "marital", "race"))
"""Three quasi-identifiers of SAL: the largest domains, the first columns, the smallest domains."""


@contextmanager
def drawn(rows: int | None, seed: int = 1) -> Iterator[str]:
    """The url of a database with ``sal``: as it is, or so many rows of it drawn with replacement; and ``warm``."""
    import duckdb

    with duckdb_url() as url:
        load_csv(url, SAL.name, data_folder() / SAL.file)
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            if rows is not None:
                table = connection.execute(f"SELECT * FROM {SAL.name}").fetchnumpy()
                chosen = np.random.default_rng(seed).integers(0, len(table[SAL.sensitive]), rows)
                arrays = {name: np.asarray(values)[chosen] for name, values in table.items()}
                connection.register("arrays", arrays)
                connection.execute(f"CREATE OR REPLACE TABLE {SAL.name} AS SELECT * FROM arrays")
        warm(url, SAL.name)
        yield url


def warm(url: str, table: str) -> None:
    """A small table like the measured one."""
    import duckdb

    with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
        connection.execute(
            f"CREATE TABLE warm AS SELECT * FROM {table} USING SAMPLE reservoir({WARM} ROWS) REPEATABLE (1)"
        )
        connection.execute("CHECKPOINT")


def figures(url: str, table: str, options: dict[str, Any], threads: int) -> dict[str, Any]:
    """One release in a process of its own."""
    full = {"url": url, "threads": threads, "source": table, "warm": "warm", "options": {**options, "seed": 1}}
    done = measure(full)
    report = done["report"]
    return {
        "seconds": done["seconds"],
        "seconds_per_million": done["seconds"] / report["rows"] * 1e6,
        "cpu_seconds": done["cpu_seconds"],
        "stages": report["seconds"],
        "peak_gib": done["peak_rss"] / 2**30,
        "execution": report["execution"],
        "classes": report["classes"],
        "min_class": report["min_class"],
        "gcp": report["loss"]["gcp"],
        "pm": report["pm"],
        "verified": report["verified"],
    }


def anonymous(kept: Kept, sizes: tuple[int, ...], small: int, threads: int) -> list[dict[str, Any]]:
    """The integer table by rows, k=10; with the small budget where the table needs at least twice as much."""
    found = []
    for rows in sizes:
        budgets = (None, small) if rows * ROW_BYTES > 2 * small else (None,)
        cases = [(method, memory) for memory in budgets for method in ("tree", "hilbert")]
        asked = [(m, memory, kept.get("k", rows, m, memory)) for m, memory in cases]
        if any(known is None for *_, known in asked):
            with loaded("duckdb", INTEGERS, rows) as url:
                warm(url, INTEGERS.name)
                for method, memory, known in asked:
                    if known is None:
                        release = {**INTEGERS.roles(), "k": 10, "method": method}
                        release |= {"memory": memory} if memory else {}
                        _reported(
                            kept.add(figures(url, INTEGERS.name, release, threads), "k", rows, method, memory),
                            rows,
                            method,
                        )
        for method, memory, _ in asked:
            found.append(
                {
                    "part": "k",
                    "rows": rows,
                    "method": method,
                    "memory": memory,
                    **(kept.get("k", rows, method, memory) or {}),
                }
            )
    return found


def diverse(kept: Kept, sizes: tuple[int, ...], threads: int) -> list[dict[str, Any]]:
    """Rows of SAL, l=10; None means SAL as it is."""
    release = {"quasi": SAL.quasi, "sensitive": SAL.sensitive, "k": 1, "l": L}
    found = []
    for rows in (None, *sizes):
        for method in ("hilbert", "idistance") if rows is None else ("hilbert",):
            one = kept.get("l", rows, method)
            if one is None:
                with drawn(rows) as url:
                    one = kept.add(figures(url, SAL.name, {**release, "method": method}, threads), "l", rows, method)
                    _reported(one, rows, method)
            found.append({"part": "l", "rows": rows, "method": method, **one})
    return found


def dual(kept: Kept, threads: int) -> list[dict[str, Any]]:
    """SAL, 3 quasi-identifiers, l as large as the bound allows."""
    found = []
    for quasi in THREES:
        one = kept.get("dual", quasi)
        if one is None:
            release = {
                "quasi": quasi,
                "sensitive": SAL.sensitive,
                "rest": "drop",
                "method": "hilbert",
                "max_loss": E,
                "maximize": "l",
                "at_least": {"l": 1},
            }
            with drawn(None) as url:
                one = kept.add(figures(url, SAL.name, release, threads), "dual", quasi)
            _reported(one, None, "hilbert, " + ", ".join(quasi))
        found.append({"part": "dual", "rows": None, "method": "hilbert", "quasi": list(quasi), **one})
    return found


def _reported(one: dict[str, Any], rows: int | None, name: str) -> None:
    print(
        f"{rows or 'SAL as it is'!s:>12} {name:10} {one['seconds']:8.2f} s, {one['seconds_per_million']:6.2f} s a "
        f"million, {one['peak_gib']:.2f} GiB, {one['execution']}",
        flush=True,
    )


def plot(found: list[dict[str, Any]], file: Path) -> None:
    """Seconds per million rows and peak memory over the rows."""
    from matplotlib.figure import Figure

    lines: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        if one["rows"] is not None:
            what = f"{one['method']}, k=10" if one["part"] == "k" else f"{one['method']}, SAL's rows, l={L}"
            what += f", {one['memory'] >> 20} MiB" if one.get("memory") else ""
            lines.setdefault(what, []).append(one)
    picture = Figure(figsize=(9, 3.4), dpi=80, layout="constrained")
    axes = picture.subplots(1, 2)
    for name, line in lines.items():
        for axis, key in zip(axes, ("seconds_per_million", "peak_gib"), strict=True):
            axis.plot([one["rows"] for one in line], [one[key] for one in line], "o-", ms=4, label=name)
    for axis, title in zip(axes, ("seconds per million rows", "peak memory, GiB"), strict=True):
        axis.set_xscale("log")
        axis.set_xlabel("rows")
        axis.set_title(title)
        axis.set_ylim(bottom=0)
    if lines:
        axes[0].legend(fontsize=7)
    picture.savefig(file, metadata={"Software": None})


def main(words: list[str] | None = None) -> None:
    """Measure every part asked for, smallest sizes first."""
    parser = options(__doc__, RESULTS / "growth.json")
    parser.add_argument("--only", default="k,l,dual", help="parts, comma list")
    parser.add_argument("--rows", default=",".join(map(str, SIZES)), help="sizes of part k, comma list")
    parser.add_argument("--drawn", default=",".join(map(str, DRAWN)), help="sizes of part l, comma list")
    parser.add_argument("--memory", type=int, default=SMALL, help="the small budget of part k, bytes")
    parser.add_argument("--quick", action="store_true", help="two small sizes of each part")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted run has measured")
    args = parser.parse_args(words)
    record, kept, found = Record("growth"), Kept(args.out, args.fresh), []
    sizes = tuple(sorted(int(word) for word in args.rows.split(",")))
    draws = tuple(sorted(int(word) for word in args.drawn.split(",")))
    small = args.memory
    if args.quick:
        sizes, draws, small = (20_000, 40_000), (20_000, 40_000), 2 << 20
    parts = args.only.split(",")
    if "k" in parts:
        found += anonymous(kept, sizes, small, args.threads)
    try:
        data_folder()
        found += diverse(kept, draws, args.threads) if "l" in parts else []
        found += dual(kept, args.threads) if "dual" in parts else []
    except DataMissingError as missing:
        print(missing)
    for one in found:
        if one["rows"] is None:
            one["target_seconds"] = SECONDS[one["part"]] if one["method"] == "hilbert" else None
    record.write(args.out, threads=args.threads, small_memory=small, l=L, e=E, results=found)
    plot(found, args.out.with_suffix(".png"))
    kept.forget()


if __name__ == "__main__":
    main()
