"""Results of commands: frozen reports of counts and measures, each with a JSON form. Never a cell value."""

from sqlanon.results.attack import (
    AttackReport,
    BayesAttack,
    CompositionAttack,
    GuessAttack,
    LinkageAttack,
    SkewnessGain,
)
from sqlanon.results.audit import AuditReport, GroupAudit, LoweringColumn, SensitiveAudit, TogetherReport
from sqlanon.results.base import Exposure, LossReport, Report, RequirementResult
from sqlanon.results.candidates import Candidate, CandidatesReport, NoisyCandidate, NoisyCandidatesReport, RowsErrors
from sqlanon.results.compact import CompactReport
from sqlanon.results.control import ControlledAttack, ControlReport
from sqlanon.results.cost import RunCost, StageCost
from sqlanon.results.erase import EraseReport
from sqlanon.results.history import HistoryReport, HistorySets
from sqlanon.results.lineage import KeptLineage, LineageReport
from sqlanon.results.plan import Estimate, FeasibleLevel, PlanColumn, PlanReport
from sqlanon.results.risk import (
    AttackerRisk,
    ColumnSet,
    HouseholdRisk,
    IdentifyingReport,
    KnownReport,
    KnownSize,
    MarketerRisk,
    ModelFigure,
    PopulationUniques,
    RiskReport,
    SpecialUniques,
    WildcardRisk,
)
from sqlanon.results.run import DataChange, KeptTable, NoisyReport, Outcome, RunReport, SyntheticReport
from sqlanon.results.statistics import StatisticsReport
from sqlanon.results.versions import DiffReport, ReleaseRow, RollbackReport, UnpublishReport, VersionReport
