"""sqlanon: anonymize tables where they live.

The public names, imported on first use, so that ``import sqlanon`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sqlanon._version import __version__

if TYPE_CHECKING:
    from sqlanon import dbt as dbt
    from sqlanon.column_spec import ColumnSpec, Hierarchy
    from sqlanon.database import Database, FrameRelease, Release, anonymize, connect
    from sqlanon.declared.options import AnonymizeOptions, FileOptions
    from sqlanon.errors import (
        DatabaseError,
        DependentsError,
        GuardError,
        InfeasibleError,
        LockedError,
        PolicyError,
        PrivacyViolation,
        SchemaChangedError,
        SqlanonError,
        UnsupportedError,
    )
    from sqlanon.evaluate.levels import Levels
    from sqlanon.evaluate.report import Evaluation
    from sqlanon.noisy_spec import BudgetSpec
    from sqlanon.policy import load as load_policy
    from sqlanon.policy.proposal import Proposal
    from sqlanon.progress import Progress
    from sqlanon.query.answer import Answer, Bounded, Unlike
    from sqlanon.query.counts.published_tables import CountsSpelling
    from sqlanon.release.preview import Preview
    from sqlanon.results import (
        AttackReport,
        AuditReport,
        CompactReport,
        DataChange,
        DiffReport,
        EraseReport,
        HistoryReport,
        IdentifyingReport,
        LineageReport,
        LossReport,
        NoisyCandidatesReport,
        PlanReport,
        ReleaseRow,
        RequirementResult,
        RiskReport,
        RollbackReport,
        RunCost,
        RunReport,
        StageCost,
        TogetherReport,
        UnpublishReport,
        VersionReport,
    )
    from sqlanon.results.approvals import Approval, ListedApproval
    from sqlanon.results.counts import CountsAttackReport
    from sqlanon.results.disclosure import DisclosureReport
    from sqlanon.results.kept_attacks import KeptAttacks
    from sqlanon.spec import (
        Accuracy,
        CohortSpec,
        FormatSpec,
        MethodSpec,
        PolicySpec,
        PrivacySpec,
        RefineSpec,
        RefreshSpec,
        ReleaseSpec,
    )
    from sqlanon.table.profile import ColumnProfile
    from sqlanon.workload_spec import WorkloadSpec

_PUBLIC = {
    "noisy_spec": ("BudgetSpec",),
    "column_spec": ("ColumnSpec", "Hierarchy"),
    "database": ("Database", "FrameRelease", "Release", "anonymize", "connect"),
    "declared.options": ("AnonymizeOptions", "FileOptions"),
    "errors": (
        "DatabaseError",
        "DependentsError",
        "GuardError",
        "InfeasibleError",
        "LockedError",
        "PolicyError",
        "PrivacyViolation",
        "SchemaChangedError",
        "SqlanonError",
        "UnsupportedError",
    ),
    "evaluate.levels": ("Levels",),
    "evaluate.report": ("Evaluation",),
    "policy.proposal": ("Proposal",),
    "progress": ("Progress",),
    "query.answer": ("Answer", "Bounded", "Unlike"),
    "query.counts.published_tables": ("CountsSpelling",),
    "release.preview": ("Preview",),
    "results": (
        "AttackReport",
        "AuditReport",
        "CompactReport",
        "DataChange",
        "DiffReport",
        "EraseReport",
        "HistoryReport",
        "IdentifyingReport",
        "LineageReport",
        "LossReport",
        "NoisyCandidatesReport",
        "PlanReport",
        "ReleaseRow",
        "RequirementResult",
        "RiskReport",
        "RollbackReport",
        "RunCost",
        "RunReport",
        "StageCost",
        "TogetherReport",
        "UnpublishReport",
        "VersionReport",
    ),
    "results.approvals": ("Approval", "ListedApproval"),
    "results.counts": ("CountsAttackReport",),
    "results.disclosure": ("DisclosureReport",),
    "results.kept_attacks": ("KeptAttacks",),
    "spec": (
        "Accuracy",
        "CohortSpec",
        "FormatSpec",
        "MethodSpec",
        "PolicySpec",
        "PrivacySpec",
        "RefineSpec",
        "RefreshSpec",
        "ReleaseSpec",
    ),
    "table.profile": ("ColumnProfile",),
    "workload_spec": ("WorkloadSpec",),
}
"""The public names by the module that has them."""

_HOMES = {name: home for home, names in _PUBLIC.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "dbt":
        return import_module("sqlanon.dbt")
    if name == "load_policy":
        return import_module("sqlanon.policy").load
    if name not in _HOMES:
        raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
    return getattr(import_module(f"sqlanon.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names, imported or not, and the attributes of every module, without own imports."""
    special = {name for name in globals() if name.startswith("__")}
    return sorted({*special, *__all__, "dbt"})


__all__ = [
    "Accuracy",
    "AnonymizeOptions",
    "Answer",
    "Approval",
    "AttackReport",
    "AuditReport",
    "Bounded",
    "BudgetSpec",
    "CohortSpec",
    "ColumnProfile",
    "ColumnSpec",
    "CompactReport",
    "CountsAttackReport",
    "CountsSpelling",
    "DataChange",
    "Database",
    "DatabaseError",
    "DependentsError",
    "DiffReport",
    "DisclosureReport",
    "EraseReport",
    "Evaluation",
    "FileOptions",
    "FormatSpec",
    "FrameRelease",
    "GuardError",
    "Hierarchy",
    "HistoryReport",
    "IdentifyingReport",
    "InfeasibleError",
    "KeptAttacks",
    "Levels",
    "LineageReport",
    "ListedApproval",
    "LockedError",
    "LossReport",
    "MethodSpec",
    "NoisyCandidatesReport",
    "PlanReport",
    "PolicyError",
    "PolicySpec",
    "Preview",
    "PrivacySpec",
    "PrivacyViolation",
    "Progress",
    "Proposal",
    "RefineSpec",
    "RefreshSpec",
    "Release",
    "ReleaseRow",
    "ReleaseSpec",
    "RequirementResult",
    "RiskReport",
    "RollbackReport",
    "RunCost",
    "RunReport",
    "SchemaChangedError",
    "SqlanonError",
    "TogetherReport",
    "Unlike",
    "UnpublishReport",
    "UnsupportedError",
    "VersionReport",
    "WorkloadSpec",
    "__version__",
    "anonymize",
    "connect",
    "load_policy",
]
