"""The report of a plan: the actions and the feasibility of a run."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results import notebook
from sqlanon.results.base import Report
from sqlanon.results.cost import RunCost
from sqlanon.results.figures import count, measure
from sqlanon.results.history import HistoryReport
from sqlanon.results.run import DataChange


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """Treatment of one column of the source, the published columns, and the NCP, from 0 to 1.

    The NCP is None if it is not measured.
    """

    name: str
    type: str
    role: str
    treatment: str
    distinct: int
    nulls: int
    publishes: tuple[str, ...]
    loss: float | None = None


@dataclass(frozen=True, slots=True)
class FeasibleLevel:
    """The best value of a requirement that a release of all rows of the table can reach.

    It is the largest value, or the least of an upper bound.

    Attributes:
        met: whether that is enough. Where rows may be left out it may be False, and a release of fewer rows may do.
    """

    name: str
    column: str | None
    asked: float
    largest: float
    met: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rough guess of the cost of a run, from rows and columns alone (`sqlanon.declared.cost`).

    Attributes:
        seconds: of the method, on a single thread; ``most_seconds`` the same on the worst data that was seen.
        memory: bytes that the kernel needs for all rows at once; where that is more than it may use, it works in parts
            or refuses.
        sql_seconds: of the SQL around it; ``most_sql_seconds`` on a slower engine.
    """

    seconds: float
    most_seconds: float
    memory: int
    sql_seconds: float
    most_sql_seconds: float


@dataclass(frozen=True, slots=True)
class PlanReport(Report):
    """The actions of a run. ``statements`` is the SQL that does not depend on the data.

    Attributes:
        state: ``first release``, ``unchanged``, ``data changed``, ``policy changed``, ``schema changed``, ``sqlanon
            changed`` or ``made anew``; ``why`` has all the reasons, ``change`` both for people.
        stages: actions of the run, stage by stage, as it logs them.
        weaker: changes of the policy to be confirmed with ``--allow-weaker``.
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
    feasible: tuple[FeasibleLevel, ...]
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
    stages: tuple[str, ...] = ()
    cost: RunCost | None = None
    """A rough guess of the statements and bytes of the run, from the bytes of the staged rows.

    None where nothing would be published, of counts and of noisy statistics.
    """
    snapshot: str = ""
    """Of a source with versions, a lake table: which version of which table was read."""

    def _repr_html_(self) -> str:
        """HTML for notebooks: the treatment of each column, and the feasible requirements."""
        facts = [
            ("source", f"{self.source}, {count(self.rows)} rows"),
            ("publish", self.publish),
            ("method", f"{self.method}, {self.execution}; format {self.format}"),
        ]
        columns = [
            (
                column.name,
                column.role,
                column.treatment,
                count(column.distinct),
                count(column.nulls),
                ", ".join(column.publishes) or "-",
            )
            for column in self.columns
        ]
        feasible = [
            (
                f"{requirement.name} of {requirement.column}" if requirement.column else requirement.name,
                measure(requirement.asked),
                measure(requirement.largest),
                "yes" if requirement.met else "not of all rows",
            )
            for requirement in self.feasible
        ]
        wrong = [i for i, requirement in enumerate(self.feasible) if not requirement.met]
        return notebook.block(
            f"plan of {self.release}: {self.change}",
            notebook.facts(facts),
            notebook.table(("column", "role", "treatment", ">distinct", ">nulls", "publishes"), columns),
            notebook.table(("requirement", ">asked", ">largest", "feasible"), feasible, wrong),
            *notebook.warnings(self.weaker),
            *notebook.warnings(self.warnings),
        )
