"""What commands give back: frozen reports of counts and measures, each with a JSON form. Never a cell value."""

from sqlanon.results.audit import AuditReport, GroupAudit, LoweringColumn, SensitiveAudit, TogetherReport
from sqlanon.results.base import LossReport, Report, RequirementResult
from sqlanon.results.history import HistoryReport, HistorySets
from sqlanon.results.plan import Estimate, Feasible, PlanColumn, PlanReport
from sqlanon.results.run import DataChange, KeptTable, Outcome, RunReport
from sqlanon.results.versions import DiffReport, ReleaseRow, RollbackReport, UnpublishReport, VersionReport

__all__ = [
    "AuditReport",
    "DataChange",
    "DiffReport",
    "Estimate",
    "Feasible",
    "GroupAudit",
    "HistoryReport",
    "HistorySets",
    "KeptTable",
    "LossReport",
    "LoweringColumn",
    "Outcome",
    "PlanColumn",
    "PlanReport",
    "ReleaseRow",
    "Report",
    "RequirementResult",
    "RollbackReport",
    "RunReport",
    "SensitiveAudit",
    "TogetherReport",
    "UnpublishReport",
    "VersionReport",
]
