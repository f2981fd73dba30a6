"""Compares two releases of one source, where one or both have separate boxes for rows.

Candidates come from the edges of the certificates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.engines.base import TableRef
from sqlanon.errors import PolicyError
from sqlanon.privacy.requirements import make_requirements, read_stored
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.history.candidate_sets import NO_DIVERSITY, count_candidates
from sqlanon.release.verify.stored_rows import read_counted
from sqlanon.results import RequirementResult, TogetherReport
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


def together_candidates(scratch: Scratch, first: Entry, two: Entry, stage: TableRef, rows: int) -> TogetherReport:
    """Count for every row its candidates, to a reader who knows that its two records are of one row.

    Candidates are the rows that the row's records in both releases may be of.

    The least k that one of the two policies promises is to be left for every row, as `history` counts it for two
    versions.

    Args:
        scratch: the audit.
        first: the first release.
        two: the second release.
        stage: the source's rows, table (rid, link).
        rows: how many there are.

    Raises:
        PolicyError: a certificate is gone.

    Cost: joins of the k n edges, and one step for each.
    """
    import numpy as np

    candidates, matched = count_together(scratch, first, two, stage)
    k_first, k_second = (int(entry.report["min_class"]) for entry in (first, two))
    lacking = [NO_DIVERSITY] if any(_diverse(entry) for entry in (first, two)) else []
    if any(read_counted(entry.policy) for entry in (first, two)):
        lacking.append("persons: candidates are counted by rows")
    least_k = min(read_stored(entry.policy["privacy"]).k for entry in (first, two))
    k = int(candidates.min()) if len(candidates) else 0
    results = (RequirementResult("k", None, least_k, k, k >= least_k),) if len(candidates) else ()
    return TogetherReport(
        first=f"{first.release}@{first.version}",
        second=f"{two.release}@{two.version}",
        source=first.source,
        matched=matched,
        unmatched=max(rows - matched, 0),
        classes=len(candidates),
        k=k,
        k_first=k_first,
        k_second=k_second,
        rows_below=int(np.count_nonzero(candidates < min(k_first, k_second))),
        unique_rows=int(np.count_nonzero(candidates == 1)),
        sensitive=(),
        requirements=results,
        not_measured=tuple(lacking),
        candidates=True,
    )


def count_together(scratch: Scratch, first: Entry, two: Entry, stage: TableRef) -> tuple[Longs, int]:
    """Candidates of every row of one of the releases, and the number of rows in both.

    See `together_candidates`.
    """
    for entry in (first, two):
        if not all(scratch.engine.exists(table) for table in entry.certificate):
            raise PolicyError(
                f"{entry.release} has boxes of their own, and its certificate is not in the private schema: candidates "
                "cannot be counted"
            )
    records = scratch.table("records")
    scratch.execute(
        "audit/together_records",
        records=records,
        stage=stage,
        first=first.placed,
        second=two.placed,
        own_first=first.edges,
        own_second=two.edges,
    )
    fits = [scratch.table("fits"), scratch.table("fits_beside")]
    for entry, table, place, slot in (
        (first, fits[0], "place", "slot"),
        (two, fits[1], "beside", "slot_beside"),
    ):
        scratch.execute("audit/together_fits", fits=table, records=records, place=place, slot=slot, edges=entry.edges)
    matched = scratch.count("audit/together_counts", records=records)
    candidates = count_candidates(scratch, records, fits[0], fits[1])
    for table in (records, *fits):
        scratch.drop(table)
    return candidates, matched


def _diverse(entry: Entry) -> bool:
    """Whether the policy asks for more than k."""
    sensitive = [column["name"] for column in entry.policy["columns"] if column["role"] == "sensitive"]
    return len(make_requirements(read_stored(entry.policy["privacy"]), tuple(sensitive), ())) > 1
