"""Levels of hierarchies.

It measures loss and processor seconds of method fulldomain on public tables, on a large lattice, and beside tree.

adult: 8 columns with ARX's hierarchies, local search beside tree with refine (its passes), and the best node with and
without suppressed rows. occ, sal: all 7 columns with the census' hierarchies, age by 5, 10, 20 and 40, education by 2,
4 and 8. nested: a generated hospital's table, nearly all rows different, 9 columns with 327,680 nodes. admissions: the
time of the local search over that of tree.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.generators import ADMISSIONS, NESTED, Synthetic, load_duckdb, nested_hierarchies
from benchmarks.papers.ghinita.data import CENSUS, QUASI, census, table
from benchmarks.papers.xiao.intervals import intervals
from benchmarks.processor import processor
from benchmarks.record import RESULTS, Record, options
from examples.sources import ADULT, DataMissingError, data_folder, duckdb_url, load_csv

if TYPE_CHECKING:
    from sqlanon.database import Database

COLUMNS = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
MOST_GIB, MOST_RATIO = 4, 2
"""Of the process, for the large lattice; of the local search over tree, on admissions."""
GLOBAL = "fulldomain:search=global"


@dataclass(frozen=True, slots=True)
class Case:
    """A release, and what it is meant to reach: LM and processor seconds of the method, at most."""

    part: str
    method: str
    asked: Mapping[str, Any]
    lm: float | None = None
    seconds: float | None = None
    refine: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


CASES = (
    Case("adult", "fulldomain", {"k": 10}, 0.074, 1),
    Case("adult", "fulldomain", {"k": 50}, 0.145, 1),
    Case("adult", "tree", {"k": 10}, refine=True),
    Case("adult", "tree", {"k": 50}, refine=True),
    Case("adult", GLOBAL, {"k": 10}, seconds=0.5),
    Case("adult", GLOBAL, {"k": 10}, seconds=0.5, more={"suppression": {"limit": 0.05}}),
    Case("occ", "fulldomain", {"k": 1, "l": 6}, 0.062, 6),
    Case("occ", "fulldomain", {"k": 1, "l": 10}, 0.124, 6),
    Case("occ", "tree", {"k": 1, "l": 6}, refine=True),
    Case("occ", "tree", {"k": 1, "l": 10}, refine=True),
    Case("occ", "fulldomain", {"k": 1, "l": 10}, more={"suppression": {"limit": 0.05, "rows": "left_out"}}),
    Case("sal", "fulldomain", {"k": 10}, 0.0155, 1.5),
    Case("sal", "fulldomain", {"k": 50}, 0.035, 1.5),
    Case("sal", "tree", {"k": 10}, refine=True),
    Case("sal", "tree", {"k": 50}, refine=True),
    Case("nested", "fulldomain", {"k": 10}, seconds=60),
    Case("admissions", "tree", {"k": 10}),
    Case("admissions", "fulldomain", {"k": 10}),
)
PARTS = tuple(dict.fromkeys(case.part for case in CASES))


@contextmanager
def loaded(part: str, rows: Mapping[str, int]) -> Iterator[tuple[Database, str, dict[str, Any]]]:
    """A database with the part's table, its name, and roles and hierarchies."""
    import sqlanon

    with TemporaryDirectory(prefix="sqlanon-hierarchies-") as folder:
        if part in ("occ", "sal"):
            (data,) = (replace(one, rows=rows[part]) for one in CENSUS if one.name == part)
            with census(data, [data.rows], 1) as made, sqlanon.connect(made.url) as db:
                files = {**made.of(QUASI), **intervals(db, data.name, Path(folder))}
                yield (
                    db,
                    table(data, data.rows),
                    {"quasi": QUASI, "sensitive": data.sensitive, "rest": "drop", "hierarchies": files},
                )
            return
        with duckdb_url() as url:
            roles = _load(url, part, rows, Path(folder))
            with sqlanon.connect(url) as db:
                yield db, part, roles


def _load(url: str, part: str, rows: Mapping[str, int], folder: Path) -> dict[str, Any]:
    import duckdb

    if part == "adult":
        load_csv(url, part, data_folder() / ADULT)
        own = data_folder() / "adult" / "hierarchies"
        files = {name: own / f"adult_hierarchy_{name.replace('_', '-')}.csv" for name in COLUMNS}
        return {"quasi": COLUMNS, "sensitive": "income", "rest": "drop", "hierarchies": files}
    made: Synthetic = NESTED if part == "nested" else ADMISSIONS
    with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
        load_duckdb(connection, replace(made, name=part), rows[part])
    return {**made.roles(), **({"hierarchies": nested_hierarchies(folder)} if part == "nested" else {})}


def release(db: Database, source: str, roles: dict[str, Any], case: Case) -> dict[str, Any]:
    """One release's figures."""
    with processor() as used:
        report = db.anonymize(
            source,
            **roles,
            **case.asked,
            **case.more,
            method=case.method,
            name="lattice",
            publish="release.lattice",
            allow_weaker=True,
            seed=1,
            refine={"search": 0} if case.refine else None,
        ).report
    return {
        "part": case.part,
        "method": report.method,
        "refine": case.refine,
        **case.asked,
        "suppressed": report.suppressed,
        "rows": report.rows,
        "classes": report.classes,
        "lm": report.loss.lm,
        "most_lm": case.lm,
        "processor_seconds": used[-1],
        "most_seconds": case.seconds,
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "verified": report.verified,
    }


def judged(found: list[dict[str, Any]], rows: Mapping[str, int]) -> None:
    """Note what is met; smaller tables than are meant have no goal."""
    of = {(one["part"], one["method"].partition(":")[0]): one["processor_seconds"] for one in found}
    for one in found:
        goals = [(one["lm"], one["most_lm"]), (one["processor_seconds"], one["most_seconds"])]
        if one["part"] == "nested":
            goals.append((one["gib"], MOST_GIB))
        if one["part"] == "admissions" and one["method"].startswith("fulldomain"):
            one["ratio"] = one["processor_seconds"] / of["admissions", "tree"]
            goals.append((one["ratio"], MOST_RATIO))
        whole = rows.get(one["part"], one["rows"]) == ROWS.get(one["part"], one["rows"])
        one["met"] = all(reached <= most for reached, most in goals if most is not None) if whole else None


ROWS = {"occ": 100_000, "sal": 500_000, "nested": 100_000, "admissions": 5_000_000}


def main(words: list[str] | None = None) -> int:
    """Measure; 1 if a goal is missed."""
    parser = options(__doc__, RESULTS / "lattice.json")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, comma list; default: all")
    parser.add_argument("--rows", type=int, help="of generated tables and samples, at most")
    args = parser.parse_args(words)
    record = Record("lattice")
    rows = {part: min(most, args.rows or most) for part, most in ROWS.items()}
    found: list[dict[str, Any]] = []
    for part, cases in groupby((case for case in CASES if case.part in args.only.split(",")), lambda case: case.part):
        try:
            with loaded(part, rows) as (db, source, roles):
                own = list(cases)
                db.engine.execute(f"CREATE TABLE warm AS SELECT * FROM {source} LIMIT 2000")
                for case in {(case.method, case.refine): case for case in own}.values():
                    release(db, "warm", roles, replace(case, asked={"k": 2}, more={}))
                for case in own:
                    found.append(release(db, source, roles, case))
                    print(
                        {key: found[-1][key] for key in ("part", "method", "lm", "processor_seconds", "gib")},
                        flush=True,
                    )
        except DataMissingError as missing:
            print(f"{part}: {missing}")
    judged(found, rows)
    record.write(args.out, results=found)
    return 1 if any(one["met"] is False or not one["verified"] for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
