"""Audits synthetic rows: against the noisy tables that they were drawn from, and against the metadata."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sqlanon.engines.base import Row, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.noisy.metadata import read_dimension
from sqlanon.noisy.rows import PaidTable, compare_rows, load_labels
from sqlanon.noisy.split import deviation_of
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.views import metadata_of, synthetic_of
from sqlanon.results import RequirementResult
from sqlanon.table.scratch import Scratch

AGREE = 1e-9
"""Relative difference of floating-point numbers that were computed twice."""


def audit_synthetic(scratch: Scratch, view: TableRef, noisy: TableRef) -> tuple[RequirementResult, ...]:
    """Whether rows are in declared groups, and differ from the noisy tables by as much as the metadata say.

    Args:
        scratch: the audit.
        view: the view of the noisy statistics.
        noisy: the stored noisy numbers.

    Cost: a grouping of the rows for each table.
    """
    names = [name for name, _ in COLUMNS]
    query = scratch.sql("query/metadata", metadata=metadata_of(view), columns=names)
    rows = scratch.engine.fetch(query)
    facts = json.loads(next(str(row[5]) for row in rows if row[0] == ""))
    claimed = {fact["table"]: float(fact["from_noisy_numbers"]) for fact in facts["synthetic"]["errors"]}
    measure, tables = _list_tables(facts["statistics"], rows, list(claimed))
    dimensions = [read_dimension(row) for row in rows if row[1] == "dimension"]
    kinds = {name.lower(): kind for name, kind in facts["types"].items()}
    labels = load_labels(scratch, dimensions, kinds, facts["synthetic"]["bins"])
    try:
        comparisons = compare_rows(scratch, measure, tables, (synthetic_of(view), noisy), labels)
    except PrivacyViolation:
        agree = False
    else:
        agree = all(
            comparison.rows == facts["synthetic"]["rows"]
            and math.isclose(comparison.mean, claimed[comparison.table], rel_tol=AGREE)
            for comparison in comparisons
        )
    return (RequirementResult("synthetic rows agree with their tables", None, 1, int(agree), agree),)


def _list_tables(metadata: Mapping[str, Any], rows: Sequence[Row], names: Sequence[str]) -> tuple[str, list[PaidTable]]:
    """The measure that counts rows, and the tables of which rows are drawn."""
    measure = next(item["name"] for item in metadata["measures"] if item["of"] == "rows")
    leaves = {str(row[0]).lower(): len(read_dimension(row).leaves) for row in rows if row[1] == "dimension"}
    scales = {scale["table"]: scale["scale"] for scale in metadata["scales"] if scale["measure"] == measure}
    return measure, [
        PaidTable(
            table["name"],
            tuple(table["by"]),
            math.prod(leaves[name.lower()] for name in table["by"]),
            deviation_of(metadata["noise"], float(Fraction(scales[table["name"]]))),
        )
        for table in metadata["tables"]
        if table["name"] in names
    ]
