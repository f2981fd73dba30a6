"""Audit of a release with boxes of their own by the certificate, and by the source where that may be read.

The view alone does not show k.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.rows import count
from sqlanon.errors import PolicyError
from sqlanon.release.audit.place import Place
from sqlanon.release.audit.without_certificate import most_candidates
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.verify.recheck_certificate import find_alteration, has_certificate
from sqlanon.results import AuditReport, RequirementResult
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement


def has_own_boxes(entry: Entry | None, facts: Mapping[str, Any]) -> bool:
    """Whether every row of a release has a box of its own, by the catalog or by the metadata."""
    return facts.get("boxes") == "own" or (entry is not None and entry.boxes is not None)


def audit_candidates(engine: Engine, place: Place, columns_given: bool, spec: ReleaseSpec | None) -> AuditReport:
    """Check the certificate of a release.

    It checks the matchings, the draw, that both were made by the secret, and that the table is unchanged.

    Without a certificate, and with a policy that has its source here, k can be refuted (`most_candidates`), and is
    never said to hold.

    Args:
        engine: the session.
        place: the release.
        columns_given: columns are named for the audit.
        spec: a policy's release, for the check of k against the policy.

    Raises:
        PolicyError: from here neither the certificate nor the source can be read, or columns are named, which would
            make classes.

    Cost: groupings of the certificate's k n edges, and the remix once more.
    """
    entry, problem = place.entry, f"audit {place.shown}: every row has a box of its own"
    if columns_given:
        raise PolicyError(f"{problem}, so that columns make no classes; name no columns")
    if entry is None or not has_certificate(engine, entry):
        if spec is None:
            raise PolicyError(
                f"{problem}, and how many rows fit a box is not to be seen in the view: k cannot be measured. Audit "
                "it in the database of its source, whose private schema has the certificate; without that, name the "
                "policy, by whose source k can be refuted"
            )
        return _audit_without(engine, place, spec)
    least_k = spec.privacy.k if spec is not None else int(entry.policy["privacy"]["k"])
    k = int(entry.policy["privacy"]["k"])
    rows = count(engine, statement("table/count", engine.dialect, source=place.relation.ref))
    wrong = find_alteration(engine, entry, place.relation)
    lost = [*([wrong] if wrong is not None else []), *_other_boxes(spec)]
    reached = 0 if wrong is not None else k
    result = RequirementResult("k", None, least_k, reached, reached >= least_k)
    return _report(place, rows, reached, (result,), lost)


def _other_boxes(spec: ReleaseSpec | None) -> list[str]:
    """That the policy asks for something else than the release has; empty where it does not."""
    if spec is None or spec.privacy.own_boxes:
        return []
    return ["the policy asks for classes, and the release has boxes of their own"]


def _audit_without(engine: Engine, place: Place, spec: ReleaseSpec) -> AuditReport:
    """Report from the source without a certificate: that k does not hold, or that it may."""
    rows = count(engine, statement("table/count", engine.dialect, source=place.relation.ref))
    if unmeasured := _other_boxes(spec):
        return _report(place, rows, 0, (), unmeasured)
    most, why = most_candidates(engine, place.relation, spec)
    results: tuple[RequirementResult, ...] = ()
    if most is not None and most < spec.privacy.k:
        results = (RequirementResult("k, at most", None, spec.privacy.k, most, False),)
    return _report(place, rows, 0, results, [f"k, as there is no certificate: {why}"])


def _report(
    place: Place, rows: int, k: int, requirements: tuple[RequirementResult, ...], lost: list[str]
) -> AuditReport:
    """``k``: candidates of each row, if that is proved; else 0."""
    risk = 1 / k if k else 1.0
    return AuditReport(
        table=place.shown,
        rows=rows,
        quasi=(),
        left_out=(),
        classes=rows,
        k=k,
        max_class=k,
        k_all=k,
        unique_rows=0,
        highest_risk=risk,
        average_risk=risk,
        sensitive=(),
        requirements=requirements,
        not_measured=tuple(lost),
        candidates=True,
    )
