"""What counts without small cells cost: the share of hidden cells, and processor seconds of a run.

Each table is released with its certificate, by default on an in-memory DuckDB, with m = 5 and without bounds;
``hidden`` are shares of the cells of the view, ``classes`` of those that differ for a reader (a total of one part is
that part), and ``small`` the share of small ones among these. Readers are outsiders (``none``) or persons who are alone
in a cell (``alone``). ``search`` are the seconds of the choice alone, ``audit_seconds`` those of the clock in which an
audit checks the certificate. With ``--engine postgres`` the tables are copied to a throwaway server, whose processor
seconds are not in ``cpu_seconds``; the result goes to a file of its own. Of a
refused table there is the message.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import ADULT, SAL, data_folder, postgres_url
from sqlanon.errors import InfeasibleError
from sqlanon.policy import load
from sqlanon.statistics import hide

EDUCATION, WORK = "adult_hierarchy_education.csv", "adult_hierarchy_workclass.csv"
HOSPITAL = """
CREATE TABLE hospital AS
SELECT p, CAST(floor(390 * (u + u * u)) AS INTEGER) AS ward, hash(p * 5 + 2) % 2 AS sex, hash(p * 5 + 3) % 3 AS age,
    CAST(100 + hash(p * 7) % 9900 AS BIGINT) AS cost
FROM (SELECT p, (hash(p * 5 + 1) % 1000003) / 1000003.0 AS u FROM range(60000) AS r(p)) AS each
"""
LARGE = """
CREATE TABLE large AS
SELECT p, CAST(floor(390 * (u + u * u)) AS INTEGER) AS ward, hash(p * 5 + 2) % 2 AS sex, hash(p * 5 + 3) % 3 AS age,
    hash(p * 5 + 4) % 10 AS diagnosis, CAST(100 + hash(p * 7) % 9900 AS BIGINT) AS cost
FROM (SELECT p, (hash(p * 5 + 1) % 1000003) / 1000003.0 AS u FROM range(600000) AS r(p)) AS each
"""
TABLES: dict[str, tuple[str, str]] = {
    "adult 3 columns": (
        "adult",
        "{education: {hierarchy: education.csv}, sex: {}, workclass: {hierarchy: workclass.csv}}",
    ),
    "sal 4 columns": ("sal", '{sex: {}, education: {}, marital: {}, twenty: {hierarchy: "steps:2"}}'),
    "hospital": ("hospital", '{ward: {hierarchy: "steps:10,50,200"}, sex: {}, age: {}}'),
    "large hospital": ("large", '{ward: {hierarchy: "steps:10,50,200"}, sex: {}, age: {}, diagnosis: {}}'),
    "adult 5 columns": (
        "adult",
        "{education: {hierarchy: education.csv}, sex: {}, workclass: {hierarchy: workclass.csv}, race: {}, decade: {}}",
    ),
}

TABLES |= {
    "adult 3 columns with sums of gain": TABLES["adult 3 columns"],
    "adult 3 columns with sums of weight": TABLES["adult 3 columns"],
    "hospital with sums": TABLES["hospital"],
    "large hospital with sums": TABLES["large hospital"],
}
RULES = "p_percent: 10, dominance: {n: 2, share: 0.85}"
SUMS = {
    "adult 3 columns with sums of gain": f", gain: {{sum: capital_gain, range: [0, 100000], {RULES}}}",
    "adult 3 columns with sums of weight": f", weight: {{sum: fnlwgt, range: [0, 2000000], {RULES}}}",
    "hospital with sums": f", cost: {{sum: cost, range: [0, 100000], {RULES}}}",
    "large hospital with sums": f", cost: {{sum: cost, range: [0, 100000], {RULES}}}",
}
"""Measures besides the count."""


def read_sources(db: Any) -> None:
    """Load the tables."""
    folder = data_folder()
    db.engine.execute(
        "CREATE TABLE adult AS SELECT row_number() OVER () AS p, *, CAST(age AS INTEGER) // 20 AS decade "
        f"FROM read_csv('{folder / ADULT}')"
    )
    db.engine.execute(
        "CREATE TABLE sal AS SELECT row_number() OVER () AS p, *, CAST(age AS INTEGER) // 20 AS twenty "
        f"FROM (FROM read_csv('{folder / SAL}') LIMIT 100000)"
    )
    db.engine.execute(HOSPITAL)
    db.engine.execute(LARGE)


@contextmanager
def connected(engine: str) -> Iterator[Any]:
    """A database of an engine that has the tables."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        read_sources(db)
        if engine == "duckdb":
            yield db
            return
        with postgres_url() as url:
            copy_sources(db, url)
            with sqlanon.connect(url) as server:
                yield server


def copy_sources(db: Any, url: str) -> None:
    """Copy the tables to a PostgreSQL server."""
    import psycopg

    with psycopg.connect(url) as connection, tempfile.TemporaryDirectory() as folder:
        for source in sorted({source for source, _ in TABLES.values()}):
            columns = db.engine.fetch(
                "SELECT column_name, CASE data_type WHEN 'VARCHAR' THEN 'TEXT' WHEN 'UBIGINT' THEN 'BIGINT' "
                "ELSE data_type END FROM information_schema.columns "
                f"WHERE table_name = '{source}' ORDER BY ordinal_position"
            )
            listed = ", ".join(f'"{name}" {kind}' for name, kind in columns)
            connection.execute(f"CREATE TABLE {source} ({listed})".encode())
            file = Path(folder) / f"{source}.csv"
            db.engine.execute(f"COPY {source} TO '{file}' (HEADER false)")
            with connection.cursor().copy(f"COPY {source} FROM STDIN (FORMAT csv)".encode()) as copy:
                copy.write(file.read_bytes())
        connection.commit()
        connection.execute(b"ANALYZE")


def write_hierarchies(folder: Path) -> None:
    """Hierarchies of Adult next to the policy."""
    for name, file in (("education", EDUCATION), ("workclass", WORK)):
        shutil.copy(data_folder() / "adult" / "hierarchies" / file, folder / f"{name}.csv")


def measured(db: Any, folder: Path, name: str, insiders: str) -> dict[str, Any]:
    """One release."""
    source, columns = TABLES[name]
    sums = SUMS.get(name, "")
    by = [part.split(":")[0].strip("{ ") for part in columns.split("}, ")]
    file = folder / "anon.yml"
    file.write_text(
        f"version: 1\nreleases:\n  - name: counts\n    source: {source}\n    person: p\n    publish: release.counts\n"
        f"    statistics:\n      columns: {columns}\n      tables: [{{name: all, by: [{', '.join(by)}]}}]\n"
        f"      measures: {{n: count{sums}}}\n      protect: {{persons: 5, insiders: {insiders}}}\n"
    )
    choices: list[dict[str, Any]] = []
    choose = hide.choose_hidden

    def watch(system: Any, *args: Any, **words: Any) -> Any:
        begun = time.process_time()
        choice = choose(system, *args, **words)
        search = time.process_time() - begun
        choices.append({"classes": float(choice.hidden.mean()), "small": float(system.small.mean()), "search": search})
        return choice

    hide.choose_hidden = watch
    used = time.process_time()
    try:
        report = db.run(load(file).releases[0], allow_weaker=True)
    except InfeasibleError as error:
        refused = {"table": name, "insiders": insiders, "refused": str(error)}
        return {**refused, "cpu_seconds": time.process_time() - used}
    finally:
        hide.choose_hidden = choose
    seconds = time.process_time() - used
    used, begun = time.process_time(), time.perf_counter()
    db.audit("release.counts")
    audit, audit_seconds = time.process_time() - used, time.perf_counter() - begun
    found = report.statistics
    db.unpublish("counts", purge=True)
    return {
        "table": name,
        "insiders": insiders,
        "cells": found.cells,
        "hidden": found.hidden / found.cells,
        **choices[0],
        "witnesses": found.witnesses,
        "cpu_seconds": seconds,
        "audit_cpu_seconds": audit,
        "audit_seconds": audit_seconds,
    }


def main(words: list[str] | None = None) -> None:
    """Measure and write the result."""
    parser = options(__doc__, None)
    parser.add_argument("--engine", choices=("duckdb", "postgres"), default="duckdb")
    parser.add_argument("--only", default=",".join(TABLES), help="tables, comma list; default: all")
    parser.add_argument("--insiders", default="none,alone", help="readers, comma list; default: both")
    args = parser.parse_args(words)
    if not has_data():
        return
    record, results = Record("statistics"), []
    with connected(args.engine) as db, tempfile.TemporaryDirectory() as folder:
        write_hierarchies(Path(folder))
        for name in args.only.split(","):
            for insiders in args.insiders.split(","):
                results.append(measured(db, Path(folder), name, insiders))
                print(results[-1], flush=True)
    name = "statistics" if args.engine == "duckdb" else f"statistics_{args.engine}"
    record.write(args.out or RESULTS / f"{name}.json", engine=args.engine, results=results)


if __name__ == "__main__":
    main()
