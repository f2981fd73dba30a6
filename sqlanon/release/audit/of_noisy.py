"""Audit of differentially private statistics: the ledger, the charge of the version, and the table that was drawn.

Whether the numbers are those of the source is checked by run, before noise is drawn. A test of published noise against
the source would need the exact answers, and is the owner's alone; nothing here reads the source.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sqlanon.engines.base import Engine, Row, TableRef
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.noisy.accounting import total_epsilon
from sqlanon.noisy.metadata import read_dimension
from sqlanon.noisy.rows import PaidTable, compare_rows, load_labels
from sqlanon.noisy.split import deviation_of
from sqlanon.release.audit.place import Place
from sqlanon.release.budget.home import copy_here, home_of, name_drawn_table
from sqlanon.release.budget.ledger import Ledger, account_of
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.views import metadata_of, synthetic_of
from sqlanon.results import AuditReport, RequirementResult
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


def audit_noisy(engine: Engine, place: Place, *, columns_given: bool) -> AuditReport:
    """Check that a version was charged, and that readers see the table drawn for that charge.

    Args:
        engine: the session.
        place: the release.
        columns_given: columns are named for the audit.

    Raises:
        PolicyError: the private tables cannot be read from here, or columns are named.
        DatabaseError: rows of the ledger do not follow from each other.
    """
    entry, problem = place.entry, f"audit {place.shown}: it has differentially private statistics"
    if columns_given:
        raise PolicyError(f"{problem}, so that columns make no classes; name no columns")
    if entry is None:
        raise PolicyError(
            f"{problem}, and its ledger is in the private schema: audit it as the owner, in that database"
        )
    noisy_report = entry.report["noisy"]
    events = Ledger(engine).read().get(str(noisy_report["budget"]), [])
    charged = next(
        (event for event in events if event.seq == noisy_report["reservation"] and event.kind == "reserved"), None
    )
    epsilon = Fraction(str(entry.policy["noisy"]["epsilon"]))
    cost = Fraction(0)
    differences = 1
    rows = 0
    synthetic: tuple[RequirementResult, ...] = ()
    if charged is not None:
        paid = events[charged.paid_by - 1].mechanisms
        cost = total_epsilon(paid, account_of(str(noisy_report["budget"]), events).delta)
        drawn_statistics = name_drawn_table(engine, str(noisy_report["budget"]), charged)
        columns = [column.name for column in place.relation.columns]
        if home_of(engine).exists(drawn_statistics):
            with Scratch(engine) as scratch:
                drawn_here = copy_here(scratch, drawn_statistics, "drawn")
                physical = place.relation.ref
                differences = scratch.count(
                    "noisy/verify_view",
                    physical=physical,
                    drawn=drawn_here,
                    columns=columns,
                    night=charged.night,
                )
                rows = scratch.count("table/count", source=physical)
                if noisy_report.get("synthetic"):
                    synthetic = audit_synthetic(scratch, physical, drawn_here)
    is_charged = charged is not None and charged.body["release"] == entry.release
    return AuditReport(
        table=place.shown,
        rows=rows,
        quasi=(),
        requirements=(
            RequirementResult("charged in the ledger", None, 1, int(is_charged), is_charged),
            RequirementResult("epsilon charged", None, float(epsilon), float(cost), is_charged and 0 < cost <= epsilon),
            RequirementResult("groups that are not as drawn", None, 0, differences, differences == 0),
            *synthetic,
        ),
        noisy=True,
    )
