"""Audit of format anatomy: one table has the rows and their groups, the other the sensitive values.

The metadata table only says that there are two; every number is counted from both tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.errors import PolicyError
from sqlanon.formats import COUNT, GROUP, Grouping, format_of
from sqlanon.privacy.diversity.requirement import DistinctDiversity, FrequencyDiversity
from sqlanon.privacy.kanonymity.requirement import KAnonymity
from sqlanon.privacy.requirements import make_requirements
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.views import metadata_of, sensitive_of, spell_table
from sqlanon.release.verify.verify_pair import count_disagreeing
from sqlanon.results import GroupAudit, RequirementResult, SensitiveAudit
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement


def find_counted(engine: Engine, relation: Relation, facts: Mapping[str, Any]) -> Relation | None:
    """The table of sensitive values, if ``relation`` is a release with such a table; ``facts`` of `facts_beside`.

    Raises:
        PolicyError: ``relation`` is that table itself.
    """
    ref = relation.ref
    suffix = sensitive_of(replace(ref, name="")).name
    if ref.name.endswith(suffix) and ref.name != suffix:
        rows = replace(ref, name=ref.name.removesuffix(suffix))
        if _find_value_table(engine, rows, facts_beside(engine, rows)) == ref.name:
            raise PolicyError(
                f"audit {ref}: it counts the sensitive values of {rows}; audit {rows}, which reads both tables"
            )
    name = _find_value_table(engine, ref, facts)
    return engine.relation(spell_table(replace(ref, name=name))) if name else None


def facts_beside(engine: Engine, rows: TableRef) -> dict[str, Any]:
    """The metadata of a release as a whole, by name; empty where it has no metadata table."""
    metadata = metadata_of(rows)
    if rows.schema is None or not engine.exists(metadata):
        return {}
    column_names = [column.name for column in engine.relation(spell_table(metadata)).columns]
    if column_names != [name for name, _ in COLUMNS]:
        return {}  # not a table of sqlanon
    version_rows = engine.fetch(statement("catalog/version", engine.dialect, {"column": ""}, metadata=metadata))
    return dict(json.loads(str(version_rows[0][0]))) if version_rows else {}


def _find_value_table(engine: Engine, rows: TableRef, facts: Mapping[str, Any]) -> str | None:
    """The name of the table of sensitive values in the metadata of a release."""
    name = facts.get("sensitive_view")
    return name if name and engine.exists(replace(rows, name=name)) else None


def audit_groups(
    engine: Engine,
    rows: Relation,
    counted: Relation,
    quasi: Sequence[str],
    spec: ReleaseSpec | None,
) -> tuple[GroupAudit, SensitiveAudit, tuple[RequirementResult, ...]]:
    """The groups, the diversity of the sensitive column in them, and a policy's requirements.

    If the policy's format hides the quasi values, k is counted over the quasi columns, where it then fails.
    """
    (value,) = (column.name for column in counted.columns if column.name not in (GROUP, COUNT))
    unit, grouping, exact = (
        Fraction(1),
        Grouping(counted.ref, (GROUP,), COUNT),
        Grouping(rows.ref, tuple(quasi)),
    )
    sizes = grouping.measure(engine, KAnonymity(unit), (value,)).sizes
    assert sizes is not None
    groups, apart = count_disagreeing(engine, rows.ref, counted.ref)
    diversity = SensitiveAudit(
        value,
        int(grouping.measure(engine, DistinctDiversity(unit, value, 0), (value,)).reached),
        float(grouping.measure(engine, FrequencyDiversity(unit, value, 0), (value,)).reached),
    )
    results = [RequirementResult("groups that agree", None, groups, groups - apart, apart == 0)]
    for item in make_requirements(spec.privacy, (value,), (), spec.columns) if spec is not None else ():
        hides = spec is not None and not format_of(spec.format.kind).facts.exact
        by_columns = hides and isinstance(item, KAnonymity)
        measured = exact.measure(engine, item, ()) if by_columns else grouping.measure(engine, item, (value,))
        results.append(item.result(measured))
    group_audit = GroupAudit(str(counted.ref), sizes.classes, sizes.smallest, sizes.largest, apart)
    return group_audit, diversity, tuple(results)
