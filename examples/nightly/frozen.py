"""Thirty nights of a release whose versions are a lineage, in three settings of what changes in a night.

python -m examples.nightly.frozen [--rows 1000] [--nights 30] [--cohort 3]
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from benchmarks.frozen import drift
from benchmarks.nights import SETTINGS, K

HEAD = (
    f"{'night':>5} {'rows':>6} {'published':>9} {'GCP':>7} {'fresh':>7} {'times':>5} {'waiting':>7} {'stale':>6} "
    f"{'retained':>8} {'failing':>7} {'of full runs':>12}"
)


def line(night: dict[str, Any]) -> str:
    """A night as a row of the table."""
    full = night.get("full_failing")
    return (
        f"{night['night']:>5} {night['rows']:>6} {night['published']:>9} {night['gcp']:>7.4f} "
        f"{night['fresh_gcp']:>7.4f} {night['ratio']:>5.2f} {night['waiting']:>7.1%} {night['stale']:>6.1%} "
        f"{night['retained']:>8.1%} {night.get('failing', '-'):>7} {'-' if full is None else full:>12}"
    )


def lifetime(stopped: dict[str, dict[str, int | None]]) -> list[str]:
    """When each limit would have stopped the run, so that a new lineage begins."""
    return [
        f"{limit}: "
        + ", ".join(
            f"{float(most):.0%} {'is not reached' if night is None else f'would stop night {night}'}"
            for most, night in nights.items()
        )
        for limit, nights in stopped.items()
    ]


def main(words: list[str] | None = None) -> int:
    """The three settings one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000, help="of the first night")
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--cohort", type=int, default=3, help="nights whose new rows are published together")
    given = parser.parse_args(words)
    few = [
        f"--{name} at least {least}"
        for name, least in (("rows", 10 * K), ("nights", 1), ("cohort", 1))
        if getattr(given, name) < least
    ]
    if few:
        parser.error(", ".join(few))
    print(
        "GCP of what readers see, of a fresh release of the same rows, and how many times that; shares of rows that "
        "wait, are stale or\nretained; failing: rows in groups below the policy to a reader of this version and the "
        "one before, here and of full refreshes, which\nare made in the first nights (-: none was). A GCP is a share "
        "of the extents of the night's rows. Limits: the night on which one is exceeded"
    )
    for setting in SETTINGS:
        print(f"\n=== a night: {setting.title}", flush=True)
        found = drift(setting, given.rows, given.nights, given.cohort)
        print(HEAD)
        for night in found["nights"]:
            print(line(night))
        print("\n".join(lifetime(found["stopped"])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
