"""Thirty nights: one release, refreshed every night, through a policy change, a new column, a crash and a rollback.

python -m examples.nightly.run [--engine duckdb|postgres|both]
"""

from __future__ import annotations

import argparse
import sys

import sqlanon
from examples.nightly.nights import Hospital, Night
from examples.sources import duckdb_url, postgres_missing, postgres_url

HEAD = (
    f"{'night':>5} {'v':>3} {'rows':>5} {'new/gone/changed':>16} {'classes':>7} {'GCP':>6} {'time':>6} "
    f"{'arrived':>7} {'left':>4} {'common':>6} {'failing':>7}  what happened"
)


def line(night: Night) -> str:
    """A night as a row of the table; without a new version, why."""
    if night.outcome != "published":
        event = night.event + (f": {night.outcome}" if night.event else night.outcome)
        return (
            f"{night.number:>5} {'-':>3} {night.seen:>5} {'':>16} {'':>7} {'':>6} {'':>6} {'':>7} {'':>4} {'':>6} "
            f"{'':>7}  {event}"
        )
    change = "/".join(map(str, night.change)) if night.change else "-"
    arrived, left, common = ("-" if size is None else str(size) for size in night.smallest or (None, None, None))
    failing = "-" if night.failing is None else str(night.failing)
    return (
        f"{night.number:>5} {night.version:>3} {night.rows:>5} {change:>16} {night.classes:>7} {night.gcp:>6.4f} "
        f"{night.seconds:>5.2f}s {arrived:>7} {left:>4} {common:>6} {failing:>7}  {night.event}".rstrip()
    )


def walk(url: str) -> None:
    """The nights, and the catalog at the end of them."""
    print("arrived, left, common: the smallest group that a reader of both versions can distinguish; failing: rows in")
    print("groups below the policy")
    print(HEAD)
    for night in Hospital(url).nights():
        print(line(night), flush=True)
    with sqlanon.connect(url) as db:
        kept = [f"{row.version} {row.status}" for row in db.releases("patients") if row.status != "dropped"]
    print(f"versions whose tables are kept: {', '.join(kept)}")


def main() -> int:
    """On the engines asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("duckdb", "postgres", "both"), default="both")
    chosen = parser.parse_args().engine
    for engine in ("duckdb", "postgres") if chosen == "both" else (chosen,):
        print(f"\n=== {engine}", flush=True)
        if engine == "postgres" and (reason := postgres_missing()):
            print(reason)
            continue
        with (duckdb_url if engine == "duckdb" else postgres_url)() as url:
            walk(url)
    return 0


if __name__ == "__main__":
    sys.exit(main())
