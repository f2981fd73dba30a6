"""The report of a run."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from sqlanon.results import notebook
from sqlanon.results.base import Exposure, LossReport, Report, RequirementResult, loss_html, requirements_html
from sqlanon.results.cost import RunCost
from sqlanon.results.figures import count
from sqlanon.results.history import HistoryReport
from sqlanon.results.lineage import LineageReport
from sqlanon.results.shape import BOXES, CLASSES, Shape
from sqlanon.results.statistics import StatisticsReport

Outcome = Literal["published", "unchanged", "fresh"]


@dataclass(frozen=True, slots=True)
class DataChange:
    """Rows of the source against the published version's, as far as the private schema has them.

    Attributes:
        before, after: how many the version was made of, those that it left out included, and how many the source has.
        added, removed: by their key, or by their identifiers, or by all their columns where neither is unique.
        changed: rows of the same key with other quasi or sensitive values; None without a key.
    """

    before: int
    after: int
    added: int
    removed: int
    changed: int | None = None


@dataclass(frozen=True, slots=True)
class SyntheticReport(Report):
    """Rows that were drawn of noisy statistics; no number of it is exact.

    Attributes:
        view: where they are.
        rows: how many.
        target: the column that is in every table of which they are drawn.
        pairs: the pairs of other columns.
        chosen: a paid measurement chose the pairs.
        apart: for each table the mean difference between rows and noisy numbers.
        most: for each table the mean difference between rows and counted rows, at most, with probability 0.95.
    """

    view: str
    rows: int
    target: str
    pairs: tuple[tuple[str, str], ...]
    chosen: bool
    apart: tuple[float, ...]
    most: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class NoisyReport(Report):
    """Content and cost of a version of differentially private statistics; no number of it is exact.

    Attributes:
        budget: name of the budget of these persons.
        epsilon, delta: cost of the version by itself, at most.
        law: of the noise.
        tables: how many.
        groups: how many are published, as declared.
        reservation: the row of the ledger that charged it.
        spent, allowed: of the budget, after this version.
        kept: the mean share of a person's rows that is counted, with noise; None: not measured.
        night, nights: of running counts the number of the version, and of all those that epsilon pays for together.
        synthetic: rows that are published beside the statistics; None: there are none.
    """

    budget: str
    epsilon: float
    delta: float
    law: str
    tables: int
    groups: int
    reservation: int
    spent: float
    allowed: float
    kept: float | None = None
    night: int | None = None
    nights: int | None = None
    synthetic: SyntheticReport | None = None

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> Self:
        """A report as the catalog keeps it."""
        values = dict(report)
        if values.get("synthetic"):
            synthetic = values["synthetic"]
            lists = {"pairs": tuple((str(first), str(second)) for first, second in synthetic["pairs"])}
            lists |= {name: tuple(synthetic[name]) for name in ("apart", "most")}
            values["synthetic"] = SyntheticReport(**{**synthetic, **lists})
        return cls(**values)


@dataclass(frozen=True, slots=True)
class KeptTable(Report):
    """A scratch table that a run with ``keep_scratch`` left in the private schema.

    Attributes:
        stage: of the run that made it.
        statement: the template that made it; empty for a table that was loaded.
        table: where it is now.
        rows: how many it has.
        seconds: duration of the statement.
    """

    stage: str
    statement: str
    table: str
    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RunReport(Report):
    """Result of a run: ``outcome`` is whether it published; if not, the other figures are of the published version.

    ``rows`` are those of the source, of which ``suppressed`` lose all their quasi values: ``left_out`` of them are not
    published, the others are published with ``*`` in every quasi column. Of counts they are the cells of the view.
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
    left_out: int = 0
    min_identifiers: Mapping[str, int] = field(default_factory=dict)
    """For ``rows_are: events``: the fewest distinct values in any class, for each identifier without repeats.

    NULL counts as a value.
    """
    max_person_share: float | None = None
    """With ``person``: the largest part of any class's rows that are a single person's."""
    search: Mapping[str, int] = field(default_factory=dict)
    """Figures of the method's search, by name. Method suppress: ``phase``, the phase of TP that ended it, and
    ``least_starred_rows``, no more than any solution has; with ``solver: optimal`` ``least_stars``. Method fulldomain:
    ``nodes`` of the lattice, and how many were ``looked_at``. Method koptimize: how many sets of cuts were
    ``looked_at``, and with ``metric: dm`` a ``bound`` that none is below.
    """
    pm: Mapping[str, float] = field(default_factory=dict)
    """Where diversity is asked: PM per sensitive column, the least rows / most frequent value of any class."""
    warnings: tuple[str, ...] = ()
    published_sensitive: str | None = None
    """Format anatomy: the table of sensitive values."""
    notes: tuple[str, ...] = ()
    """Loss allowed by the bound, and how the method found the result."""
    outcome: Outcome = "published"
    """``unchanged``: nothing to do; ``fresh``: not due yet."""
    why: tuple[str, ...] = ()
    """Why a version was made, or not."""
    replaces: int | None = None
    """The version that was published before."""
    data: DataChange | None = None
    history: tuple[HistoryReport, ...] = ()
    """With ``key``: the disclosure by this version together with the version before."""
    certificate: str | None = None
    """With boxes of their own: keyed hash of the inputs of the matchings.

    ``classes`` are then boxes, and ``min_class`` and ``max_class`` the rows that fit a box.
    """
    written: str | None = None
    """With boxes of their own: a hash of the rows of the published table, whatever their order.

    An audit compares the table with it.
    """
    drawn: str | None = None
    """With boxes of their own: a keyed hash of the private table of drawn boxes.

    An audit compares that table with it.
    """
    surest: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """With boxes of their own: certainty of a reader, per sensitive column.

    It is the ``mean`` and ``worst`` share, over rows, of the most frequent value among the row's boxes.
    """
    lineage: LineageReport | None = None
    """With ``refresh: {mode: frozen}``: differences between the release and the source.

    ``loss`` is then of the cohort that was published last.
    """
    exposed: Exposure | None = None
    """The risk with every published column but the sensitive ones.

    None if nothing is published as it is, or it was not measured (format anatomy, ``refresh: {mode: frozen}``, boxes of
    their own).
    """
    statistics: StatisticsReport | None = None
    """Of a release of counts, which has no classes: ``classes`` and the losses are 0."""
    noisy: NoisyReport | None = None
    """Of differentially private statistics: ``rows`` is 0, as the number of rows is no public fact."""
    lake: Mapping[str, str] = field(default_factory=dict)
    """Published into a lake: the ``place`` of the table that gets the view's rows, and the ``file`` there."""
    sent: Mapping[str, str] = field(default_factory=dict)
    """Published into another database: the ``place``, a URL without secrets, and the ``token`` of the attempt."""
    snapshot: str = ""
    """Of a source with versions, a lake table: which version of which table was read."""
    scratch: tuple[KeptTable, ...] = ()
    """With ``keep_scratch``: the tables that the run kept."""
    cost: RunCost | None = None
    """Statements and bytes of this run; None in the catalog, which keeps none."""

    @property
    def shape(self) -> Shape:
        """Whether rows are in classes, or have boxes of their own."""
        return CLASSES if self.certificate is None else BOXES

    @property
    def wholly_classed(self) -> bool:
        """Whether the counts of classes are those of all published rows."""
        return self.shape.grouped and not self.lineage

    @property
    def least_group(self) -> int:
        """Rows of the smallest class; of a lineage also of the smallest group that leaves as a whole."""
        return min(filter(None, (self.min_class, self.lineage.min_group if self.lineage else 0)), default=0)

    @property
    def facts(self) -> Mapping[str, str]:
        """Of a version of a lineage, the state beside the source, by title."""
        return dict(self.lineage.facts) if self.lineage else {}

    @property
    def published_rows(self) -> int:
        """Rows of the version; of a lineage, those of all cohorts."""
        return self.lineage.published if self.lineage else self.rows

    @property
    def gcp(self) -> float:
        """The loss of these rows."""
        return self.lineage.loss if self.lineage else self.loss.gcp

    @property
    def newest(self) -> str:
        """The part of the published rows that ``loss`` is about; empty: all."""
        return "of the newest cohort alone:" if self.lineage else ""

    def _repr_html_(self) -> str:
        """HTML for notebooks: the published table, requirements and reached values, the loss of the columns."""
        state = "verified" if self.verified else "NOT verified"
        if self.outcome != "published":
            state = f"{self.outcome}, as before"
        facts = [
            ("source", f"{self.source}, {count(self.rows)} rows{', ' * bool(self.snapshot)}{self.snapshot}"),
            ("published", self.published),
            ("classes", f"{count(self.classes)} of {count(self.min_class)} to {count(self.max_class)} rows"),
            *self.facts.items(),
            ("method", f"{self.method}, {self.execution}; format {self.format}"),
        ]
        if self.suppressed:
            facts.append(("suppressed", f"{count(self.suppressed)} rows, {count(self.left_out)} left out"))
        return notebook.block(
            f"{self.release}, version {self.version}: {state}",
            notebook.facts(facts),
            requirements_html(self.requirements),
            loss_html(self.loss),
            *notebook.warnings(self.warnings),
        )

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> Self:
        """A report from the catalog; fields unknown to the older sqlanon that wrote it have their defaults."""
        names = {item.name for item in fields(cls)}
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in deepcopy(dict(report)).items()
            if key in names
        }
        values["requirements"] = tuple(RequirementResult(**item) for item in report["requirements"])
        lost = {item.name for item in fields(LossReport)}
        values["loss"] = LossReport(**{key: value for key, value in report["loss"].items() if key in lost})
        values["history"] = tuple(HistoryReport.from_dict(item) for item in report.get("history") or ())
        values["data"] = DataChange(**report["data"]) if report.get("data") else None
        values["lineage"] = LineageReport(**report["lineage"]) if report.get("lineage") else None
        exposed = report.get("exposed")
        values["exposed"] = Exposure(**{**exposed, "columns": tuple(exposed["columns"])}) if exposed else None
        values["statistics"] = StatisticsReport.from_dict(report["statistics"]) if report.get("statistics") else None
        values["noisy"] = NoisyReport.from_dict(report["noisy"]) if report.get("noisy") else None
        values["scratch"], values["cost"] = (), None  # of one run, not of the version
        return cls(**values)
