"""Audit of differentially private statistics: the ledger, the charge of the version, and the table that was drawn.

Whether the numbers are those of the source is checked by run, before noise is drawn. A test of published noise against
the source would need the exact answers, and is the owner's alone; nothing here reads the source.
"""

from __future__ import annotations

from fractions import Fraction

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.noisy.accounting import total_epsilon
from sqlanon.release.audit.place import Place
from sqlanon.release.audit.synthetic import audit_synthetic
from sqlanon.release.budget.home import copy_here, home_of, name_drawn_table
from sqlanon.release.budget.ledger import Ledger, account_of
from sqlanon.results import AuditReport, RequirementResult
from sqlanon.table.scratch import Scratch


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
