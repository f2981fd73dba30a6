"""Visits of a hospital, in SQL that every engine reads, and policies that publish their counts and rows."""

from __future__ import annotations

from typing import Any

ROWS = """
version: 1
releases:
  - name: persons
    source: visits
    publish: release.persons
    columns: {pid: identifier, ward: quasi, sex: quasi, bill: {role: identifier}}
    privacy: {k: 6}
"""
COUNTS = """
version: 1
releases:
  - name: counts
    source: visits
    person: pid
    publish: release.counts
    statistics:
      columns: {ward: {}, sex: {}}
      tables: [{name: all, by: [ward, sex]}]
      measures: {n: count}
      protect: {persons: 3}
"""
SUMS = COUNTS.replace("{n: count}", "{n: count, bill: {sum: bill, range: [0, 100], p_percent: 10}}")
FOLLOWED = f"{COUNTS}    refresh: {{mode: frozen, cohort: {{persons: 5}}}}\n"
TOGETHER = f"{COUNTS}    together: [persons]\n"
OTHER = COUNTS.replace("name: counts", "name: other").replace("release.counts", "release.other")


def write(db: Any) -> None:
    """The visits, a small cell among them."""
    db.engine.execute("CREATE TABLE visits (ward INTEGER, sex STRING, pid INTEGER, bill INTEGER)")
    sizes = {(1, "f"): 1, (1, "m"): 8, (2, "f"): 9, (2, "m"): 7, (3, "f"): 6, (3, "m"): 8}
    cells = [cell for cell, many in sizes.items() for _ in range(many)]
    rows = ", ".join(f"({ward}, '{sex}', {pid}, {7 * pid % 60})" for pid, (ward, sex) in enumerate(cells))
    db.engine.execute(f"INSERT INTO visits VALUES {rows}")


def come(db: Any) -> None:
    """More visits come."""
    more = ", ".join(f"({ward}, 'f', {pid}, 1)" for pid, ward in enumerate([1, 1, 1, 1, 2, 3, 3, 3, 3], 100))
    db.engine.execute(f"INSERT INTO visits VALUES {more}")
