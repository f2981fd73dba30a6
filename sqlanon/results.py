"""What commands give back: frozen reports of counts and measures, each with a JSON form. Never a cell value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """A requirement as asked and as reached over all classes; ``column`` is None for k."""

    name: str
    column: str | None
    asked: float
    reached: float
    satisfied: bool


@dataclass(frozen=True, slots=True)
class LossReport:
    """Information loss of a release; every definition is in `sqlanon.loss.metrics`.

    Attributes:
        ncp, gcp, lm: means over rows, 0 to 1.
        dm, c_avg: from the sizes of classes alone; ``c_avg`` compares with the k that was asked and is None if none was.
        il1, il_inf, il_sum: NCP of the classes: mean, largest, sum.
        weighted_max_ncp: largest rows x NCP of a class.
        avg_ncp: as ``il1``, every column weighing the same.
        weighted_avg_volume: mean over rows of the product of the columns' NCP.
        columns: each quasi column's ``ncp`` and ``lm``, averaged over rows, unweighted.
        rce: what format anatomy loses; None for the others. It keeps the quasi columns exact, so that their losses are 0.
    """

    ncp: float
    gcp: float
    dm: float
    c_avg: float | None
    lm: float
    il1: float
    il_inf: float
    il_sum: float
    weighted_max_ncp: float
    avg_ncp: float
    weighted_avg_volume: float
    columns: Mapping[str, Mapping[str, float]]
    rce: float | None = None


class _Json:
    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries, lists, numbers and text."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


Outcome = Literal["published", "unchanged", "fresh"]


@dataclass(frozen=True, slots=True)
class DataChange:
    """Rows of the source against the published version's, as far as the private schema can tell.

    Attributes:
        before, after: how many the version published, and how many the source has. Rows that the version left out count as added.
        added, removed: by their key, or by their identifiers, or by all their columns where neither tells rows apart.
        changed: rows of the same key with other quasi or sensitive values; None without a key.
    """

    before: int
    after: int
    added: int
    removed: int
    changed: int | None = None


@dataclass(frozen=True, slots=True)
class HistorySets:
    """The groups of one kind that a reader of two versions can tell apart.

    Attributes:
        rows: in all the groups; ``groups`` how many there are.
        smallest: rows of the smallest group; ``l`` the least rows / most frequent sensitive value. None where there is none.
        failing: rows in groups that do not meet the policy's k, l and distinct_l, and of events its k persons.
        persons: of events: the fewest different values of a counted identifier in a group; None where none was counted.
    """

    rows: int
    groups: int
    smallest: int | None
    l: float | None  # noqa: E741 - the papers' symbol
    failing: int
    persons: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryReport(_Json):
    """What version ``new`` tells together with version ``old``.

    Attributes:
        values: whether rows were compared by their values too; else (the policies read other columns) by their key alone.
        components: sets of classes linked by rows that both versions have.
        arrived: per component the rows that only the new version has, changed ones among them.
        left: per component the rows that only the old version had, changed ones among them.
        common: per pair of an old and a new class the rows in both.
        failing: rows of all these groups that do not meet the policy, each person once.
        unknown: why the versions cannot be compared; then all rows of the new version count as failing, and nothing else is told.
        not_measured: of events: why persons were not counted, in all groups or in some; rows count for them there.
    """

    old: int
    new: int
    values: bool
    components: int
    arrived: HistorySets
    left: HistorySets
    common: HistorySets
    failing: int
    unknown: str = ""
    not_measured: str = ""

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> Self:
        """A report as the catalog keeps it."""
        sets = {kind: HistorySets(**report[kind]) for kind in ("arrived", "left", "common")}
        return cls(**{**report, **sets})


@dataclass(frozen=True, slots=True)
class RunReport(_Json):
    """What one run did: ``outcome`` says whether it published, and otherwise the rest is the published version's.

    ``rows`` are those of the source, of which ``suppressed`` are left out of the release: the method gave them no class.
    """

    release: str
    version: int
    source: str
    published: str
    rows: int
    suppressed: int
    classes: int
    min_class: int
    max_class: int
    requirements: tuple[RequirementResult, ...]
    loss: LossReport
    seconds: Mapping[str, float]
    verified: bool
    method: str
    execution: str
    format: str
    columns: tuple[str, ...] = ()
    min_identifiers: Mapping[str, int] = field(default_factory=dict)
    """For ``rows_are: events``: per identifier that does not accept repeats, the fewest distinct values in any class, NULL being one."""
    pm: Mapping[str, float] = field(default_factory=dict)
    """Where diversity is asked: PM per sensitive column, the least rows / most frequent value of any class."""
    warnings: tuple[str, ...] = ()
    published_sensitive: str | None = None
    """Format anatomy: the table of sensitive values."""
    notes: tuple[str, ...] = ()
    """What a bound on the loss allowed, and how the method found it."""
    outcome: Outcome = "published"
    """``unchanged``: nothing to do; ``fresh``: not due yet."""
    why: tuple[str, ...] = ()
    """Why a version was made, or not."""
    replaces: int | None = None
    """The version that was published before."""
    data: DataChange | None = None
    history: tuple[HistoryReport, ...] = ()
    """With ``key``: what this version tells together with the one before."""

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> Self:
        """A report as the catalog keeps it; what an older sqlanon did not say has its default."""
        known = {item.name for item in fields(cls)}
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in report.items()
            if key in known
        }
        values["requirements"] = tuple(RequirementResult(**item) for item in report["requirements"])
        lost = {item.name for item in fields(LossReport)}
        values["loss"] = LossReport(**{key: value for key, value in report["loss"].items() if key in lost})
        values["history"] = tuple(HistoryReport.from_dict(item) for item in report.get("history") or ())
        values["data"] = DataChange(**report["data"]) if report.get("data") else None
        return cls(**values)


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """How one column of the source would be treated, and the columns it becomes."""

    name: str
    type: str
    role: str
    treatment: str
    distinct: int
    nulls: int
    publishes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feasible:
    """The largest value of a requirement that any release of the table can reach."""

    name: str
    column: str | None
    asked: float
    largest: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rough guess of what a run costs, from its rows and columns alone (`sqlanon.declared.cost`).

    Attributes:
        seconds: of the method, one thread; ``most_seconds`` the same on the worst data that was seen.
        memory: bytes that its kernel needs for all rows at once; where that is more than it may use, it works in parts or refuses.
        sql_seconds: of the SQL around it; ``most_sql_seconds`` on a slower engine.
    """

    seconds: float
    most_seconds: float
    memory: int
    sql_seconds: float
    most_sql_seconds: float


@dataclass(frozen=True, slots=True)
class PlanReport(_Json):
    """What a run would do. ``statements`` is the SQL that does not depend on the data.

    Attributes:
        state: ``first release``, ``unchanged``, ``data changed``, ``policy changed``, ``schema changed``, ``sqlanon changed`` or
            ``made anew``; ``why`` has all the reasons, ``change`` both for people.
        weaker: what of the policy must be confirmed with ``--allow-weaker``.
    """

    release: str
    source: str
    publish: str
    state: str
    change: str
    why: tuple[str, ...]
    weaker: tuple[str, ...]
    rows: int
    columns: tuple[PlanColumn, ...]
    feasible: tuple[Feasible, ...]
    method: str
    execution: str
    format: str
    warnings: tuple[str, ...]
    statements: tuple[str, ...]
    publish_sensitive: str | None = None
    bound: str | None = None
    """Where k or l is maximized: within which bound on the loss."""
    data: DataChange | None = None
    history: tuple[HistoryReport, ...] = ()
    notes: tuple[str, ...] = ()
    estimate: Estimate | None = None


@dataclass(frozen=True, slots=True)
class SensitiveAudit:
    """l of one sensitive column over the classes: smallest distinct count, smallest rows / most frequent."""

    column: str
    distinct_l: int
    frequency_l: float


@dataclass(frozen=True, slots=True)
class LoweringColumn:
    """A column that is no part of the classes, and the smallest class if it were one more of them."""

    column: str
    k: int


@dataclass(frozen=True, slots=True)
class GroupAudit:
    """The groups of format anatomy: rows that share the sensitive values that ``table`` counts.

    ``disagreeing``: groups of which the two tables do not hold the same number of rows.
    """

    table: str
    groups: int
    smallest: int
    largest: int
    disagreeing: int


@dataclass(frozen=True, slots=True)
class AuditReport(_Json):
    """What grouping a table by its quasi columns shows. Risks are prosecutor risks, 1 / the fewest persons of a class.

    Where no identifier is counted every row is a person; of several identifiers the one with the fewest values in a class counts.

    Attributes:
        quasi: the columns that made the classes; ``left_out`` the others that are not sensitive.
        k: the smallest class; ``k_all`` the same over every column but the sensitive ones.
        lowering: the left-out columns that alone make k lower, each with k over the quasi columns and it.
        lowering_together: where none does alone: left-out columns that do together, of which none can be spared.
        unique_rows: rows alone in their class.
        highest_risk: 1 / the fewest persons of any class.
        average_risk: the mean over rows of 1 / the fewest persons of the row's class; classes / rows where rows are persons.
        min_identifiers: per identifier column named, and per identifier that a release of events counts, the fewest distinct
            values in any class; NULL is one value.
        not_measured: what the policy promises and nobody could count here, each with the reason; the audit then fails.
        suppressed: rows of the source that the release says it leaves out; ``rows`` and all measures are of those in the table.
        groups: format anatomy: what ``sensitive`` and ``requirements`` are counted on; k, classes and risks are those of the
            exact quasi columns.
    """

    table: str
    rows: int
    quasi: tuple[str, ...]
    left_out: tuple[str, ...]
    classes: int
    k: int
    max_class: int
    k_all: int
    unique_rows: int
    highest_risk: float
    average_risk: float
    sensitive: tuple[SensitiveAudit, ...]
    requirements: tuple[RequirementResult, ...] = ()
    min_identifiers: Mapping[str, int] = field(default_factory=dict)
    groups: GroupAudit | None = None
    lowering: tuple[LoweringColumn, ...] = ()
    lowering_together: tuple[str, ...] = ()
    not_measured: tuple[str, ...] = ()
    suppressed: int = 0

    @property
    def satisfied(self) -> bool:
        """Whether all that a policy asks for was measured and holds."""
        return not self.not_measured and all(requirement.satisfied for requirement in self.requirements)


@dataclass(frozen=True, slots=True)
class TogetherReport(_Json):
    """What two releases of one source leave when a reader holds both: classes are the intersections.

    Attributes:
        first: the one release, ``second`` the other.
        matched: rows of the source found in both releases.
        unmatched: rows of the source that at least one release does not hold (it changed since, or the release leaves them out).
        k: the smallest intersection; ``k_first`` and ``k_second`` are each release's own.
        rows_below: rows in intersections smaller than the smaller of the two k.
        min_identifiers: releases of events: per identifier that one of them counts, the fewest distinct values in any
            intersection, NULL being one.
        requirements: persons, where a policy promises them: the least k that is promised, and what the intersections hold.
        not_measured: what is promised and could not be counted, each with the reason.
    """

    first: str
    second: str
    source: str
    matched: int
    unmatched: int
    classes: int
    k: int
    k_first: int
    k_second: int
    rows_below: int
    unique_rows: int
    sensitive: tuple[SensitiveAudit, ...]
    requirements: tuple[RequirementResult, ...] = ()
    min_identifiers: Mapping[str, int] = field(default_factory=dict)
    not_measured: tuple[str, ...] = ()

    @property
    def satisfied(self) -> bool:
        """Whether the persons that the policies promise were counted, and are in every intersection."""
        return not self.not_measured and all(requirement.satisfied for requirement in self.requirements)


@dataclass(frozen=True, slots=True)
class ReleaseRow(_Json):
    """One version of a release in the catalog."""

    release: str
    version: int
    status: str
    published: str
    source: str
    published_at: str
    published_by: str
    rows: int
    classes: int
    min_class: int
    max_class: int
    gcp: float
    method: str
    requirements: str
    sqlanon: str
    format: str = ""
    suppressed: int = 0
    """``rows`` are those of the source; so many of them are left out. ``gcp`` is 0 for anatomy: its quasi columns are exact."""


@dataclass(frozen=True, slots=True)
class VersionReport(_Json):
    """Everything the catalog knows of one version; the policy's lists of values are hashes, and seeds are left out.

    Attributes:
        report: what the run reported: requirements asked and reached, loss, rows, classes, timings, history.
        fingerprint: rows of the source and a keyed hash of the sum of their hashes.
        checked_at: when a run last looked at the release and left this version.
    """

    release: str
    version: int
    status: str
    source: str
    source_columns: tuple[tuple[str, str], ...]
    fingerprint: str | None
    policy: Mapping[str, Any]
    policy_hash: str
    report: Mapping[str, Any]
    published_at: str
    published_by: str
    checked_at: str | None
    sqlanon: str


@dataclass(frozen=True, slots=True)
class DiffReport(_Json):
    """Two versions side by side; ``policy`` says what their policies say differently, ``weaker`` what of it is weaker."""

    first: VersionReport
    second: VersionReport
    policy: tuple[str, ...]
    weaker: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnpublishReport(_Json):
    """What an unpublish did.

    Attributes:
        release: its name.
        version: what was published and is withdrawn now; None: nothing was.
        published: where it was.
        purged: versions whose tables were dropped.
        warnings: what else reads the release or is left of it.
    """

    release: str
    version: int | None
    published: str
    purged: tuple[int, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RollbackReport(_Json):
    """What a rollback did: ``withdrawn`` was published (None: nothing was), ``version`` is now."""

    release: str
    withdrawn: int | None
    version: int
    published: str
    warnings: tuple[str, ...]
