"""The default beside the best peers of hierarchies and of sets: loss of published nodes (LM), and of sets (GCP).

Nodes: Adult with ARX's hierarchies, all rows and a sample of 7,214, and a sample of the census' OCC, against ARX's
local recoding (`benchmarks.local_recoding`; beside it what was measured of ARX's own release, where that is known).
Sets: the same samples of Adult, text without an order, against greedy k-member clustering (method `kmember`, Byun et
al. 2007) of the whole table. The goal is 15 % below the peer.
Seconds are the processor's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.lattice import loaded
from benchmarks.local_recoding import MEASURED, Tree, read_tree, recode_locally
from benchmarks.record import RESULTS, Record, options
from benchmarks.search import processor_seconds
from examples.sources import DataMissingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sqlanon.database import Database

BELOW = 0.15
ROWS = {"adult": 30_162, "occ": 100_000}
"""Rows of the whole tables."""
EFFORTS = ("normal", "high")


@dataclass(frozen=True, slots=True)
class Case:
    """A sample of a table, and the classes' least sizes."""

    table: str
    rows: int
    k: tuple[int, ...]
    sets: bool = False


CASES = (
    Case("adult", 7_214, (5, 10, 25, 50, 100)),
    Case("adult", 30_162, (5, 10, 25, 50, 100)),
    Case("occ", 20_000, (5, 10, 50, 100)),
    Case("adult", 7_214, (5, 10, 25, 50, 100), sets=True),
    Case("adult", 30_162, (10, 50), sets=True),
)


def release(db: Database, roles: Mapping[str, Any], k: int, how: Mapping[str, Any], measure: str) -> dict[str, Any]:
    """One release of the sample."""
    before = processor_seconds()
    report = db.anonymize(
        "sample", **roles, k=k, **how, seed=1, name="peers", publish="release.peers", allow_weaker=True
    ).report
    return {
        "loss": getattr(report.loss, measure),
        "classes": report.classes,
        "min_class": report.min_class,
        "verified": report.verified,
        "processor_seconds": processor_seconds() - before,
    }


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a table, as ``sample``, with roles and hierarchies; leaf numbers int64[d, n] of its columns."""

    db: Database
    roles: Mapping[str, Any]
    leaves: NDArray[np.int64]
    trees: Sequence[Tree]


@contextmanager
def sampled(case: Case) -> Iterator[Sample]:
    """A case's sample."""
    with loaded(case.table, ROWS) as (db, source, declared):
        whole = ROWS[case.table]
        db.engine.execute(
            "CREATE TABLE sample AS SELECT * EXCLUDE place FROM (SELECT *, ROW_NUMBER() OVER () AS place FROM "
            f"{source}) WHERE place * {case.rows} % {whole} < {case.rows}"
        )
        files = declared["hierarchies"]
        columns = list(declared["quasi"])
        trees = [read_tree(files[column]) for column in columns]
        query = "SELECT " + ", ".join(f'CAST("{column}" AS TEXT)' for column in columns) + " FROM sample"
        values = db.engine.fetch(query, max_rows=10**6)
        leaves = np.array([[tree.number[str(row[j])] for row in values] for j, tree in enumerate(trees)])
        yield Sample(db, {**declared, "hierarchies": {}} if case.sets else declared, leaves, trees)


def compare(case: Case, efforts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The cells of a sample."""
    with sampled(case) as sample:
        db, roles, leaves = sample.db, sample.roles, sample.leaves
        measure = "gcp" if case.sets else "lm"
        for k in case.k:
            if case.sets:
                peer = release(db, roles, k, {"method": "kmember"}, measure)
            else:
                before = processor_seconds()
                recoding = recode_locally(leaves, sample.trees, k)
                peer = {"loss": recoding.loss, "processor_seconds": processor_seconds() - before}
                peer |= asdict(recoding.describe(leaves))
                measured = MEASURED.get((case.table, case.rows, k))
                if measured is not None:
                    peer["measured"] = asdict(measured)
            runs = {effort: release(db, roles, k, {"effort": effort}, measure) for effort in efforts}
            below = {effort: 1 - run["loss"] / peer["loss"] for effort, run in runs.items()}
            yield {
                "table": case.table,
                "rows": case.rows,
                "k": k,
                "kind": "sets" if case.sets else "nodes",
                "peer": peer,
                "runs": runs,
                "below": below,
                "met": below[efforts[0]] >= BELOW,
            }


def main(words: list[str] | None = None) -> int:
    """Measure every cell; 1 if a release was not verified."""
    parser = options(__doc__, None)
    parser.add_argument("--only", choices=("nodes", "sets"), required=True)
    parser.add_argument("--effort", default=",".join(EFFORTS), help="comma list; the first is compared with the goal")
    args = parser.parse_args(words)
    record, results = Record("peers"), list[dict[str, Any]]()
    for case in CASES:
        if case.sets != (args.only == "sets"):
            continue
        try:
            for one in compare(case, args.effort.split(",")):
                results.append(one)
                shares = ", ".join(f"{effort} {share:.1%} below" for effort, share in one["below"].items())
                print(
                    f"{one['kind']} {case.table} {case.rows:,} k={one['k']}: {one['peer']['loss']:.4f}, {shares}",
                    flush=True,
                )
                record.write(args.out or RESULTS / f"peers_{args.only}.json", results=results)
        except DataMissingError as missing:
            print(missing)
            return 0
    return 0 if all(run["verified"] for one in results for run in one["runs"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
